"""Exports a candidate as a strategy."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llamea_tune.candidate_code import Argument, CandidateCode
from llamea_tune.exceptions import CandidateCodeError, ExportError
from llamea_tune.exporting.docstrings import argument_descriptions
from llamea_tune.exporting.module import render_module
from llamea_tune.exporting.record import RecordedHyperparameter, StrategyRecord, record_to_json
from llamea_tune.exporting.reopen import candidate_part
from llamea_tune.exporting.request import ExportRequest, check_name
from llamea_tune.storage import write_together


@dataclass(frozen=True)
class ExportedStrategy:
    """A strategy as it lies on disk.

    Attributes:
        name: Its name.
        class_name: Its class.
        code_path: The module.
        record_path: Its record.
        record: What the record says.
    """

    name: str
    class_name: str
    code_path: Path
    record_path: Path
    record: StrategyRecord


def export_strategy(request: ExportRequest, folder: Path, *, force: bool = False) -> ExportedStrategy:
    """Write a candidate as a standalone strategy `<name>.py` with its record `<name>.json`.

    Nothing of the candidate is run.

    Args:
        request: What to export.
        folder: Where to; made if it is missing.
        force: Whether to replace an earlier export of that name.

    Raises:
        ExportError: The name cannot be used, no standalone strategy can be made of the candidate, files are in the way,
            or they cannot be written. Nothing is left half-written.
    """
    check_name(request.name)
    code = _code(request)
    text = render_module(request, code)
    record = _record(request, code, hashlib.sha256(text.encode()).hexdigest())
    code_path, record_path = folder / f"{request.name}.py", folder / f"{request.name}.json"
    for path in (record_path, code_path):
        if path.exists() and not force:
            message = f"{path} exists already; choose another name, or replace it with force=True."
            raise ExportError(message, fields=("force",))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_together({record_path: record_to_json(record), code_path: text})
    except OSError as err:
        raise ExportError(
            f"The strategy cannot be written to {folder} ({err.strerror or err}); free space or choose another folder."
        ) from err
    return ExportedStrategy(request.name, request.candidate.class_name, code_path, record_path, record)


def _code(request: ExportRequest) -> CandidateCode:
    """The candidate's code with the tuned values in place.

    Raises:
        ExportError: It breaks the contract of candidates, or does not take these values.
    """
    candidate = request.candidate
    try:
        code = CandidateCode.read(candidate.code, candidate.class_name).checked()
        if code.is_strategy_file:
            code = CandidateCode.read(candidate_part(code), candidate.class_name).checked()
        return code.with_defaults(request.hyperparameters)
    except CandidateCodeError as err:
        raise ExportError(f"Candidate {candidate.id} cannot be exported: {err}.") from err


def _record(request: ExportRequest, code: CandidateCode, code_sha256: str) -> StrategyRecord:
    candidate = request.candidate
    descriptions = argument_descriptions(code)
    hyperparameters = {
        name: RecordedHyperparameter(descriptions[name], _value(argument), name in request.hyperparameters)
        for argument in code.arguments
        if (name := argument.name)
    }
    return StrategyRecord(
        name=request.name,
        class_name=candidate.class_name,
        description=candidate.description,
        proposer=candidate.proposer,
        date=request.date,
        code_sha256=code_sha256,
        candidate={
            "id": candidate.id,
            "operator": candidate.operator,
            "generation": candidate.generation,
            "parents": list(candidate.parents),
        },
        hyperparameters=hyperparameters,
        training=request.training,
        validation=request.validation,
        scores=request.scores,
        training_score=request.training_score,
        validation_score=request.validation_score,
        seeds=request.seeds,
        prompts_hash=request.prompts_hash,
        versions=request.versions,
        run=request.run,
        note=request.note,
    )


def _value(argument: Argument) -> Any:
    """A default where it is a plain one that JSON knows, else its source text."""
    value = argument.value
    if value is None:
        return None if argument.text == "None" else argument.text
    return argument.text if isinstance(value, float) and not math.isfinite(value) else value
