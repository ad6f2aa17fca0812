"""Reads an exported strategy back, so that it can be exported again with other hyperparameters."""

from __future__ import annotations

import ast
from pathlib import Path

from llamea_tune.candidate import Candidate
from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exceptions import CandidateCodeError, ExportError
from llamea_tune.exporting.record import read_record
from llamea_tune.exporting.request import ExportRequest


def reopen_strategy(path: Path) -> ExportRequest:
    """The request that an exported strategy was made from.

    Args:
        path: The strategy file; its record lies beside it.

    Raises:
        ExportError: The file was not written by an export, or was changed beyond recognition.
        StrategyError: Its record is missing or cannot be read.
    """
    record = read_record(path)
    told = record.candidate
    candidate = Candidate(
        id=str(told.get("id", record.name)),
        class_name=record.class_name,
        code=_candidate_code(path),
        description=record.description,
        proposer=record.proposer,
        operator=str(told.get("operator", "initial")),
        generation=int(told.get("generation", 0)),
        parents=tuple(told.get("parents", ())),
    )
    return ExportRequest(
        name=record.name,
        candidate=candidate,
        date=record.date,
        hyperparameters={name: entry.default for name, entry in record.hyperparameters.items() if entry.tuned},
        training=record.training,
        validation=record.validation,
        scores=record.scores,
        training_score=record.training_score,
        validation_score=record.validation_score,
        seeds=record.seeds,
        prompts_hash=record.prompts_hash,
        versions=record.versions,
        run=record.run,
        note=record.note,
    )


def _candidate_code(path: Path) -> str:
    try:
        code = CandidateCode.read(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, CandidateCodeError) as err:
        raise ExportError(f"{path} cannot be read ({err}); export the strategy again.") from err
    if not code.is_strategy_file:
        raise ExportError(f"{path} was not written by an export; give the candidate itself.")
    return candidate_part(code)


def candidate_part(code: CandidateCode) -> str:
    """The candidate's part of a strategy file: what stands between the heading and `_options`."""
    added = next(node.lineno for node in code.tree.body if isinstance(node, ast.Assign) and _sets_options(node))
    lines = code.source.split("\n")[: added - 1]
    heading = next((number for number, line in enumerate(lines) if not line.startswith("#")), 0)
    return "\n".join(lines[heading:]).strip("\n") + "\n"


def _sets_options(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "_options" for target in node.targets)
