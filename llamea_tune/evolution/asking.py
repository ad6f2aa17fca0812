"""Ask for candidates, several at once, take what comes as it comes, and notice when asking is no use."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from queue import Empty, SimpleQueue

from llamea_tune.evolution.ledger import NotAsked
from llamea_tune.evolution.plan import PlannedCandidate
from llamea_tune.evolution.reasons import alike
from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import Unanswered
from llamea_tune.proposals.proposal import Proposal, ProposalError, Proposer, RefusedPromptError

Came = tuple[PlannedCandidate, Proposal | ProposalError]
"""A candidate that was asked for, with what came."""


class Asking:
    """Asks a proposer. For one thread, which asks and takes; `close` it at the end.

    It asks in daemon threads: who hangs or drips holds up neither an error of another nor the end of the program.
    """

    def __init__(
        self,
        proposer: Proposer,
        at_once: int,
        max_unanswered: int,
        *,
        answered: bool,
        seconds_left: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Ask `proposer`.

        Args:
            proposer: Writes the candidates.
            at_once: Prompts that may wait for an answer at the same time.
            max_unanswered: Calls in a row without an answer that end the run.
            answered: Whether any prompt of the run was answered before.
            seconds_left: How long an answer may be waited for; None for as long as it takes.
        """
        self._proposer = proposer
        self._at_once = at_once
        self._max_unanswered = max_unanswered
        self._answered = answered
        self._seconds_left = seconds_left
        self._unanswered = 0
        self._refused = 0
        self._refusal = ""
        self._open = 0
        self._given: deque[Came] = deque()
        self._held: deque[Came] = deque()
        self._threads: list[threading.Thread] = []
        self._tasks: SimpleQueue[PlannedCandidate | None] = SimpleQueue()
        self._outcomes: SimpleQueue[tuple[PlannedCandidate, Proposal | BaseException]] = SimpleQueue()
        self._over = threading.Event()

    def ask(self, planned: Sequence[PlannedCandidate]) -> None:
        """Ask for candidates, beside those that were asked for before; what is given comes first, without asking."""
        self._given.extend((entry, entry.given) for entry in planned if entry.given is not None)
        missing = [entry for entry in planned if entry.given is None]
        for entry in missing:
            self._tasks.put(entry)
        self._open += len(missing)
        for _ in range(min(self._at_once, self._open) - len(self._threads)):
            thread = threading.Thread(target=self._work, name="propose", daemon=True)
            self._threads.append(thread)
            thread.start()

    def take(self) -> Came | None:
        """Wait for what comes next; who gets no answer is asked for again.

        A refused prompt is held back until any prompt is answered: where all are refused, none is a candidate.

        Returns:
            None where nothing more comes: all that was asked for was taken, or was not to be asked for after all, or the
            time is over.

        Raises:
            ProposerError: Asking is no use: the proposer cannot work, leaves too many calls in a row unanswered, or
                refuses everything.
        """
        if self._given:
            return self._given.popleft()
        while True:
            if self._held and (self._answered or not self._open):
                return self._held.popleft()
            if not self._open:
                return None
            try:
                asked, outcome = self._outcomes.get(timeout=self._patience())
            except Empty:
                return None
            known = self._learn(outcome)
            if known is not None:
                self._held.append((asked, known))
            elif isinstance(outcome, Unanswered):
                self._tasks.put(asked)

    def each(self, planned: Sequence[PlannedCandidate]) -> Generator[Came]:
        """Ask for all of them, and give what comes as it comes; see `take`."""
        self.ask(planned)
        while (came := self.take()) is not None:
            yield came

    def close(self) -> None:
        """Ask for no more."""
        self._over.set()
        for _ in self._threads:
            self._tasks.put(None)

    def _work(self) -> None:
        while (entry := self._tasks.get()) is not None and not self._over.is_set():
            self._outcomes.put((entry, self._ask(entry)))

    def _ask(self, entry: PlannedCandidate) -> Proposal | BaseException:
        try:
            return self._proposer.propose(entry.task)
        except BaseException as err:  # raised again where the candidate is waited for
            return err

    def _patience(self) -> float | None:
        left = self._seconds_left()
        return None if left is None else max(0.0, left)

    def _learn(self, outcome: Proposal | BaseException) -> Proposal | ProposalError | None:
        """What came of a candidate that is open no more; None where nothing did, or where it is to be asked for again."""
        if isinstance(outcome, Unanswered):
            self._unanswered += 1
            if self._unanswered >= self._max_unanswered:
                calls = f"{self._unanswered} calls in a row" if self._unanswered > 1 else "a call"
                raise ProposerError(f"{calls} got no answer: {outcome}")
            return None
        self._open -= 1
        if isinstance(outcome, NotAsked):
            return None
        self._unanswered = 0
        if isinstance(outcome, RefusedPromptError):
            self._learn_refusal(outcome)
            return outcome
        if isinstance(outcome, Proposal | ProposalError):
            self._answered = True
            return outcome
        raise outcome

    def _learn_refusal(self, refusal: RefusedPromptError) -> None:
        kind = alike(str(refusal))
        self._refused = self._refused + 1 if kind == self._refusal else 1
        self._refusal = kind
        all_alike = not self._open and self._refused > len(self._held)
        if not self._answered and (self._refused >= self._max_unanswered or all_alike):
            raise ProposerError(f"every prompt so far ended alike, {refusal}")
