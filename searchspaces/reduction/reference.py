"""Arguments of the reduction kernel, and the answer computed on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SMALLEST_BLOCK = 64 * 16
"""Fewest items that a block sums in any variant: smallest block size times fewest items per thread."""

ATOL = 0.0
RTOL = 0.0
"""The items are small integers, so that every partial sum is exact in single precision, in any order."""


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the kernel arguments: sum, room for the sums of the blocks, array, n.

    Args:
        problem_size: Number n of items, a multiple of 4.
        rng: Generator of the array.
    """
    n = problem_size[0]
    array = rng.integers(-8, 9, n, dtype=np.int8).astype(np.float32)
    block_sums = np.zeros(-(-n // SMALLEST_BLOCK), dtype=np.float32)
    return [np.zeros(1, dtype=np.float32), block_sums, array, np.int32(n)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Sum the array in double precision.

    Args:
        arguments: What `arguments` returned.

    Returns:
        The sum, shape `(1,)`, and None for the other arguments.
    """
    return [np.array([np.sum(arguments[2], dtype=np.float64)], dtype=np.float32), None, None, None]
