"""Errors of Monte Carlo averages and of functions of them, with autocorrelations: the Gamma method.

For primary observables a_alpha with means A and a function F(A), the deviations of single measurements are projected,
    delta(i) = sum_alpha dF/dA_alpha (a_alpha(i) - A_alpha),    Gamma(t) = <delta(i) delta(i+t)>,
and with the summation window W
    C = Gamma(0) + 2 sum_{t=1}^W Gamma(t),   error^2 = C / N,   tau_int = C / (2 Gamma(0)).
W balances the statistical error, which grows with W, against the bias exp(-W/tau) of cutting the sum, where tau is S times
what tau_int suggests. Source: U. Wolff, Comput. Phys. Commun. 156 (2004) 143, hep-lat/0306017.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Estimate:
    """An average with its error; times are in measurements."""

    value: float
    error: float
    error_of_error: float
    tau_int: float  # 1/2 without autocorrelation
    tau_int_error: float
    window: int
    count: int
    rho: np.ndarray = field(repr=False)  # Gamma(t)/Gamma(0)
    rho_error: np.ndarray = field(repr=False)
    tau_int_of_window: np.ndarray = field(repr=False)  # tau_int if the sum were cut at each W

    @property
    def long_enough(self):
        """Whether the series is long against its memory; if not, the error may be far too small."""
        return self.count >= 40 * self.tau_int


def gamma_method(replica, function=None, S=1.5):
    """Estimate of function(mean_1, mean_2, ...), of the mean itself by default.

    `replica`: independent stretches of the same Markov process, possibly of different lengths, each an array [N] or
    [N, observables]. S: supposed ratio of the exponential to the integrated autocorrelation time, 1 to 2.
    Raises ValueError for fewer than two measurements or values that are not finite.
    """
    parts = [np.asarray(part, dtype=float) for part in replica]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts if len(part)]
    count = sum(len(part) for part in parts)
    if count < 2:
        raise ValueError(f"the Gamma method needs at least two measurements, got {count}")
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError("the Gamma method needs finite measurements")
    if function is None:
        function = lambda a: a  # noqa: E731

    mean = sum(part.sum(axis=0) for part in parts) / count
    value = float(function(*mean))
    weights = _gradient(function, mean, parts, count)
    deltas = [(part - mean) @ weights for part in parts]

    gamma = _autocovariance(deltas)
    if gamma[0] <= 0:  # a constant
        one = np.ones(1)
        return Estimate(value, 0.0, 0.0, 0.5, 0.0, 0, count, one, 0 * one, 0.5 * one)
    window = _window(gamma, count, S)
    # The mean is taken from the same data, which lowers Gamma by C/N everywhere.
    gamma = gamma + (gamma[0] + 2 * gamma[1 : window + 1].sum()) / count
    sums = gamma[0] + 2 * np.concatenate(([0.0], np.cumsum(gamma[1:])))
    error = np.sqrt(max(sums[window], 0.0) / count)
    tau_of_window = sums / (2 * gamma[0])
    tau = tau_of_window[window]
    return Estimate(
        value=value,
        error=float(error),
        error_of_error=float(error * np.sqrt((window + 0.5) / count)),
        tau_int=float(tau),
        tau_int_error=float(2 * tau * np.sqrt(max(window + 0.5 - tau, 0.0) / count)),
        window=window,
        count=count,
        rho=gamma / gamma[0],
        rho_error=_rho_errors(gamma / gamma[0], window, count),
        tau_int_of_window=tau_of_window,
    )


def _gradient(function, mean, parts, count):
    """dF/dA_alpha by symmetric differences over the errors that the means had without autocorrelation."""
    steps = np.sqrt(sum(((part - mean) ** 2).sum(axis=0) for part in parts)) / count
    gradient = np.zeros(len(mean))
    for k, step in enumerate(steps):
        if step > 0:
            up, down = mean.copy(), mean.copy()
            up[k] += step
            down[k] -= step
            gradient[k] = (function(*up) - function(*down)) / (2 * step)
    return gradient


def _autocovariance(deltas):
    """Gamma(t) for t up to half of the longest replicum, by Fourier transform."""
    longest = max(len(delta) for delta in deltas)
    t_max = max(longest // 2, 1)
    sums, pairs = np.zeros(t_max), np.zeros(t_max)
    for delta in deltas:
        n = len(delta)
        size = 1 << (2 * n - 1).bit_length()  # zero padding: no pairs across the end
        spectrum = np.abs(np.fft.rfft(delta, size)) ** 2
        reach = min(n, t_max)
        sums[:reach] += np.fft.irfft(spectrum, size)[:reach]
        pairs[:reach] += n - np.arange(reach)
    return sums / np.maximum(pairs, 1)


def _window(gamma, count, S):
    """First W where the bias exp(-W/tau) falls below the statistical error tau/sqrt(W N)."""
    tau_int = 0.5
    for w in range(1, len(gamma)):
        tau_int += gamma[w] / gamma[0]
        tau = S / np.log((2 * tau_int + 1) / (2 * tau_int - 1)) if tau_int > 0.5 else 1e-10
        if np.exp(-w / tau) < tau / np.sqrt(w * count):
            return w
    return len(gamma) - 1


def _rho_errors(rho, window, count):
    """Errors of rho(t) from rho itself cut at t + W: M. Luescher, hep-lat/0409106, eq. (E.11)."""
    shown = min(len(rho), 4 * window + 8)
    padded = np.concatenate((rho, np.zeros(2 * len(rho))))
    errors = np.zeros(len(rho))
    for t in range(1, shown):
        k = np.arange(1, t + window + 1)
        terms = padded[k + t] + padded[np.abs(k - t)] - 2 * padded[t] * padded[k]
        errors[t] = np.sqrt((terms**2).sum() / count)
    return errors
