"""How many runs are handed over at once: many short ones, so that handing over takes little of the time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

from llamea_tune.execution.run import Run

_CHUNK_S = 0.1  # fifty times what handing over takes, which goes on beside it
_CHUNKS_PER_S = 500  # that the driver can hand over and take back, however many workers there are
_MOST_RUNS = 1000


def seconds_of_a_chunk(n_workers: int) -> float:
    """How long the runs of a chunk should take together, where there are so many workers."""
    return max(_CHUNK_S, n_workers / _CHUNKS_PER_S)


class ChunkSizes:
    """Takes runs off an iterator in chunks that take long enough, by what earlier runs of that kind took.

    Chunks are short as long as little is done, since it is not known how much there will be; and towards the end, which is
    seen coming, so that all workers end at the same time.
    """

    def __init__(self, ahead: bool) -> None:
        """Start without experience.

        Args:
            ahead: Whether more than one run may be taken at a time.
        """
        self._ahead = ahead
        self._seconds: dict[tuple[str, int], float] = {}
        self._n_done = 0
        self._seen: deque[Run] = deque()  # off the iterator, and in no chunk yet

    def learn(self, run: Run, seconds: float) -> None:
        """Take note of how long a run took."""
        kind = (run.contender.label, run.space)
        self._seconds[kind] = (self._seconds.get(kind, seconds) + seconds) / 2
        self._n_done += 1

    def take(self, waiting: Iterator[Run | None], n_workers: int) -> list[Run]:
        """Take the next chunk; empty if there is no run for now."""
        most = min(1 + self._n_done // (4 * n_workers), _MOST_RUNS)
        look = 2 * n_workers * most if self._ahead else 1
        while len(self._seen) < look and (run := next(waiting, None)) is not None:
            self._seen.append(run)
        share = math.ceil(len(self._seen) / (2 * n_workers))
        enough_s = seconds_of_a_chunk(n_workers)
        chunk: list[Run] = []
        seconds = 0.0
        while len(chunk) < share and seconds < enough_s:
            chunk.append(self._seen.popleft())
            seconds += self._expected_s(chunk[-1], enough_s)
        return chunk

    def are_short(self, chunk: Sequence[Run], n_workers: int) -> bool:
        """Whether runs are known to take so little time that their worker should have others at hand to go on with."""
        seconds = sum(self._expected_s(run, math.inf) for run in chunk)
        return self._ahead and seconds <= 2 * seconds_of_a_chunk(n_workers)

    def _expected_s(self, run: Run, unknown_s: float) -> float:
        """How long a run will take; `unknown_s` where no such run was made."""
        return self._seconds.get((run.contender.label, run.space), unknown_s)
