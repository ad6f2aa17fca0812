"""Carry a run out while showing its progress, and say how to go on when it is interrupted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llamea_tune.cli.console import duration, err, out, print_json

if TYPE_CHECKING:
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
    """
    from llamea_tune.cli.progress import RunProgress
    from llamea_tune.cli.tables import print_leaderboard, tuning_table
    from llamea_tune.evolution.assemble import carry_out
    from llamea_tune.evolution.settings import Settings

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
    tunings = run.tunings()
    if as_json:
        tuned = {"tuning": [tuning.summary() for tuning in tunings.values()]} if settings.hpo_trials else {}
        print_json({"run": str(run.path), **board.to_json(), **tuned})
        return
    print_leaderboard(board)
    if settings.hpo_trials:
        out.print(tuning_table(tunings, settings.hpo_runs))
    if not quiet:
        err.print(f"took {duration(progress.elapsed_s)}; everything is in {path}", soft_wrap=True)
    winner = board.winner
    if winner is None:
        out.print("no candidate could be scored; candidates.jsonl in the run directory says why.")
        return
    out.print("\nto export the winner as a Kernel Tuner strategy:\n")
    out.print(f"    llamea-tune export {path} --candidate {winner.candidate} --name my_strategy\n", soft_wrap=True)
