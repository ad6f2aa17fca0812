"""What own compute costs a candidate, where a run aims at lean ones."""

from __future__ import annotations

import math

DISCOUNT_PER_DOUBLING = 0.02
"""Fitness that each doubling of own compute above the aim takes off.

A logarithm, so that there is something to gain all the way from a heavy parent to a lean child: halving counts the same
at 100 ms as at 2 ms. About what a good change of a program gains, so that halving is worth a step of the search, and well
below what tells a good search from a poor one, so that nobody wins by doing nothing. An own compute that is measured 20 %
too high costs 0.005, less than the luck in a confirmed fitness.
"""


def discount(own_compute_ms: float | None, aim_ms: float | None) -> float:
    """Fitness that own compute takes off.

    Args:
        own_compute_ms: Own compute per measurement that was paid for, in milliseconds; None where it was not measured,
            which costs nothing.
        aim_ms: What is aimed at, in milliseconds, above 0; None for nothing.
    """
    if own_compute_ms is None or aim_ms is None or not own_compute_ms > aim_ms:
        return 0.0
    return DISCOUNT_PER_DOUBLING * math.log2(own_compute_ms / aim_ms)
