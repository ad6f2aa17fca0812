"""How good is advice by itself, without any search, and how much of it hangs on names, source, device and problem size?

    python benchmarks/advice.py advice/ --spaces 'searchspaces/*/caches/*.json.gz' --spaces hub/cachefiles

Each file of advice is set against each recorded space of the same kernel and parameters, so that advice for another device,
for another problem size, or given without names or source shows beside the advice for the very space. It takes seconds.

Columns: how many of the named configs are in the space; the optimum over the best of them (1: it is among them), and over the
best of as many drawn at random; scores of measuring the named ones in their order and then stopping, then going on at random,
and then going on in the order of the prior; the rank correlation of the prior with the recorded costs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from orders import OrderScorer
from scipy.stats import spearmanr

from llamea_tune.priors.advice import Advice, read_advice
from llamea_tune.spaces import RecordedSpace, load_spaces

N_RANDOM = 100
COLUMNS = ("space", "told", "named", "best", "at random", "stop", "then random", "then prior", "rank corr.")


def rows(advices: Sequence[tuple[Path, Advice]], spaces: Sequence[RecordedSpace]) -> Iterator[dict[str, Any]]:
    """A row for each space and each file of advice on its kernel."""
    for space in spaces:
        fitting = [(path, advice) for path, advice in advices if _fits(advice, space)]
        if fitting:
            scorer = OrderScorer(space)
            for path, advice in fitting:
                yield _row(scorer, path, advice)


def _fits(advice: Advice, space: RecordedSpace) -> bool:
    return advice.kernel == space.kernel_name and set(advice.tune_params) == set(space.tune_params)


def _row(scorer: OrderScorer, path: Path, advice: Advice) -> dict[str, Any]:
    space = scorer.space
    rng = np.random.default_rng(0)
    named = [number for number, _ in advice.opinion.named(space.tune_params, space.value_indices)]
    prior = advice.prior_over(space.tune_params, space.value_indices)
    expected = np.where(np.isnan(prior.mean), 0.0, prior.mean)
    shuffled = rng.permutation(space.size)  # among equals the order of the file would tell something
    order = shuffled[np.argsort(expected[shuffled], kind="stable")]
    order = [*named, *order[~np.isin(order, named)].tolist()]
    at_random = [rng.permutation(space.size) for _ in range(N_RANDOM)]
    return {
        "space": space.name,
        "told": _told(advice),
        "file": path.name,
        "named": len(named),
        "best": scorer.best(named) if named else 0.0,
        "at random": float(np.mean([scorer.best(drawn[: len(named)]) for drawn in at_random])) if named else 0.0,
        "stop": scorer.score(named) if named else 0.0,
        "then random": scorer.score(*([*named, *drawn[~np.isin(drawn, named)]] for drawn in at_random)),
        "then prior": scorer.score(order),
        "rank corr.": float(spearmanr(expected, scorer.log_costs()).statistic),
    }


def _told(advice: Advice) -> str:
    size = advice.problem_size
    size = "x".join(map(str, size)) if isinstance(size, list) else str(size)
    hidden = "".join(f", {name} hidden" for name in advice.hidden)
    return f"{advice.device or 'no device'}, {size}{hidden}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("advice", type=Path, nargs="+", help="files of advice, or folders that hold some at any depth")
    parser.add_argument("--spaces", action="append", required=True, help="recorded spaces: files, folders, globs")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    arguments = parser.parse_args()
    files = [
        path for place in arguments.advice for path in (sorted(place.rglob("*.json")) if place.is_dir() else [place])
    ]
    table = list(rows([(path, read_advice(path)) for path in files], load_spaces(arguments.spaces)))
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    for row in table:
        cells = (row[column] for column in COLUMNS)
        print(f"| {' | '.join(f'{cell:.2f}' if isinstance(cell, float) else str(cell) for cell in cells)} |")
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
