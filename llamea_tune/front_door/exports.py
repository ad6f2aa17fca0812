"""Export a candidate, or a tuned strategy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from llamea_tune.evolution.provenance import export_request
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.exceptions import ExportError, SettingsError
from llamea_tune.exporting import ExportedStrategy, ExportRequest, RecordedScore, SpaceReference, export_strategy
from llamea_tune.front_door.tune_source import TuneSource
from llamea_tune.front_door.tune_strategy import Tuned
from llamea_tune.strategies import register_file, user_folder
from llamea_tune.wording import counted


def export(
    what: str | Path | Tuned,
    name: str,
    *,
    candidate: str | None = None,
    folder: str | Path | None = None,
    note: str = "",
    force: bool = False,
) -> ExportedStrategy:
    """Write a standalone Kernel Tuner strategy with a record of where it came from.

    In one's own strategies folder, it works by its name at once, and wherever `llamea_tune` is imported.

    Args:
        what: A run directory, or what `tune` gave: a tuned strategy gets tuned defaults if they are better.
        name: Name of the strategy, a Python identifier.
        candidate: Id of the run's candidate; by default the best one.
        folder: Where to write it; by default one's own strategies folder.
        note: Anything the record should say besides.
        force: Whether to replace an earlier export of that name.

    Raises:
        LlameaTuneError: There is no such candidate, it is not ours to export, or it cannot be written.
    """
    if isinstance(what, Tuned):
        if candidate is not None:
            raise SettingsError("candidate names one of a run; leave it out for what was tuned", fields=("candidate",))
        request = _tuned_request(what, name, note)
    else:
        date = datetime.now(UTC).date().isoformat()
        run = RunDirectory.open_existing(Path(what))
        request = export_request(run, name, date=date, candidate_id=candidate, note=note)
    exported = export_strategy(request, user_folder() if folder is None else Path(folder), force=force)
    if folder is None:
        register_file(exported.code_path)
    return exported


def exportable(source: TuneSource, name: str) -> ExportRequest:
    """The request to export what is tuned, as it is before.

    Raises:
        ExportError: It is a strategy of others.
    """
    if source.export_as is None:
        label = source.tunable.contender.label
        raise ExportError(
            f"{label} is not one of llamea-tune's strategies, so it cannot be exported; do not ask for it."
        )
    return source.export_as(name)


def _tuned_request(tuned: Tuned, name: str, note: str) -> ExportRequest:
    """With the tuned defaults if they are better, and its own if they are not."""
    request = exportable(tuned.source, name)
    trained = [SpaceReference(space.name, space.content_hash) for space in tuned.spaces]
    trials = f"{counted(len(tuned.study.trials), 'trial')} with Optuna's {tuned.settings.sampler}"
    where = ", ".join(space.name for space in tuned.spaces)
    request = replace(
        request,
        name=name,
        training=tuple(dict.fromkeys([*request.training, *trained])),
        seeds={**request.seeds, "tune": tuned.settings.seed},
        note=" ".join(part for part in (note, request.note, f"Hyperparameters: {trials} on {where}.") if part),
        hyperparameters={**request.hyperparameters, **tuned.better},
    )
    rescored = tuned.rescored
    card = None if rescored is None else rescored.tuned if rescored.better else rescored.default
    if rescored is None or card is None or card.mean is None:
        return request
    scores = {key: RecordedScore(entry.score, entry.interval, entry.repeats) for key, entry in card.spaces.items()}
    return replace(request, scores=scores, training_score=RecordedScore(card.mean, card.interval, rescored.repeats))
