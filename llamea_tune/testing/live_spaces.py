"""Live spaces without a device, for tests: a recorded space that is measured slowly, or not even that."""

from __future__ import annotations

import time
from dataclasses import fields, replace

import numpy as np

from llamea_tune.runners.cached import CachedRunner
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.runners.runner import Measurement
from llamea_tune.spaces.space import RecordedSpace, Space

_ARRAYS = ("value_indices", "costs", "failures", "stage_times_ms")


class SlowRunner:
    """Looks measurements up, and takes its time."""

    takes_time = True

    def __init__(self, space: RecordedSpace, seconds: float) -> None:
        self._cached = CachedRunner(space)
        self._seconds = seconds
        self.size = space.size

    def measure(self, index: int) -> Measurement:
        """The measurement of config number `index`, after a while."""
        time.sleep(self._seconds)
        return self._cached.measure(index)


def pretend_live(
    space: RecordedSpace, *, sample: int, seed: int = 0, seconds: float = 0.0, budget_s: float | None = None
) -> LiveSpace:
    """A recorded space as if it were live.

    Args:
        space: What is recorded.
        sample: Size of the sample.
        seed: Seed of the sample.
        seconds: How long a measurement takes.
        budget_s: See `LiveSpace`.
    """
    order = np.random.default_rng(seed).permutation(space.size)[:sample]
    sampled = replace(space, **{name: getattr(space, name)[order] for name in _ARRAYS})
    return LiveSpace(
        **{field.name: getattr(space, field.name) for field in fields(Space)},
        runner=SlowRunner(space, seconds),
        sample=sampled,
        reference=sampled.optimum,
        budget_s=budget_s,
        lowest_cost=lambda: space.optimum,
    )
