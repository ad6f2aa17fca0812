"""The strategy's side of a run: Kernel Tuner's own cost function and stop rule over a channel.

A strategy, whether a module of Kernel Tuner or a wrapped `OptAlg`, is called as
`strategy.tune(searchspace, runner, tuning_options)`. Here it gets a runner and options whose measurements and budget
come from a `Channel`; so the same few lines serve the trusted process and the sandbox's guest.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from kernel_tuner.searchspace import Searchspace

from llamea_tune.kernel_tuner_internals import CostFunc, Options, StopCriterionReached
from llamea_tune.runners.channel import Channel
from llamea_tune.runners.channel_runner import ChannelBudget, ChannelRunner
from llamea_tune.runners.compute import ComputeClock
from llamea_tune.runners.evaluation import lean_evaluation
from llamea_tune.spaces.prior import Prior


class Tunable(Protocol):
    """What Kernel Tuner takes as `strategy=`: a module of its own, or any object like it."""

    def tune(self, searchspace: Searchspace, runner: Any, tuning_options: Any) -> Any:
        """Search until the budget is gone."""


def run_strategy(
    strategy: Tunable,
    searchspace: Searchspace,
    channel: Channel,
    *,
    name: str = "",
    objective: str = "time",
    strategy_options: Mapping[str, Any] | None = None,
    seed: int,
    compute: ComputeClock | None = None,
    prior: Prior | None = None,
) -> None:
    """Run a strategy to its end on the strategy's side of a channel.

    Strategies draw from the global generators of `random` and `numpy.random`; both are seeded here, as Kernel Tuner
    leaves that to its caller.

    Args:
        strategy: A module of Kernel Tuner or an object with its `tune` method.
        searchspace: Kernel Tuner's `Searchspace`, whose indices are the channel's.
        channel: Where measurements come from.
        name: The strategy's name; one module of Kernel Tuner holds two of them, and goes by it.
        objective: Name of the objective; costs are minimised whatever its direction.
        strategy_options: As for `kernel_tuner.tune_kernel`.
        seed: Seed of the global generators, 0 to 2**32 - 1.
        compute: Measures the strategy's own compute, where that is wanted.
        prior: What is known of the configs beforehand; strategies find it in `func.prior_mean` and `func.prior_sd`.

    Raises:
        Exception: Whatever the strategy raises, except Kernel Tuner's `StopCriterionReached`.
    """
    random.seed(seed)
    np.random.seed(seed)
    options = dict(strategy_options or {})
    limits = {key: options[key] for key in ("max_fevals", "time_limit") if key in options}
    tuning_options = Options(
        strategy=name,
        strategy_options=Options(options),
        objective=[objective],
        objective_higher_is_better=[False],
        budget=ChannelBudget(channel),
        tune_params=searchspace.tune_params,
        restrictions=None,
        restrictions_unmodified=None,
        verbose=False,
        metrics=None,
        cache={},
        simulation_mode=True,
        seed=seed,
        **limits,
    )
    runner = ChannelRunner(searchspace, channel, objective, compute)
    with lean_evaluation(), _known_beforehand(prior):
        if compute is not None:
            compute.resume()
        try:
            strategy.tune(searchspace, runner, tuning_options)
        except StopCriterionReached:
            return
        finally:
            if compute is not None:
                compute.pause()


@contextmanager
def _known_beforehand(prior: Prior | None) -> Iterator[None]:
    """Let every cost function have the arrays of a prior, copies that the strategy may change; None where there is none."""
    CostFunc.prior_mean = None if prior is None else prior.mean.copy()
    CostFunc.prior_sd = None if prior is None else prior.sd.copy()
    try:
        yield
    finally:
        del CostFunc.prior_mean, CostFunc.prior_sd
