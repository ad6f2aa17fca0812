"""A study of a strategy's hyperparameters, on all cores, kept in a directory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
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
        best: The best trial that was run on all pairs; None if no hyperparameters got through all of them.
        pairs: Pairs of space and repeat that a trial is run on.
    """

    trials: tuple[TrialRecord, ...]
    default: TrialRecord | None
    best: TrialRecord | None
    pairs: int

    @property
    def runs(self) -> int:
        """Runs that were made."""
        return sum(trial.runs for trial in self.trials)

    @property
    def runs_unpruned(self) -> int:
        """Runs that the same trials would have taken without pruning."""
        return sum(self.pairs if trial.outcome is TrialOutcome.PRUNED else trial.runs for trial in self.trials)

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
    with store.opened(_header(tunable, spaces, settings)), warnings.catch_warnings(action="ignore"):
        study = store.load()
        fail_interrupted(study)
        if default_trial(study, tunable.defaults) is None:
            study.enqueue_trial(dict(tunable.defaults), skip_if_exists=True)
        taken = {trial.user_attrs["slot"] for trial in finished_trials(study)}
        missing = [slot for slot in range(settings.trials) if slot not in taken]

        since = race_from(len(spaces)) if settings.prune else None

        def steps(slot: int) -> Steps:
            study.sampler = make_sampler(settings.sampler, run_seed(settings.seed, "sampler", slot))
            return (yield from trial_steps(study, tunable, runs, scales, slot, race_from=since))

        with closing(make_trials(executor, map(steps, missing))) as trials:
            for done, record in enumerate(trials, start=settings.trials - len(missing) + 1):
                store.sync()
                if observe is not None:
                    observe(TrialDone(record, done, settings.trials))
        return study_result(study, tunable.defaults, len(runs))


def study_result(study: Study, defaults: Mapping[str, HyperparameterValue], pairs: int) -> StudyResult:
    """What a study has found so far.

    Args:
        study: The study.
        defaults: The defaults of what is tuned.
        pairs: Pairs that a trial is run on.
    """
    over = [record_of(trial) for trial in finished_trials(study)]
    complete = [trial for trial in over if trial.outcome is TrialOutcome.COMPLETE]
    best = max(complete, key=lambda trial: (trial.value, -trial.number), default=None)
    return StudyResult(tuple(over), default_trial(study, defaults), best, pairs)


def default_trial(study: Study, defaults: Mapping[str, HyperparameterValue]) -> TrialRecord | None:
    """The trial of the defaults, None while there is none that is over."""
    return next((record_of(trial) for trial in finished_trials(study) if trial.params == defaults), None)


def finished_trials(study: Study) -> list[Any]:
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
        "spaces": [{"name": space.name, "content_hash": space.content_hash} for space in spaces],
        **{name: value for name, value in asdict(settings).items() if name not in ("trials", "limits")},
        # named_s is free to change
        "limits": {name: value for name, value in asdict(settings.limits).items() if name != "named_s"},
    }
