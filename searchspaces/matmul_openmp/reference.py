"""Arguments and the right answer of the matrix product, computed on the host."""

from collections.abc import Sequence

import numpy as np

ATOL = 1e-2


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the arguments of `matmul_openmp`: C, A, B and their order n, equal to both problem sizes."""
    n = problem_size[0]
    a, b = (rng.standard_normal((n, n), dtype=np.float32) for _ in range(2))
    return [np.zeros((n, n), dtype=np.float32), a, b, np.int32(n)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Multiply in double precision; None for arguments that the kernel leaves alone."""
    _, a, b, _ = arguments
    product = a.astype(np.float64) @ b.astype(np.float64)
    return [product.astype(np.float32), None, None, None]
