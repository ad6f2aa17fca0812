"""Live spaces without a device, for tests: a recorded space that is measured slowly, or not even that."""

from __future__ import annotations

import time
from dataclasses import fields

import numpy as np

from llamea_tune.runners.cached import CachedRunner
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.runners.protocol import Measurement
from llamea_tune.spaces.space import Space

_ARRAYS = ("value_indices", "costs", "failures", "stage_times_ms")


class SlowRunner:
    """Looks measurements up, and takes its time."""

    def __init__(self, space: Space, seconds: float) -> None:
        self._cached = CachedRunner(space)
        self._seconds = seconds
        self.size = space.size

    def measure(self, index: int) -> Measurement:
        """The measurement of config number `index`, after a while."""
        time.sleep(self._seconds)
        return self._cached.measure(index)


def pretend_live(
    space: Space, *, sample: int, seed: int = 0, seconds: float = 0.0, budget_s: float | None = None
) -> LiveSpace:
    """A recorded space as if it were live.

    Args:
        space: What is recorded.
        sample: Size of the sample.
        seed: Seed of the sample.
        seconds: How long a measurement takes.
        budget_s: See `LiveSpace`.
    """
    facts = {field.name: getattr(space, field.name) for field in fields(Space)}
    order = np.random.default_rng(seed).permutation(space.size)[:sample]
    sampled = Space(**{**facts, **{name: facts[name][order] for name in _ARRAYS}})
    return LiveSpace(
        **facts,
        runner=SlowRunner(space, seconds),
        sample=sampled,
        reference=sampled.optimum,
        budget_s=budget_s,
        lowest_cost=lambda: space.optimum,
        on_cpu=False,
        opened_as={},
    )
