"""What strategies seem to be worth when their repeats share one `Searchspace`.

Kernel Tuner's `get_random_neighbor` prefers neighbours that the same object has met before. A `Searchspace` that is kept
from repeat to repeat so hands on where earlier runs have been, and strategies that ask for random neighbours score as if
they had tuned the kernel before. Scores here are those of runs that begin afresh, as a user's do; this shows the difference.

    python benchmarks/shared_searchspace.py [--repeats 25] [--hub PATH] [STRATEGY...]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from llamea_tune.execution import NamedStrategy
from llamea_tune.runners.fast_searchspace import FastSearchspace
from llamea_tune.spaces import load_spaces
from llamea_tune.testing.local_scorer import local_scorer

DEFAULT_HUB = Path(__file__).parent.parent.parent / "shared" / "data" / "benchmark_hub"


def main() -> None:
    """Score each strategy both ways and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategies", nargs="*", default=["simulated_annealing", "genetic_algorithm", "pso"])
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--hub", type=Path, default=Path(os.environ.get("LLAMEA_TUNE_HUB", DEFAULT_HUB)))
    arguments = parser.parse_args()
    spaces = load_spaces([str(arguments.hub / "cachefiles")])
    print(f"mean score on {len(spaces)} spaces, {arguments.repeats} repeats")
    print(f"{'strategy':24}{'each run afresh':>26}{'shared by the repeats':>26}")
    for strategy in arguments.strategies:
        texts = []
        for shared in (False, True):
            with remembering(shared), local_scorer(spaces, repeats=arguments.repeats, seed=1) as scorer:
                card = scorer.score(NamedStrategy(strategy, strategy))
            low, high = card.interval or (float("nan"),) * 2
            texts.append(f"{card.mean:+.2f} [{low:+.2f}, {high:+.2f}]")
        print(f"{strategy:24}{texts[0]:>26}{texts[1]:>26}", flush=True)


@contextmanager
def remembering(shared: bool) -> Iterator[None]:
    """Within it, runs on one space share what was looked up, if `shared`."""
    begin_run = FastSearchspace.begin_run

    def begin_first_run(searchspace: FastSearchspace, *, cold: bool = False) -> None:  # noqa: ARG001
        if not hasattr(searchspace, "_cold"):
            begin_run(searchspace)

    if shared:
        with patch.object(FastSearchspace, "begin_run", begin_first_run):
            yield
    else:
        yield


if __name__ == "__main__":
    main()
