"""Arguments of the convolution kernel, and the answer computed on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.signal import fftconvolve

FILTER_WIDTH = 17
FILTER_HEIGHT = 17

ATOL = 1e-4
"""Each output is the sum of 289 products of about 0.06 in size, so that single precision is off by about 1e-6."""

CMEM = {"d_filter": 2}
"""The filter is a kernel argument that is copied to constant memory."""


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the kernel arguments: output, input with its border, filter, width, height.

    Args:
        problem_size: Width and height of the output in pixels.
        rng: Generator of the image and the filter.
    """
    width, height = problem_size[:2]
    output = np.zeros((height, width), dtype=np.float32)
    image = rng.random((height + FILTER_HEIGHT - 1, width + FILTER_WIDTH - 1), dtype=np.float32)
    weights = rng.standard_normal((FILTER_HEIGHT, FILTER_WIDTH), dtype=np.float32)
    weights /= np.float32(np.sqrt(weights.size))
    return [output, image, weights, np.int32(width), np.int32(height)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Correlate the image with the filter, in double precision by Fourier transform.

    Args:
        arguments: What `arguments` returned.

    Returns:
        The output, shape `(height, width)`, and None for each input.
    """
    image, weights = (np.asarray(arguments[i], dtype=np.float64) for i in (1, 2))
    output = fftconvolve(image, weights[::-1, ::-1], mode="valid")
    return [output.astype(np.float32), None, None, None, None]
