"""Runs named strategies in this process: Kernel Tuner's own, the generated ones in its map, and other libraries'.

Sandboxed code never comes here. A strategy runs as a user would run it: one that stops by itself, because it has done
its generations, is scored as it stands, whatever is left of its budget; nothing is started again. Some defaults of Kernel
Tuner are no part of an algorithm but stand in for a budget that nobody set, and would cripple a strategy whose budget is
a time: `random_sample` stops after a tenth of the space, the greedy searches and `bayes_opt` after 100 evaluations, and
`nsga2` and `nsga3` when they no longer improve.
They get as many as the budget can pay for, unless their options say otherwise.

What is known of a space beforehand reaches exported strategies as `func.prior_mean` and `func.prior_sd`. Kernel Tuner's own know no
prior, nor do optimizers of other libraries: those that begin at an `x0` get the config that is expected to be the best, the
others nothing.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from llamea_tune.exceptions import LlameaTuneError, MissingDependencyError, StrategyError
from llamea_tune.execution.run import Run
from llamea_tune.execution.time_limit import ClockStopped, process_ends_after
from llamea_tune.kernel_tuner_internals import strategy_map
from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.compute import ComputeClock
from llamea_tune.runners.fast_searchspace import FastSearchspace
from llamea_tune.runners.live_space import runner_for
from llamea_tune.runners.meter import Meter, RunBudget
from llamea_tune.runners.strategy_run import Tunable, run_strategy
from llamea_tune.runners.trace import RunResult, RunState
from llamea_tune.sandbox.generators import owned_generators
from llamea_tune.spaces.searchspace import build_searchspace
from llamea_tune.spaces.space import ParamValue, Space
from llamea_tune.strategies.outside import find_outside, library_of
from llamea_tune.strategies.written import NamedStrategy

_LIMITED_BY_DEFAULT = frozenset(
    {"bayes_opt", "greedy_ils", "greedy_mls", "mls", "nsga2", "nsga3", "ordered_greedy_mls"}
)
_BEGIN_AT_X0 = frozenset({"basinhopping", "dual_annealing", "firefly_algorithm", "minimize", "pso", "skopt"})


class PreparedSpace:
    """A space made ready for many runs in one process."""

    def __init__(self, space: Space) -> None:
        self.space = space
        runner = runner_for(space)
        self.runner = ClockStopped(runner) if runner.takes_time else runner
        self.searchspace = build_searchspace(space.tune_params, space.value_indices, FastSearchspace)

    @cached_property
    def shortest_first_us(self) -> np.ndarray:
        """Clock after the quickest measurements of the space, one after the other; a sample stands for all configs."""
        return np.cumsum(np.sort(np.resize(measurement_times_us(self.space.known), self.space.size)))

    @cached_property
    def best_expected(self) -> list[ParamValue] | None:
        """The config of the lowest cost by the space's prior; None where nothing is known."""
        prior = self.space.prior
        if prior is None or np.isnan(prior.mean).all():
            return None
        return list(self.space.param_config(int(np.nanargmin(prior.mean))))

    def average_evaluations(self, budget: RunBudget) -> int:
        """How many measurements a budget pays for if each takes as long as the space's do on average; at least one."""
        most = self._allowed(budget)
        if budget.time_limit_us is not None:
            average_us = float(np.mean(measurement_times_us(self.space.known)))
            most = min(most, 1 + int(budget.time_limit_us / max(average_us, 1.0)))
        return most

    def most_evaluations(self, budget: RunBudget) -> int:
        """How many measurements a budget can pay for at most."""
        most = self._allowed(budget)
        if budget.time_limit_us is not None:
            most = min(most, 1 + int(np.searchsorted(self.shortest_first_us, budget.time_limit_us, side="right")))
        return most

    def _allowed(self, budget: RunBudget) -> int:
        return min(budget.max_fevals or self.space.size, self.space.size)


