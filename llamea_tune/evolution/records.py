"""Candidates and their evaluations from lines of the run log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Failure, HyperparameterRange


def candidate_from_json(data: Mapping[str, Any]) -> Candidate:
    """A candidate from plain JSON data."""
    ranges = {
        name: HyperparameterRange(**{**entry, "choices": tuple(entry["choices"])})
        for name, entry in data["ranges"].items()
    }
    refused = tuple(data.get("refused_ranges", ()))
    return Candidate(**{**data, "parents": tuple(data["parents"]), "ranges": ranges, "refused_ranges": refused})


def evaluation_from_json(data: Mapping[str, Any]) -> Evaluation:
    """An evaluation from plain JSON data."""
    interval, failure = data["interval"], data.get("failure")
    read = {
        "state": CandidateState(data["state"]),
        "interval": None if interval is None else tuple(interval),
        "failure": None if failure is None else Failure(**failure),
        "run_scores": {name: tuple(scores) for name, scores in data.get("run_scores", {}).items()},
    }
    return Evaluation(**{**data, **read})
