"""What a run may spend, and what it has spent."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from llamea_tune.exceptions import SettingsError
from llamea_tune.llm.prices import Prices, check_prices

OF_TOKENS = ("max_tokens", "max_cost")
"""Budgets that need to know how many tokens answers take."""

OF_ASKING = ("max_llm_calls", *OF_TOKENS)
"""Budgets after which no language model is asked any more; what was asked is still waited for and judged."""


@dataclass(frozen=True)
class Budgets:
    """What a run may spend in all, over every time that it is resumed; None for as much as it takes.

    The leaderboard comes after the search and is not counted.

    Attributes:
        max_llm_calls: Calls of a language model that are answered.
        max_tokens: Tokens of prompts and answers together.
        max_cost: Money, in the currency of `prices`.
        max_hours: Hours.
        max_runs: Runs of candidates: to score, to confirm, to tune.
        prices: What tokens cost, by model; see `llamea_tune.llm.prices`.
    """

    max_llm_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_hours: float | None = None
    max_runs: int | None = None
    prices: Prices = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            SettingsError: A number is not above 0, or the prices are none.
        """
        for name, value in self.limits().items():
            if not (math.isfinite(value) and value > 0):
                message = f"budgets.{name} is {value:g}; it must be a number above 0."
                raise SettingsError(message, fields=(f"budgets.{name}",))
        if self.prices:
            check_prices(self.prices, "budgets.prices")

    def limits(self) -> dict[str, float]:
        """Those limits that were given, by name."""
        return {name: value for name, value in asdict(self).items() if name != "prices" and value is not None}

    def given(self) -> dict[str, Any]:
        """All that was given, as keyword arguments."""
        return {**self.limits(), **({"prices": self.prices} if self.prices else {})}


@dataclass(frozen=True)
class Spent:
    """What a run has spent so far.

    Attributes:
        llm_calls: Calls of a language model that were answered.
        prompt_tokens: Tokens of prompts, as far as they were told.
        completion_tokens: Tokens of answers, as far as they were told.
        cost: Money for those answers whose price is known; None where no prices were given.
        uncounted: Calls of which the tokens were not told.
        unpriced: Language models that have no price, where there are prices.
        runs: Runs of candidates, the leaderboard's left out.
        seconds: Wall-clock time, up to what was logged last where the run is not going on.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    uncounted: int = 0
    unpriced: tuple[str, ...] = ()
    runs: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers."""
        return self.prompt_tokens + self.completion_tokens

    def of(self, budget: str) -> float:
        """What was spent of a budget, by the name of its limit."""
        amounts = {
            "max_llm_calls": self.llm_calls,
            "max_tokens": self.tokens,
            "max_cost": self.cost or 0.0,
            "max_hours": self.seconds / 3600.0,
            "max_runs": self.runs,
        }
        return amounts[budget]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)
