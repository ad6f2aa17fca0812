"""The cached runner: measurements looked up in a recorded search space."""

from __future__ import annotations

import numpy as np

from llamea_tune.runners.protocol import Measurement
from llamea_tune.spaces.space import FailureKind, Space


class CachedRunner:
    """Looks measurements up; stateless, so one serves every run on its space."""

    def __init__(self, space: Space) -> None:
        """Prepare plain lists, which are faster to look one element up in than arrays."""
        stage_times_us = np.rint(space.stage_times_ms * 1000.0)
        self._costs: list[float] = space.costs.tolist()
        self._failures = [FailureKind(kind) for kind in space.failures]
        self._times_us: list[int] = stage_times_us.sum(axis=1).astype(np.int64).tolist()

    @property
    def size(self) -> int:
        """Number of configs of the space."""
        return len(self._costs)

    def measure(self, index: int) -> Measurement:
        """Look up config number `index`."""
        return Measurement(self._costs[index], self._failures[index], self._times_us[index])
