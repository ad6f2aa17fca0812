"""Pairs of neighbouring configs, for Kernel Tuner's kinds of neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from llamea_tune.spaces.recording import config_keys

Pairs = NDArray[np.int64]

_SAMPLE = 256


def hamming_pairs(value_indices: NDArray[np.uint16]) -> Pairs:
    """Pairs that differ in exactly one parameter, each once. Shape `(n_pairs, 2)`: row numbers."""
    return _stacked(
        [pairs for param in range(value_indices.shape[1]) for pairs in _line_pairs(value_indices, param, None)]
    )


def successive_pairs(value_indices: NDArray[np.uint16], param: int) -> Pairs:
    """Pairs that differ in one given parameter, by the closest value there is. Shape `(n_pairs, 2)`: row numbers."""
    return _stacked(_line_pairs(value_indices, param, 1))


def hamming_adjacent_pairs(value_indices: NDArray[np.uint16]) -> Pairs:
    """Pairs that differ in exactly one parameter, by the closest value there is. Shape `(n_pairs, 2)`: row numbers."""
    return _stacked([successive_pairs(value_indices, param) for param in range(value_indices.shape[1])])


def adjacent_pairs(value_indices: NDArray[np.uint16], most: int) -> Pairs | None:
    """Pairs that differ in any parameters, in each by at most one step among the values that occur in the space.

    Args:
        value_indices: Shape `(n, n_params)`.
        most: Give up, with None, where there are likely more pairs than this.
    """
    from scipy.spatial import KDTree

    steps = np.stack([np.unique(column, return_inverse=True)[1] for column in value_indices.T], axis=1)
    tree = KDTree(steps[:, steps.max(axis=0) > 0] if steps.any() else steps)
    sample = np.linspace(0, len(steps) - 1, min(_SAMPLE, len(steps))).astype(int)
    neighbours = tree.query_ball_point(tree.data[sample], 1.0, p=np.inf, return_length=True)
    if (np.mean(neighbours) - 1.0) * len(steps) / 2 > most:
        return None
    return np.asarray(tree.query_pairs(1.0, p=np.inf, output_type="ndarray"), dtype=np.int64).reshape(-1, 2)


def _line_pairs(value_indices: NDArray[np.uint16], param: int, longest_step: int | None) -> list[Pairs]:
    """Pairs along the lines on which only one parameter changes, by how many configs lie between them."""
    others = value_indices.copy()
    others[:, param] = 0
    lines = config_keys(others, (others.max(axis=0).astype(int) + 1).tolist())
    order = np.lexsort((value_indices[:, param], lines))
    lines = lines[order]
    found: list[Pairs] = []
    for step in range(1, len(order) if longest_step is None else longest_step + 1):
        on_one_line = np.flatnonzero(lines[:-step] == lines[step:])
        if not len(on_one_line):
            break
        found.append(np.stack([order[on_one_line], order[on_one_line + step]], axis=1).astype(np.int64))
    return found


def _stacked(parts: Sequence[Pairs]) -> Pairs:
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *parts])
