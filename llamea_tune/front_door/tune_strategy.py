"""Tune the hyperparameters of a strategy, and judge the gain on fresh seeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from llamea_tune.candidate import HyperparameterValue
from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import LOCAL, Contender, make_executor
from llamea_tune.front_door.named_spaces import AS_THEY_SAY, SpaceLike, opened_spaces
from llamea_tune.front_door.tune_source import DeclaredRanges, TuneSource, find_source
from llamea_tune.hpo import Rescored, StudyResult, StudySettings, TrialDone, rescore
from llamea_tune.hpo import tune as make_study
from llamea_tune.priors import with_priors
from llamea_tune.scoring import Scorer
from llamea_tune.spaces import Reading, Space


@dataclass(frozen=True)
class FreshRunsDone:
    """Some of the runs on fresh seeds that judge the gain are done."""

    done: int
    total: int


Observer = Callable[[TrialDone | FreshRunsDone], None]


def _ignore(_: TrialDone | FreshRunsDone) -> None:
    """Watch nothing."""


@dataclass(frozen=True, eq=False)
class Tuned:
    """What tuning a strategy came to; `llamea_tune.export` takes it.

    Attributes:
        source: What was tuned.
        settings: How.
        spaces: On which spaces.
        study: What the study found.
        rescored: The best hyperparameters beside the defaults, on fresh seeds; None where none looked better.
        directory: Directory of the study.
    """

    source: TuneSource
    settings: StudySettings
    spaces: tuple[Space, ...]
    study: StudyResult
    rescored: Rescored | None
    directory: Path

    @property
    def better(self) -> Mapping[str, HyperparameterValue]:
        """Hyperparameters that are better than the defaults by more than luck; none where none are."""
        return self.rescored.best.values if self.rescored is not None and self.rescored.better else {}


def tune(
    strategy: str | Contender | TuneSource,
    spaces: SpaceLike | Iterable[SpaceLike] | None = None,
    *,
    ranges: DeclaredRanges | None = None,
    study: str | Path | None = None,
    final_repeats: int = 50,
    reading: Reading = AS_THEY_SAY,
    prior: str | Sequence[str] = (),
    jobs: int | None = None,
    executor: str = LOCAL,
    allow_weak_sandbox: bool = False,
    observe: Observer = _ignore,
    **settings: Any,
) -> Tuned:
    """Tune the hyperparameters of a strategy. Needs Optuna.

    Args:
        strategy: `NAME`, `NAME:option=value,...`, `FILE.py:CLASS`, `RUN_DIRECTORY:CANDIDATE`, or a contender. Options
            that it has are held fixed.
        spaces: Files, folders, globs, names of bundled spaces, or loaded spaces; by default all bundled spaces.
        ranges: Ranges, where the derived ones do not suit.
        study: Study directory, new or to go on with; by default `studies/<strategy>-<date>-<time>`.
        final_repeats: Runs on each space, on fresh seeds, to judge the gain.
        reading: How the files of the spaces are read.
        prior: What the strategy is told of the spaces beforehand: names of `llamea_tune.priors.PRIORS`, or files.
        jobs: Runs at the same time; by default one per core, of all machines that the executor has.
        executor: What makes the runs: `"local"`, `"ray"` or `"ray:HOST:PORT"` for a cluster, or what another package adds.
        allow_weak_sandbox: Whether to run candidates where the sandbox is below its stated minimum.
        observe: Told of the progress.
        **settings: Fields of `StudySettings`, such as `trials=50`.

    Raises:
        LlameaTuneError: There is nothing to tune, a setting is out of range, or a package or a space is missing.
    """
    chosen = StudySettings(**settings)
    if isinstance(strategy, TuneSource) and ranges is not None:
        raise SettingsError("ranges are those of the source already; leave them out", fields=("ranges",))
    source = strategy if isinstance(strategy, TuneSource) else find_source(strategy, ranges)
    directory = new_study(source.tunable.contender.label) if study is None else Path(study)
    with (
        opened_spaces(spaces, reading) as there,
        make_executor(
            executor,
            with_priors(there, prior, seed=chosen.seed),
            jobs=jobs,
            limits=chosen.limits,
            allow_weak=allow_weak_sandbox,
        ) as maker,
    ):
        scorer = Scorer(maker, repeats=final_repeats, seed=chosen.seed, baseline=chosen.baseline)
        result = make_study(source.tunable, maker, chosen, directory, scales=scorer.scales, observe=observe)
        rescored = rescore(
            source.tunable, result, scorer, on_progress=lambda done, total: observe(FreshRunsDone(done, total))
        )
        return Tuned(source, chosen, tuple(maker.spaces), result, rescored, directory)


def new_study(strategy: str) -> Path:
    """Where to keep a study of a strategy that is named so."""
    slug = re.sub(r"\W+", "-", Path(strategy).name).strip("-")[:40]
    return Path("studies") / f"{slug}-{datetime.now():%Y%m%d-%H%M%S}"
