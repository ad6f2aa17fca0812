"""A live space: a search space whose configs are measured when a run asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llamea_tune.runners.cached import CachedRunner
from llamea_tune.runners.protocol import Runner
from llamea_tune.spaces.space import Space


@dataclass(frozen=True, eq=False)
class LiveSpace(Space):
    """A kernel on a device, as a space; make one with `open_live`.

    Its measurements come from `runner`, one after the other. What scoring has to know before there are any is told by a
    random sample of the configs, which is measured first. The arrays of the space itself are an estimate: each config
    has what a random config of the sample gave. Their distributions, of costs, failures and times, are those of the
    sample; what a single one says of its config is nothing.

    Attributes:
        runner: Measures and records; may be used from any thread, and by processes that were forked since.
        sample: The sampled configs with what measuring them gave.
        reference: The lowest cost that was recorded when the run began, which scores are relative to.
        budget_s: What a run may spend on measuring, in seconds; None for the published budget of the sample.
        lowest_cost: Gives the lowest cost that is recorded by now.
        on_cpu: Whether it is measured where strategies compute, which then disturb it.
        opened_as: What `LiveKernel(**opened_as)` opens again.
    """

    runner: Runner
    sample: Space
    reference: float
    budget_s: float | None
    lowest_cost: Callable[[], float]
    on_cpu: bool
    opened_as: Mapping[str, Any]


def runner_for(space: Space) -> Runner:
    """What measures the configs of a space: the device for a live one, a lookup for a recorded one."""
    return space.runner if isinstance(space, LiveSpace) else CachedRunner(space)
