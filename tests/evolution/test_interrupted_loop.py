"""A run that was interrupted after any line of its log goes on to write the same lines."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from llamea_tune.candidate import Behaviour
from llamea_tune.evolution import loop
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.selection import SELECTIONS, needs_generations
from llamea_tune.evolution.settings import Settings
from llamea_tune.proposals import Proposal
from llamea_tune.runners.trace import RequestCounts
from llamea_tune.scoring import space_scale
from llamea_tune.scoring.behaviour import kept_run_scores
from llamea_tune.scoring.scorecard import Scorecard, SpaceScore
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE
from llamea_tune.testing.synthetic_spaces import synthetic_space

SETTINGS = {"asked_at_once": 1, "max_candidates": 12, "offspring": 4, "parents": 2, "final_candidates": 4}
MIX = {"proposer": "mix:one=2,other=1", "model_choice": "bandit"}


class LuckyScorer:
    """Gives each program a quality of its own, and luck that differs between the stages; runs nothing."""

    spaces = (synthetic_space(1, tune_params={"a": (1, 2, 3, 4), "b": (1, 2, 3)}, kept=1.0),)
    scales = (space_scale(spaces[0]),)

    def score(self, contender, repeats=1, stage="train", on_progress=None, race=None):
        digest = hashlib.sha256(contender.code.encode()).digest()
        quality = np.random.default_rng(list(digest)).random()
        luck = np.random.default_rng([*digest, *stage.encode()]).normal(0.0, 0.3)
        score = float(quality + luck)
        name = self.scales[0].space
        own_ms = float(2.0 ** np.random.default_rng([*digest, *stage.encode(), 1]).uniform(-3.0, 8.0))
        spaces = {name: SpaceScore(name, score, (score, score), repeats, own_ms, RequestCounts(paid=10))}
        ranks = tuple((max(0.0, 2.0 - score - 0.01 * number),) * 20 for number in range(6))
        behaviour = {name: Behaviour((score,) * 10, ranks, 5.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 0.5, None)}
        lost = race is not None and race.is_lost(kept_run_scores(self.scales, behaviour), own_ms)
        return Scorecard(
            contender.label, score, (score, score), spaces, runs=repeats, raced_out=lost, behaviour=behaviour
        )


class Varying:
    """Writes short programs, which the task's seed and parents decide; every fifth one does not keep the contract."""

    name = "varying"

    def propose(self, task):
        number = task.seed % 1000 + sum(int(parent.candidate.id) for parent in task.parents)
        code = EXAMPLE_CODE.replace("n_initial=10", f"n_initial={number}")
        if number % 5 == 0:
            code = "import os\n" + code
        return Proposal("ExampleSearch", code, f"Starts with {number}.", self.name)


@pytest.fixture
def go_on(monkeypatch):
    monkeypatch.setattr(loop, "make_leaderboard", lambda history, *_: Leaderboard((), 1, len(history)))

    def evolve(run, settings):
        with run.locked():
            loop.evolve(run, settings, Varying(), LuckyScorer(), [])
        return (run.path / "candidates.jsonl").read_bytes()

    return evolve


@pytest.mark.parametrize("steady_state", [False, True], ids=["generations", "steady state"])
@pytest.mark.parametrize("selection", list(SELECTIONS))
def test_whatever_line_it_was_interrupted_after(selection, steady_state, go_on, tmp_path):
    if steady_state and needs_generations(selection):
        pytest.skip("it needs generations")
    settings = Settings(
        seed=2, selection=selection, steady_state=steady_state, operator_choice="bandit", racing=True, **MIX, **SETTINGS
    )
    log = go_on(RunDirectory.create(tmp_path / "whole", {}), settings)
    lines = log.splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds.count("judged") == 12
    assert kinds.count("confirmed") >= SETTINGS["parents"]
    assert kinds.count("planned") == 12 * steady_state
    assert b'"llm": "one"' in log and b'"llm": "other"' in log
    assert (b'"raced_out": true' in log) == (selection != "map-elites")  # of which there is but one cell here
    every = 1 if selection == "plus" else 9  # the others need not be cut at each and every line
    for cut in range(0, len(lines), every):
        run = RunDirectory.create(tmp_path / f"cut_{cut}", {})
        (run.path / "candidates.jsonl").write_bytes(b"".join(lines[:cut]))
        assert go_on(run, settings) == log, f"interrupted after line {cut}"


@pytest.mark.parametrize("steady_state", [False, True], ids=["generations", "steady state"])
def test_so_does_a_run_that_aims_at_lean_candidates(steady_state, go_on, tmp_path):
    settings = Settings(
        seed=2, steady_state=steady_state, operator_choice="bandit", racing=True, own_compute_ms=0.25, **SETTINGS
    )
    log = go_on(RunDirectory.create(tmp_path / "whole", {}), settings)
    assert go_on(RunDirectory.create(tmp_path / "heavy", {}), replace(settings, own_compute_ms=None)) != log
    lines = log.splitlines(keepends=True)
    for cut in range(0, len(lines), 3):
        run = RunDirectory.create(tmp_path / f"cut_{cut}", {})
        (run.path / "candidates.jsonl").write_bytes(b"".join(lines[:cut]))
        assert go_on(run, settings) == log, f"interrupted after line {cut}"
