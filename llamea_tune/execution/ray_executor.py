"""The Ray executor: runs on all machines of a Ray cluster."""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from llamea_tune.exceptions import ClusterError, ClusterWarning, SandboxError, SettingsError
from llamea_tune.execution.conditions import conditions
from llamea_tune.execution.executor import RunResults
from llamea_tune.execution.named import find_strategy
from llamea_tune.execution.ray_chunks import ChunkSizes
from llamea_tune.execution.ray_cluster import SAME_EVERYWHERE, RayConnection, check_same_conditions
from llamea_tune.execution.ray_worker import Chunk, ChunkOutcome, NodeFacts, RayWorker
from llamea_tune.execution.run import Run
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.runners.trace import RunState, failed_run
from llamea_tune.sandbox.sandboxed import Limits, SandboxedCandidate
from llamea_tune.spaces.space import Space
from llamea_tune.strategies.catalog import Origin, resolve

_MOST_LOSSES = 4  # of one run that is made alone: then it is to blame
_SECONDS_BETWEEN_LOOKS = 5.0
_PATIENCE_S = 30.0


@dataclass(eq=False)
class _Worker:
    """An actor of the cluster, the facts of its node once it has started, and the chunks that it was given: at most two."""

    actor: Any
    facts: NodeFacts | None = None
    chunks: list[_UnderWay] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return "" if self.facts is None else self.facts.node_id


@dataclass(eq=False)
class _UnderWay:
    """What an actor was asked for: a chunk of runs, or, if there are none, where it is.

    Attributes:
        worker: The actor.
        number: Of the chunk.
        runs: Its runs.
        short: Whether the actor should have another chunk at hand when it has made this one.
        wanted: False once it was stopped.
    """

    worker: _Worker
    number: int = 0
    runs: Sequence[Run] = ()
    short: bool = False
    wanted: bool = True


@dataclass
class _Losses:
    """Runs whose workers were lost, to be made again, each alone."""

    waiting: deque[Run] = field(default_factory=deque)
    times: dict[Run, int] = field(default_factory=dict)


