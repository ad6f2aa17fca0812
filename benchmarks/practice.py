"""Does what a GPU programmer knows of all kernels tell good configs from bad ones of a kernel never seen?

    python benchmarks/practice.py --spaces 'searchspaces/*/caches/H*.json.gz' --spaces hub/cachefiles

Each config gets a few features of its parameters' names and values: threads of a block, whole warps, coalesced rows, work of a
thread, unrolling, vector width, staging in shared memory, padding, the read-only cache, and how far its values are from the
middle of their ranges. For each kernel, their weights are fitted (ridge regression on the standardised logarithm of the cost)
on the recordings of all other kernels; kernels that share a name up to what is behind `_` count as one. It takes seconds.
With `--written`, what is expected comes from functions that a language model wrote instead (`written_practice.py`).

Columns: the standard deviation of the logarithm of the cost; the rank correlation of what is expected with the recorded
costs; scores (0 is random search) of measuring all configs in the expected order, of random search among the best expected
quarter first, and after the best expected dozen; the optimum over the best of that dozen, and over the best of a dozen drawn
at random (1: the optimum is among them).
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from orders import OrderScorer
from scipy.stats import spearmanr
from written_practice import IMPROVED, PRACTICE, with_practice

from llamea_tune.spaces import RecordedSpace, load_spaces

Array = NDArray[np.float64]

N_RANDOM = 40
DOZEN = 12
RIDGE = 0.1
COLUMNS = ("space", "spread", "rank corr.", "order", "best quarter", "after a dozen", "best", "at random")

_FLAGS = {"staged": r"shmem|shared|^S[AB]$|staged", "padded": "padding", "read_only": "read_only"}


def features(space: RecordedSpace) -> dict[str, Array]:
    """What practice looks at, of every config; 0 where no parameter's name tells."""
    columns = _numbers(space)
    threads = np.log2(_product(columns, r"^block_size"))
    row = np.log2(_product(columns, r"^block_size_x$"))
    work = np.log2(_product(columns, r"^tile_size|_per_thread$"))
    flags = {name: _number_of_flags(space, columns, pattern) for name, pattern in _FLAGS.items()}
    blocks = "block_size_x" in columns
    return {
        "threads": threads,
        "threads_from_256": (threads - 8.0) ** 2 * blocks,
        "broken_warp": (np.exp2(threads).round() % 32 != 0) * 1.0 * blocks,
        "short_row": np.maximum(0.0, 5.0 - row) * blocks,
        "work": work,
        "work_from_4": (work - 2.0) ** 2,
        "unrolling": np.log2(_product(columns, "unroll")),
        "vector_width": np.log2(_product(columns, r"vector|^VW")),
        **flags,
        "extreme_values": _extreme(space),
    }


def _numbers(space: RecordedSpace) -> dict[str, Array]:
    """Each parameter's value in every config; for a text its place among the values."""
    return {
        name: np.array([i if isinstance(value, str) else float(value) for i, value in enumerate(values)])[indices]
        for (name, values), indices in zip(space.tune_params.items(), space.value_indices.T, strict=True)
    }


def _product(columns: dict[str, Array], pattern: str) -> Array:
    """Product of the parameters with such a name, 0 counting as 1."""
    chosen = [column for name, column in columns.items() if re.search(pattern, name)]
    return np.prod([np.where(column > 0.0, column, 1.0) for column in chosen] or [np.ones(_size(columns))], axis=0)


def _number_of_flags(space: RecordedSpace, columns: dict[str, Array], pattern: str) -> Array:
    chosen = [columns[n] > 0.0 for n, of in space.tune_params.items() if len(of) > 1 and re.search(pattern, n)]
    return np.sum(chosen or [np.zeros(space.size)], axis=0).astype(float)


