"""A live space: a search space whose configs are measured when a run asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import singledispatch

from llamea_tune.runners.cached import CachedRunner
from llamea_tune.runners.runner import Runner
from llamea_tune.spaces.space import RecordedSpace, Space


@dataclass(frozen=True, eq=False)
class LiveSpace(Space):
    """A kernel on a device, as a space; make one with `open_live`.

    Its measurements come from `runner`, one after the other. What scoring has to know before there are any is told by a
    random sample of the configs, which is measured first.

    Attributes:
        runner: Measures and records; may be used from any thread, and by processes that were forked since.
        sample: The sampled configs with what measuring them gave.
        reference: The lowest cost that was recorded when the run began, which scores are relative to.
        budget_s: What a run may spend on measuring, in seconds; None for the published budget of the sample.
        lowest_cost: Gives the lowest cost that is recorded by now.
        anywhere: Whether runs on other machines of a cluster reach the runner, too.
    """

    runner: Runner
    sample: RecordedSpace
    reference: float
    budget_s: float | None
    lowest_cost: Callable[[], float]
    anywhere: bool = field(default=False, kw_only=True)

    @property
    def known(self) -> RecordedSpace:
        """The sample."""
        return self.sample


@singledispatch
def runner_for(space: Space) -> Runner:
    """What measures the configs of a space: the device for a live one, a lookup for a recorded one."""
    raise NotImplementedError(f"register what measures a {type(space).__name__} with `runner_for`")


@runner_for.register
def _lookup(space: RecordedSpace) -> Runner:
    return CachedRunner(space)


@runner_for.register
def _device(space: LiveSpace) -> Runner:
    return space.runner
