"""Ask for the candidates of a generation, several at once, and notice when asking is no use."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from queue import SimpleQueue

from llamea_tune.evolution.plan import PlannedCandidate
from llamea_tune.evolution.reasons import alike
from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import Unanswered
from llamea_tune.proposals.proposal import Proposal, ProposalError, Proposer, RefusedPromptError


class Asking:
    """Asks a proposer, for one generation after the other.

    It asks in daemon threads: who hangs or drips holds up neither an error of another nor the end of the program.
    """

    def __init__(self, proposer: Proposer, at_once: int, max_unanswered: int, *, answered: bool) -> None:
        """Ask `proposer`.

        Args:
            proposer: Writes the candidates.
            at_once: Prompts that may wait for an answer at the same time.
            max_unanswered: Calls in a row without an answer that end the run.
            answered: Whether any prompt of the run was answered before.
        """
        self._proposer = proposer
        self._at_once = at_once
        self._max_unanswered = max_unanswered
        self._answered = answered
        self._unanswered = 0
        self._refused = 0
        self._refusal = ""

    def each(self, planned: Sequence[PlannedCandidate]) -> Generator[tuple[PlannedCandidate, Proposal | ProposalError]]:
        """Ask for all of them, and give what came in the order of the plan; who got no answer is asked for again.

        A refused prompt is held back until any prompt is answered: where all are refused, none is a candidate.

        Raises:
            ProposerError: Asking is no use: the proposer cannot work, leaves too many calls in a row unanswered, or
                refuses everything.
        """
        tasks: SimpleQueue[PlannedCandidate | None] = SimpleQueue()
        outcomes: SimpleQueue[tuple[PlannedCandidate, Proposal | BaseException]] = SimpleQueue()
        over = threading.Event()

        def ask() -> None:
            while (entry := tasks.get()) is not None and not over.is_set():
                outcomes.put((entry, self._ask(entry)))

        outcome_by_id: dict[str, Proposal | ProposalError] = {
            entry.id: entry.given for entry in planned if entry.given is not None
        }
        for entry in planned:
            if entry.given is None:
                tasks.put(entry)
        threads = [threading.Thread(target=ask, name="propose", daemon=True) for _ in planned[: self._at_once]]
        for thread in threads:
            thread.start()
        try:
            for entry in planned:
                while not outcomes.empty() or self._is_open(entry, outcome_by_id, len(planned)):
                    asked, outcome = outcomes.get()
                    known = self._learn(outcome, len(planned))
                    if known is None:
                        tasks.put(asked)
                    else:
                        outcome_by_id[asked.id] = known
                yield entry, outcome_by_id[entry.id]
        finally:
            over.set()
            for _ in threads:
                tasks.put(None)

    def _ask(self, entry: PlannedCandidate) -> Proposal | BaseException:
        try:
            return self._proposer.propose(entry.task)
        except BaseException as err:  # raised again where the candidate is waited for
            return err

    def _is_open(
        self, entry: PlannedCandidate, outcome_by_id: dict[str, Proposal | ProposalError], n_planned: int
    ) -> bool:
        outcome = outcome_by_id.get(entry.id)
        held_back = isinstance(outcome, RefusedPromptError) and not self._answered and len(outcome_by_id) < n_planned
        return outcome is None or held_back

    def _learn(self, outcome: Proposal | BaseException, n_planned: int) -> Proposal | ProposalError | None:
        """What came of a candidate; None where it is to be asked for again."""
        if isinstance(outcome, Unanswered):
            self._unanswered += 1
            if self._unanswered >= self._max_unanswered:
                calls = f"{self._unanswered} calls in a row" if self._unanswered > 1 else "a call"
                raise ProposerError(f"{calls} got no answer: {outcome}")
            return None
        self._unanswered = 0
        if isinstance(outcome, RefusedPromptError):
            kind = alike(str(outcome))
            self._refused = self._refused + 1 if kind == self._refusal else 1
            self._refusal = kind
            if not self._answered and self._refused >= min(self._max_unanswered, n_planned):
                raise ProposerError(f"every prompt so far ended alike, {outcome}")
            return outcome
        if isinstance(outcome, Proposal | ProposalError):
            self._answered = True
            return outcome
        raise outcome
