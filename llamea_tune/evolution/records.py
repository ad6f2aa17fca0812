"""Candidates and their evaluations as lines of the run log, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Failure, HyperparameterRange


def candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    """A candidate as plain JSON data."""
    return asdict(candidate)


def candidate_from_json(data: Mapping[str, Any]) -> Candidate:
    """Read back what `candidate_to_json` gave."""
    ranges = {
        name: HyperparameterRange(**{**entry, "choices": tuple(entry["choices"])})
        for name, entry in data["ranges"].items()
    }
    refused = tuple(data.get("refused_ranges", ()))
    return Candidate(**{**data, "parents": tuple(data["parents"]), "ranges": ranges, "refused_ranges": refused})


def evaluation_to_json(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as plain JSON data."""
    return asdict(evaluation)


def evaluation_from_json(data: Mapping[str, Any]) -> Evaluation:
    """Read back what `evaluation_to_json` gave."""
    interval, failure = data["interval"], data.get("failure")
    read = {
        "state": CandidateState(data["state"]),
        "interval": None if interval is None else tuple(interval),
        "failure": None if failure is None else Failure(**failure),
    }
    return Evaluation(**{**data, **read})
