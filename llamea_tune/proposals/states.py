"""What became of a candidate, in the words of prompts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from llamea_tune.candidate import CandidateState

STATES: Mapping[CandidateState, str] = MappingProxyType(
    {
        CandidateState.NO_PROPOSAL: "there was no usable program",
        CandidateState.DUPLICATE: "it is the same program as an earlier one",
        CandidateState.NOT_NOVEL: "it is too much like an earlier program",
        CandidateState.REJECTED: "the check of its code refused it",
        CandidateState.FAILED: "it raised an error",
        CandidateState.TIMED_OUT: "it ran past the time limit for its own compute",
        CandidateState.KILLED: "it was ended for using too much memory or something forbidden",
    }
)
