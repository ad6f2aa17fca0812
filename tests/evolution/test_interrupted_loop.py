"""A run that was interrupted after any line of its log goes on to write the same lines."""

import hashlib
import json

import numpy as np
import pytest

from llamea_tune.evolution import loop
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.proposals import make_proposer
from llamea_tune.runners.trace import RequestCounts
from llamea_tune.scoring.scorecard import Scorecard, SpaceScore

SETTINGS = {"max_candidates": 12, "offspring": 4, "parents": 2, "final_candidates": 4}


class LuckyScorer:
    """Gives each program a quality of its own, and luck that differs between the stages; runs nothing."""

    def score(self, contender, repeats=1, stage="train", on_progress=None):
        digest = hashlib.sha256(contender.code.encode()).digest()
        quality = np.random.default_rng(list(digest)).random()
        luck = np.random.default_rng([*digest, *stage.encode()]).normal(0.0, 0.3)
        score = float(quality + luck)
        space = SpaceScore("space", score, (score, score), repeats, 1.0, RequestCounts())
        return Scorecard(contender.label, score, (score, score), {"space": space})


@pytest.fixture
def go_on(monkeypatch):
    monkeypatch.setattr(loop, "make_leaderboard", lambda history, *_: Leaderboard((), 1, len(history)))

    def evolve(run, settings):
        with run.locked():
            loop.evolve(run, settings, make_proposer("offline"), LuckyScorer(), [])
        return (run.path / "candidates.jsonl").read_bytes()

    return evolve


@pytest.mark.parametrize("selection", ["plus", "epsilon-greedy"])
def test_whatever_line_it_was_interrupted_after(selection, go_on, tmp_path):
    settings = Settings(seed=2, selection=selection, **SETTINGS)
    log = go_on(RunDirectory.create(tmp_path / "whole", {}), settings)
    lines = log.splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds.count("judged") == SETTINGS["max_candidates"]
    assert kinds.count("confirmed") > SETTINGS["parents"]
    for cut in range(len(lines)):
        run = RunDirectory.create(tmp_path / f"cut_{cut}", {})
        (run.path / "candidates.jsonl").write_bytes(b"".join(lines[:cut]))
        assert go_on(run, settings) == log, f"interrupted after line {cut}"
