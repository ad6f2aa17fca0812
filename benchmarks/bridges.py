"""Which bridge is the best for each optimizer of another library: what its asks outside of the space, and its repeated ones, become.

Each optimizer is scored behind three bridges, on bundled spaces with small budgets, in which 31 to 83 % of all combinations of
values are configs. Without patience every ask is answered by the nearest unmeasured config, whatever `outside` is.

    python benchmarks/bridges.py [--repeats 5] [--spaces PATTERN...] [STRATEGY...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from llamea_tune.exceptions import MissingDependencyError, StrategyError
from llamea_tune.execution import NamedStrategy
from llamea_tune.execution.named import find_strategy
from llamea_tune.spaces import load_spaces
from llamea_tune.strategies.outside.bridge import Outside
from llamea_tune.testing.local_scorer import local_scorer

SPACES = Path(__file__).parent.parent / "searchspaces"
DEFAULT_SPACES = ("nbody/caches/H200*.gz", "stencil_openmp/caches/*.gz", "matmul_openmp/caches/*.gz")
BRIDGES = ((Outside.NEAREST, 0), (Outside.NEAREST, 10), (Outside.REFUSED, 10))
DEFAULT_STRATEGIES = (
    *("optuna:tpe", "optuna:cmaes", "nevergrad:NGOpt", "nevergrad:DiscreteOnePlusOne"),
    *("nevergrad:PortfolioDiscreteOnePlusOne", "nevergrad:CMA"),
)


def main() -> None:
    """Score each optimizer behind each bridge and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategies", nargs="*", default=DEFAULT_STRATEGIES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--spaces", nargs="*", default=DEFAULT_SPACES, help="patterns of files in searchspaces/")
    arguments = parser.parse_args()
    try:
        for strategy in arguments.strategies:
            find_strategy(strategy)
    except (StrategyError, MissingDependencyError) as err:
        parser.error(str(err))
    spaces = load_spaces([str(SPACES / pattern) for pattern in arguments.spaces])
    print(f"mean score on {', '.join(space.name for space in spaces)}; {arguments.repeats} repeats; own compute")
    print(" " * 38 + "".join(f"{f'{outside.value}, patience {patience}':>30}" for outside, patience in BRIDGES))
    for strategy in arguments.strategies:
        texts = []
        for outside, patience in BRIDGES:
            options = {"outside": outside.value, "patience": patience}
            with local_scorer(spaces, repeats=arguments.repeats, seed=1, jobs=2, stop_at_target=True) as scorer:
                card = scorer.score(NamedStrategy(strategy, strategy, options))
            low, high = card.interval or (float("nan"),) * 2
            own_ms = sum(score.own_compute_ms for score in card.spaces.values()) / len(spaces)
            texts.append(f"{card.mean:+.2f} [{low:+.2f}, {high:+.2f}] {own_ms:5.0f} ms")
        print(f"{strategy:38}" + "".join(f"{text:>30}" for text in texts), flush=True)


if __name__ == "__main__":
    main()
