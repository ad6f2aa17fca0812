"""`llamea-tune resume`: go on with a run that was interrupted, or that is to be longer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llamea_tune.cli import budget_options, live, llm_options, options
from llamea_tune.cli.carry_out import carry_out_visibly

_HELP = """
Go on with a run that was interrupted, from where its logs end.

Nothing that was done is done again; the outcome is that of a run without the interruption. With
--max-candidates it goes on to more candidates, also where it had come to its end; what --hpo-runs allows
grows with them. Budgets are in all, what was spent before included. How a language model is asked is kept in the
run; what is given here changes it from here on.

[bold]Examples[/]

  llamea-tune resume runs/20260131-140503

  llamea-tune resume runs/20260131-140503 --max-candidates 96

  llamea-tune resume runs/20260131-140503 --max-cost 10

  llamea-tune resume runs/20260131-140503 --llm-timeout 900 --llm-max-retries 20
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("resume", help=_HELP)(resume)


def resume(
    run: Annotated[Path, typer.Argument(help="Run directory that evolve made.")],
    max_candidates: Annotated[
        int | None,
        typer.Option(
            min=1, help="Candidates to propose in all, if not as many as the run was started for.", show_default=False
        ),
    ] = None,
    llm_timeout: llm_options.Timeout = None,
    llm_answer_timeout: llm_options.AnswerTimeout = None,
    llm_max_retries: llm_options.MaxRetries = None,
    llm_max_wait: llm_options.MaxWait = None,
    llm_api_key_env: llm_options.KeyEnv = None,
    llm_parameter: llm_options.Parameters = None,
    max_llm_calls: budget_options.MaxLLMCalls = None,
    max_tokens: budget_options.MaxTokens = None,
    max_cost: budget_options.MaxCost = None,
    max_hours: budget_options.MaxHours = None,
    max_runs: budget_options.MaxRuns = None,
    prices: budget_options.PricesFile = None,
    jobs: options.Jobs = None,
    executor: options.Executor = "local",
    allow_weak_sandbox: options.AllowWeakSandbox = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Rebuild the state from the run's logs, and carry the rest out."""
    from llamea_tune.front_door.evolving import resume as go_on

    llm = llm_options.llm_options(
        llm_timeout, llm_answer_timeout, llm_max_retries, llm_max_wait, llm_api_key_env, llm_parameter
    )
    budgets = budget_options.budgets(max_llm_calls, max_tokens, max_cost, max_hours, max_runs, prices)
    carry_out_visibly(
        lambda observe: go_on(
            run,
            max_candidates=max_candidates,
            llm=llm,
            budgets=budgets,
            jobs=jobs,
            executor=executor,
            allow_weak_sandbox=allow_weak_sandbox,
            on_sampled=live.sampling_lines(quiet=quiet),
            observe=observe,
        ),
        quiet=quiet,
        as_json=as_json,
    )