class RayExecutor:
    """Makes runs on a Ray cluster: an actor for each CPU makes runs one after the other, as a `LocalExecutor` does.

    See `Executor`. Candidates run in the sandbox of the node. Workers are started and replaced as nodes come and go. A run
    whose worker is lost is made again, elsewhere; one that is lost again and again has failed. What decides results must
    be the same on all nodes. Every node must have this package; spaces, code and the user's own strategies are sent.
    """

    def __init__(
        self,
        spaces: Sequence[Space],
        *,
        address: str = "",
        jobs: int | None = None,
        limits: Limits | None = None,
        allow_weak: bool = False,
    ) -> None:
        """Connect to a cluster; workers start when they are first needed.

        Args:
            spaces: The spaces that runs may be on; recorded ones, or live ones of `cluster_devices`.
            address: See `RayConnection`.
            jobs: Runs that go on at the same time; by default one for each CPU of the cluster.
            limits: What one run may use; `Limits()` by default.
            allow_weak: Whether candidates may run where a node offers only a weaker sandbox.

        Raises:
            SettingsError: There are no jobs, or spaces are live on this machine.
            MissingDependencyError: Ray is not installed.
            ClusterError: No cluster answers.
        """
        if jobs is not None and jobs < 1:
            raise SettingsError(f"an executor needs at least one job, not {jobs}; give a positive number")
        stays = next((space.name for space in spaces if isinstance(space, LiveSpace) and not space.anywhere), None)
        if stays is not None:
            message = f"executor is ray, but {stays} is measured live, on this machine; name its kernel, to be opened on the cluster"
            raise SettingsError(message, fields=("executor",))
        self.spaces = tuple(spaces)
        self._jobs = jobs
        self._limits = limits or Limits()
        self._allow_weak = allow_weak
        self._connection = RayConnection(address, jobs)
        self._ray = self._connection.ray
        self._conditions = conditions()
        self._stored: list[Any] = []
        self._n_chunks = 0
        self._workers: set[_Worker] = set()
        self._free: list[_Worker] = []
        self._soon_free: dict[_Worker, None] = {}  # an ordered set
        self._under_way: dict[Any, _UnderWay] = {}
        self._weak: dict[str, SandboxError] = {}  # by id of the node
        self._looked = 0.0
        self._alone_since = time.monotonic()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def n_ready(self) -> int:
        """How many workers have started by now, and were not lost."""
        return sum(worker.facts is not None for worker in self._workers)

    def close(self) -> None:
        """End all workers at once, whatever they are doing, and leave the cluster."""
        for worker in list(self._workers):
            self._drop(worker)
        self._under_way.clear()
        self._connection.close()

    def each(self, runs: Iterable[Run | None], *, ahead: bool = False) -> RunResults:
        """See `Executor`.

        Raises:
            ClusterError: A node would give other results, or has no worker that starts.
        """
        waiting = iter(runs)
        lost = _Losses()
        sizes = ChunkSizes(ahead)
        try:
            while True:
                self._start_workers()
                exhausted = self._hand_out(waiting, lost, sizes)
                if exhausted and not self._wanted():
                    return
                for under_way, answer in self._answers():
                    if isinstance(answer, NodeFacts):
                        self._welcome(under_way.worker, answer)
                    elif under_way.wanted and answer is None:
                        yield from self._make_again(under_way, lost)
                    elif answer is not None:
                        under_way.worker.chunks.remove(under_way)
                        self._sort_in(under_way.worker)
                        yield from self._results(under_way, answer, lost, sizes)
        finally:
            latest = {under_way.worker: under_way.number for under_way in self._wanted()}
            for under_way in self._wanted():
                under_way.wanted = False
            for worker, number in latest.items():
                self._soon_free.pop(worker, None)
                worker.actor.stop.remote(number)

    def _wanted(self) -> list[_UnderWay]:
        return [under_way for under_way in self._under_way.values() if under_way.runs and under_way.wanted]

    def _start_workers(self) -> None:
        """Have as many workers as there should be now; looks for new nodes now and then."""
        now = time.monotonic()
        if self._workers and now - self._looked < _SECONDS_BETWEEN_LOOKS:
            return
        self._looked = now
        n_wanted = self._jobs or max(1, self._connection.cpus())
        if not self._stored:
            self._stored = [self._ray.put(space) for space in self.spaces]
        options = {"num_cpus": 1, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        actors = self._ray.remote(**options, max_concurrency=RayWorker.CALLS_AT_ONCE)(RayWorker)
        for _ in range(n_wanted - len(self._workers)):
            worker = _Worker(actors.remote(self._stored, self._limits, self._allow_weak))
            self._workers.add(worker)
            self._under_way[worker.actor.facts.remote()] = _UnderWay(worker)

    def _hand_out(self, waiting: Iterator[Run | None], lost: _Losses, sizes: ChunkSizes) -> bool:
        """Give runs to workers that are free, or soon will be. Whether there is none to give for now."""
        while self._free or (self._soon_free and not lost.waiting):
            alone = bool(lost.waiting)
            runs = [lost.waiting.popleft()] if alone else sizes.take(waiting, len(self._workers))
            if not runs:
                return True
            strategies = _own_strategies(runs)
            worker = self._fit_for(runs)
            if worker is None:  # none that is free; another one may be soon
                lost.waiting.extendleft(reversed(runs))
                return False
            self._n_chunks += 1
            chunk = Chunk(self._n_chunks, runs, strategies)
            short = not alone and sizes.are_short(runs, len(self._workers))
            under_way = _UnderWay(worker, chunk.number, runs, short)
            self._under_way[worker.actor.make.remote(chunk)] = under_way
            worker.chunks.append(under_way)
            self._sort_in(worker)
        return False

    def _sort_in(self, worker: _Worker) -> None:
        """Note whether a worker may be given runs, after it was given some or has made some."""
        self._soon_free.pop(worker, None)
        if not worker.chunks:
            self._free.append(worker)
        elif len(worker.chunks) == 1 and worker.chunks[0].short:
            self._soon_free[worker] = None

    def _fit_for(self, runs: Sequence[Run]) -> _Worker | None:
        """Take a worker that may make these runs: a free one, or else the one that should be free next.

        Raises:
            SandboxError: No node can confine candidates, and some of them are.
        """
        confined = any(isinstance(run.contender, SandboxedCandidate) for run in runs)
        for place in reversed(range(len(self._free))):
            if not confined or self._free[place].node_id not in self._weak:
                return self._free.pop(place)
        for worker in self._soon_free:
            if not confined or worker.node_id not in self._weak:
                return worker
        if all(worker.node_id in self._weak for worker in self._workers):
            raise next(iter(self._weak.values()))
        return None

    def _answers(self) -> Iterator[tuple[_UnderWay, NodeFacts | ChunkOutcome | None]]:
        """Wait for answers, and give all that are there; None for a worker that was lost."""
        pending = list(self._under_way)
        ready, _ = self._ray.wait(pending, timeout=_SECONDS_BETWEEN_LOOKS)
        if ready:
            ready, _ = self._ray.wait(pending, num_returns=len(pending), timeout=0)
        self._complain_if_nobody_comes()
        for reference in ready:
            under_way = self._under_way.pop(reference)
            try:
                answer = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError:  # an error of ours, not of the cluster
                self._drop(under_way.worker)
                raise
            except self._ray.exceptions.RayError as err:
                self._drop(under_way.worker)
                _refuse_broken(err)
                answer = None
            yield under_way, answer

    def _welcome(self, worker: _Worker, facts: NodeFacts) -> None:
        """Take a worker that has started.

        Raises:
            ClusterError: Its node would give other results.
        """
        check_same_conditions(self._conditions, facts)
        worker.facts = facts
        self._free.append(worker)

    def _results(self, under_way: _UnderWay, outcome: ChunkOutcome, lost: _Losses, sizes: ChunkSizes) -> RunResults:
        """What came of a chunk: results, and perhaps that its node takes no candidates."""
        if not under_way.wanted:
            return
        runs = under_way.runs
        for run, (result, seconds) in zip(runs, outcome.results, strict=False):
            sizes.learn(run, seconds)
            yield run, result
        if isinstance(outcome.error, SandboxError):
            self._take_no_candidates(under_way.worker.facts, outcome.error)
            lost.waiting.extend(runs[len(outcome.results) :])
        elif outcome.error is not None:
            raise outcome.error

    def _take_no_candidates(self, there: NodeFacts | None, error: SandboxError) -> None:
        if there is not None and there.node_id not in self._weak:
            self._weak[there.node_id] = error
            warnings.warn(f"the node {there.node} takes no candidates: {error}", ClusterWarning, stacklevel=2)

    def _make_again(self, under_way: _UnderWay, lost: _Losses) -> RunResults:
        """Have the runs of a lost worker made again, each alone; or give up on one that does that to every worker."""
        alone = len(under_way.runs) == 1
        for run in under_way.runs:
            lost.times[run] = lost.times.get(run, 0) + alone
            if lost.times[run] < _MOST_LOSSES:
                lost.waiting.append(run)
            else:
                yield run, failed_run(RunState.KILLED, f"{_MOST_LOSSES} workers died of it or with it")

    def _drop(self, worker: _Worker) -> None:
        """Have no more to do with a worker, which is ended if it lives."""
        self._workers.discard(worker)
        self._soon_free.pop(worker, None)
        self._ray.kill(worker.actor)
        self._looked = 0.0

    def _complain_if_nobody_comes(self) -> None:
        now = time.monotonic()
        if self.n_ready:
            self._alone_since = now
        elif now - self._alone_since > _PATIENCE_S:
            self._alone_since = math.inf  # once is enough
            message = (
                f"the cluster has started no worker for {_PATIENCE_S:g} s; it may have no CPU free, waiting for one"
            )
            warnings.warn(message, ClusterWarning, stacklevel=2)


def _own_strategies(runs: Sequence[Run]) -> Mapping[str, str]:
    """Source of the user's own strategies that runs are of; refuses what there is not, before it is sent."""
    found: dict[str, str] = {}
    for contender in {id(run.contender): run.contender for run in runs}.values():
        if not isinstance(contender, SandboxedCandidate):
            find_strategy(contender.name)
            info = resolve(contender.name)
            if info.origin is Origin.USER and info.path is not None:
                found[contender.name] = info.path.read_text(encoding="utf-8")
    return found


def _refuse_broken(error: Exception) -> None:
    """Tell a worker that cannot start at all from one that is lost.

    Raises:
        ClusterError: It cannot.
    """
    lines = str(error).strip().splitlines()
    if "creation task" in str(error) or "failed to import" in str(error):
        raise ClusterError(
            f"a node of the cluster cannot start a worker ({lines[-1].strip()}); {SAME_EVERYWHERE}"
        ) from error


def from_spec(
    argument: str, *, spaces: Sequence[Space], jobs: int | None, limits: Limits | None, allow_weak: bool
) -> RayExecutor:
    """The executor that `ray` or `ray:ADDRESS` names; see `RayExecutor`.

    By default one job in all where a CPU kernel is measured live, which runs beside it would disturb.
    """
    if jobs is None and any(space.on_cpu for space in spaces):
        jobs = 1
    return RayExecutor(spaces, address=argument, jobs=jobs, limits=limits, allow_weak=allow_weak)
