"""Tuning within a run of evolution: candidates share one allowance of runs, and the more promising get more of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llamea_tune.candidate import Candidate, HyperparameterValue
from llamea_tune.exceptions import StrategyError
from llamea_tune.execution import SandboxedCandidate
from llamea_tune.hpo.ordered_runs import ordered_runs
from llamea_tune.hpo.samplers import make_sampler
from llamea_tune.hpo.storage import StudyDirectory
from llamea_tune.hpo.study import StudyResult, opened_study
from llamea_tune.hpo.trial import TrialOutcome, TrialRecord, make_trial, race_from, trial_steps
from llamea_tune.hpo.tunable import TunableContender, tunable_candidate
from llamea_tune.scoring.scorer import Scorer
from llamea_tune.scoring.seeds import run_seed

FEWEST_TRIALS = 4
"""A study that cannot make so many trials is not begun."""

OnTrial = Callable[[str, tuple[int, int]], None]


@dataclass(frozen=True)
class TunedCandidate:
    """What tuning a candidate found.

    Attributes:
        candidate_id: The candidate's id.
        values: The best hyperparameters; empty where none were found that are better than the defaults.
        value: Their mean single-run score in the study; None if nothing got through all runs.
        default_value: That of the defaults; None if they failed.
        trials: Trials that were made.
        runs: Runs that they took.
    """

    candidate_id: str
    values: Mapping[str, HyperparameterValue]
    value: float | None
    default_value: float | None
    trials: int
    runs: int


@dataclass(frozen=True)
class LoopTuner:
    """Tunes candidates of one run. The outcome depends on neither the number of jobs nor interruptions.

    Attributes:
        scorer: Whose spaces and executor to tune on; runs of one trial go on at the same time.
        repeats: Repeats on each space that a trial is run on, unless it is pruned.
        trials: Trials for one candidate at most.
        seed: Seed of the samplers.
        folder: Where the studies are kept, one directory for each candidate.
    """

    scorer: Scorer
    repeats: int
    trials: int
    seed: int
    folder: Path

    def tune_all(
        self, candidates: Sequence[Candidate], allowance: int, on_trial: OnTrial | None = None
    ) -> list[TunedCandidate]:
        """Tune several candidates by successive halving.

        Every rung gets an even share of the allowance, and its candidates even shares of that; the better half, by
        the best score in its study, goes on to the next rung.

        Args:
            candidates: The candidates, the most promising first; those that have nothing to tune are passed over.
            allowance: Runs for all of them together; never exceeded.
            on_trial: Called after every trial with the candidate's id, and how many runs it has taken of how many.

        Returns:
            What was found for each candidate that a trial was made for, in the order given.
        """
        tunables = {entry.id: tunable for entry in candidates if (tunable := _tunable(entry)) is not None}
        alive = list(tunables)
        found: dict[str, TunedCandidate] = {}
        left = allowance
        rungs = (len(tunables) - 1).bit_length() + 1 if tunables else 0  # down to one candidate
        for rungs_left in range(rungs, 0, -1):
            share = left // rungs_left // len(alive)
            for key in alive:
                before = found[key].runs if key in found else 0
                found[key] = self.tune(key, tunables[key], before + share, on_trial)
                left -= found[key].runs - before
            alive = sorted(alive, key=lambda key: -_worth(found[key]))[: (len(alive) + 1) // 2]
        return [found[key] for key in tunables if found[key].trials > 0]

    def tune(
        self, key: str, tunable: TunableContender, allowance: int, on_trial: OnTrial | None = None
    ) -> TunedCandidate:
        """Make trials, the defaults first, as long as the next one is sure to stay within an allowance.

        None is made where the allowance is too small for a few. Trials that were made before count as if they were made
        now.

        Args:
            key: The candidate's id.
            tunable: The candidate.
            allowance: Runs that its trials may take in all.
            on_trial: See `tune_all`.
        """
        runs = ordered_runs(tunable.contender, self.scorer.spaces, self.scorer.scales, self.repeats, self.seed)
        if allowance < min(self.trials, FEWEST_TRIALS) * len(runs):
            return TunedCandidate(key, {}, None, None, 0, 0)
        header = {"candidate": key, "seed": self.seed, "pairs": len(runs)}
        since = race_from(len(self.scorer.spaces))
        records: list[TrialRecord] = []
        used = 0
        with opened_study(StudyDirectory(self.folder / key), header, tunable.defaults) as (study, made):
            for slot in range(self.trials):
                if used + len(runs) > allowance:
                    break
                if slot not in made:
                    study.sampler = make_sampler("tpe", run_seed(self.seed, f"sampler of {key}", slot))
                    steps = trial_steps(study, tunable, runs, self.scorer.scales, slot, self._chunks(), since)
                    made[slot] = make_trial(self.scorer.executor, steps)
                records.append(made[slot])
                used += made[slot].runs
                if on_trial is not None:
                    on_trial(key, (used, allowance))
        return _summary(key, StudyResult.of(records, tunable.defaults, len(runs)))

    def _chunks(self) -> Iterator[int]:
        """Every space once, again once, twice, four times, and so on: few runs first, more for those that survive."""
        size = len(self.scorer.spaces)
        yield size
        while True:
            yield size
            size *= 2


def _summary(key: str, result: StudyResult) -> TunedCandidate:
    best, default = result.best, result.default
    return TunedCandidate(
        key,
        values={} if best is None or best is default else dict(best.values),
        value=None if best is None else best.value,
        default_value=default.value if default and default.outcome is TrialOutcome.COMPLETE else None,
        trials=len(result.trials),
        runs=result.runs,
    )


def _worth(found: TunedCandidate) -> float:
    return float("-inf") if found.value is None else found.value


def _tunable(candidate: Candidate) -> TunableContender | None:
    label = f"{candidate.id} {candidate.class_name}"
    try:
        return tunable_candidate(
            SandboxedCandidate(candidate.code, candidate.class_name, label=label), candidate.ranges
        )
    except StrategyError:
        return None
