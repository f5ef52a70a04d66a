"""What a report says in numbers: series of a run, their averages, and what should make one look twice."""

import math
from dataclasses import dataclass

import numpy as np

from .gamma_method import Estimate, gamma_method


@dataclass
class Series:
    """One observable over the updates it was measured at."""

    name: str
    numbers: np.ndarray
    values: np.ndarray  # real or complex

    def parts(self):
        """Stretches without gaps; measurements every k updates have no gap at k."""
        steps = np.diff(self.numbers)
        if len(steps) == 0:
            return [self.values]
        return np.split(self.values, np.flatnonzero(steps != np.min(steps)) + 1)

    @property
    def spacing(self):
        """Updates between measurements."""
        return int(np.min(np.diff(self.numbers))) if len(self.numbers) > 1 else 1


def series(updates, name):
    """The observable `name` of the updates that have it; None if none has."""
    found = [(u.number, u.values[name]) for u in updates if name in u.values]
    if not found:
        return None
    numbers, values = zip(*found)
    return Series(name, np.array(numbers), np.array(values))


def observables(updates):
    """All measured observables, real ones as they are, complex ones as real and imaginary part and modulus."""
    names = dict.fromkeys(name for u in updates for name in u.values if "/" in name)
    found = []
    for name in names:
        s = series(updates, name)
        if np.iscomplexobj(s.values):
            for label, part in (("Re ", np.real), ("Im ", np.imag), ("|", np.abs)):
                found.append(Series(label + name + ("|" if label == "|" else ""), s.numbers, part(s.values)))
        else:
            found.append(s)
    return found


def estimate(s, function=None, S=1.5):
    """The Gamma method on a series; None where it cannot say anything (one value, or not a number)."""
    if s is None or len(s.values) < 2 or not np.isfinite(s.values).all():
        return None
    return gamma_method(s.parts(), function, S)


@dataclass
class Summary:
    """The averages that every report has; None where the documents do not tell."""

    plaquette: Estimate = None
    delta_h: Estimate = None
    exp_minus_dh: Estimate = None
    acceptance: Estimate = None
    predicted_acceptance: Estimate = None  # erfc(sqrt(<dH>)/2), from <dH>
    seconds: float = None  # median of a trajectory


def summarise(updates, S=1.5):
    dh = series(updates, "deltaH")
    seconds = series(updates, "seconds_for_trajectory")
    summary = Summary(
        plaquette=estimate(series(updates, "Plaquette/w_plaq"), S=S),
        delta_h=estimate(dh, S=S),
        acceptance=estimate(series(updates, "AcceptP"), S=S),
        seconds=float(np.median(seconds.values)) if seconds else None,
    )
    if dh is not None:
        with np.errstate(over="ignore"):
            summary.exp_minus_dh = estimate(Series("exp(-dH)", dh.numbers, np.exp(-dh.values)), S=S)
    if summary.delta_h and summary.delta_h.value > 0:
        # A reversible, area-preserving integrator with Gaussian dH: S. Gupta et al., Phys. Lett. B 242 (1990) 437.
        summary.predicted_acceptance = estimate(dh, lambda mean: math.erfc(math.sqrt(max(mean, 0.0)) / 2), S)
    return summary


def concerns(run, updates, summary, S=1.5):
    """Sentences on what is not as it should be."""
    found = list(run.warnings)
    say = found.append
    if not updates:
        say("all updates belong to the warm-up; there is nothing to average yet")
    failed = [u.number for u in run.updates if u.values.get("ReproCheck") == 0]
    if failed:
        say(f"update {failed[0]} did not repeat to the bit (ReproCheck): suspect the hardware")
    wrong = [u.number for u in run.updates if not math.isfinite(u.values.get("deltaH", 0))]
    if wrong:
        say(f"dH is not a number in update {wrong[0]}: a solver failed, or the step size is far too large")
    e = summary.exp_minus_dh
    if e and e.count >= 20 and e.error > 0 and abs(e.value - 1) > 3 * e.error:
        say(f"<exp(-dH)> is {abs(e.value - 1) / e.error:.1f} standard deviations from 1: not in equilibrium yet, or a force"
            " does not belong to its action")
    if summary.acceptance and summary.acceptance.value < 0.5:
        say(f"acceptance is {100 * summary.acceptance.value:.0f}%: smaller steps would cost less per independent field")
    p = summary.plaquette
    if p and p.error > 0 and not p.long_enough:
        say(f"the run is {p.count / (2 * p.tau_int):.0f} autocorrelation times of the plaquette long: errors are rough")
    backward = series(run.updates, "DeltaDeltaH")
    if backward is not None and summary.delta_h:
        scale = max(np.std([u.values["deltaH"] for u in run.updates if "deltaH" in u.values]), 1e-3)
        if np.max(np.abs(backward.values)) > 0.01 * scale:
            say(f"reversibility: dH of there and back reaches {np.max(np.abs(backward.values)):.1e}, more than 1% of a typical"
                " dH; use smaller steps or solver residuals")
    return found
