"""PROPOSE: prompts, mutation operators, reply parsing, and the offline recombiner."""

from llamea_tune.exceptions import SettingsError
from llamea_tune.llm.protocol import OnWaiting
from llamea_tune.llm.registry import make_llm
from llamea_tune.proposals.llm_proposer import LLMProposer
from llamea_tune.proposals.operators import OPERATORS, Operator
from llamea_tune.proposals.proposal import Exchange, Proposal, ProposalError, ProposalTask, Proposer, RefusedPromptError

OFFLINE = "offline"


def make_proposer(spec: str = OFFLINE, on_waiting: OnWaiting | None = None, **options: object) -> Proposer:
    """Make a proposer from a spec.

    Args:
        spec: `"offline"`, or the spec of a language model: see `llamea_tune.llm.make_llm`.
        on_waiting: Told, from any thread, whenever a language model is waited for before it is asked again.
        **options: Options of the language model.

    Raises:
        ProposerError: The spec names nothing known, or that cannot work.
        SettingsError: There is no such option.
    """
    if spec != OFFLINE:
        return LLMProposer(make_llm(spec, on_waiting, **options))
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise SettingsError(
            f"the offline proposer takes no option {given[0]!r}; leave it out, or name a language model"
        )
    from llamea_tune.proposals.offline import OfflineProposer

    return OfflineProposer()


__all__ = [
    "OFFLINE",
    "OPERATORS",
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
