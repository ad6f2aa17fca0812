"""Arguments of the dedispersion kernel, and the answer computed on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CHANNELS = 1024
LOWEST_MHZ = 1200.0
HIGHEST_MHZ = 1500.0
LARGEST_SHIFT = 8
"""Delay of the lowest channel, in samples, from one dispersion measure to the next."""

ATOL = 0.0
RTOL = 0.0
"""The samples are bytes, as telescopes deliver them, so that every sum is exact in single precision, in any order."""

CMEM = {"d_shifts": 2}
"""The shifts are a kernel argument that is copied to constant memory."""


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the kernel arguments: sums, samples, shifts, number of samples, number of DMs, samples of a channel.

    The delay of a channel grows with the inverse square of its frequency. A channel holds as many samples more than
    there are sums as the lowest channel is delayed at the largest dispersion measure.

    Args:
        problem_size: Number of samples, number of dispersion measures.
        rng: Generator of the samples.
    """
    n_samples, n_dms = problem_size[:2]
    pitch = n_samples + LARGEST_SHIFT * n_dms
    samples = rng.integers(0, 256, (CHANNELS, pitch), dtype=np.uint8).astype(np.float32)
    delays = np.linspace(HIGHEST_MHZ, LOWEST_MHZ, CHANNELS) ** -2 - HIGHEST_MHZ**-2
    shifts = (LARGEST_SHIFT * delays / delays[-1]).astype(np.float32)
    sums = np.zeros((n_dms, n_samples), dtype=np.float32)
    return [sums, samples, shifts, np.int32(n_samples), np.int32(n_dms), np.int32(pitch)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Add up the shifted channels for every dispersion measure.

    The delay is computed in single precision and rounded towards zero, exactly as the kernel does.

    Args:
        arguments: What `arguments` returned.

    Returns:
        The sums, shape `(n_dms, n_samples)`, and None for each input.
    """
    sums = np.zeros_like(np.asarray(arguments[0]))
    samples, shifts = np.asarray(arguments[1]), np.asarray(arguments[2])
    n_dms, n_samples = sums.shape
    delays = (np.arange(n_dms, dtype=np.float32)[:, np.newaxis] * shifts).astype(np.int32)
    for dm in range(n_dms):
        for channel, delay in enumerate(delays[dm]):
            sums[dm] += samples[channel, delay : delay + n_samples]
    return [sums, None, None, None, None, None]
