"""Options of what a run may spend, which several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from llamea_tune.evolution.budgets import Budgets

MaxLLMCalls = Annotated[
    int | None,
    typer.Option("--max-llm-calls", help="Answered calls of language models to stop after.", show_default=False),
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", help="Tokens of prompts and answers to stop after.", show_default=False),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", help="Money to stop after, in the currency of --prices.", show_default=False),
]
MaxHours = Annotated[float | None, typer.Option("--max-hours", help="Hours to stop after.", show_default=False)]
MaxRuns = Annotated[
    int | None,
    typer.Option("--max-runs", help="Runs of candidates that are not exceeded.", show_default=False),
]
PricesFile = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help="TOML or JSON file with the prices of a million tokens: for each model, input and output.",
        show_default=False,
    ),
]


def budgets(
    max_llm_calls: int | None,
    max_tokens: int | None,
    max_cost: float | None,
    max_hours: float | None,
    max_runs: int | None,
    prices: Path | None,
) -> Budgets:
    """The options as a record.

    Raises:
        SettingsError: One of them makes no sense, or the file holds no prices.
    """
    from llamea_tune.evolution.budgets import Budgets
    from llamea_tune.llm.prices import read_prices

    table = {} if prices is None else read_prices(prices)
    return Budgets(max_llm_calls, max_tokens, max_cost, max_hours, max_runs, table)
