"""`llamea-tune spaces record`: measure a kernel's configs on a device at hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli import live, options
from llamea_tune.cli.console import Lines, duration, err, escape, fail, out, print_json
from llamea_tune.wording import counted

if TYPE_CHECKING:
    from llamea_tune.recording import KernelFolder, Progress, Recorded

HELP = """
Measure all permitted configs of a kernel, or a sample, and leave a Kernel Tuner cache behind.

Whatever stops it, the same command goes on from there: each measurement is on disk before the next begins. Exit code 2
says that a kernel could not be recorded, 3 that the time limit left something to do.

[bold]Examples[/]

  llamea-tune spaces record searchspaces/gemm

  llamea-tune spaces record my_kernel.json --backend cupy --device 1 --out recorded

  llamea-tune spaces record searchspaces/gemm --sample 500 --time-limit 600
"""

EXIT_FAILED = 2
EXIT_UNFINISHED = 3


def record_spaces(
    kernels: Annotated[
        list[str], typer.Argument(metavar="KERNEL...", help="Kernel folders, T1 files, or names of bundled kernels.")
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for the caches, one below it for each kernel; by default caches/ in each kernel's folder.",
            show_default=False,
        ),
    ] = None,
    backend: live.Backend = None,
    compiler: live.Compiler = None,
    device: Annotated[int, typer.Option(min=0, help="Number of the GPU.")] = 0,
    label: Annotated[
        str | None, typer.Option(help="Short name of the device, for file names.", show_default=False)
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Record that many configs, drawn at random; by default all.", show_default=False)
    ] = None,
    part: Annotated[str, typer.Option(help="Record one share, such as 2/4.")] = "1/1",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order and of the kernel's arguments.")] = 0,
    iterations: Annotated[int, typer.Option(min=1, help="Runs of each benchmark.")] = 7,
    compilers: Annotated[
        int | None, typer.Option(min=1, help="How many compile at a time; by default by cores.", show_default=False)
    ] = None,
    noise_sample: Annotated[int, typer.Option(min=0, help="Configs to measure again at the end.")] = 50,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after that many seconds, to be resumed.", show_default=False)
    ] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Record wrong results as failures.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Record each kernel in turn; one that can't be recorded doesn't stop the others."""
    from llamea_tune.exceptions import LlameaTuneError
    from llamea_tune.recording import KernelFolder, parse_part, record

    share = parse_part(part)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    done: list[dict[str, object]] = []
    failed = unfinished = False
    for text in kernels:
        if deadline is not None and time.monotonic() >= deadline:
            err.print(f"{escape(text)}: not begun within the time limit", soft_wrap=True)
            unfinished = True
            continue
        try:
            kernel = KernelFolder.load(live.find_kernel(text), backend=backend, compiler=compiler)
            recorded = record(
                kernel,
                to / kernel.name if to else kernel.t1_path.parent / "caches",
                device=device,
                label=label,
                sample=sample,
                part=share,
                seed=seed,
                iterations=iterations,
                compilers=compilers,
                noise_sample=noise_sample,
                stop_on_wrong_result=not keep_going,
                time_limit_s=None if deadline is None else deadline - time.monotonic(),
                on_progress=None if quiet else _show(kernel.name),
            )
        except LlameaTuneError as error:
            fail(f"{text}: {error}")
            failed = True
            continue
        except KeyboardInterrupt:
            err.print("\nstopped; nothing measured is lost, and the same command goes on from there", soft_wrap=True)
            raise
        unfinished |= recorded.cache is None
        done.append(_facts(kernel, recorded))
        if not as_json:
            out.print(escape(_line(kernel, recorded)), soft_wrap=True)
    if as_json:
        print_json(done)
    if failed or unfinished:
        raise typer.Exit(EXIT_FAILED if failed else EXIT_UNFINISHED)


def _show(name: str) -> Callable[[Progress], None]:
    line = Lines()

    def show(progress: Progress) -> None:
        line(
            f"{escape(name)}: {progress.done}/{progress.total}, {progress.failed} failed, "
            f"best {progress.best_ms:.4g} ms, {duration(progress.remaining_s)} left",
            in_any_case=progress.done == progress.total,
        )

    return show


def _line(kernel: KernelFolder, recorded: Recorded) -> str:
    ratio = recorded.median_ms / recorded.optimum_ms
    return (
        f"{kernel.name}: {counted(recorded.configs, 'config')}, {recorded.valid} valid, median/optimum {ratio:.2f}, "
        f"noise {recorded.noise.median_spread:.2%}, {recorded.cache or 'to be resumed'}"
    )


def _facts(kernel: KernelFolder, recorded: Recorded) -> dict[str, object]:
    valid = recorded.valid > 0
    return {
        "kernel": kernel.name,
        "cache": None if recorded.cache is None else str(recorded.cache),
        "configs": recorded.configs,
        "valid": recorded.valid,
        "measured": recorded.measured,
        "optimum_ms": recorded.optimum_ms if valid else None,
        "median_ms": recorded.median_ms if valid else None,
        "noise": recorded.noise.describe(),
    }
