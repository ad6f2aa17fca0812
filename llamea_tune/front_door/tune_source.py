"""Where a strategy to tune comes from: a name, a class in a file, or a candidate of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from llamea_tune.candidate import Candidate, HyperparameterRange
from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exceptions import SettingsError, StrategyError
from llamea_tune.execution import Contender, SandboxedCandidate, make_contender
from llamea_tune.exporting import ExportRequest
from llamea_tune.hpo.tunable import TunableContender, tunable_candidate, tunable_strategy

Ranges = dict[str, HyperparameterRange]


@dataclass(frozen=True)
class TuneSource:
    """What to tune, and how to export it.

    Attributes:
        tunable: What to tune.
        export_as: Makes the request to export it under a name; None for strategies of others.
    """

    tunable: TunableContender
    export_as: Callable[[str], ExportRequest] | None


DeclaredRanges = Mapping[str, Any] | str | Path
"""Ranges of hyperparameters as proposers declare them, `{"alpha": {"type": "float", ...}}`, or a JSON file of them."""


def find_source(strategy: str | Contender, ranges: DeclaredRanges | None = None) -> TuneSource:
    """Understand what is to be tuned.

    Args:
        strategy: `NAME`, `NAME:option=value,...`, `FILE.py:CLASS`, or `RUN_DIRECTORY:CANDIDATE`; or a contender.
        ranges: Ranges, where the derived ones do not suit.

    Raises:
        LlameaTuneError: There is no such strategy, it has nothing to tune, or the ranges make no sense.
    """
    if isinstance(strategy, str):
        directory, _, candidate_id = strategy.rpartition(":")
        if directory and (Path(directory) / "run.json").is_file():
            return _from_run(Path(directory), candidate_id, ranges)
        contender = make_contender(strategy)
    else:
        contender = strategy
    if isinstance(contender, SandboxedCandidate):
        return _from_file(contender, ranges)
    tunable = tunable_strategy(contender)
    if ranges is not None:
        tunable = tunable_strategy(contender, _read_ranges(ranges, tunable))
    return TuneSource(tunable, _export_generated(contender.name))


def _from_run(run: Path, candidate_id: str, ranges: DeclaredRanges | None) -> TuneSource:
    from llamea_tune.evolution.provenance import export_request
    from llamea_tune.evolution.run_directory import RunDirectory

    directory = RunDirectory.open_existing(run)
    chosen = export_request(directory, "any", date="", candidate_id=candidate_id).candidate
    candidate = chosen.with_tuned_defaults()
    sandboxed = SandboxedCandidate(candidate.code, candidate.class_name, label=f"{candidate.id} {candidate.class_name}")
    tunable = tunable_candidate(sandboxed, candidate.ranges)
    if ranges is not None:
        tunable = tunable_candidate(sandboxed, {**candidate.ranges, **_read_ranges(ranges, tunable)})
    return TuneSource(tunable, lambda name: export_request(directory, name, date=_today(), candidate_id=candidate.id))


def _from_file(sandboxed: SandboxedCandidate, ranges: DeclaredRanges | None) -> TuneSource:
    tunable = tunable_candidate(sandboxed)
    if ranges is not None:
        tunable = tunable_candidate(sandboxed, _read_ranges(ranges, tunable))
    path = Path(sandboxed.label.rpartition(f":{sandboxed.class_name}")[0] or sandboxed.class_name)
    doc = (CandidateCode.read(sandboxed.code, sandboxed.class_name).doc or sandboxed.class_name).split("\n\n")[0]
    candidate = Candidate(
        path.stem, sandboxed.class_name, sandboxed.code, " ".join(doc.split()), path.name, "initial", 0
    )
    return TuneSource(
        tunable,
        lambda name: ExportRequest(name, candidate, _today(), hyperparameters=dict(sandboxed.hyperparameters)),
    )


def _export_generated(name: str) -> Callable[[str], ExportRequest] | None:
    """How to export a generated strategy anew, None for strategies of others."""
    from llamea_tune.exporting.reopen import reopen_strategy
    from llamea_tune.strategies import resolve

    path = resolve(name).path
    return None if path is None else lambda _new_name: reopen_strategy(path)


def _read_ranges(ranges: DeclaredRanges, tunable: TunableContender) -> Ranges:
    """Ranges that the user declares, for hyperparameters that there are."""
    from llamea_tune.proposals.ranges import check_ranges

    declared, where = (ranges, "ranges") if isinstance(ranges, Mapping) else (_read_json(Path(ranges)), str(ranges))
    defaults = _all_defaults(tunable)
    found, notes = check_ranges(declared, dict(defaults))
    if notes:
        known = f"{tunable.contender.label} has {', '.join(defaults)}"
        raise StrategyError(f"{where}: {notes[0]}; mend it, or leave it out ({known}).")
    return found


def _read_json(path: Path) -> dict[str, Any]:
    from llamea_tune.proposals.ranges import read_json_object

    try:
        declared = read_json_object(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as err:
        raise SettingsError(f"the ranges {path} cannot be read ({err}); give a JSON file.") from err
    if declared is None:
        raise SettingsError(f'{path} holds no JSON object; write for example {{"alpha": {{"type": "float", ...}}}}.')
    return declared


def _all_defaults(tunable: TunableContender) -> dict[str, Any]:
    """Defaults of all hyperparameters, also of those that no range was found for."""
    from llamea_tune.strategies import resolve

    contender = tunable.contender
    if isinstance(contender, SandboxedCandidate):
        return dict(CandidateCode.read(contender.code, contender.class_name).defaults)
    return {name: option.default for name, option in resolve(contender.name).options.items()}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
