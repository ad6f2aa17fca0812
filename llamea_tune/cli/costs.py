"""What a run has spent, in words, and the options that limit it."""

from __future__ import annotations

from llamea_tune.evolution.budgets import Budgets, Spent
from llamea_tune.wording import counted


def costs(spent: Spent) -> str:
    """What language models have cost, for the end of a bar; nothing where none was asked."""
    if not spent.llm_calls:
        return ""
    return f"  {spent.tokens:,} tokens" if spent.cost is None else f"  cost {spent.cost:.4f}"


def spending(spent: Spent) -> str:
    """What language models have cost, as the beginning of a sentence; empty where none was asked."""
    if not spent.llm_calls:
        return ""
    calls, tokens = counted(spent.llm_calls, "answer"), f"{spent.prompt_tokens:,} + {spent.completion_tokens:,} tokens"
    known = "" if spent.cost is None else f", cost {spent.cost:.4f}"
    missing = f", tokens of {spent.uncounted} not told" if spent.uncounted else ""
    return f"{calls} of language models, {tokens}{missing}{known}; "


def option_of(budget: str) -> str:
    """The option behind a budget's name."""
    return "--" + budget.replace("_", "-")


def go_on_option(budget: str, budgets: Budgets, spent: Spent) -> str:
    """An option that lets a run go on that was stopped by a budget: twice as much of it, or of what was spent by then."""
    limit = budgets.limits()[budget]
    more = 2 * max(limit, spent.of(budget))
    return f"{option_of(budget)} {more:.3g}" if isinstance(limit, float) else f"{option_of(budget)} {int(more)}"
