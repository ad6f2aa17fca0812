"""A sample candidate, exported, and a small space to tune on."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_tuner.interface import strategy_map

from llamea_tune.candidate import Candidate
from llamea_tune.exporting import ExportedStrategy, ExportRequest, SpaceReference, export_strategy

SAMPLE = Path(__file__).parent / "sample_candidate.py"


@pytest.fixture
def exported(tmp_path: Path) -> ExportedStrategy:
    """The sample candidate, exported as `ranked_annealing` to a folder of its own."""
    candidate = Candidate("0007", "RankedAnnealing", SAMPLE.read_text(), "Anneals by ranks.", "hand", "initial", 0)
    request = ExportRequest(
        "ranked_annealing",
        candidate,
        "2026-01-31",
        hyperparameters={"cooling": 0.95},
        training=(SpaceReference("synthetic/cpu", "00"),),
    )
    return export_strategy(request, tmp_path / "exported")


@pytest.fixture
def own_strategy_map():
    """Kernel Tuner's strategy map, put back as it was after the test."""
    kept = dict(strategy_map)
    yield strategy_map
    strategy_map.clear()
    strategy_map.update(kept)
