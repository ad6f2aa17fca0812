"""Small spaces on disk, and the program as a real process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from in_process import run_program

from llamea_tune.testing.cache_files import write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

SMALL = {"block_size_x": (16, 32, 64, 128), "tile": (1, 2, 4), "unroll": (False, True), "order": ("ij", "ji", "tiled")}

# A quick run: few candidates, few repeats, two named strategies.
QUICK = (
    *("--max-candidates", "8", "--parents", "2", "--offspring", "3", "--repeats", "2", "--confirm-repeats", "2"),
    *("--final-repeats", "3", "--final-candidates", "2", "--final-strategies", "genetic_algorithm,random_sample"),
    *("--jobs", "2"),
)


@pytest.fixture(scope="session")
def small_spaces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small caches."""
    folder = tmp_path_factory.mktemp("spaces") / "synthetic"
    folder.mkdir()
    for seed, name in enumerate(("gpu_one", "gpu_two")):
        write_cache(synthetic_space(seed, tune_params=SMALL, kept=1.0), folder / f"{name}.json")
    return folder


@pytest.fixture(scope="session")
def strategies_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A user's strategies folder for the programs started here."""
    folder = tmp_path_factory.mktemp("strategies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLAMEA_TUNE_STRATEGIES", str(folder))
        yield folder


@pytest.fixture(scope="session")
def command(small_spaces: Path, strategies_folder: Path) -> Callable[..., list[str]]:
    """Makes command lines: `evolve` ones with the small spaces and quick settings, and any other as it is."""

    def make(name: str, *arguments: str | Path) -> list[str]:
        fixed = ("--spaces", str(small_spaces), *QUICK) if name == "evolve" else ()
        program = "import sys; from llamea_tune.cli import main; sys.exit(main())"
        return [sys.executable, "-c", program, name, *fixed, *map(str, arguments)]

    return make


@pytest.fixture(scope="session")
def cli(command: Callable[..., list[str]]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs such a command to its end, in this process."""

    def run(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run_program(*command(name, *arguments)[3:])

    return run
