"""Candidates to export, and a way to load what comes out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from llamea_tune.candidate import Candidate
from llamea_tune.exporting import ExportRequest, export_strategy

HEAD = '''"""Walks about."""

import random

from kernel_tuner.strategies.wrapper import OptAlg
'''
WALK = '''

class Walker(OptAlg):
    """Walks to random neighbours.

    Args:
        step: How far
            to go.
        method (str): Which neighbours to take.
        tries: How often to try before it gives up, where every neighbour is one that it has measured before, or fails.
    """

    def __init__(self, step=0.5, method="Hamming", greedy=False, tries: int = 3):
        super().__init__()
        self.arguments = (step, method, greedy, tries)

    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1:
            func(random.choice(searchspace.list))
'''


@pytest.fixture
def head() -> str:
    """Docstring and imports of a candidate."""
    return HEAD


@pytest.fixture
def walker() -> str:
    """Code of a candidate: class `Walker` with four hyperparameters."""
    return HEAD + WALK


@pytest.fixture
def request_for():
    """Make an `ExportRequest` for code."""

    def make(code: str, name: str = "walk", *, class_name: str = "Walker", **fields) -> ExportRequest:
        candidate = Candidate("0042", class_name, code, "Walks about.", "offline", "initial", 3, parents=("0001",))
        return ExportRequest(name, candidate, "2026-01-31", **fields)

    return make


@pytest.fixture
def export(request_for, tmp_path: Path):
    """Export code to `tmp_path` and load the module."""

    def run(code: str, **fields) -> ModuleType:
        exported = export_strategy(request_for(code, **fields), tmp_path, force=True)
        spec = importlib.util.spec_from_file_location(exported.name, exported.code_path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return run
