"""The scorer: has an executor make a contender's runs on every space, and scores them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import replace

from llamea_tune.candidate import Behaviour
from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import Contender, Executor, Run, each_until_failure
from llamea_tune.runners.meter import RunBudget
from llamea_tune.runners.trace import RunResult, to_first_failure
from llamea_tune.scoring.aggregate import own_compute_ms, scorecard
from llamea_tune.scoring.behaviour import behaviours, kept_run_scores
from llamea_tune.scoring.racing import Race
from llamea_tune.scoring.score import SpaceScale, space_scale
from llamea_tune.scoring.scorecard import Scorecard
from llamea_tune.scoring.seeds import run_seed

Progress = Callable[[int, int], None]

_MEASURED_REPEAT = 0  # for own compute


class Scorer:
    """Scores contenders on the same spaces with the same seeds, so that their scorecards are comparable."""

    def __init__(
        self,
        executor: Executor,
        *,
        repeats: int,
        seed: int,
        baseline: str = "exact",
        charge_own_compute: bool = False,
        stop_at_target: bool = False,
    ) -> None:
        """Prepare to score.

        Args:
            executor: Makes the runs, on search spaces with distinct names.
            repeats: Runs of each contender on each space.
            seed: Master seed.
            baseline: One of `BASELINES`.
            charge_own_compute: Whether the compute of named strategies counts as time spent. Results then depend on
                the machine and its load. Candidates are not charged.
            stop_at_target: Whether runs end where nothing can change their score: the best config is measured, or scoring has
                ended. The first on each space, in which own compute is measured, goes on.

        Raises:
            SettingsError: No spaces, names that are not distinct, no repeats, an unknown baseline, or runs on live spaces,
                whose optimum nobody knows, that should end at a target.
        """
        names = [space.name for space in executor.spaces]
        if not names or len(set(names)) < len(names):
            raise SettingsError(f"scoring needs spaces with distinct names, got: {', '.join(names) or 'none'}")
        if repeats < 1:
            raise SettingsError(f"scoring needs at least one repeat, got repeats={repeats}")
        self.executor = executor
        self.spaces = tuple(executor.spaces)
        self.repeats = repeats
        self.seed = seed
        self.scales: tuple[SpaceScale, ...] = tuple(space_scale(space, baseline) for space in self.spaces)
        if stop_at_target and any(scale.target is None for scale in self.scales):
            message = "stop_at_target is for recorded spaces; leave it out with live ones"
            raise SettingsError(message, fields=("stop_at_target",))
        self._charged = charge_own_compute
        self._stop_at_target = stop_at_target

    def latest_scales(self) -> tuple[SpaceScale, ...]:
        """The scales, those of live spaces relative to the lowest cost that is known by now."""
        return tuple(scale.latest() for scale in self.scales)

    def score(
        self,
        contender: Contender,
        *,
        repeats: int | None = None,
        stage: str = "train",
        on_progress: Progress | None = None,
        race: Race | None = None,
    ) -> Scorecard:
        """Run a contender and score it.

        Args:
            contender: What to score.
            repeats: Runs on each space, where it should not be the scorer's own number.
            stage: What for; another stage gives fresh seeds.
            on_progress: Called with the number of runs done and of all runs.
            race: Who it runs against, where it is to be dropped once it is clearly behind.

        Raises:
            StrategyError: There is no such strategy.
            SandboxError: Candidates cannot be run safely here.
        """
        n_repeats = self.repeats if repeats is None else repeats
        chunk = n_repeats if race is None else min(race.first, n_repeats)
        runs: dict[str, list[RunResult]] = {space.name: [] for space in self.spaces}
        behaviour: Mapping[str, Behaviour] = {}
        done, lost, failed = 0, False, False
        while done < n_repeats and not (lost or failed):
            until = min(done + chunk, n_repeats)
            made = self._run(contender, range(done, until), n_repeats, stage, on_progress)
            runs = {name: [*before, *made[name]] for name, before in runs.items()}
            failed = any(not run.state.scorable for results in made.values() for run in results)
            behaviour = behaviours(self.spaces, self.scales, runs)
            done = until
            if race is not None and done < n_repeats:
                own_ms = own_compute_ms([run for results in runs.values() for run in results])
                lost = race.is_lost(kept_run_scores(self.scales, behaviour), own_ms)
        card = scorecard(contender.label, self.scales, runs, seed=self.seed)
        return replace(card, runs=sum(map(len, runs.values())), raced_out=lost, behaviour=behaviour)

    def run(
        self,
        contender: Contender,
        *,
        repeats: int | None = None,
        stage: str = "train",
        on_progress: Progress | None = None,
    ) -> dict[str, list[RunResult]]:
        """Have a contender's runs made; see `score`.

        Returns:
            The repeats on each space, by its name. If a run fails, it is the last one made.
        """
        n_repeats = self.repeats if repeats is None else repeats
        return self._run(contender, range(n_repeats), n_repeats, stage, on_progress)

    def _run(
        self, contender: Contender, repeats: range, n_repeats: int, stage: str, on_progress: Progress | None
    ) -> dict[str, list[RunResult]]:
        """Make some repeats of `n_repeats`."""
        results: dict[tuple[int, int], RunResult] = {}
        before = repeats.start * len(self.spaces)
        with closing(self.each_run(contender, repeats=repeats, stage=stage)) as made:
            for repeat, space, result in made:
                results[repeat, space] = result
                if on_progress is not None:
                    on_progress(before + len(results), n_repeats * len(self.spaces))
        runs: dict[str, list[RunResult]] = {space.name: [] for space in self.spaces}
        begun = sorted(results)
        for (_, space), result in zip(begun, to_first_failure(results[place] for place in begun), strict=False):
            runs[self.spaces[space].name].append(result)
        return runs

    def each_run(
        self, contender: Contender, *, repeats: Iterable[int], stage: str = "train"
    ) -> Generator[tuple[int, int, RunResult], None, None]:
        """Have some of a contender's runs made, and give each as soon as it is done.

        Args:
            contender: What to run.
            repeats: Numbers of the repeats; each is the same run whatever the others are.
            stage: See `score`.

        Yields:
            The number of the repeat, that of the space, and the run. Once a run has failed, none are made but those that
            come before it.

        Raises:
            StrategyError: There is no such strategy.
            SandboxError: Candidates cannot be run safely here.
        """
        places = {
            self.planned(contender, space, repeat, stage): (repeat, space)
            for repeat in repeats
            for space in range(len(self.spaces))
        }
        with closing(each_until_failure(self.executor, list(places))) as made:
            for run, result in made:
                yield *places[run], result

    def planned(self, contender: Contender, space: int, repeat: int, stage: str) -> Run:
        """The run of a contender on a space that a repeat is; see `each_run`."""
        scale, measured = self.scales[space], repeat == _MEASURED_REPEAT
        target = scale.target if self._stop_at_target and not measured else None
        budget = RunBudget(scale.budget.time_limit_us, target=target)
        seed = run_seed(self.seed, self.spaces[space].content_hash, repeat, stage)
        return Run(contender, space, seed, budget, cold=measured, charged=self._charged)
