"""What a run knows so far: every judged candidate, with its latest evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, HyperparameterValue, Scored
from llamea_tune.candidate_code import fingerprint

program_of = lru_cache(maxsize=4096)(fingerprint)
"""What tells programs apart, kept, as the same code is asked about again and again."""


COPIES = (CandidateState.DUPLICATE, CandidateState.NOT_NOVEL)


def duplicate_of(earlier: str) -> Evaluation:
    """The evaluation of a candidate whose program is that of another one."""
    return Evaluation(CandidateState.DUPLICATE, f"the same program as candidate {earlier}, up to comments and layout")


class History:
    """Every judged candidate in order. Rebuilt from the run log; the loop adds to both at once.

    Answers are judged as they come, but of several candidates with the same program the one with the smallest id counts,
    and the others are its duplicates. So what a generation leaves behind does not depend on who answered first.
    """

    def __init__(
        self, judged: Mapping[str, Scored] | None = None, confirmed: Mapping[str, Evaluation] | None = None
    ) -> None:
        self._judged: dict[str, Scored] = {}
        self._confirmed = dict(confirmed or {})
        self._first: dict[str, str] = {}
        for key in sorted(judged or {}):
            self.add((judged or {})[key])

    def __contains__(self, candidate_id: str) -> bool:
        return candidate_id in self._judged

    def __getitem__(self, candidate_id: str) -> Scored:
        entry = self._judged[candidate_id]
        return Scored(entry.candidate, self._confirmed.get(candidate_id, entry.evaluation))

    def first_evaluation(self, candidate_id: str) -> Evaluation:
        """The evaluation of a candidate as it was first judged, on the seeds that all candidates get."""
        return self._judged[candidate_id].evaluation

    def __len__(self) -> int:
        return len(self._judged)

    def add(self, scored: Scored) -> None:
        """Add a judged candidate."""
        key = scored.candidate.id
        self._judged[key] = scored
        if not scored.candidate.code or scored.evaluation.state in COPIES:
            return
        program = program_of(scored.candidate.code)
        other = self._first.get(program, key)
        self._first[program] = min(key, other)
        if other != key:
            again = self._judged[max(key, other)]
            self._judged[max(key, other)] = replace(again, evaluation=duplicate_of(min(key, other)))

    def confirm(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """Replace the evaluation of a candidate by one on fresh seeds."""
        self._confirmed[candidate.id] = evaluation

    def tune(
        self, candidate_id: str, hyperparameters: Mapping[str, HyperparameterValue], evaluation: Evaluation
    ) -> None:
        """Give a candidate tuned hyperparameters, and its evaluation with them."""
        entry = self._judged[candidate_id]
        self._judged[candidate_id] = replace(entry, candidate=entry.candidate.with_hyperparameters(hyperparameters))
        self._confirmed[candidate_id] = evaluation

    def is_confirmed(self, candidate: Candidate) -> bool:
        """Whether the candidate was scored again on fresh seeds."""
        return candidate.id in self._confirmed

    def has_later_than(self, generation: int) -> bool:
        """Whether a candidate of a later generation was judged."""
        return any(entry.candidate.generation > generation for entry in self._judged.values())

    def before(self, generation: int) -> History:
        """The history as it was when `generation` was planned."""
        judged = {key: entry for key, entry in self._judged.items() if entry.candidate.generation < generation}
        return History(judged, {key: entry for key, entry in self._confirmed.items() if key in judged})

    def programs(self) -> frozenset[str]:
        """What tells the programs of all judged candidates apart, with their own and with tuned hyperparameters."""
        candidates = [entry.candidate for entry in self._judged.values()]
        codes = {code for candidate in candidates for code in (candidate.code, candidate.with_tuned_defaults().code)}
        return frozenset(program_of(code) for code in codes - {""})

    def all(self) -> list[Scored]:
        """Every judged candidate with its latest evaluation, oldest first."""
        return [self[key] for key in sorted(self._judged)]

    def scored(self) -> list[Scored]:
        """Those with a fitness, oldest first."""
        return [entry for entry in self.all() if entry.evaluation.state is CandidateState.SCORED]

    def broken(self) -> list[Scored]:
        """Those whose code failed in a way that a proposer may repair, and that none has mended, oldest first."""
        repairable = (CandidateState.REJECTED, CandidateState.FAILED, CandidateState.TIMED_OUT, CandidateState.KILLED)
        mended: set[str] = set()
        for entry in reversed(self.all()):  # repairs come after what they repair, and may need repair themselves
            candidate, state = entry.candidate, entry.evaluation.state
            if candidate.operator == "repair" and (state is CandidateState.SCORED or candidate.id in mended):
                mended.update(candidate.parents)
        return [e for e in self.all() if e.evaluation.state in repairable and e.candidate.id not in mended]
