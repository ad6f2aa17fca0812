"""Arguments and the right answer of the heat stencil, computed on the host."""

from collections.abc import Sequence

import numpy as np

ATOL = 1e-4
TIME_STEPS = 8


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the arguments of `stencil_openmp`: output, scratch, input and the grid's edge n."""
    n = problem_size[0]
    grid = rng.random((n, n), dtype=np.float32)
    return [np.zeros_like(grid), np.zeros_like(grid), grid, np.int32(n)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Step through time in double precision; None for arguments whose contents don't matter."""
    grid = arguments[2].astype(np.float64)
    for _ in range(TIME_STEPS):
        around = grid[1:-1, :-2] + grid[1:-1, 2:] + grid[:-2, 1:-1] + grid[2:, 1:-1]
        grid[1:-1, 1:-1] += 0.2 * (around - 4.0 * grid[1:-1, 1:-1])
    return [grid.astype(np.float32), None, None, None]
