"""The scorer: makes a contender's runs on every space, on all cores, and scores them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.runners.meter import RunBudget
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, empty_trace, to_first_failure
from llamea_tune.sandbox.program import Limits, Program, RunJob
from llamea_tune.scoring.aggregate import scorecard
from llamea_tune.scoring.contender import Contender
from llamea_tune.scoring.score import SpaceScale, latest_scale, space_scale
from llamea_tune.scoring.scorecard import Scorecard
from llamea_tune.scoring.seeds import run_seed
from llamea_tune.scoring.trusted import NamedRun, TrustedSpace, find_strategy, run_named
from llamea_tune.scoring.workers import Lost, Workers
from llamea_tune.spaces.space import Space

if TYPE_CHECKING:
    from llamea_tune.sandbox.host import Sandbox

Progress = Callable[[int, int], None]

_MEASURED_REPEAT = 0  # for own compute


@dataclass(frozen=True)
class _Task:
    """One run of a named strategy: the number of the space, and what to do on it."""

    space: int
    run: NamedRun


class Scorer:
    """Runs and scores contenders on the same spaces with the same seeds, so that their scorecards are comparable.

    A context manager; leaving it ends all processes at once. Results do not depend on the number of jobs.
    """

    def __init__(
        self,
        spaces: Sequence[Space],
        *,
        repeats: int,
        seed: int,
        jobs: int = 1,
        baseline: str = "exact",
        limits: Limits | None = None,
        allow_weak: bool = False,
        charge_own_compute: bool = False,
        stop_when_settled: bool = False,
    ) -> None:
        """Prepare to score; processes start when they are first needed.

        Args:
            spaces: Search spaces with distinct names.
            repeats: Runs of each contender on each space.
            seed: Master seed.
            jobs: Processes that run at the same time.
            baseline: One of `BASELINES`.
            limits: What one run of a program may use.
            allow_weak: Whether programs may run where the machine offers only a weaker sandbox.
            charge_own_compute: Whether the compute of named strategies counts as time spent. Results then depend on
                the machine and its load. Programs are not charged.
            stop_when_settled: Whether runs end where their score is settled: the best config is measured, or scoring has
                ended. The first on each space, in which own compute is measured, goes on.

        Raises:
            SettingsError: No spaces, names that are not distinct, no repeats or jobs, an unknown baseline, or runs on
                live spaces, whose optimum nobody knows, that should end where they are settled.
        """
        names = [space.name for space in spaces]
        if not names or len(set(names)) < len(names):
            raise SettingsError(f"scoring needs spaces with distinct names, got: {', '.join(names) or 'none'}")
        if repeats < 1 or jobs < 1:
            raise SettingsError(f"scoring needs at least one repeat and one job, got repeats={repeats} and jobs={jobs}")
        if stop_when_settled and any(isinstance(space, LiveSpace) for space in spaces):
            raise SettingsError("--stop-when-settled is for recorded spaces; leave it out with --live")
        self.spaces = tuple(spaces)
        self.repeats = repeats
        self.seed = seed
        self.jobs = jobs
        self.scales: tuple[SpaceScale, ...] = tuple(space_scale(space, baseline) for space in spaces)
        self._limits = limits or Limits()
        self._allow_weak = allow_weak
        self._charged = charge_own_compute
        self._stop_when_settled = stop_when_settled
        self._processes = ExitStack()
        self._workers: Workers[_Task, RunResult] | None = None
        self._sandbox: Sandbox | None = None

    def __enter__(self) -> Scorer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._workers = None
        self._sandbox = None
        self._processes.close()

    def latest_scales(self) -> tuple[SpaceScale, ...]:
        """The scales, those of live spaces relative to the lowest cost that is known by now."""
        return tuple(map(latest_scale, self.spaces, self.scales))

    def score(
        self,
        contender: Contender,
        *,
        repeats: int | None = None,
        stage: str = "train",
        on_progress: Progress | None = None,
    ) -> Scorecard:
        """Run a contender and score it.

        Args:
            contender: What to score.
            repeats: Runs on each space, where it should not be the scorer's own number.
            stage: What for; another stage gives fresh seeds.
            on_progress: Called with the number of runs done and of all runs.

        Raises:
            StrategyError: There is no such strategy.
            SandboxError: Programs cannot be run safely here.
        """
        runs = self.run(contender, repeats=repeats, stage=stage, on_progress=on_progress)
        return scorecard(contender.label, self.scales, runs, seed=self.seed)

    def run(
        self,
        contender: Contender,
        *,
        repeats: int | None = None,
        stage: str = "train",
        on_progress: Progress | None = None,
    ) -> dict[str, list[RunResult]]:
        """Make a contender's runs; see `score`.

        Returns:
            The repeats on each space, by its name. If a run fails, it is the last one made.
        """
        order = self._order(range(self.repeats if repeats is None else repeats))
        results: dict[int, RunResult] = {}
        with closing(self._each(contender, order, stage)) as made:
            for number, run in made:
                results[number] = run
                if on_progress is not None:
                    on_progress(len(results), len(order))
        runs: dict[str, list[RunResult]] = {space.name: [] for space in self.spaces}
        in_order = to_first_failure(results[number] for number in sorted(results))
        for (space, _), run in zip(order, in_order, strict=False):
            runs[self.spaces[space].name].append(run)
        return runs

    def each_run(
        self, contender: Contender, *, repeats: Iterable[int], stage: str = "train"
    ) -> Generator[tuple[str, int, RunResult], None, None]:
        """Make some of a contender's runs, and give each as soon as it is done.

        Args:
            contender: What to run.
            repeats: Numbers of the repeats; each is the same run whatever the others are.
            stage: See `score`.

        Yields:
            The name of a space, the number of the repeat, and the run. Once a run has failed, none are begun but those
            that come before it; all of these are made.

        Raises:
            StrategyError: There is no such strategy.
            SandboxError: Programs cannot be run safely here.
        """
        order = self._order(repeats)
        with closing(self._each(contender, order, stage)) as made:
            for number, run in made:
                space, repeat = order[number]
                yield self.spaces[space].name, repeat, run

    def _order(self, repeats: Iterable[int]) -> list[tuple[int, int]]:
        """Number of the space and of the repeat of each run, in the order in which they are begun."""
        return [(number, repeat) for repeat in repeats for number in range(len(self.spaces))]

    def _each(
        self, contender: Contender, order: Sequence[tuple[int, int]], stage: str
    ) -> Generator[tuple[int, RunResult], None, None]:
        """The runs as they are done, by their number in the order."""
        if contender.program is not None:
            return self._program_runs(contender.program, order, stage)
        return self._named_runs(contender, order, stage)

    def _seed(self, number: int, repeat: int, stage: str) -> int:
        return run_seed(self.seed, self.spaces[number].content_hash, repeat, stage)

    def _budget(self, number: int, repeat: int) -> RunBudget:
        scale = self.scales[number]
        stops = self._stop_when_settled and repeat != _MEASURED_REPEAT
        return RunBudget(scale.budget.time_limit_us, settled=scale.settled if stops else None)

    def _program_runs(
        self, program: Program, order: Sequence[tuple[int, int]], stage: str
    ) -> Generator[tuple[int, RunResult], None, None]:
        if self._sandbox is None:
            from llamea_tune.sandbox.host import Sandbox

            sandbox = Sandbox(self.spaces, jobs=self.jobs, limits=self._limits, allow_weak=self._allow_weak)
            self._sandbox = self._processes.enter_context(sandbox)
        jobs = []
        for number, repeat in order:
            budget = self._budget(number, repeat)
            seed = self._seed(number, repeat, stage)
            jobs.append(RunJob(number, seed, budget.time_limit_us, settled=budget.settled))
        return self._sandbox.each_run(program, jobs)

    def _named_runs(
        self, contender: Contender, order: Sequence[tuple[int, int]], stage: str
    ) -> Generator[tuple[int, RunResult], None, None]:
        find_strategy(contender.strategy or "")  # refuses unknown ones before any run
        tasks = [
            _Task(number, self._named_run(contender, number, repeat, self._seed(number, repeat, stage)))
            for number, repeat in order
        ]
        results = self._started_workers().results(tasks, last=lambda result: not result.state.scorable)
        with closing(results):
            for number, result in results:
                yield number, self._lost(result) if isinstance(result, Lost) else result

    def _named_run(self, contender: Contender, number: int, repeat: int, seed: int) -> NamedRun:
        return NamedRun(
            contender.strategy or "",
            contender.options,
            seed,
            self._budget(number, repeat),
            cold=repeat == _MEASURED_REPEAT,
            charged=self._charged,
            limit_s=self._limits.named_s,
        )

    def _lost(self, lost: Lost) -> RunResult:
        state = RunState.TIMED_OUT if lost.timed_out else RunState.KILLED
        return RunResult(empty_trace(), state, lost.reason(self._limits.named_s), RequestCounts(), float("nan"))

    def _started_workers(self) -> Workers[_Task, RunResult]:
        if self._workers is None:
            trusted = [TrustedSpace(space) for space in self.spaces]
            gc.collect()
            gc.freeze()  # leaves shared pages unwritten
            self._workers = self._processes.enter_context(
                Workers(lambda task: run_named(trusted[task.space], task.run), self.jobs)
            )
            gc.unfreeze()
        return self._workers
