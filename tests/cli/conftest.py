"""The program as people start it, and as a function; small spaces as files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from in_process import run_program

from llamea_tune.testing.cache_files import write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

SCRIPT = Path(sys.executable).with_name("llamea-tune")
_PARAMS = {"block": (16, 32, 64, 128), "tile": (1, 2, 3, 4, 5), "unroll": (False, True), "method": ("row", "column")}


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def is_refusal(self) -> bool:
        """Whether it is exit code 2 and one sentence, without a traceback."""
        return self.code == 2 and self.err.startswith("error: ") and len(self.err.splitlines()) == 1


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folders, in a temporary place; the working directory is there too."""
    computed = Path(os.environ["LLAMEA_TUNE_CACHE"]) / "spaces"  # compiled spaces and baselines are the same for all
    computed.mkdir(exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "spaces").symlink_to(computed)
    for variable, folder in (("LLAMEA_TUNE_CACHE", "cache"), ("LLAMEA_TUNE_STRATEGIES", "strategies")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(own_folders: Path) -> Callable[..., Outcome]:
    """Runs the program in this process."""

    def run(*args: object) -> Outcome:
        done = run_program(*args)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def script(own_folders: Path) -> Callable[..., Outcome]:
    """Runs the installed script in a process of its own."""

    def run(*args: object) -> Outcome:
        done = subprocess.run(
            [SCRIPT, *map(str, args)], capture_output=True, text=True, timeout=250, check=False, env=dict(os.environ)
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    """A folder with two small caches."""
    folder = tmp_path / "small"
    folder.mkdir()
    for seed, name in ((1, "one"), (2, "two")):
        write_cache(synthetic_space(seed, tune_params=_PARAMS, kept=0.95), folder / f"{name}.json")
    return folder