def find_strategy(name: str) -> Tunable:
    """The strategy of a name, see `NamedStrategy`; loaded, so that loading it is not taken for its own compute.

    Raises:
        StrategyError: The name is unknown.
        MissingDependencyError: It needs a package that is not installed.
    """
    if ":" in name:
        outside: Tunable = find_outside(name)
        return outside
    if name not in strategy_map:
        raise StrategyError(f"unknown strategy {name!r}; choose one of {', '.join(sorted(strategy_map))}")
    strategy: Tunable = strategy_map[name]
    try:
        strategy.tune  # noqa: B018  Kernel Tuner imports a strategy when it is first used
        import scipy.stats  # noqa: F401  and this when one first samples a Latin hypercube
    except ImportError as err:
        raise MissingDependencyError(f"the strategy {name!r} cannot be loaded ({err}); install what it needs") from err
    return strategy


def run_named(space: PreparedSpace, run: Run, limit_s: float | None = None) -> RunResult:
    """Run a named strategy once.

    Args:
        space: The run's space.
        run: What to run, with which seed and budget.
        limit_s: Wall-clock seconds after which this process is ended, which must be a worker; None for no limit. What
            live measurements take is left out.

    Returns:
        The run; an error that the strategy raises makes it a failed one.

    Raises:
        StrategyError: There is no such strategy, or its options limit the budget to nothing.
    """
    named = run.contender
    assert isinstance(named, NamedStrategy), "candidates run in the sandbox only"
    strategy, budget = find_strategy(named.name), _budget(named, run.budget)
    meter = Meter(space.runner, budget)
    compute = ComputeClock(meter.charge if run.charged else None) if run.cold or run.charged else None
    space.searchspace.begin_run(cold=compute is not None)
    state, reason = RunState.FINISHED, ""
    try:
        with process_ends_after(limit_s), owned_generators(run.seed):
            run_strategy(
                strategy,
                space.searchspace,
                meter,
                name=named.name,
                strategy_options=_options(space, named, budget),
                seed=run.seed,
                compute=compute,
                prior=space.space.prior,
            )
    except LlameaTuneError:
        raise
    except Exception as err:  # whatever a strategy raises is its failure, not ours
        state, reason = RunState.FAILED, f"{type(err).__name__}: {err}"
    if state is RunState.FINISHED and meter.done:
        state = RunState.TARGET_REACHED if meter.target_reached else RunState.BUDGET_SPENT
    elif state is RunState.FINISHED and meter.stalled:
        state = RunState.STALLED
    own_compute_s = compute.spent_s if compute is not None else float("nan")
    return RunResult(meter.trace(), state, reason, meter.counts(), own_compute_s)


def _budget(named: NamedStrategy, budget: RunBudget) -> RunBudget:
    """The run's budget within the limits that the options set, which Kernel Tuner enforces too."""
    time_limit_us, max_fevals = budget.time_limit_us, budget.max_fevals
    if "time_limit" in named.options:
        time_limit_us = min(time_limit_us or sys.maxsize, round(_positive(named, "time_limit") * 1e6))
    if "max_fevals" in named.options:
        max_fevals = min(max_fevals or sys.maxsize, int(_positive(named, "max_fevals")))
    return replace(budget, time_limit_us=time_limit_us, max_fevals=max_fevals)


def _positive(named: NamedStrategy, option: str) -> float:
    value = named.options[option]
    if not isinstance(value, int | float) or not value > 0:
        raise StrategyError(f"the option {option} of {named.name} must be a number above 0, not {value!r}")
    return value


def _options(space: PreparedSpace, named: NamedStrategy, budget: RunBudget) -> dict[str, Any]:
    options = dict(named.options)
    library = library_of(named.name)
    bridged = library is not None and "planned_fevals" in library.options
    if bridged:
        options.setdefault("planned_fevals", space.average_evaluations(budget))
    if (bridged or named.name in _BEGIN_AT_X0) and space.best_expected is not None:
        options.setdefault("x0", space.best_expected)
    if budget.max_fevals is not None and named.name != "brute_force":  # which refuses it
        options.setdefault("max_fevals", budget.max_fevals)
    elif named.name == "random_sample":
        options.setdefault("fraction", space.most_evaluations(budget) / space.space.size)
    elif named.name in _LIMITED_BY_DEFAULT:
        options.setdefault("max_fevals", space.most_evaluations(budget))
    return options
