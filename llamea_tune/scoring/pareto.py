"""The Pareto front of score against own compute."""

from __future__ import annotations

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> tuple[bool, ...]:
    """Which points no other one beats: none has at least the score at no more own compute, and is better in one of them.

    Args:
        points: Score, the higher the better, and own compute, the lower the better; no NaN. Equals stand or fall together.
    """
    return tuple(not any(_beats(other, point) for other in points) for point in points)


def _beats(other: tuple[float, float], point: tuple[float, float]) -> bool:
    return other != point and other[0] >= point[0] and other[1] <= point[1]
