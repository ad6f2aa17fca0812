"""The scorer: makes a contender's runs on every space, on all cores, and scores them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.meter import RunBudget
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, empty_trace
from llamea_tune.sandbox.program import Limits, Program, RunJob
from llamea_tune.scoring.aggregate import scorecard
from llamea_tune.scoring.contender import Contender
from llamea_tune.scoring.score import SpaceScale, latest_scale, space_scale
from llamea_tune.scoring.scorecard import Scorecard
from llamea_tune.scoring.seeds import run_seed
from llamea_tune.scoring.trusted import NamedRun, TrustedSpace, find_strategy, run_named
from llamea_tune.scoring.workers import Workers
from llamea_tune.spaces.space import Space

if TYPE_CHECKING:
    from llamea_tune.sandbox.host import Sandbox

Progress = Callable[[int, int], None]


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

        Raises:
            SettingsError: No spaces, names that are not distinct, no repeats or jobs, or an unknown baseline.
        """
        names = [space.name for space in spaces]
        if not names or len(set(names)) < len(names):
            raise SettingsError(f"scoring needs spaces with distinct names, got: {', '.join(names) or 'none'}")
        if repeats < 1 or jobs < 1:
            raise SettingsError(f"scoring needs at least one repeat and one job, got repeats={repeats} and jobs={jobs}")
        self.spaces = tuple(spaces)
        self.repeats = repeats
        self.seed = seed
        self.jobs = jobs
        self.scales: tuple[SpaceScale, ...] = tuple(space_scale(space, baseline) for space in spaces)
        self._limits = limits or Limits()
        self._allow_weak = allow_weak
        self._charged = charge_own_compute
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
        n_repeats = self.repeats if repeats is None else repeats
        order = [(number, repeat) for repeat in range(n_repeats) for number in range(len(self.spaces))]
        seeds = [run_seed(self.seed, self.spaces[number].content_hash, repeat, stage) for number, repeat in order]
        progress = on_progress or _no_progress
        if contender.program is not None:
            jobs = [
                RunJob(number, seed, self.scales[number].budget.time_limit_us)
                for (number, _), seed in zip(order, seeds, strict=True)
            ]
            results = self._run_program(contender.program, jobs, progress)
        else:
            tasks = [
                _Task(number, self._named_run(contender, number, repeat, seed))
                for (number, repeat), seed in zip(order, seeds, strict=True)
            ]
            results = self._run_named(contender.strategy or "", tasks, progress)
        runs: dict[str, list[RunResult]] = {space.name: [] for space in self.spaces}
        for (number, _), result in zip(order, results, strict=False):
            runs[self.spaces[number].name].append(result)
        return runs

    def _run_program(self, program: Program, jobs: Sequence[RunJob], progress: Progress) -> list[RunResult]:
        if self._sandbox is None:
            from llamea_tune.sandbox.host import Sandbox

            sandbox = Sandbox(self.spaces, jobs=self.jobs, limits=self._limits, allow_weak=self._allow_weak)
            self._sandbox = self._processes.enter_context(sandbox)
        results: list[RunResult] = []
        batch = max(4 * self.jobs, len(jobs) // 10)
        for start in range(0, len(jobs), batch):
            results += self._sandbox.run_all(program, jobs[start : start + batch], stop_on_failure=True)
            progress(len(results), len(jobs))
            if not all(result.state.scorable for result in results):
                break
        return _to_first_failure(results)

    def _named_run(self, contender: Contender, number: int, repeat: int, seed: int) -> NamedRun:
        """One run; the first on each space is the one in which own compute is measured."""
        budget = RunBudget(self.scales[number].budget.time_limit_us)
        strategy = contender.strategy or ""
        return NamedRun(strategy, contender.options, seed, budget, cold=repeat == 0, charged=self._charged)

    def _run_named(self, strategy: str, tasks: Sequence[_Task], progress: Progress) -> list[RunResult]:
        find_strategy(strategy)  # refuses unknown ones before any run
        results: list[RunResult | None] = [None] * len(tasks)
        made = self._started_workers().results(tasks, last=lambda result: not result.state.scorable)
        for done, (number, result) in enumerate(made, start=1):
            results[number] = result or RunResult(
                empty_trace(), RunState.KILLED, "its process died", RequestCounts(), float("nan")
            )
            progress(done, len(tasks))
        return _to_first_failure([result for result in results if result is not None])

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


def _to_first_failure(results: Sequence[RunResult]) -> list[RunResult]:
    """The runs up to the first that failed, which do not depend on how many others were under way then."""
    failed = next((number for number, result in enumerate(results) if not result.state.scorable), len(results))
    return list(results[: failed + 1])


def _no_progress(_done: int, _total: int) -> None:
    """Tell nobody."""
