"""A study of a strategy's hyperparameters, on all cores, kept in a directory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llamea_tune.candidate import HyperparameterValue
from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import Executor, Limits, NamedStrategy
from llamea_tune.hpo.ordered_runs import ordered_runs
from llamea_tune.hpo.samplers import SAMPLERS, make_sampler, optuna
from llamea_tune.hpo.storage import StudyDirectory, fail_interrupted
from llamea_tune.hpo.trial import Steps, TrialOutcome, TrialRecord, make_trials, race_from, record_of, trial_steps
from llamea_tune.hpo.tunable import TunableContender
from llamea_tune.scoring.score import SpaceScale, space_scale
from llamea_tune.scoring.seeds import run_seed
from llamea_tune.spaces.space import Space

if TYPE_CHECKING:
    from optuna import Study


@dataclass(frozen=True)
class StudySettings:
    """How to tune.

    Attributes:
        trials: Trials to make in all; a study that is continued makes those that are missing.
        repeats: Repeats on each space that a trial is run on, unless it is pruned.
        seed: Seed of everything random.
        sampler: How hyperparameters are chosen, one of `SAMPLERS`.
        prune: Whether trials that are behind the best are stopped early.
        baseline: Name of the baseline that scores are relative to.
        limits: What one run may use; the executor holds it to that.
    """

    trials: int = 100
    repeats: int = 10
    seed: int = 1
    sampler: str = "tpe"
    prune: bool = True
    baseline: str = "exact"
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            SettingsError: A number is out of range, or the sampler is unknown.
        """
        for name in ("trials", "repeats"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}; it must be at least 1.", fields=(name,))
        if self.sampler not in SAMPLERS:
            message = f"sampler is {self.sampler!r}; choose one of: {', '.join(SAMPLERS)}."
            raise SettingsError(message, fields=("sampler",))


@dataclass(frozen=True)
class StudyResult:
    """What a study found.

    Attributes:
        trials: All trials that are over, in order; interrupted ones are not among them.
        default: The trial of the defaults.
        best: The best trial that made all runs; None if no hyperparameters got through all of them.
        runs_per_trial: Runs that a trial makes, unless it is pruned or fails.
    """

    trials: tuple[TrialRecord, ...]
    default: TrialRecord | None
    best: TrialRecord | None
    runs_per_trial: int

    @classmethod
    def of(
        cls, trials: Iterable[TrialRecord], defaults: Mapping[str, HyperparameterValue], runs_per_trial: int
    ) -> StudyResult:
        """What trials that are over have found."""
        over = tuple(trials)
        complete = [trial for trial in over if trial.outcome is TrialOutcome.COMPLETE]
        best = max(complete, key=lambda trial: (trial.value, -trial.number), default=None)
        return cls(over, next((trial for trial in over if trial.values == defaults), None), best, runs_per_trial)

    @property
    def runs(self) -> int:
        """Runs that were made."""
        return sum(trial.runs for trial in self.trials)

    @property
    def runs_unpruned(self) -> int:
        """Runs that the same trials would have taken without pruning."""
        return sum(self.runs_per_trial if trial.outcome is TrialOutcome.PRUNED else trial.runs for trial in self.trials)

    def count(self, outcome: TrialOutcome) -> int:
        """How many trials ended so."""
        return sum(trial.outcome is outcome for trial in self.trials)


@dataclass(frozen=True)
class TrialDone:
    """A trial is over; `done` of `total` are."""

    trial: TrialRecord
    done: int
    total: int


Observer = Callable[[TrialDone], None]


def tune(
    tunable: TunableContender,
    executor: Executor,
    settings: StudySettings,
    directory: Path,
    *,
    scales: Sequence[SpaceScale] | None = None,
    observe: Observer | None = None,
) -> StudyResult:
    """Tune hyperparameters, or go on with a study that was interrupted or should get more trials.

    The defaults are always among the trials. Each trial makes one run at a time, and as many trials go on as the executor
    makes runs. With one at a time the outcome depends on the settings alone, even if the study was interrupted.

    Args:
        tunable: What to tune.
        executor: Makes the runs, on search spaces with distinct names.
        settings: How.
        directory: Directory of the study; made if it is missing.
        scales: Scale of each space, where they are there already.
        observe: Called after every trial.

    Raises:
        RunDirectoryError: The directory belongs to another study, is in use, or cannot be written.
        MissingDependencyError: Optuna, or what the sampler needs, is not installed.
        SandboxError: Candidates cannot be run safely here.
        StrategyError: There is no such strategy.
    """
    make_sampler(settings.sampler, 0)
    spaces = executor.spaces
    scales = scales or [space_scale(space, settings.baseline) for space in spaces]
    runs = ordered_runs(tunable.contender, spaces, scales, settings.repeats, settings.seed)
    store = StudyDirectory(directory)
    with opened_study(store, _header(tunable, spaces, settings), tunable.defaults) as (study, made):
        missing = [slot for slot in range(settings.trials) if slot not in made]
        since = race_from(len(spaces)) if settings.prune else None

        def steps(slot: int) -> Steps:
            study.sampler = make_sampler(settings.sampler, run_seed(settings.seed, "sampler", slot))
            return (yield from trial_steps(study, tunable, runs, scales, slot, race_from=since))

        with closing(make_trials(executor, map(steps, missing))) as trials:
            for done, record in enumerate(trials, start=settings.trials - len(missing) + 1):
                store.sync()
                if observe is not None:
                    observe(TrialDone(record, done, settings.trials))
        return StudyResult.of(map(record_of, _finished_trials(study)), tunable.defaults, len(runs))


@contextmanager
def opened_study(
    store: StudyDirectory, header: Mapping[str, Any], defaults: Mapping[str, HyperparameterValue]
) -> Iterator[tuple[Study, dict[int, TrialRecord]]]:
    """Hold a study that is ready to begin with the defaults, or to go on after an interruption.

    Args:
        store: Its directory.
        header: See `StudyDirectory.opened`.
        defaults: The defaults of what is tuned.

    Yields:
        The study, and its trials that are over by their slots.
    """
    with store.opened(header), warnings.catch_warnings(action="ignore"):
        study = store.load()
        fail_interrupted(study)
        made = {trial.user_attrs["slot"]: record_of(trial) for trial in _finished_trials(study)}
        if not any(trial.values == defaults for trial in made.values()):
            study.enqueue_trial(dict(defaults), skip_if_exists=True)
        yield study, made


def _finished_trials(study: Study) -> list[Any]:
    """Optuna's records of the trials that are over."""
    return study.get_trials(deepcopy=False, states=(optuna().trial.TrialState.COMPLETE,))


def _header(tunable: TunableContender, spaces: Sequence[Space], settings: StudySettings) -> dict[str, Any]:
    """What must be the same when a study is continued."""
    contender = tunable.contender
    if isinstance(contender, NamedStrategy):
        what = {"strategy": contender.name, "options": dict(contender.options), "program": None}
    else:
        sandboxed = {name: value for name, value in asdict(contender).items() if name != "label"}
        what = {"strategy": None, "options": {}, "program": sandboxed}
    return {
        **what,
        "defaults": dict(tunable.defaults),
        "ranges": {name: asdict(entry) for name, entry in tunable.ranges.items()},
        "spaces": [
            {"name": space.name, "content_hash": space.content_hash}
            | ({"prior": space.prior.fingerprint} if space.prior else {})
            for space in spaces
        ],
        **{name: value for name, value in asdict(settings).items() if name not in ("trials", "limits")},
        # named_s is free to change
        "limits": {name: value for name, value in asdict(settings.limits).items() if name != "named_s"},
    }
