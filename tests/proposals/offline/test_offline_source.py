"""The source written offline is as clean as a person's, and says everything needed to read its design back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.candidate_code import CandidateCode
from llamea_tune.proposals.offline.design import Design, complete, hyperparameters_of, read_design
from llamea_tune.proposals.offline.operators import SLOTS
from llamea_tune.proposals.offline.prose import class_name, description
from llamea_tune.proposals.offline.variation import fresh
from llamea_tune.proposals.offline.writer import write

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def all_components() -> list[Design]:
    """For every component a design that has it, and some random designs."""
    designs = [complete({"acceptance": "annealing", slot: name}, {}) for slot, names in SLOTS.items() for name in names]
    return designs + [fresh(np.random.default_rng(seed)) for seed in range(60)]


def ruff(folder: Path, *arguments: str) -> str:
    """Run ruff on a folder; returns what it complains about."""
    command = [sys.executable, "-m", "ruff", *arguments, "--no-cache", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of optimizers, one a file, that together use every component."""
    pytest.importorskip("ruff", reason="ruff is not installed")
    folder = tmp_path_factory.mktemp("written")
    for number, design in enumerate(all_components()):
        (folder / f"optimizer_{number}.py").write_text(write(design))
    return folder


def test_passes_the_linter(written: Path) -> None:
    """The project's own rules hold for what it writes."""
    assert ruff(written, "check", "--config", str(PYPROJECT), "--output-format", "concise") == ""


@pytest.mark.parametrize("layout", [("--config", str(PYPROJECT)), ("--isolated",)], ids=["project", "default"])
def test_is_formatted(written: Path, layout: tuple[str, ...]) -> None:
    """The formatter finds nothing to change, with the project's line length or its own."""
    assert ruff(written, "format", "--diff", *layout) == ""


@pytest.mark.parametrize("seed", range(30))
def test_uses_every_method_and_hyperparameter(seed: int) -> None:
    """There is no dead code: whatever is defined is used elsewhere in the class."""
    design = fresh(np.random.default_rng(seed))
    code = write(design)
    methods = [line.split("def ")[1].split("(")[0] for line in code.splitlines() if line.startswith("    def _")]
    for method in set(methods) - {"__init__", "__call__"}:
        assert code.count(f"self.{method}") >= 1, method
    for name in design.hyperparameters:
        assert code.count(f"self.{name}") >= 2, name


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_design_is_read_back(seed: int) -> None:
    """Code to design to code: nothing is lost."""
    design = fresh(np.random.default_rng(seed))
    code = write(design)
    assert read_design(code) == design
    assert write(read_design(code) or complete({}, {})) == code


@settings(max_examples=40, deadline=None)
@given(first=st.integers(0, 10**6), second=st.integers(0, 10**6))
def test_names_and_descriptions_tell_designs_apart(first: int, second: int) -> None:
    """Designs share a class name, or a description, only if they have the same components."""
    one, other = (fresh(np.random.default_rng(seed)) for seed in (first, second))
    same = one.choices == other.choices
    assert (class_name(one) == class_name(other)) is same
    assert (description(one) == description(other)) is same


def test_tuned_defaults_are_read_back() -> None:
    """Whoever changes a default in the source changes the design; what is out of range is brought into it."""
    design = complete({"screening": "none"}, {"patience": 20, "sample_size": 12})
    code = write(design)
    tuned = code.replace("patience: int = 20", "patience: int = 55").replace(
        "sample_size: int = 12", "sample_size: int = 9999"
    )
    read = read_design(tuned)
    largest = next(h.high for h in hyperparameters_of(design) if h.name == "sample_size")
    assert read is not None
    assert (read.hyperparameters["patience"], read.hyperparameters["sample_size"]) == (55, largest)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Design:", "Plan:"),
        ("initial: random", "initial: by_magic"),
        ("initial: random", "beginning: random"),
        ("(OptAlg)", "(Base)"),
        ("def __call__", "def __call__("),
    ],
)
def test_unreadable_designs(old: str, new: str) -> None:
    """Source that states no design that the library knows has none."""
    code = write(complete({"initial": "random"}, {}))
    assert old in code
    assert read_design(code.replace(old, new)) is None


def test_a_default_that_is_no_number_is_replaced() -> None:
    """A default that can't be used falls back on the library's."""
    design = complete({}, {"patience": 77})
    code = write(design).replace("patience: int = 77", "patience: str = 'long'")
    read = read_design(code)
    default = next(h.default for h in hyperparameters_of(design) if h.name == "patience")
    assert read is not None
    assert read.hyperparameters["patience"] == default


@pytest.mark.parametrize("seed", range(20))
def test_arguments_are_the_hyperparameters(seed: int) -> None:
    """`__init__` takes exactly the design's hyperparameters, each documented."""
    design = fresh(np.random.default_rng(seed))
    code = CandidateCode.read(write(design))
    assert code.defaults == design.hyperparameters
    for name in design.hyperparameters:
        assert f"\n    {name}: " in code.doc
