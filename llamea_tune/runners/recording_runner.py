"""The recording runner: a live space is a recorded space that fills itself on demand."""

from __future__ import annotations

import math
from pathlib import Path

from llamea_tune._closing import Closing
from llamea_tune.recording.recording_file import cache_header, config_key
from llamea_tune.recording.recording_journal import Journal
from llamea_tune.runners.live_runner import LiveDevice, measurement_of
from llamea_tune.runners.runner import Measurement


class RecordingRunner(Closing):
    """Measures a config once in the life of its cache file, whoever asks: other candidates, runs and processes.

    The file is a Kernel Tuner cache. A measurement is on disk before it is handed out, and is served from there ever
    after, at the cost in time that it had. While one process measures, others that share the file wait, so that
    measurements don't disturb each other; what is recorded is served without waiting.
    """

    takes_time = True

    def __init__(self, live: LiveDevice, cache: Path) -> None:
        """Open the cache file, or start one.

        Args:
            live: What measures; not closed by this runner.
            cache: The file.

        Raises:
            RecordingError: The file belongs to another kernel, version of it, or device.
        """
        self._live = live
        self._configs = live.kernel.param_configs
        self._journal = Journal(Path(cache), cache_header(live.kernel, live.device_name))
        self.measured = 0
        self.served = 0

    def close(self) -> None:
        """Close the cache file."""
        self._journal.close()

    @property
    def size(self) -> int:
        """Number of configs that can be asked for."""
        return len(self._configs)

    def lowest_cost(self) -> float:
        """The lowest cost in the file; infinite where there is none."""
        return min((entry["time"] for entry in self._journal.entries.values() if "time" in entry), default=math.inf)

    def measure(self, index: int) -> Measurement:
        """Serve config number `index` from the file, or measure and record it."""
        key = config_key(self._configs[index])
        if key in self._journal.entries:
            self.served += 1
            return measurement_of(self._journal.entries[key])
        with self._journal.lock():
            if key in self._journal.entries:
                self.served += 1
            else:
                self._journal.append(key, self._live.measure_entry(index))
                self.measured += 1
            return measurement_of(self._journal.entries[key])
