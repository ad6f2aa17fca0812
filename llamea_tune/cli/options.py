"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from llamea_tune.execution import Limits

FINAL_STRATEGIES = "simulated_annealing,genetic_algorithm,diff_evo,pso,random_sample"

Spaces = Annotated[
    list[str] | None,
    typer.Option(
        "--spaces",
        "-s",
        help="Kernel Tuner caches or T4 files: files, folders, globs, or names of bundled ones; may be repeated. "
        "Default: the bundled spaces.",
        show_default=False,
    ),
]
T1 = Annotated[
    Path | None,
    typer.Option(
        "--t1", help="T1 file with the restrictions, where it does not lie beside the caches.", show_default=False
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        "--objective", help="What was measured and counts, where it is not what the file names.", show_default=False
    ),
]
Salvage = Annotated[
    bool,
    typer.Option("--salvage", help="Use what is whole of files that are cut off, as a killed run may leave them."),
]
Prior = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        help="What strategies are told of the spaces beforehand: others (the same kernel on the other devices among the "
        "spaces), advice, none, or files of recordings or advice; may be repeated. For studies: shuffled, inverted.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Runs at the same time; by default one per core.", show_default=False),
]
Executor = Annotated[
    str,
    typer.Option(help="What makes the runs: local, ray or ray:HOST:PORT for a cluster, or what another package adds."),
]
Baseline = Annotated[str, typer.Option(help="What scores are relative to: exact (calibrated) or published.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        help="Wall-clock seconds one run may take; by default 60 for a candidate or a class in a file, 300 for a named "
        "strategy.",
        show_default=False,
    ),
]
AllowWeakSandbox = Annotated[
    bool, typer.Option("--allow-weak-sandbox", help="Run candidates even where the sandbox is below its minimum.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show the outcome only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]


def names(text: str) -> tuple[str, ...]:
    """The names in a comma-separated list."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def limits(timeout: float | None) -> Limits:
    """What one run may use.

    Raises:
        SettingsError: The time is none.
    """
    from llamea_tune.execution import Limits

    return Limits() if timeout is None else Limits(wall_s=timeout, cpu_s=timeout, named_s=timeout)
