"""The same answers in the same order give the same log, whatever line the run was interrupted after."""

import json
import threading

import pytest
from test_interrupted_loop import LuckyScorer, Varying

from llamea_tune.evolution import loop
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings

SETTINGS = Settings(
    max_candidates=12, offspring=4, parents=2, asked_at_once=3, steady_state=True, seed=7, novelty=0.9999
)


class LatestFirst(Varying):
    """Answers, of as many as may be asked at once, the one that was planned last; so the first ones come last of all."""

    def __init__(self, n_judged):
        self._left = SETTINGS.max_candidates - n_judged
        self._waiting = set()
        self._turn = threading.Condition()

    def propose(self, task):
        generation, position = int(task.key[1:4]), int(task.key[5:7])
        number = generation * SETTINGS.offspring + position
        with self._turn:
            self._waiting.add(number)
            self._turn.notify_all()
            self._turn.wait_for(
                lambda: len(self._waiting) == min(SETTINGS.asked_at_once, self._left) and number == max(self._waiting)
            )
            self._waiting.remove(number)
            self._left -= 1
        try:
            return super().propose(task)
        finally:
            with self._turn:
                self._turn.notify_all()


@pytest.fixture
def go_on(monkeypatch):
    monkeypatch.setattr(loop, "make_leaderboard", lambda history, *_: Leaderboard((), 1, len(history)))

    def evolve(run):
        with run.locked():
            loop.evolve(run, SETTINGS, LatestFirst(len(run.candidates())), LuckyScorer(), [])
        return (run.path / "candidates.jsonl").read_bytes()

    return evolve


def test_the_same_order_gives_the_same_log(go_on, tmp_path):
    log = go_on(RunDirectory.create(tmp_path / "whole", {}))
    lines = log.splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    judged = [int(record["candidate"]["id"]) for record in records if record["kind"] == "judged"]
    assert judged == [*range(2, 12), 1, 0]
    parents = {parent for record in records if record["kind"] == "judged" for parent in record["candidate"]["parents"]}
    assert len(parents) > 1  # who was judged before the slow ones had children before these came
    for cut in range(0, len(lines), 3):
        run = RunDirectory.create(tmp_path / f"cut_{cut}", {})
        (run.path / "candidates.jsonl").write_bytes(b"".join(lines[:cut]))
        assert go_on(run) == log, f"interrupted after line {cut}"


def test_each_plan_saw_what_the_log_holds_before_it(go_on, tmp_path):
    run = RunDirectory.create(tmp_path / "run", {})
    records = [json.loads(line) for line in go_on(run).splitlines()]
    known = set()
    saw = {}
    for record in records:
        if record["kind"] == "judged":
            known.add(record["candidate"]["id"])
        if record["kind"] == "planned":
            saw[record["id"]] = set(known)
    for record in records:
        if record["kind"] == "judged":
            assert set(record["candidate"]["parents"]) <= saw[record["candidate"]["id"]]
    assert run.planned() == {
        record["id"]: number for number, record in enumerate(records) if record["kind"] == "planned"
    }
