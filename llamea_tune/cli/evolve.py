"""`llamea-tune evolve`: start a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from llamea_tune.cli import live, llm_options, options
from llamea_tune.cli.carry_out import carry_out_visibly

_HELP = """
Evolve optimization strategies on recorded search spaces, or live on a kernel and a device at hand.

Without arguments it uses four of the bundled spaces and the offline proposer, and takes about two minutes on two cores.

[bold]Examples[/]

  llamea-tune evolve

  llamea-tune evolve --spaces caches/ --proposer openai:gpt-4o --max-candidates 100

  llamea-tune evolve --hpo-trials 30 --hpo-runs 5000

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
    selection: Annotated[str, typer.Option(help="Selection scheme: plus or epsilon-greedy.")] = "plus",
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
