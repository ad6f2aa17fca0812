"""How many runs are handed over at once: many short ones, so that handing over takes little of the time."""

from __future__ import annotations

from collections.abc import Iterator

from llamea_tune.execution.run import Run

_CHUNK_S = 0.25  # a hundred times what handing over takes
_CHUNKS_PER_S = 500  # that the driver can hand over and take back, however many workers there are
_MOST_RUNS = 1000


def seconds_of_a_chunk(n_workers: int) -> float:
    """How long the runs of a chunk should take together, where there are so many workers."""
    return max(_CHUNK_S, n_workers / _CHUNKS_PER_S)


class ChunkSizes:
    """Takes runs off an iterator in chunks that take long enough, by what earlier runs of that kind took.

    Chunks are short as long as little is done, since it is not known how much there will be, and the last ones should
    end at the same time.
    """

    def __init__(self, ahead: bool) -> None:
        """Start without experience.

        Args:
            ahead: Whether more than one run may be taken at a time.
        """
        self._ahead = ahead
        self._seconds: dict[tuple[str, int], float] = {}
        self._n_done = 0

    def learn(self, run: Run, seconds: float) -> None:
        """Take note of how long a run took."""
        kind = (run.contender.label, run.space)
        self._seconds[kind] = (self._seconds.get(kind, seconds) + seconds) / 2
        self._n_done += 1

    def take(self, waiting: Iterator[Run | None], n_workers: int) -> list[Run]:
        """Take the next chunk; empty if there is no run for now."""
        enough_s = seconds_of_a_chunk(n_workers)
        most = min(1 + self._n_done // (2 * n_workers), _MOST_RUNS) if self._ahead else 1
        taken: list[Run] = []
        seconds = 0.0
        while len(taken) < most and seconds < enough_s and (run := next(waiting, None)) is not None:
            taken.append(run)
            seconds += self._seconds.get((run.contender.label, run.space), enough_s)
        return taken
