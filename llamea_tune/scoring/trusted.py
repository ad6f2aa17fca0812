"""Runs named strategies in this process: Kernel Tuner's own, the generated ones in its map, and pyATF's techniques.

Sandboxed code never comes here. A strategy runs as a user would run it: it may stop by itself, and is then scored as it
stands, whatever is left of its budget. The one exception is `random_sample`, whose default stops after a tenth of the
space: it gets the fraction that fills the budget, unless its options say otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from kernel_tuner.interface import strategy_map

from llamea_tune.exceptions import LlameaTuneError, StrategyError
from llamea_tune.runners.cached import CachedRunner, measurement_times_us
from llamea_tune.runners.meter import Meter, RunBudget
from llamea_tune.runners.session import Tunable, run_strategy
from llamea_tune.runners.trace import RunResult, RunState
from llamea_tune.spaces.searchspace import build_searchspace
from llamea_tune.spaces.space import Space


@dataclass(frozen=True)
class NamedRun:
    """One run of a named strategy.

    Attributes:
        strategy: Its name, see `Contender`.
        options: Its `strategy_options`.
        seed: Seed of the run's generators.
        budget: What it may spend.
    """

    strategy: str
    options: Mapping[str, Any]
    seed: int
    budget: RunBudget


class TrustedSpace:
    """A space made ready for many runs in one process."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.runner = CachedRunner(space)
        self.searchspace = build_searchspace(space.tune_params, space.value_indices)

    @cached_property
    def shortest_first_us(self) -> np.ndarray:
        """Clock after the quickest measurements of the space, one after the other."""
        return np.cumsum(np.sort(measurement_times_us(self.space)))

    def most_evaluations(self, budget: RunBudget) -> int:
        """How many measurements a budget can pay for at most."""
        most = min(budget.max_fevals or self.space.size, self.space.size)
        if budget.time_limit_us is not None:
            most = min(most, 1 + int(np.searchsorted(self.shortest_first_us, budget.time_limit_us, side="right")))
        return most


def check_strategy(name: str) -> None:
    """Refuse a strategy that cannot be run.

    Raises:
        StrategyError: The name is unknown.
        MissingDependencyError: pyATF is needed and not installed.
    """
    find_strategy(name)


def find_strategy(name: str) -> Tunable:
    """The strategy of a name, see `Contender`."""
    if name not in strategy_map:
        raise StrategyError(f"unknown strategy {name!r}; choose one of {', '.join(sorted(strategy_map))}")
    strategy: Tunable = strategy_map[name]
    return strategy


def run_named(trusted: TrustedSpace, run: NamedRun) -> RunResult:
    """Run a named strategy once.

    Returns:
        The run; an error that the strategy raises makes it a failed one.
    """
    meter = Meter(trusted.runner, run.budget)
    state, reason = RunState.FINISHED, ""
    started = time.process_time()
    try:
        run_strategy(
            find_strategy(run.strategy),
            trusted.searchspace,
            meter,
            strategy_options=_options(trusted, run),
            seed=run.seed,
        )
    except LlameaTuneError:
        raise
    except Exception as err:  # whatever a strategy raises is its failure, not ours
        state, reason = RunState.FAILED, f"{type(err).__name__}: {err}"
    own_compute_s = time.process_time() - started
    if state is RunState.FINISHED and meter.done:
        state = RunState.BUDGET_SPENT
    elif state is RunState.FINISHED and meter.stalled:
        state = RunState.STALLED
    return RunResult(meter.trace(), state, reason, meter.counts(), own_compute_s)


def _options(trusted: TrustedSpace, run: NamedRun) -> dict[str, Any]:
    options = dict(run.options)
    if run.strategy == "random_sample" and "fraction" not in options:
        options["fraction"] = trusted.most_evaluations(run.budget) / trusted.space.size
    return options
