"""What a proposer is asked for, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from llamea_tune.candidate import HyperparameterRange, Scored
from llamea_tune.llm.language_model import Completion, Prompt
from llamea_tune.proposals.briefing import Briefing


class NoveltyRule(Protocol):
    """Tells what is too much like what was tried before."""

    def refuses(self, code: str) -> str | None:
        """Why a program is refused, in words fit for its author; None where it is novel enough."""


@dataclass(frozen=True)
class ProposalTask:
    """One candidate to propose.

    Attributes:
        key: Stable and unique in a run, such as `"g002-03-crossover"`.
        operator: Name of a mutation operator, one of `llamea_tune.proposals.operators.OPERATORS`.
        parents: What to start from, with their feedback; empty for `"initial"`.
        spaces: Description of each training space, ready for a prompt.
        tried: Descriptions of algorithms tried so far, newest last, so that a proposer can avoid them.
        seed: Seed for the proposer's own choices.
        seen: Fingerprints of the programs that were judged before: proposing one of them again is no use.
        novelty: Tells what is too much like what was judged before, where that is not wanted.
        briefing: What else is told: facts of the run, evidence, memory, a direction.
        llm: Which language model of a mix is to answer; empty where the mix is to draw.
    """

    key: str
    operator: str
    parents: tuple[Scored, ...]
    spaces: tuple[str, ...]
    tried: tuple[str, ...] = ()
    seed: int = 0
    seen: frozenset[str] = field(default=frozenset(), repr=False)
    novelty: NoveltyRule | None = field(default=None, repr=False, compare=False)
    briefing: Briefing = field(default_factory=Briefing, repr=False)
    llm: str = ""


@dataclass(frozen=True)
class Exchange:
    """A prompt and the answer to it, for the run log."""

    prompt: Prompt
    completion: Completion


@dataclass(frozen=True)
class Proposal:
    """A proposed optimizer, not yet checked or run."""

    class_name: str
    code: str
    description: str
    proposer: str
    ranges: Mapping[str, HyperparameterRange] = field(default_factory=dict)
    refused_ranges: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()


class ProposalError(Exception):
    """The answer held no usable optimizer; the message says why, fit for the run log and the next prompt.

    Attributes:
        exchanges: What was asked and answered all the same.
    """

    def __init__(self, message: str, exchanges: tuple[Exchange, ...] = ()) -> None:
        super().__init__(message)
        self.exchanges = exchanges


class RefusedPromptError(ProposalError):
    """The prompt itself got no usable answer: it was refused or filtered, or what came was cut off or empty."""


class Proposer(Protocol):
    """Writes candidates; may be asked from several threads at once."""

    @property
    def name(self) -> str:
        """Who this is, as recorded in provenance."""

    def propose(self, task: ProposalTask) -> Proposal:
        """Propose one optimizer. The same task gives the same proposal wherever the proposer itself is deterministic.

        Raises:
            ProposalError: Nothing usable came back for this task.
            Unanswered: Nothing came back; the same task may be tried again.
            ProposerError: Nothing will ever come back.
        """
