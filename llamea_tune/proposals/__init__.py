"""PROPOSE: prompts, mutation operators, reply parsing, and the offline recombiner."""

from collections.abc import Callable

from llamea_tune._registry import Registry
from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import OnWaiting
from llamea_tune.llm.registry import make_llm
from llamea_tune.proposals.llm_proposer import LLMProposer
from llamea_tune.proposals.operators import OPERATORS, Operator
from llamea_tune.proposals.proposal import Exchange, Proposal, ProposalError, ProposalTask, Proposer, RefusedPromptError

OFFLINE = "offline"

PROPOSERS: Registry[Callable[..., Proposer]] = Registry(
    "llamea_tune.proposers", "proposer", ProposerError, {OFFLINE: "llamea_tune.proposals.offline.proposer:from_spec"}
)


def make_proposer(spec: str = OFFLINE, on_waiting: OnWaiting | None = None, **options: object) -> Proposer:
    """Make a proposer from a spec.

    Args:
        spec: `"offline"`, another name in `PROPOSERS`, with `:` and what it takes, or the spec of a language model:
            see `llamea_tune.llm.make_llm`.
        on_waiting: Told, from any thread, whenever a language model is waited for before it is asked again.
        **options: Options of the proposer or language model.

    Raises:
        ProposerError: The spec names nothing known, or that cannot work.
        SettingsError: There is no such option.
    """
    if spec.partition(":")[0] not in PROPOSERS:
        return LLMProposer(make_llm(spec, on_waiting, **options))
    proposer: Proposer = PROPOSERS.make(spec, options, on_waiting=on_waiting)
    return proposer


__all__ = [
    "OFFLINE",
    "OPERATORS",
    "PROPOSERS",
    "Exchange",
    "LLMProposer",
    "Operator",
    "Proposal",
    "ProposalError",
    "Proposer",
    "ProposalTask",
    "RefusedPromptError",
    "make_proposer",
]
