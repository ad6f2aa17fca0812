"""Runs named strategies in this process: Kernel Tuner's own, the generated ones in its map, and pyATF's techniques.

Sandboxed code never comes here. A strategy runs as a user would run it: one that stops by itself, because it has done
its generations, is scored as it stands, whatever is left of its budget; nothing is started again. Some defaults of Kernel
Tuner are no part of an algorithm but stand in for a budget that nobody set, and would cripple a strategy whose budget is
a time: `random_sample` stops after a tenth of the space, the greedy searches and `bayes_opt` after 100 evaluations, and
`nsga2` and `nsga3` when they no longer improve.
They get as many as the budget can pay for, unless their options say otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from llamea_tune.exceptions import LlameaTuneError, MissingDependencyError, StrategyError
from llamea_tune.kernel_tuner_internals import strategy_map
from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.compute import ComputeClock
from llamea_tune.runners.fast_searchspace import FastSearchspace
from llamea_tune.runners.live_space import LiveSpace, runner_for
from llamea_tune.runners.meter import Meter, RunBudget
from llamea_tune.runners.session import Tunable, run_strategy
from llamea_tune.runners.trace import RunResult, RunState
from llamea_tune.scoring.generators import owned_generators
from llamea_tune.scoring.pyatf_technique import PREFIX, PyatfTechnique
from llamea_tune.scoring.time_limit import ClockStopped, process_ends_after
from llamea_tune.spaces.searchspace import build_searchspace
from llamea_tune.spaces.space import Space

_LIMITED_BY_DEFAULT = frozenset(
    {"bayes_opt", "greedy_ils", "greedy_mls", "mls", "nsga2", "nsga3", "ordered_greedy_mls"}
)


@dataclass(frozen=True)
class NamedRun:
    """One run of a named strategy.

    Attributes:
        strategy: Its name, see `Contender`.
        options: Its `strategy_options`.
        seed: Seed of the run's generators.
        budget: What it may spend.
        cold: Whether to measure the strategy's own compute, with cold neighbour caches as in a real tuning run.
        charged: Whether its own compute is charged to the run's clock; then it is measured too.
        limit_s: Wall-clock seconds after which its process is ended, which must be a worker; None for no limit. What live
            measurements take is left out.
    """

    strategy: str
    options: Mapping[str, Any]
    seed: int
    budget: RunBudget
    cold: bool = False
    charged: bool = False
    limit_s: float | None = None


class TrustedSpace:
    """A space made ready for many runs in one process."""

    def __init__(self, space: Space) -> None:
        self.space = space
        runner = runner_for(space)
        self.runner = ClockStopped(runner) if isinstance(space, LiveSpace) else runner
        self.searchspace = build_searchspace(space.tune_params, space.value_indices, FastSearchspace)

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


def find_strategy(name: str) -> Tunable:
    """The strategy of a name, see `Contender`; loaded, so that loading it is not taken for its own compute.

    Raises:
        StrategyError: The name is unknown.
        MissingDependencyError: It needs a package that is not installed.
    """
    if name.startswith(PREFIX):
        return PyatfTechnique(name.removeprefix(PREFIX))
    if name not in strategy_map:
        raise StrategyError(f"unknown strategy {name!r}; choose one of {', '.join(sorted(strategy_map))}")
    strategy: Tunable = strategy_map[name]
    try:
        strategy.tune  # noqa: B018  Kernel Tuner imports a strategy when it is first used
    except ImportError as err:
        raise MissingDependencyError(f"the strategy {name!r} cannot be loaded ({err}); install what it needs") from err
    return strategy


def run_named(trusted: TrustedSpace, run: NamedRun) -> RunResult:
    """Run a named strategy once.

    Returns:
        The run; an error that the strategy raises makes it a failed one.

    Raises:
        StrategyError: There is no such strategy, or its options limit the budget to nothing.
    """
    strategy, budget = find_strategy(run.strategy), _budget(run)
    meter = Meter(trusted.runner, budget)
    compute = ComputeClock(meter.charge if run.charged else None) if run.cold or run.charged else None
    trusted.searchspace.begin_run(cold=compute is not None)
    state, reason = RunState.FINISHED, ""
    try:
        with process_ends_after(run.limit_s), owned_generators(run.seed):
            run_strategy(
                strategy,
                trusted.searchspace,
                meter,
                name=run.strategy,
                strategy_options=_options(trusted, run, budget),
                seed=run.seed,
                compute=compute,
            )
    except LlameaTuneError:
        raise
    except Exception as err:  # whatever a strategy raises is its failure, not ours
        state, reason = RunState.FAILED, f"{type(err).__name__}: {err}"
    if state is RunState.FINISHED and meter.done:
        state = RunState.SETTLED if meter.settled else RunState.BUDGET_SPENT
    elif state is RunState.FINISHED and meter.stalled:
        state = RunState.STALLED
    own_compute_s = compute.spent_s if compute is not None else float("nan")
    return RunResult(meter.trace(), state, reason, meter.counts(), own_compute_s)


def _budget(run: NamedRun) -> RunBudget:
    """The run's budget within the limits that its options set, which Kernel Tuner enforces too."""
    time_limit_us, max_fevals = run.budget.time_limit_us, run.budget.max_fevals
    if "time_limit" in run.options:
        time_limit_us = min(time_limit_us or sys.maxsize, round(_positive(run, "time_limit") * 1e6))
    if "max_fevals" in run.options:
        max_fevals = min(max_fevals or sys.maxsize, int(_positive(run, "max_fevals")))
    return replace(run.budget, time_limit_us=time_limit_us, max_fevals=max_fevals)


def _positive(run: NamedRun, option: str) -> float:
    value = run.options[option]
    if not isinstance(value, int | float) or not value > 0:
        raise StrategyError(f"the option {option} of {run.strategy} must be a number above 0, not {value!r}")
    return value


def _options(trusted: TrustedSpace, run: NamedRun, budget: RunBudget) -> dict[str, Any]:
    options = dict(run.options)
    if budget.max_fevals is not None and run.strategy != "brute_force":  # which refuses it
        options.setdefault("max_fevals", budget.max_fevals)
    elif run.strategy == "random_sample":
        options.setdefault("fraction", trusted.most_evaluations(budget) / trusted.space.size)
    elif run.strategy in _LIMITED_BY_DEFAULT:
        options.setdefault("max_fevals", trusted.most_evaluations(budget))
    return options
