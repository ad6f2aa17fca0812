"""The cached runner: measurements looked up in a recorded search space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llamea_tune.runners.runner import Measurement
from llamea_tune.spaces.space import FailureKind, RecordedSpace


def measurement_times_us(space: RecordedSpace) -> NDArray[np.int64]:
    """What each measurement costs on a run's clock, in whole microseconds, each stage rounded by itself.

    Args:
        space: The space.

    Returns:
        Shape `(size,)`.
    """
    return np.asarray(np.rint(space.stage_times_ms * 1000.0).sum(axis=1), dtype=np.int64)


class CachedRunner:
    """Looks measurements up; stateless, so one serves every run on its space."""

    takes_time = False

    def __init__(self, space: RecordedSpace) -> None:
        """Prepare plain lists, which are faster to look one element up in than arrays."""
        self._costs: list[float] = space.costs.tolist()
        self._failures = [FailureKind(kind) for kind in space.failures]
        self._times_us: list[int] = measurement_times_us(space).tolist()

    @property
    def size(self) -> int:
        """Number of configs of the space."""
        return len(self._costs)

    def measure(self, index: int) -> Measurement:
        """Look up config number `index`."""
        return Measurement(self._costs[index], self._failures[index], self._times_us[index])
