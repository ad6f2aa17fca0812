"""What we touch of Kernel Tuner beyond its documented interface is named in one place, and missed with one sentence."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from kernel_tuner import util
from kernel_tuner.strategies.common import CostFunc

from llamea_tune import kernel_tuner_internals as internals
from llamea_tune.exceptions import MissingDependencyError

ROOT = Path(__file__).parent.parent
DOCUMENTED = {
    *("kernel_tuner", "kernel_tuner.searchspace", "kernel_tuner.strategies.wrapper"),
    "kernel_tuner.strategies",  # the folder that exported files may be dropped into
}


def test_the_installed_version_has_all() -> None:
    assert internals.missing_names() == []


def test_a_missing_name_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(util, "TuningBudget")
    monkeypatch.delitem(vars(internals), "TuningBudget", raising=False)
    with pytest.raises(
        MissingDependencyError, match=r"no kernel_tuner\.util\.TuningBudget.*pip install 'kernel_tuner>=1\.5,<1\.6'"
    ):
        _ = internals.TuningBudget
    assert internals.missing_names() == ["kernel_tuner.util.TuningBudget"]


def test_what_is_reached_through_a_class_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(CostFunc, "_normalize_and_validate_config")
    monkeypatch.delitem(vars(internals), "CostFunc", raising=False)
    with pytest.raises(MissingDependencyError, match=r"no .*CostFunc\._normalize_and_validate_config, which"):
        _ = internals.CostFunc


def test_an_attribute_of_instances_is_missed() -> None:
    with pytest.raises(MissingDependencyError, match=r"no Fraction\.nothing_of_that_name, which"):
        internals.check_attributes(__import__("fractions").Fraction(1, 2), "numerator", "nothing_of_that_name")


def test_the_pin_is_the_packages_own() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"kernel_tuner{internals.SUPPORTED}" in project["dependencies"]


def test_nobody_else_imports_undocumented_names() -> None:
    for path in (ROOT / "llamea_tune").rglob("*.py"):
        if path.name == "kernel_tuner_internals.py":
            continue
        imported = re.findall(r"^\s*(?:from|import) (kernel_tuner[.\w]*)", path.read_text(), re.MULTILINE)
        assert set(imported) <= DOCUMENTED, path


def test_doctor_tells() -> None:
    shown = subprocess.run([sys.executable, "-m", "llamea_tune", "doctor"], capture_output=True, text=True, check=False)
    assert "all that llamea-tune builds on are there" in " ".join(shown.stdout.split())
