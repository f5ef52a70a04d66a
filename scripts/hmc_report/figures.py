"""The figures of a report, each as an SVG text."""

import io
import math

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from .analysis import series  # noqa: E402

_BLUE, _RED, _GREY = "#2b6cb0", "#c05621", "#8a8f98"
_MANY = 2000  # points of a history drawn one by one; longer ones in bins

matplotlib.rcParams.update({
    "svg.fonttype": "path",  # looks the same everywhere, needs no font
    "svg.hashsalt": "report",  # the same run gives the same page
    "font.size": 9,
    "axes.grid": True,
    "grid.color": "#e4e7eb",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.0,
    "legend.frameon": False,
})


def _svg(figure):
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()


def _panels(widths=(1,), height=2.4):
    figure, axes = plt.subplots(1, len(widths), figsize=(9, height), gridspec_kw={"width_ratios": widths}, squeeze=False)
    return figure, axes[0]


def _history(axes, numbers, values, color=_BLUE, label=None):
    """Points joined by lines; of a long series the mean and the range of each bin."""
    values = np.where(np.isfinite(values), values, np.nan)
    if len(numbers) <= _MANY:
        axes.plot(numbers, values, color=color, linewidth=0.7, marker="." if len(numbers) < 120 else None, markersize=3, label=label)
    else:
        bins = np.array_split(np.arange(len(numbers)), 500)
        middle = [numbers[b].mean() for b in bins]
        axes.fill_between(middle, [np.nanmin(values[b]) for b in bins], [np.nanmax(values[b]) for b in bins],
                          color=color, alpha=0.25, linewidth=0)
        axes.plot(middle, [np.nanmean(values[b]) for b in bins], color=color, label=label)
    axes.set_xlabel("update")


def _shade_warm_up(axes, run):
    last = max((u.number for u in run.updates if u.warm_up), default=None)
    if last is not None:
        axes.axvspan(run.updates[0].number - 0.5, last + 0.5, color="#f0e6d8", zorder=0)


def _histogram(axes, values, average=None):
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return
    if np.ptp(values) <= 1e-14 * max(1.0, np.max(np.abs(values))):  # a constant has no bins
        axes.axvline(values[0], color=_BLUE)
        return
    bins = int(min(60, max(8, 2 * len(values) ** (1 / 3))))
    axes.hist(values, bins=bins, density=True, color=_BLUE, alpha=0.6)
    if average is not None:
        axes.axvspan(average.value - average.error, average.value + average.error, color=_RED, alpha=0.3)
        axes.axvline(average.value, color=_RED)
    axes.set_yticks([])


def observable(run, updates, s_all, s, average, label):
    """History over all updates, histogram over the selected ones."""
    figure, (left, right) = _panels((3, 1))
    _history(left, s_all.numbers, s_all.values)
    _shade_warm_up(left, run)
    left.set_ylabel(label)
    if average is not None:
        left.axhspan(average.value - average.error, average.value + average.error, color=_RED, alpha=0.3)
        left.axhline(average.value, color=_RED, linewidth=0.8)
    if s is not None:
        _histogram(right, s.values, average)
    right.set_xlabel(label)
    return _svg(figure)


def energy_violation(run, updates, summary):
    """dH over the updates; its histogram with the Gaussian of the same <dH>, whose variance is 2 <dH>."""
    everything, selected = series(run.updates, "deltaH"), series(updates, "deltaH")
    figure, (left, right) = _panels((3, 1))
    _history(left, everything.numbers, everything.values)
    left.set_ylabel("dH")
    # The first updates from a start far from equilibrium would hide all others.
    shown = (selected or everything).values
    shown = shown[np.isfinite(shown)]
    if len(shown) > 1:
        low, high = np.min(shown), np.max(shown)
        margin = 0.1 * (high - low) + 1e-12
        left.set_ylim(low - margin, high + margin)
    _shade_warm_up(left, run)
    if selected is not None:
        _histogram(right, selected.values)
        if summary.delta_h and summary.delta_h.value > 0:
            mean = summary.delta_h.value
            x = np.linspace(*right.get_xlim(), 200)
            right.plot(x, np.exp(-((x - mean) ** 2) / (4 * mean)) / math.sqrt(4 * math.pi * mean), color=_RED)
    right.set_xlabel("dH")
    return _svg(figure)


def acceptance(updates, summary):
    """Running averages of acceptance and of exp(-dH)."""
    accepted, dh = series(updates, "AcceptP"), series(updates, "deltaH")
    figure, (left, right) = _panels((1, 1))
    running = np.cumsum(accepted.values) / np.arange(1, len(accepted.values) + 1)
    _history(left, accepted.numbers, running)
    if summary.predicted_acceptance:
        left.axhline(summary.predicted_acceptance.value, color=_RED, label="erfc(√<dH>/2)")
        left.legend(loc="lower right")
    left.set_ylim(0, 1.02)
    left.set_ylabel("acceptance so far")
    if dh is not None:
        with np.errstate(over="ignore"):
            weights = np.exp(-dh.values)
        _history(right, dh.numbers, np.cumsum(weights) / np.arange(1, len(weights) + 1))
        if summary.exp_minus_dh:
            e = summary.exp_minus_dh
            right.axhspan(e.value - e.error, e.value + e.error, color=_BLUE, alpha=0.15)
        right.axhline(1, color=_RED)
        right.set_ylabel("<exp(-dH)> so far")
    return _svg(figure)


