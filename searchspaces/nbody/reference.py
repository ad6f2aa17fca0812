"""Arguments of the n-body kernel, and the answer computed on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SOFTENING_SQUARED = 1e-4
ROWS_AT_ONCE = 8
"""So few that the matrices stay in the cache and one thread multiplies them."""

ATOL = 1e-4
RTOL = 1e-4
"""Accelerations are about 1 in size; the sum of 16,384 interactions in single precision is off by about 1e-5."""


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the kernel arguments: accelerations, bodies as structures, bodies as arrays, number of bodies.

    Args:
        problem_size: Number n of bodies.
        rng: Generator of the positions (in the unit cube) and masses (their sum is about 1).
    """
    n = problem_size[0]
    bodies = rng.random((n, 4), dtype=np.float32)
    bodies[:, 3] *= np.float32(2.0 / n)
    accelerations = np.zeros((n, 3), dtype=np.float32)
    return [accelerations, bodies, np.ascontiguousarray(bodies.T), np.int32(n)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Add up all pairs in double precision.

    The squared distance is `|a|² + |b|² - 2 a·b`, and the sum over the bodies `Σ w_j (x_j - x_i)` is written as
    `Σ w_j x_j - x_i Σ w_j`, so that the work is in matrix products.

    Args:
        arguments: What `arguments` returned.

    Returns:
        The accelerations, shape `(n, 3)`, and None for each input.
    """
    bodies = np.asarray(arguments[1], dtype=np.float64)
    positions, masses = bodies[:, :3], bodies[:, 3]
    squares = np.sum(positions**2, axis=1)
    left = np.column_stack([positions, squares + SOFTENING_SQUARED, np.ones(len(bodies))])
    right = np.ascontiguousarray(np.column_stack([-2.0 * positions, np.ones(len(bodies)), squares]).T)
    with_one = np.column_stack([positions, np.ones(len(bodies))])
    accelerations = np.empty(positions.shape, dtype=np.float32)
    for first in range(0, len(bodies), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        squared = left[rows] @ right
        weights = np.sqrt(squared)
        weights *= squared
        np.divide(masses, weights, out=weights)
        sums = weights @ with_one
        accelerations[rows] = sums[:, :3] - positions[rows] * sums[:, 3:]
    return [accelerations, None, None, None]
