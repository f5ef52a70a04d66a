"""The page: one HTML file with everything in it."""

import base64
import html
import math
import xml.etree.ElementTree as ET

import numpy as np

from . import analysis, figures
from .run_log import LogError

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a202c; max-width: 62em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: 0; } h2 { font-size: 1.15em; margin: 2em 0 0.3em; border-bottom: 1px solid #e2e8f0; }
p.sub { color: #4a5568; margin-top: 0.2em; } figure { margin: 0.6em 0; } img { width: 100%; }
figcaption { color: #4a5568; font-size: 0.9em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } td, th { padding: 0.15em 1em 0.15em 0; text-align: left; }
th { color: #4a5568; font-weight: 600; border-bottom: 1px solid #cbd5e0; }
ul.concerns { background: #fffaf0; border-left: 4px solid #dd6b20; padding: 0.6em 1em 0.6em 2em; }
pre { background: #f7fafc; padding: 1em; overflow-x: auto; font-size: 0.85em; }
"""


def measured(value, error):
    """0.59662(18): the error in units of the last digits shown, two of them."""
    if not math.isfinite(value) or not math.isfinite(error):
        return f"{value:.6g}"
    if error <= 0:
        return f"{value:.12g}"
    digits = 1 - math.floor(math.log10(error))
    if round(error * 10.0**digits) >= 100:  # 0.0996 -> 0.10
        digits -= 1
    if digits <= 0:
        unit = 10.0**-digits
        return f"{round(value / unit) * unit:.0f}({round(error / unit) * unit:.0f})"
    if digits == 1:  # 12.3(1.8)
        return f"{value:.1f}({error:.1f})"
    return f"{value:.{digits}f}({round(error * 10.0**digits)})"


def make_page(run, skip=0, S=1.5, title=None):
    """The report as HTML text. Raises LogError if `skip` leaves no updates."""
    updates = run.selected(skip)
    everything_is_warm_up = not updates and not run.selected()
    if everything_is_warm_up:
        updates = run.updates
    if not updates:
        raise LogError(f"--skip {skip} leaves none of the {len(run.selected())} updates after the warm-up")
    summary = analysis.summarise(updates, S)
    concerns = analysis.concerns(run, [] if everything_is_warm_up else updates, summary)
    body = [
        _header(run, updates, skip, title),
        _list("concerns", concerns),
        _summary(run, updates, summary),
        _figures(run, updates, summary, S),
        _tuning(run),
        _observables(updates, S),
        _parameters(run),
    ]
    name = html.escape(title or "hmc report")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{''.join(body)}</body></html>\n"
    )


def text_summary(run, skip=0, S=1.5):
    """The same averages in a few lines for the terminal."""
    updates = run.selected(skip) or run.updates
    summary = analysis.summarise(updates, S)
    lines = [f"{label:22} {value}" for label, value in _averages(summary)]
    return "\n".join(lines + [f"note: {concern}" for concern in analysis.concerns(run, updates, summary)])


def _header(run, updates, skip, title):
    first, last = run.updates[0].number, run.updates[-1].number
    warm_up = sum(u.warm_up for u in run.updates)
    lattice = " × ".join(run.program.get("latt_size", "").split())
    averaged = f"{len(updates)} averaged over" + (f", {skip} skipped" if skip else "")
    parts = [f"lattice {lattice}" if lattice else "", f"updates {first} to {last}, {warm_up} of them to warm up, {averaged}"]
    parts.append(run.program.get("run_date", ""))
    files = ", ".join(html.escape(path) for path in run.files)
    return (
        f"<h1>{html.escape(title or 'Hybrid Monte Carlo')}</h1>\n"
        f'<p class="sub">{html.escape("; ".join(p for p in parts if p))}<br>from {files}</p>\n'
    )


def _list(css, sentences):
    if not sentences:
        return ""
    return f'<ul class="{css}">' + "".join(f"<li>{html.escape(s)}</li>" for s in sentences) + "</ul>\n"


def _averages(summary):
    rows = []
    for label, e in (
        ("plaquette", summary.plaquette),
        ("<dH>", summary.delta_h),
        ("<exp(-dH)>", summary.exp_minus_dh),
        ("acceptance", summary.acceptance),
        ("erfc(sqrt(<dH>)/2)", summary.predicted_acceptance),
    ):
        if e is not None:
            rows.append((label, measured(e.value, e.error)))
    if summary.plaquette and summary.plaquette.error > 0:
        rows.append(("tau_int of plaquette", measured(summary.plaquette.tau_int, summary.plaquette.tau_int_error)))
    if summary.seconds is not None:
        rows.append(("seconds per trajectory", f"{summary.seconds:.3g}"))
    return rows


def _summary(run, updates, summary):
    rows = _averages(summary)
    volume = int(run.program.get("total_volume", 0))
    p = analysis.series(updates, "Plaquette/w_plaq")
    if p is not None and volume and len(p.values) > 1:
        # A derived quantity: V (<P^2> - <P>^2).
        pairs = [np.stack((part, part**2), axis=1) for part in p.parts()]
        e = analysis.gamma_method(pairs, lambda mean, square: volume * (square - mean**2))
        rows.insert(1, ("V (<P²> - <P>²)", measured(e.value, e.error)))
    return _section("Averages", _table(("", "value(error)"), rows))


def _figures(run, updates, summary, S):
    sections = []

    def add(heading, picture, caption):
        data = base64.b64encode(picture.encode()).decode()
        sections.append(_section(
            heading,
            f'<figure><img alt="{html.escape(heading)}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>",
        ))

    def has(name):
        return any(name in u.values for u in run.updates)

    plaquette = analysis.series(updates, "Plaquette/w_plaq")
    if has("Plaquette/w_plaq"):
        everything = analysis.series(run.updates, "Plaquette/w_plaq")
        add("Plaquette", figures.observable(run, updates, everything, plaquette, summary.plaquette, "plaquette"),
            "History (warm-up shaded) and distribution; red: average and its error.")
    if has("deltaH"):
        add("Energy violation", figures.energy_violation(run, updates, summary),
            "dH of every trajectory; right: distribution and, in red, the Gaussian with the same mean and variance 2<dH>.")
    if analysis.series(updates, "AcceptP"):
        add("Acceptance", figures.acceptance(updates, summary),
            "Running averages after the warm-up. Red: the acceptance expected from <dH>, and <exp(-dH)> = 1.")
    if summary.plaquette and summary.plaquette.error > 0:
        add("Autocorrelation of the plaquette", figures.autocorrelation(summary.plaquette, plaquette.spacing, "the plaquette"),
            f"Gamma method with S = {S:g}; red: the window and the integrated autocorrelation time.")
    if any(u.forces for u in run.updates):
        add("Forces", figures.forces(run), "Per link, sqrt(sum_a F_a^2), for each monomial: mean and largest value in a trajectory.")
    if any(u.solves for u in run.updates):
        add("Solver iterations", figures.iterations(run), "In the molecular dynamics of each trajectory.")
    if has("seconds_for_trajectory"):
        add("Time", figures.seconds(run), "Per update, reproducibility and reversibility checks included.")
    if has("DeltaDeltaH"):
        add("Reversibility", figures.reversibility(run), "What is left after integrating there and back: energies, and distance per link.")
    for name in dict.fromkeys(name for u in updates for name, value in u.values.items() if isinstance(value, complex)):
        add(name, figures.complex_plane(analysis.series(updates, name)), "After the warm-up.")
    shown = 0
    for s in analysis.observables(updates):
        if s.name.startswith("Plaquette/") or s.name[:3] in ("Re ", "Im ") or s.name[0] == "|" or np.ptp(s.values) == 0:
            continue
        shown += 1
        if shown > 12:
            break
        add(s.name, figures.observable(run, updates, analysis.series(run.updates, s.name), s, analysis.estimate(s, S=S), s.name),
            "History and distribution.")
    missing = []
    if not any(u.forces for u in run.updates):
        missing.append("forces and solver iterations are in the log document (option -l of hmc)")
    if not has("Plaquette/w_plaq"):
        missing.append("observables are in the data document (option -o of hmc)")
    if missing:
        sections.append(f'<p class="sub">Not in these files: {"; ".join(missing)}. Give both documents to see everything.</p>\n')
    return "".join(sections)


def _tuning(run):
    rows = []
    for u in run.updates:
        if u.tuning is not None:
            get = lambda name, tuning=u.tuning: (tuning.findtext(name) or "").strip()  # noqa: E731
            rows.append((str(u.number), get("n_steps"), get("n_steps_new"), get("sigma_dH"), get("predicted_acceptance")))
    if not rows:
        return ""
    return _section("Step-size tuning", _table(
        ("after update", "n_steps", "chosen", "σ(dH) measured", "acceptance predicted"), rows))


def _observables(updates, S):
    rows = []
    for s in analysis.observables(updates):
        if len(s.values) >= 3 and np.ptp(s.values) == 0:
            continue
        e = analysis.estimate(s, S=S)
        if e is None:
            continue
        tau = measured(s.spacing * e.tau_int, s.spacing * e.tau_int_error) if e.error > 0 else ""
        rows.append((s.name, measured(e.value, e.error), tau + ("" if e.long_enough else " (too short to tell)"), str(e.count)))
    if not rows:
        return ""
    return _section("Observables", _table(("", "average(error)", "τ_int in updates", "measurements"), rows))


def _parameters(run):
    if run.input is None:
        return ""
    text = ET.tostring(run.input, encoding="unicode").strip()
    rows = _parameter_rows(run)
    return _section("Parameters", _table(("", ""), rows) + f"<details><summary>Input</summary><pre>{html.escape(text)}</pre></details>\n")


def _parameter_rows(run):
    """The parameters that one looks for first."""
    def text(element, path):
        return " ".join((element.findtext(path) or "").split())

    rows = [(key, run.program[key]) for key in ("tessera", "chroma", "basePrecision") if run.program.get(key)]
    rows += [(name, text(run.input, f"MCControl/{name}")) for name in ("NWarmUpUpdates", "NProductionUpdates", "SavePrefix")]
    dynamics = run.input.find("HMCTrj")
    if dynamics is None:
        return [row for row in rows if row[1]]
    for monomial in dynamics.iterfind("Monomials/elem"):
        numbers = []
        for leaf in monomial.iter():
            if leaf.tag in ("Name", "FermAct", "beta", "Mass", "Kappa", "clovCoeff", "TwistedM", "xi_0", "nu", "u0", "num_pf"):
                numbers.append(text(leaf, ".") if leaf.tag in ("Name", "FermAct") else f"{leaf.tag} {text(leaf, '.')}")
        rows.append((text(monomial, "NamedObject/monomial_id"), ", ".join(dict.fromkeys(numbers))))
    rows.append(("tau0", text(dynamics, "MDIntegrator/tau0")))
    level, depth = dynamics.find("MDIntegrator/Integrator"), 1
    while level is not None:
        ids = ", ".join(" ".join((e.text or "").split()) for e in level.iterfind("monomial_ids/elem"))
        steps = text(level, "n_steps") or text(level, "delta_tau_max")
        rows.append((f"integrator, level {depth}", f"{text(level, 'Name')}, steps {steps}: {ids}"))
        level, depth = level.find("SubIntegrator"), depth + 1
    return [row for row in rows if row[1]]


def _section(heading, content):
    return f"<h2>{html.escape(heading)}</h2>\n{content}\n"


def _table(head, rows):
    cells = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>\n" for row in rows)
    return f"<table><tr>{cells}</tr>\n{lines}</table>\n"
