"""Hostile candidates against the real sandbox, with nothing checked beforehand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from adversaries import ADVERSARIES, Adversary
from gauntlet import Gauntlet, gauntlet, makes_sense_here

from llamea_tune.runners import RunState

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")


@pytest.fixture(scope="module")
def course() -> Iterator[Gauntlet]:
    with gauntlet() as ready:
        yield ready


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda adversary: adversary.name)
def test_an_adversary_is_stopped_and_nothing_else_is_touched(course: Gauntlet, adversary: Adversary) -> None:
    if not makes_sense_here(adversary):
        pytest.skip(f"only on {adversary.machine}")
    result, problems = course.run(adversary)
    assert not problems
    if adversary.layer == "a process of its own" and result.state.scorable:
        assert not course.run(adversary)[1]  # its own next repeat finds nothing of the first


def test_there_are_enough_adversaries_and_each_has_a_name_of_its_own() -> None:
    names = [adversary.name for adversary in ADVERSARIES]
    assert len(set(names)) == len(names) >= 40


def test_an_adversary_that_escapes_is_noticed(course: Gauntlet) -> None:
    escaping = Adversary("escapes", "", "", frozenset({RunState.FAILED}), "forbidden(lambda: 1)")
    assert any("escaped" in problem for problem in course.run(escaping)[1])


def test_the_walls_hold_for_an_ordinary_user_too() -> None:
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user: the other tests say it")
    script = Path(__file__).with_name("as_ordinary_user.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["uid"] != 0
    assert report["problems"] == {}
    assert len(report["states"]) >= 40
