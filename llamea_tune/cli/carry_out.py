"""Carry a run out while showing its progress, and say how to go on when it is interrupted."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from llamea_tune.cli.console import duration, err, fail, out, print_json
from llamea_tune.wording import counted

if TYPE_CHECKING:
    from llamea_tune.evolution.events import Observer
    from llamea_tune.evolution.leaderboard import Leaderboard
    from llamea_tune.evolution.model_summary import ModelSummary
    from llamea_tune.evolution.run_directory import RunDirectory
    from llamea_tune.evolution.settings import Settings


def carry_out_visibly(carry_out: Callable[[Observer], Leaderboard], *, quiet: bool, as_json: bool) -> None:
    """Have a run carried out and show the outcome.

    Args:
        carry_out: Does it, and tells of the progress.
        quiet: Whether to show the outcome only.
        as_json: Whether to show it as JSON.

    Raises:
        KeyboardInterrupt: Ctrl-C; the command that resumes the run is on screen by then.
        ProposerError: Asking for candidates is no use, at least for now.
        typer.Exit: No candidate could be scored; the commonest reason is on screen by then.
    """
    from llamea_tune.cli.costs import go_on_option, option_of, spending
    from llamea_tune.cli.progress import RunProgress
    from llamea_tune.cli.tables import model_line, print_leaderboard, tuning_table
    from llamea_tune.evolution.budgets import Spent
    from llamea_tune.evolution.run_directory import RunDirectory
    from llamea_tune.exceptions import ProposerError

    progress = RunProgress(quiet=quiet or as_json)
    try:
        with progress:
            board = carry_out(progress)
    except KeyboardInterrupt:
        if progress.run is not None:
            go_on = f"llamea-tune resume {shlex.quote(str(progress.run))}"
            err.print(f"\nstopped; nothing that was done is lost. Go on with:\n\n    {go_on}\n", soft_wrap=True)
        raise
    except ProposerError as problem:
        if progress.run is None or problem.fields:  # a setting that is wrong stays so when the run is gone on with
            raise
        path = shlex.quote(str(progress.run))
        raise ProposerError(f"{str(problem).removesuffix('.')}; llamea-tune resume {path} asks again") from problem
    assert board.run is not None
    run, settings, path = RunDirectory(board.run), progress.settings, shlex.quote(str(board.run))
    models = _models(run, settings)
    if as_json:
        print_json(_as_json(board, run, settings, models))
    else:
        print_leaderboard(board)
        if settings.hpo_trials:
            out.print(tuning_table(run.tunings(), settings.hpo_runs))
        if not quiet:
            told = "".join(f"{model_line(model)}\n" for model in models)
            asked = "" if board.spent is None else spending(board.spent)
            err.print(f"{told}{asked}took {duration(progress.elapsed_s)}; everything is in {path}", soft_wrap=True)
    if board.used_up is not None:
        stopped = f"stopped by {option_of(board.used_up)} after {counted(board.n_candidates, 'candidate')}"
        go_on = f"llamea-tune resume {path} {go_on_option(board.used_up, settings.budgets, board.spent or Spent())}"
        err.print(f"{stopped}. Go on with more, such as:\n\n    {go_on}\n", soft_wrap=True)
    winner = board.winner
    if winner is None:
        if board.used_up is not None:
            return
        fail(_why_none(run, board))
        raise typer.Exit(1)
    if as_json:
        return
    out.print("\nto export the winner as a Kernel Tuner strategy:\n")
    out.print(f"    llamea-tune export {path} --candidate {winner.candidate} --name my_strategy\n", soft_wrap=True)


def _models(run: RunDirectory, settings: Settings) -> list[ModelSummary]:
    from llamea_tune.evolution.history import History
    from llamea_tune.evolution.model_summary import summarise_models

    return summarise_models(settings, History(run.candidates(), run.confirmations()).all())


def _as_json(
    board: Leaderboard, run: RunDirectory, settings: Settings, models: Sequence[ModelSummary]
) -> dict[str, Any]:
    """The outcome as JSON data: the leaderboard, what was spent, what tuning did, what came of each language model."""
    tunings = run.tunings().values() if settings.hpo_trials else ()
    return {
        "run": str(run.path),
        **board.to_json(timings=True),
        **({"tuning": [tuning.summary() for tuning in tunings]} if settings.hpo_trials else {}),
        **({"models": [asdict(model) for model in models]} if models else {}),
        "used_up": board.used_up,
        "spent": None if board.spent is None else board.spent.to_json(),
    }


def _why_none(run: RunDirectory, board: Leaderboard) -> str:
    """Why there is no winner, in a sentence."""
    from llamea_tune.evolution.reasons import commonest

    judged = run.candidates().values()
    reasons = [entry.evaluation.reason for entry in judged if entry.evaluation.reason]
    reasons += [row.reason for row in board.rows if row.candidate is not None and row.reason]
    reason, times = commonest(reasons)
    return f"no candidate could be scored, mostly ({times} of {len(judged)}) for this reason: {reason}"
