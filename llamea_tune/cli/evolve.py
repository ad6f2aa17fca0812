"""`llamea-tune evolve`: start a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from llamea_tune.cli import budget_options, live, llm_options, options
from llamea_tune.cli.carry_out import carry_out_visibly

_HELP = """
Evolve optimization strategies on recorded search spaces, or live on a kernel and a device at hand.

Without arguments it uses four of the bundled spaces and the offline proposer, and takes about two minutes on two cores.

[bold]Examples[/]

  llamea-tune evolve

  llamea-tune evolve --spaces caches/ --proposer openai:gpt-4o --max-candidates 100

  llamea-tune evolve --hpo-trials 30 --hpo-runs 5000

  llamea-tune evolve --proposer openai:gpt-4o --max-candidates 500 --prices prices.toml --max-cost 5 --max-hours 8

  llamea-tune evolve --proposer openai:qwen3@http://localhost:8000/v1 --llm-timeout 900 --llm-parameter max_tokens=8000

  llamea-tune evolve --spaces 'hub/*/A100.json.gz' --proposer handoff:prompts/

  llamea-tune evolve --live searchspaces/gemm --device 0,1
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("evolve", help=_HELP)(evolve)


def evolve(
    spaces: options.Spaces = None,
    t1: options.T1 = None,
    objective: options.Objective = None,
    salvage: options.Salvage = False,
    live_kernel: live.Kernels = None,
    backend: live.Backend = None,
    compiler: live.Compiler = None,
    device: live.Devices = "0",
    live_sample: live.Sample = 80,
    live_budget: live.Budget = None,
    live_recordings: live.Recordings = Path("live"),
    prior: options.Prior = None,
    proposer: Annotated[
        str,
        typer.Option(
            help="Who proposes: offline, openai:MODEL[@URL], mix:SPEC=WEIGHT,..., handoff:FOLDER, replay:PATH or "
            "replay-by-key:PATH."
        ),
    ] = "offline",
    max_candidates: Annotated[int, typer.Option(help="Candidates to propose in all.")] = 24,
    parents: Annotated[int, typer.Option(help="Candidates that survive each generation.")] = 4,
    offspring: Annotated[int, typer.Option(help="Candidates proposed in each generation.")] = 12,
    selection: Annotated[
        str,
        typer.Option(
            help="Selection scheme: plus, comma, tournament, roulette, islands, map-elites or epsilon-greedy."
        ),
    ] = "plus",
    selection_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Option of the selection scheme, such as islands=3; may be repeated.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="How often epsilon-greedy goes back to any earlier attempt, 0 to 1; it does so with 0.25 by default.",
            show_default=False,
        ),
    ] = None,
    operator_choice: Annotated[
        Literal["weights", "bandit"],
        typer.Option(help="How mutation operators are chosen: by fixed weights, or by a bandit that learns."),
    ] = "weights",
    model_choice: Annotated[
        Literal["weights", "bandit"],
        typer.Option(
            help="How the models of a mix are chosen: by its weights, or by a bandit that starts there and learns."
        ),
    ] = "weights",
    novelty: Annotated[
        float | None,
        typer.Option(
            help="Refuse candidates without a run from this similarity to an earlier one on, such as 0.95.",
            show_default=False,
        ),
    ] = None,
    steady_state: Annotated[
        bool,
        typer.Option(
            "--steady-state/--generations", help="Plan the next candidate as soon as one is judged, or in generations."
        ),
    ] = False,
    racing: Annotated[
        bool, typer.Option(help="Drop candidates after few runs that are clearly behind the weakest survivor.")
    ] = False,
    own_compute_limit: Annotated[
        float | None,
        typer.Option(
            metavar="MS",
            help="Aim for own compute, in milliseconds for each measurement: selection discounts what takes more.",
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Runs per space when a candidate is first scored.")] = 6,
    confirm_repeats: Annotated[int, typer.Option(help="Runs per space, on fresh seeds, before one is kept.")] = 12,
    final_repeats: Annotated[int, typer.Option(help="Runs per space for the leaderboard, on fresh seeds.")] = 25,
    final_candidates: Annotated[
        int, typer.Option("--final-candidates", "--finalists", help="Candidates on the leaderboard.")
    ] = 5,
    final_strategies: Annotated[
        str, typer.Option("--final-strategies", "--rivals", help="Named strategies beside them, comma-separated.")
    ] = options.FINAL_STRATEGIES,
    information: Annotated[
        Literal["none", "application", "space", "hidden"],
        typer.Option(
            "--information",
            "--description-level",
            help="What prompts tell of the spaces: none, application, space, or hidden, which is that without names.",
        ),
    ] = "space",
    team: Annotated[
        Literal["single", "plan-code-debug"],
        typer.Option(help="Who works on a proposal: single, or plan-code-debug for a planner, a coder and a debugger."),
    ] = "single",
    planner_llm: llm_options.PlannerLLM = "",
    coder_llm: llm_options.CoderLLM = "",
    debugger_llm: llm_options.DebuggerLLM = "",
    start_from: Annotated[
        str, typer.Option(help="Exported strategies, or FILE.py:CLASS, to start from, comma-separated.")
    ] = "",
    context_tokens: Annotated[
        int | None,
        typer.Option(help="Most tokens that a prompt may take; by default any number.", show_default=False),
    ] = None,
    reference_strategies: Annotated[
        str, typer.Option(help="Named strategies that prompts show beside a parent, comma-separated.")
    ] = "pso,genetic_algorithm",
    asked_at_once: Annotated[int, typer.Option(help="Prompts that may wait for an answer at the same time.")] = 4,
    max_unanswered: Annotated[
        int, typer.Option(help="Calls in a row without an answer after which the run stops, to be resumed later.")
    ] = 3,
    llm_timeout: llm_options.Timeout = None,
    llm_answer_timeout: llm_options.AnswerTimeout = None,
    llm_max_retries: llm_options.MaxRetries = None,
    llm_max_wait: llm_options.MaxWait = None,
    llm_api_key_env: llm_options.KeyEnv = None,
    llm_parameter: llm_options.Parameters = None,
    hpo_trials: Annotated[
        int, typer.Option(help="Trials to tune the hyperparameters of each survivor with; 0 tunes none.")
    ] = 0,
    hpo_runs: Annotated[int, typer.Option(help="Runs that this tuning may take in all.")] = 2000,
    max_llm_calls: budget_options.MaxLLMCalls = None,
    max_tokens: budget_options.MaxTokens = None,
    max_cost: budget_options.MaxCost = None,
    max_hours: budget_options.MaxHours = None,
    max_runs: budget_options.MaxRuns = None,
    prices: budget_options.PricesFile = None,
    timeout: options.Timeout = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    baseline: options.Baseline = "exact",
    jobs: options.Jobs = None,
    executor: options.Executor = "local",
    run_dir: Annotated[
        Path | None, typer.Option(help="Run directory to make; by default runs/<date>-<time>.", show_default=False)
    ] = None,
    allow_weak_sandbox: options.AllowWeakSandbox = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Load the spaces, make the run directory, evolve, show the leaderboard."""
    from llamea_tune.evolution.settings import Settings
    from llamea_tune.front_door.evolving import evolve as start_run
    from llamea_tune.spaces import Reading

    settings = Settings(
        proposer=proposer,
        max_candidates=max_candidates,
        parents=parents,
        offspring=offspring,
        selection=selection,
        selection_options=selection_options(selection_option, epsilon),
        operator_choice=operator_choice,
        model_choice=model_choice,
        novelty=novelty,
        steady_state=steady_state,
        racing=racing,
        budgets=budget_options.budgets(max_llm_calls, max_tokens, max_cost, max_hours, max_runs, prices),
        repeats=repeats,
        confirm_repeats=confirm_repeats,
        final_repeats=final_repeats,
        final_candidates=final_candidates,
        final_strategies=options.names(final_strategies),
        baseline=baseline,
        seed=seed,
        asked_at_once=asked_at_once,
        max_unanswered=max_unanswered,
        llm=llm_options.llm_options(
            llm_timeout, llm_answer_timeout, llm_max_retries, llm_max_wait, llm_api_key_env, llm_parameter
        ),
        information=information,
        context_tokens=context_tokens,
        team=team,
        planner_llm=planner_llm,
        coder_llm=coder_llm,
        debugger_llm=debugger_llm,
        start_from=options.names(start_from),
        reference_strategies=options.names(reference_strategies),
        hpo_trials=hpo_trials,
        hpo_runs=hpo_runs,
        own_compute_ms=own_compute_limit,
        limits=options.limits(timeout),
        prior=tuple(prior or ()),
    )
    lives = live.live_kernels(
        live_kernel,
        backend=backend,
        compiler=compiler,
        devices=device,
        executor=executor,
        sample=live_sample,
        budget_s=live_budget,
        recordings=live_recordings,
    )
    reading = Reading(t1, objective, salvage)
    named = live.one_kind(spaces, reading, lives)
    carry_out_visibly(
        lambda observe: start_run(
            named,
            run=run_dir,
            reading=reading,
            jobs=jobs,
            executor=executor,
            allow_weak_sandbox=allow_weak_sandbox,
            on_sampled=live.sampling_lines(quiet=quiet),
            observe=observe,
            **vars(settings),
        ),
        quiet=quiet,
        as_json=as_json,
    )


def selection_options(named: list[str] | None, epsilon: float | None) -> dict[str, float]:
    """The options of the selection scheme.

    Raises:
        SettingsError: One is not of the form NAME=NUMBER.
    """
    from llamea_tune.exceptions import SettingsError

    given = {} if epsilon is None else {"epsilon": epsilon}
    for text in named or []:
        name, _, value = text.partition("=")
        try:
            given[name.strip()] = float(value)
        except ValueError:
            message = f"--selection-option is {text!r}; give a name and a number, such as islands=3."
            raise SettingsError(message) from None
    return given
