"""Carry a run out while showing its progress, and say how to go on when it is interrupted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from llamea_tune.cli.console import duration, err, fail, out, print_json

if TYPE_CHECKING:
    from llamea_tune.evolution.leaderboard import Leaderboard
    from llamea_tune.evolution.run_directory import RunDirectory
    from llamea_tune.spaces.space import Space


def carry_out_visibly(
    run: RunDirectory,
    spaces: Sequence[Space],
    *,
    jobs: int,
    allow_weak_sandbox: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Do what is left of a run and show the outcome.

    Raises:
        KeyboardInterrupt: Ctrl-C; the command that resumes the run is on screen by then.
        ProposerError: Asking for candidates is no use, at least for now.
        typer.Exit: No candidate could be scored; the commonest reason is on screen by then.
    """
    from llamea_tune.cli.progress import RunProgress
    from llamea_tune.cli.tables import print_leaderboard, tuning_table
    from llamea_tune.evolution.assemble import carry_out
    from llamea_tune.evolution.settings import Settings
    from llamea_tune.exceptions import ProposerError

    settings = Settings.from_json(run.header()["settings"])
    path = shlex.quote(str(run.path))
    progress = RunProgress(settings, n_spaces=len(spaces), quiet=quiet or as_json)
    try:
        with progress:
            board = carry_out(run, spaces, jobs=jobs, allow_weak_sandbox=allow_weak_sandbox, observe=progress)
    except KeyboardInterrupt:
        err.print(
            f"\nstopped; nothing that was done is lost. Go on with:\n\n    llamea-tune resume {path}\n", soft_wrap=True
        )
        raise
    except ProposerError as problem:
        raise ProposerError(f"{str(problem).removesuffix('.')}; llamea-tune resume {path} asks again") from problem
    tunings = run.tunings()
    if as_json:
        tuned = {"tuning": [tuning.summary() for tuning in tunings.values()]} if settings.hpo_trials else {}
        print_json({"run": str(run.path), **board.to_json(), **tuned})
    else:
        print_leaderboard(board)
        if settings.hpo_trials:
            out.print(tuning_table(tunings, settings.hpo_runs))
        if not quiet:
            err.print(f"took {duration(progress.elapsed_s)}; everything is in {path}", soft_wrap=True)
    winner = board.winner
    if winner is None:
        fail(_why_none(run, board))
        raise typer.Exit(1)
    if as_json:
        return
    out.print("\nto export the winner as a Kernel Tuner strategy:\n")
    out.print(f"    llamea-tune export {path} --candidate {winner.candidate} --name my_strategy\n", soft_wrap=True)


def _why_none(run: RunDirectory, board: Leaderboard) -> str:
    """Why there is no winner, in a sentence."""
    from llamea_tune.evolution.reasons import commonest

    judged = run.candidates().values()
    reasons = [entry.evaluation.reason for entry in judged if entry.evaluation.reason]
    reasons += [row.reason for row in board.rows if row.candidate is not None and row.reason]
    reason, times = commonest(reasons)
    return f"no candidate could be scored, mostly ({times} of {len(judged)}) for this reason: {reason}"