def _extreme(space: RecordedSpace) -> Array:
    """Mean over parameters with at least three values of the squared distance from the middle, from 0 to 1."""
    places = [
        (2.0 * space.value_indices[:, column] / (len(values) - 1) - 1.0) ** 2
        for column, values in enumerate(space.tune_params.values())
        if len(values) > 2
    ]
    return np.mean(places or [np.zeros(space.size)], axis=0)


def _size(columns: dict[str, Array]) -> int:
    return len(next(iter(columns.values())))


class Practice:
    """The recordings as regressors and targets, and the weights that some of them give."""

    def __init__(self, scorers: Sequence[OrderScorer]) -> None:
        self.kernels = [re.split(r"[/_]", scorer.space.name)[0] for scorer in scorers]
        self.regressors = [np.stack(list(features(scorer.space).values()), axis=1) for scorer in scorers]
        self.regressors = [each - each.mean(axis=0) for each in self.regressors]
        logs = [scorer.log_costs() for scorer in scorers]
        self.targets = [(each - each.mean()) / each.std() for each in logs]

    def weights_without(self, kernel: str) -> Array:
        """Ridge regression on all other kernels, each of which counts alike."""
        n_features = self.regressors[0].shape[1]
        gram, moment = RIDGE * np.eye(n_features), np.zeros(n_features)
        for other, x, y in zip(self.kernels, self.regressors, self.targets, strict=True):
            if other != kernel:
                share = 1.0 / (self.kernels.count(other) * len(y))
                gram += share * x.T @ x
                moment += share * x.T @ y
        return np.linalg.solve(gram, moment)

    def expected(self, number: int) -> Array:
        """What practice expects of the configs of recording `number`, in standard deviations; lower is better."""
        return self.regressors[number] @ self.weights_without(self.kernels[number])


def written(space: RecordedSpace, kind: str) -> Array:
    """What functions that a language model wrote expect of the configs."""
    prior = with_practice(space, kind).prior
    assert prior is not None
    return prior.mean


def row(scorer: OrderScorer, expected: Array) -> dict[str, Any]:
    """How well what is expected does on a space."""
    rng, size = np.random.default_rng(0), scorer.space.size
    shuffled = rng.permutation(size)
    order = shuffled[np.argsort(expected[shuffled], kind="stable")]

    def in_parts(cut: int, *, first_in_order: bool) -> list[NDArray[np.integer]]:
        return [
            np.concatenate(
                [order[:cut] if first_in_order else rng.permutation(order[:cut]), rng.permutation(order[cut:])]
            )
            for _ in range(N_RANDOM)
        ]

    return {
        "space": scorer.space.name,
        "spread": float(scorer.log_costs()[scorer.space.valid].std()),
        "rank corr.": float(spearmanr(expected, scorer.log_costs()).statistic),
        "order": scorer.score(order),
        "best quarter": scorer.score(*in_parts(size // 4, first_in_order=False)),
        "after a dozen": scorer.score(*in_parts(DOZEN, first_in_order=True)),
        "best": scorer.best(order[:DOZEN]),
        "at random": float(np.mean([scorer.best(rng.permutation(size)[:DOZEN]) for _ in range(N_RANDOM)])),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spaces", action="append", required=True, help="recorded spaces: files, folders, globs")
    parser.add_argument("--written", choices=[PRACTICE, IMPROVED], help="go by functions that a language model wrote")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    arguments = parser.parse_args()
    scorers = [OrderScorer(space) for space in load_spaces(arguments.spaces)]
    practice = Practice(scorers)
    table = [
        row(scorer, written(scorer.space, arguments.written) if arguments.written else practice.expected(number))
        for number, scorer in enumerate(scorers)
    ]
    mean = {column: float(np.mean([each[column] for each in table])) for column in COLUMNS[1:]}
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    for each in [*table, {"space": "mean", **mean}]:
        cells = (each[column] for column in COLUMNS)
        print(f"| {' | '.join(f'{cell:.2f}' if isinstance(cell, float) else str(cell) for cell in cells)} |")
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
