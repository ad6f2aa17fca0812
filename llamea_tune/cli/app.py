"""The program: its commands, and how it ends."""

from __future__ import annotations

import atexit
import gc
import re
import signal
import sys
from types import FrameType
from typing import NoReturn

import typer

from llamea_tune import __version__
from llamea_tune.cli import advise, benchmark, doctor, evolve, export, report, resume, spaces, strategies, tune
from llamea_tune.cli.console import fail, show_warnings
from llamea_tune.exceptions import LlameaTuneError

app = typer.Typer(
    name="llamea-tune",
    help="Evolve, compare and export optimization strategies for Kernel Tuner.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"llamea-tune {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
    ),
) -> None: ...


for command in (evolve, resume, benchmark, tune, advise, export, report, spaces, strategies, doctor):
    command.register(app)


_OPTIONS = {
    "selection_options": "--selection-option",
    "own_compute_ms": "--own-compute-limit",
    "wall_s": "--timeout",
    "named_s": "--timeout",
    "sample": "--live-sample",
    "budget_s": "--live-budget",
}


def with_options(error: LlameaTuneError) -> str:
    """The message of an error, with options in the place of the settings that it names."""
    message = str(error)
    for name in error.fields:
        option = _OPTIONS.get(name) or "--" + name.removeprefix("budgets.").removesuffix("_s").replace(
            ".", "-"
        ).replace("_", "-")
        message = re.sub(rf"(?<![\w./-]){re.escape(name)}\b(=True)?", option, message)
    return message


def _interrupt(_signum: int, _frame: FrameType | None) -> NoReturn:
    """End as on Ctrl-C: a batch system's SIGTERM must not cost more than the candidate in flight either."""
    raise KeyboardInterrupt


def main() -> None:
    """Run the program. Bad input ends it with one sentence and exit code 2, Ctrl-C and SIGTERM with 130."""
    signal.signal(signal.SIGTERM, _interrupt)
    show_warnings()
    atexit.register(gc.freeze)  # searching all that is left for cycles takes longer than all else at the end
    try:
        app()
    except LlameaTuneError as err:
        fail(with_options(err))
        sys.exit(EXIT_BAD_INPUT)
    except KeyboardInterrupt:
        fail("interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
