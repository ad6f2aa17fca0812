"""Arguments of the GEMM kernel, and the answer computed on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ATOL = 2e-3
"""Each element is a sum of k = 2,048 products of about 1 in size, about 45 in size itself."""


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the kernel arguments: C, A, B, m, n, k.

    Args:
        problem_size: Columns n and rows m of C. The inner dimension k is twice n.
        rng: Generator of A and B.
    """
    n, m = problem_size[:2]
    k = 2 * n
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((k, n), dtype=np.float32)
    return [np.zeros((m, n), dtype=np.float32), a, b, np.int32(m), np.int32(n), np.int32(k)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Multiply A and B in double precision.

    Args:
        arguments: What `arguments` returned.

    Returns:
        C, shape `(m, n)`, and None for each input.
    """
    a, b = (np.asarray(arguments[i], dtype=np.float64) for i in (1, 2))
    return [(a @ b).astype(np.float32), None, None, None, None, None]