def forces(run):
    """Average and largest force of each monomial, per link, sqrt(sum_a F_a^2)."""
    figure, (left, right) = _panels((1, 1), 2.8)
    for k, name in enumerate(_monomials(run, "forces")):
        numbers = np.array([u.number for u in run.updates if name in u.forces])
        for axes, size in ((left, "F_avg"), (right, "F_max")):
            values = np.array([u.forces[name][size] for u in run.updates if name in u.forces])
            _history(axes, numbers, values, f"C{k}", name)
            axes.set_ylabel(size)
            axes.set_yscale("log")
    _legend_above(figure, left)
    return _svg(figure)


def iterations(run):
    """Mean solver iterations per force evaluation, and their sum over a trajectory."""
    figure, (left, right) = _panels((1, 1), 2.8)
    colors = {name: f"C{k}" for k, name in enumerate(_monomials(run, "forces"))}
    for k, name in enumerate(_monomials(run, "solves")):
        color = colors.get(name, f"C{k}")
        numbers = np.array([u.number for u in run.updates if name in u.solves])
        counts = [u.solves[name] for u in run.updates if name in u.solves]
        _history(left, numbers, np.array([np.mean(c) for c in counts]), color, name)
        _history(right, numbers, np.array([np.sum(c) for c in counts]), color)
    left.set_ylabel("iterations per solve")
    right.set_ylabel("iterations per trajectory")
    left.set_ylim(bottom=0)
    right.set_ylim(bottom=0)
    _legend_above(figure, left)
    return _svg(figure)


def seconds(run):
    figure, (axes,) = _panels(height=2.0)
    for name, label, color in (("seconds_for_trajectory", "trajectory", _BLUE), ("seconds_for_measurements", "measurements", _GREY)):
        s = series(run.updates, name)
        if s is not None:
            _history(axes, s.numbers, s.values, color, label)
    axes.set_ylabel("seconds")
    axes.set_ylim(bottom=0)
    axes.legend()
    return _svg(figure)


def reversibility(run):
    """What is left after integrating there and back."""
    figure, (left, right) = _panels((1, 1))
    for axes, names in ((left, ("DeltaDeltaH", "DeltaDeltaKE", "DeltaDeltaPE")), (right, ("DeltaQPerSite", "DeltaPPerSite"))):
        for k, name in enumerate(names):
            s = series(run.updates, name)
            if s is not None and np.any(s.values > 0):
                shown = slice(None, None, 1 + len(s.values) // _MANY)
                axes.plot(s.numbers[shown], np.where(s.values > 0, s.values, np.nan)[shown], ".", color=f"C{k}", label=name)
                axes.set_yscale("log")
        axes.set_xlabel("update")
        if axes.has_data():
            axes.legend(fontsize=7)
    return _svg(figure)


def autocorrelation(average, spacing, label):
    """rho(t) and tau_int as a function of the window, which is marked."""
    figure, (left, right) = _panels((1, 1))
    shown = min(len(average.rho), max(2 * average.window + 2, 8))
    t = spacing * np.arange(shown)
    left.errorbar(t, average.rho[:shown], average.rho_error[:shown], fmt=".", color=_BLUE, ecolor=_GREY, capsize=2)
    left.axhline(0, color="black", linewidth=0.6)
    left.set_ylabel(f"ρ(t) of {label}")
    tau = average.tau_int_of_window[:shown]
    errors = 2 * tau * np.sqrt(np.maximum(np.arange(shown) + 0.5 - tau, 0) / average.count)
    right.errorbar(t, spacing * tau, spacing * errors, fmt=".", color=_BLUE, ecolor=_GREY, capsize=2)
    right.axhline(spacing * average.tau_int, color=_RED, linewidth=0.8)
    right.set_ylabel("τ_int(W) in updates")
    for axes, name in ((left, "t in updates"), (right, "W in updates")):
        axes.axvline(spacing * average.window, color=_RED, linewidth=0.8)
        axes.set_xlabel(name)
    return _svg(figure)


def complex_plane(s):
    """Values of a complex observable, such as the Polyakov loop."""
    figure, (left, right) = _panels((3, 1))
    _history(left, s.numbers, np.abs(s.values))
    left.set_ylabel(f"|{s.name}|")
    values = s.values[np.isfinite(s.values)][:: 1 + len(s.values) // _MANY]
    right.plot(values.real, values.imag, ".", color=_BLUE, markersize=2)
    reach = 1.1 * max(np.max(np.abs(values), initial=0.0), 1e-12)
    right.set_xlim(-reach, reach)
    right.set_ylim(-reach, reach)
    right.set_aspect("equal")
    right.set_xlabel("Re")
    right.set_ylabel("Im")
    return _svg(figure)


def _legend_above(figure, axes):
    figure.legend(*axes.get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 0.9), ncol=4, fontsize=7)


def _monomials(run, kind):
    return list(dict.fromkeys(name for u in run.updates for name in getattr(u, kind)))
