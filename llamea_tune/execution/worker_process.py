"""A worker process: forked, so that it shares what was loaded before."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Generic, TypeVar, cast

from threadpoolctl import threadpool_limits

from llamea_tune.execution.time_limit import ran_out
from llamea_tune.sandbox.server_process import ONE_THREAD, STARTING

Task = TypeVar("Task")
Result = TypeVar("Result")

_FORK = multiprocessing.get_context("fork")


class ProcessEndedError(Exception):
    """A worker process ended in the middle of a task.

    Attributes:
        at_limit: Whether that was at a time limit.
    """

    def __init__(self, at_limit: bool) -> None:
        super().__init__("its process died")
        self.at_limit = at_limit


class WorkerProcess(Generic[Task, Result]):
    """A process that does tasks of one kind, one after the other. It also ends when its parent dies."""

    def __init__(self, do: Callable[[Task], Result]) -> None:
        """Start the process.

        Args:
            do: Does one task; inherited by the fork, so it may hold anything.
        """
        self.connection, theirs = _FORK.Pipe()
        self._process = _FORK.Process(target=_serve, args=(theirs, do), daemon=True)
        gc.freeze()  # leaves shared pages unwritten
        with STARTING:
            self._process.start()
        gc.unfreeze()
        theirs.close()

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process.is_alive()

    def do(self, task: Task) -> Result:
        """Do one task; see `begin` and `result`."""
        self.begin(task)
        return self.result()

    def begin(self, task: Task) -> None:
        """Have it do one task, whose result must be fetched before the next one."""
        with suppress(ConnectionError):  # it ended; asking for the result says so
            self.connection.send(task)

    def result(self) -> Result:
        """Wait for the result of the task; errors that it raised are raised here.

        Raises:
            ProcessEndedError: The process ended.
        """
        try:
            answer: tuple[Result, None] | tuple[None, Exception] = self.connection.recv()
        except (EOFError, ConnectionError) as err:
            self.kill()
            self.connection.close()
            raise ProcessEndedError(ran_out(self._process.exitcode)) from err
        result, error = answer
        if error is not None:
            raise error
        return cast(Result, result)

    def kill(self) -> None:
        """End the process at once, whatever it is doing. May be called from any thread."""
        self._process.kill()
        self._process.join()


def first_to_answer(workers: Iterable[WorkerProcess[Task, Result]]) -> WorkerProcess[Task, Result]:
    """Wait until one of the workers, which all have a task, has its result or is lost."""
    by_connection = {worker.connection: worker for worker in workers}
    answering = wait(list(by_connection))
    return next(worker for connection, worker in by_connection.items() if connection in answering)


class WorkerPool(Generic[Task, Result]):
    """Workers of one kind, forked all at once when the first of them is needed, and again when some were lost."""

    def __init__(self, size: int, do: Callable[[Task], Result]) -> None:
        """Start nothing yet.

        Args:
            size: How many workers there should be.
            do: See `WorkerProcess`.
        """
        self._size = size
        self._do = do
        self._workers: list[WorkerProcess[Task, Result]] = []
        self._free: list[WorkerProcess[Task, Result]] = []

    def start(self) -> None:
        """Start as many workers as are missing."""
        while len(self._workers) < self._size:
            worker = WorkerProcess(self._do)
            self._workers.append(worker)
            self._free.append(worker)

    def take(self) -> WorkerProcess[Task, Result]:
        """A free worker. There must be one, or fewer than the size of the pool."""
        while self._free:
            worker = self._free.pop()
            if worker.alive:
                return worker
            self._workers.remove(worker)
        self.start()
        return self._free.pop()

    def give_back(self, worker: WorkerProcess[Task, Result]) -> None:
        """Have a worker free again, dead or alive."""
        self._free.append(worker)

    def kill(self) -> None:
        """End all workers at once, whatever they are doing."""
        for worker in self._workers:
            worker.kill()


def _serve(connection: Connection, do: Callable[[Task], Result]) -> None:
    """Do tasks until the parent hangs up."""
    STARTING.release()  # the parent held it while it forked this process, which may start others
    for number in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group; the parent ends its workers itself
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process at a time limit
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
