"""The program as a whole: help, reference, start-up, exit codes."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from llamea_tune.cli.app import app
from llamea_tune.cli.benchmark import benchmark
from llamea_tune.cli.evolve import evolve
from llamea_tune.cli.tune import tune

DOCS = Path(__file__).parents[2] / "docs"


def names(group: typer.Typer, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [(*path, command.name) for command in group.registered_commands]
    for inner in group.registered_groups:
        found += names(inner.typer_instance, (*path, inner.name))
    return found


COMMANDS = names(app)


def test_all_commands_are_there():
    expected = {"evolve", "resume", "benchmark", "tune", "export", "report", "spaces", "strategies", "doctor"}
    assert {path[0] for path in COMMANDS} >= expected


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_has_an_example_and_says_json(path):
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert f"llamea-tune {' '.join(path)}" in shown.output
    assert "Example" in shown.output
    assert "--json" in shown.output


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_wrong_option_is_exit_code_2(path):
    assert CliRunner().invoke(app, [*path, "--nonsuch"]).exit_code == 2


def test_the_reference_page_is_current():
    spec = importlib.util.spec_from_file_location("make_cli_reference", DOCS / "make_cli_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    advice = "run: python docs/make_cli_reference.py"
    assert module.reference() == (DOCS / "cli.md").read_text(encoding="utf-8"), advice


def test_help_loads_no_room():
    code = "import sys, llamea_tune.cli; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"sklearn", "matplotlib", "optuna", "openai", "ioh", "pyatf", "scipy.stats"}
    rooms = {f"llamea_tune.{room}" for room in ("scoring", "sandbox", "spaces", "evolution", "hpo", "proposals")}
    assert not (heavy | rooms) & set(loaded)


def test_defaults_of_commands_are_those_of_the_settings():
    """Commands write them out, as help must not load the rooms that have the settings; so they are compared here."""
    from llamea_tune.evolution.settings import Settings
    from llamea_tune.hpo.study import StudySettings
    from llamea_tune.scoring.benchmarking import BenchmarkSettings

    for command, settings in ((evolve, Settings()), (benchmark, BenchmarkSettings()), (tune, StudySettings())):
        offered = {name: option.default for name, option in inspect.signature(command).parameters.items()}
        wanted = {
            name: ",".join(value) if isinstance(value, tuple) else value
            for name, value in vars(settings).items()
            if not is_dataclass(value)
        }
        nothing = ("", {}, None)  # is written differently from option to option
        told = {name: value for name, value in wanted.items() if value not in nothing}
        assert {name: offered.get(name) for name in told} == told
        assert all(offered.get(name) in nothing for name in wanted.keys() - told.keys())


def test_the_version_is_printed(script):
    from llamea_tune import __version__

    assert script("--version").out.strip() == f"llamea-tune {__version__}"


def test_without_a_command_there_is_help(script):
    assert "benchmark" in script().out
