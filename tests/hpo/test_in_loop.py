"""Tuning candidates within one allowance: never exceeded, shared by merit, the same whatever the jobs."""

from dataclasses import replace

import pytest

from llamea_tune.candidate import Candidate, HyperparameterRange
from llamea_tune.execution import Limits
from llamea_tune.hpo.in_loop import LoopTuner
from llamea_tune.testing.local_scorer import local_scorer

RUNS = 6  # of a trial: three on each of two spaces


@pytest.fixture
def candidates(walker) -> list[Candidate]:
    """Three that differ in their default, and one that has nothing to tune."""
    codes = [walker.code.replace("jump=0.9", f"jump={jump}") for jump in (0.9, 0.5, 0.1)]
    codes.append(walker.code.replace("jump=0.9, patience=3, greedy=True, seed=7", "seed=7").replace("self.jump = jump", "self.jump = 0.5").replace("= patience", "= 3").replace("= greedy", "= True"))  # fmt: skip
    ranges = {"patience": HyperparameterRange("int", 1, 8)}
    return [
        Candidate(f"{n:04d}", "Walker", code, "Walks.", "offline", "initial", 0, ranges=ranges)
        for n, code in enumerate(codes)
    ]


@pytest.fixture
def tuner(spaces, tmp_path):
    with local_scorer(spaces, jobs=2, limits=Limits(wall_s=20), repeats=1, seed=1) as scorer:
        yield LoopTuner(scorer, 3, 8, 1, tmp_path / "studies")


def test_the_allowance_is_kept_and_the_better_half_gets_more(candidates, tuner):
    seen = []
    found = tuner.tune_all(candidates, 220, lambda key, used: seen.append((key, used)))
    assert [entry.candidate_id for entry in found] == ["0000", "0001", "0002"]
    assert 0 < sum(entry.runs for entry in found) <= 220
    assert all(used <= allowed for _, (used, allowed) in seen)
    by_merit = sorted(found, key=lambda entry: -entry.value)
    assert by_merit[0].trials >= by_merit[-1].trials
    for entry in found:
        assert entry.trials <= 8
        assert entry.values == {} or entry.value > entry.default_value


def test_too_small_an_allowance_makes_no_trial(candidates, tuner):
    assert tuner.tune_all(candidates, 4 * RUNS - 1) == []
    assert tuner.tune_all([], 1000) == []
    assert not tuner.folder.exists()
    assert [entry.candidate_id for entry in tuner.tune_all(candidates, 4 * RUNS + 1)] == ["0000"]


def test_the_outcome_depends_on_neither_jobs_nor_interruptions(candidates, tuner, spaces, tmp_path):
    whole = tuner.tune_all(candidates[:2], 60)
    assert tuner.tune_all(candidates[:2], 60) == whole
    with local_scorer(spaces, limits=Limits(wall_s=20), repeats=1, seed=1) as scorer:
        other = replace(tuner, scorer=scorer, folder=tmp_path / "other")

        def interrupt(_key, _used):
            calls.append(None)
            if len(calls) == 4:
                raise KeyboardInterrupt

        calls: list[None] = []
        with pytest.raises(KeyboardInterrupt):
            other.tune_all(candidates[:2], 60, interrupt)
        assert other.tune_all(candidates[:2], 60) == whole
