"""Who proposes in a run: the proposer that its settings name, or one of a user's own; and whether its budgets can be kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llamea_tune.evolution.budgets import OF_ASKING, OF_TOKENS
from llamea_tune.evolution.events import Observer, ignore
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.recorded_llm import RecordedLLM
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import SettingsError
from llamea_tune.llm.mixed import ByRole, weights_of
from llamea_tune.llm.prices import price_of
from llamea_tune.llm.registry import make_llm
from llamea_tune.proposals import OFFLINE, LLMProposer, Proposer, make_proposer
from llamea_tune.proposals.team import SINGLE, TeamProposer, TryOut

_OURS = (LLMProposer, TeamProposer)  # a proposer of a user's own that derives from them is left as it is


def named_proposer(settings: Settings, observe: Observer = ignore) -> Proposer:
    """The proposer that settings name, its team made up.

    Raises:
        ProposerError: It is not known, or cannot work.
        SettingsError: It takes no such option, or is no language model and has a team.
    """
    options = settings.llm.given()
    proposer = make_proposer(settings.proposer, observe, **options)
    if settings.team == SINGLE:
        return proposer
    if not isinstance(proposer, LLMProposer):
        raise SettingsError(
            f"team is {settings.team!r}, but {settings.proposer} asks no language model; set proposer to one, or leave it out.",
            fields=("team", "proposer"),
        )
    by_role = {role: make_llm(spec, observe, **options) for role, spec in settings.llm_by_role().items()}
    return TeamProposer(ByRole(proposer.llm, by_role) if by_role else proposer.llm)


@contextmanager
def opened_proposer(
    run: RunDirectory, settings: Settings, own: Proposer | None, observe: Observer, ledger: Ledger, try_out: TryOut
) -> Iterator[Proposer]:
    """The run's proposer; a language model's answers go through the run's log, and none is waited for at the end."""
    proposer = named_proposer(settings, observe) if own is None else own
    if not isinstance(proposer, LLMProposer) or type(proposer) not in _OURS:
        yield proposer
        return
    llm = RecordedLLM(proposer.llm, run.exchanges, ledger)
    recorded = TeamProposer(llm, try_out) if isinstance(proposer, TeamProposer) else LLMProposer(llm)
    try:
        yield recorded
    finally:
        recorded.close()


def check_proposer(run: RunDirectory, proposer: Proposer | None) -> None:
    """Refuse to go on with another proposer than before.

    Args:
        run: The run directory.
        proposer: The proposer itself, None for what the run's settings name.

    Raises:
        SettingsError: The run was started with another one.
    """
    header = run.header()
    before = header["settings"]["proposer"]
    if proposer is None and header.get("own_proposer"):
        raise SettingsError(
            f"{run.path} was started in Python with a proposer of your own, {before!r}; "
            "go on there, and hand it over again: llamea_tune.resume(run, proposer)"
        )
    if proposer is not None and proposer.name != before:
        message = f"{run.path} was started with the proposer {before!r}, not {proposer.name!r}; go on with that one"
        raise SettingsError(message)


def check_budgets(settings: Settings, *, own: bool) -> None:
    """Refuse budgets that could not be kept.

    Args:
        settings: The run's settings.
        own: Whether the proposer is one of a user's own.

    Raises:
        SettingsError: A budget is for language models, and none is asked by us, or one whose prices are not given.
    """
    budgets, proposer = settings.budgets, settings.proposer
    limited = [name for name in OF_ASKING if name in budgets.limits()]
    if limited and (own or proposer == OFFLINE):
        message = (
            f"budgets.{limited[0]} is for language models, and {proposer!r} asks none that we count; leave it out."
        )
        raise SettingsError(message, fields=(f"budgets.{limited[0]}",))
    llms = [llm for spec in (proposer, *settings.llm_by_role().values()) for llm in weights_of(spec)] if limited else []
    of_tokens = [name for name in limited if name in OF_TOKENS]
    if of_tokens and any(llm.partition(":")[0] == "handoff" for llm in llms):
        message = f"budgets.{of_tokens[0]} needs to know how many tokens there are, which 'handoff' does not tell; leave it out."
        raise SettingsError(message, fields=(f"budgets.{of_tokens[0]}",))
    if budgets.max_cost is not None and not budgets.prices:
        message = "budgets.max_cost needs to know what tokens cost; give budgets.prices, too."
        raise SettingsError(message, fields=("budgets.max_cost", "budgets.prices"))
    unpriced = [llm for llm in llms if llm.startswith("openai:") and price_of(budgets.prices, llm) is None]
    if budgets.max_cost is not None and unpriced:
        message = f"budgets.max_cost needs the price of {unpriced[0]!r}, which budgets.prices does not hold; add it."
        raise SettingsError(message, fields=("budgets.max_cost", "budgets.prices"))
