"""Arguments of the hotspot kernel, and the answer computed on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STEPS = 8
CONDUCTION_X = 0.2
CONDUCTION_Y = 0.15
HEATING = 0.1
COOLING = 0.01

ATOL = 1e-3
"""Temperatures lie between 0 and 100 degrees above ambient, so that eight steps are off by less than 1e-4."""


def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> list[np.ndarray | np.generic]:
    """Make the kernel arguments: result, temperature, power, width, height.

    Args:
        problem_size: Width and height of the chip in cells.
        rng: Generator of temperature (degrees above ambient) and power (degrees per unit of time).
    """
    width, height = problem_size[:2]
    result = np.zeros((height, width), dtype=np.float32)
    temperature = 80.0 * rng.random((height, width), dtype=np.float32)
    power = 10.0 * rng.random((height, width), dtype=np.float32)
    return [result, temperature.astype(np.float32), power.astype(np.float32), np.int32(width), np.int32(height)]


def answer(arguments: Sequence[np.ndarray | np.generic]) -> list[np.ndarray | None]:
    """Advance the temperature by all steps in double precision; no heat crosses the edges of the chip.

    Args:
        arguments: What `arguments` returned.

    Returns:
        The temperature, shape `(height, width)`, and None for each input.
    """
    temperature, power = (np.asarray(arguments[i], dtype=np.float64) for i in (1, 2))
    for _ in range(STEPS):
        padded = np.pad(temperature, 1, mode="edge")
        along_x = padded[1:-1, :-2] + padded[1:-1, 2:] - 2.0 * temperature
        along_y = padded[:-2, 1:-1] + padded[2:, 1:-1] - 2.0 * temperature
        temperature = (
            temperature + CONDUCTION_X * along_x + CONDUCTION_Y * along_y + HEATING * power - COOLING * temperature
        )
    return [temperature.astype(np.float32), None, None, None, None]
