"""Worker processes that make runs: forked, so that they share what was loaded before."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import redirect_stdout
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Generic, NamedTuple, TypeVar

from threadpoolctl import threadpool_limits

from llamea_tune.sandbox.worker import ONE_THREAD
from llamea_tune.scoring.time_limit import ran_out

Task = TypeVar("Task")
Result = TypeVar("Result")

_FORK = multiprocessing.get_context("fork")


class Lost(NamedTuple):
    """What there is of a task whose process ended.

    Attributes:
        timed_out: Whether that was at a time limit.
    """

    timed_out: bool

    def reason(self, limit_s: float) -> str:
        """Why, in words; the limit is that of one run."""
        return f"ran longer than {limit_s:g} s" if self.timed_out else "its process died"


class Workers(Generic[Task, Result]):
    """A fixed number of processes that all do the same kind of task.

    Leaving the context ends them at once, whatever they are doing. They also end when their parent dies.
    """

    def __init__(self, do: Callable[[Task], Result], jobs: int) -> None:
        """Start the processes.

        Args:
            do: Does one task; inherited by the fork, so it may hold anything.
            jobs: Number of processes.
        """
        self._do = do
        self._jobs = jobs
        self._processes: dict[Connection, BaseProcess] = {}
        self._start_missing()

    def __enter__(self) -> Workers[Task, Result]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for connection in list(self._processes):
            self._end(connection)

    def results(
        self, tasks: Sequence[Task], last: Callable[[Result], bool]
    ) -> Generator[tuple[int, Result | Lost], None, None]:
        """Do tasks; yield each one's number and result as it is done, in no certain order.

        Args:
            tasks: What to do; begun in order.
            last: Whether to begin no further tasks after such a result. All those before it are finished nevertheless.

        Yields:
            Number and result, or that it is lost because the process died.
        """
        self._start_missing()
        waiting: Iterator[tuple[int, Task]] = iter(enumerate(tasks))
        busy: dict[Connection, int] = {}
        try:
            for connection in list(self._processes):
                self._hand_out(connection, waiting, busy)
            while busy:
                for connection in [ready for ready in wait(list(busy)) if isinstance(ready, Connection)]:
                    number = busy.pop(connection)
                    result = self._receive(connection)
                    if isinstance(result, Lost) or last(result):
                        waiting = iter(())
                    elif connection in self._processes:
                        self._hand_out(connection, waiting, busy)
                    yield number, result
        finally:
            for connection in busy:
                self._end(connection)

    def _start_missing(self) -> None:
        """Start processes in place of those that ended: not when they do, as the caller may be about to end them all."""
        while len(self._processes) < self._jobs:
            self._start()

    def _start(self) -> None:
        ours, theirs = _FORK.Pipe()
        inherited = [*self._processes, ours]
        process = _FORK.Process(target=_serve, args=(theirs, inherited, self._do), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process

    def _end(self, connection: Connection) -> Lost:
        process = self._processes.pop(connection)
        process.kill()
        process.join()
        connection.close()
        return Lost(ran_out(process.exitcode))

    def _hand_out(
        self, connection: Connection, waiting: Iterator[tuple[int, Task]], busy: dict[Connection, int]
    ) -> None:
        following = next(waiting, None)
        if following is not None:
            busy[connection], task = following
            connection.send(task)

    def _receive(self, connection: Connection) -> Result | Lost:
        try:
            result, error = connection.recv()
        except (EOFError, ConnectionError):
            return self._end(connection)
        if error is not None:
            raise error
        answer: Result = result
        return answer


def _serve(connection: Connection, inherited: Sequence[Connection], do: Callable[[Task], Result]) -> None:
    """Do tasks until the parent hangs up."""
    for number in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group; the parent ends its workers itself
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process at a time limit
    for other in inherited:
        other.close()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _use_one_thread()
    warnings.simplefilter("ignore")
    with (
        Path(os.devnull).open("w") as nowhere,
        redirect_stdout(nowhere),
    ):  # strategies print; the output is the parent's
        os.dup2(nowhere.fileno(), 1)
        _do_tasks(connection, do)


def _use_one_thread() -> None:
    """Hold numerical libraries to one thread, those that are loaded later too.

    The workers share the cores already; more threads would only wait for each other, be counted as a strategy's own
    compute, and add up numbers in an order that depends on the machine.
    """
    os.environ.update(ONE_THREAD)
    threadpool_limits(1)


def _do_tasks(connection: Connection, do: Callable[[Task], Result]) -> None:
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            connection.send((do(task), None))
        except Exception as error:  # raised again by the parent
            connection.send((None, error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
