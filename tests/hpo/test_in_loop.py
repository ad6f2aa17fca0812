"""Tuning candidates within one allowance: never exceeded, shared by merit, the same whatever the jobs."""

import pytest

from llamea_tune.candidate import Candidate, HyperparameterRange
from llamea_tune.hpo.in_loop import LoopTuner
from llamea_tune.hpo.pairs import PairRuns, ordered_pairs
from llamea_tune.sandbox.program import Limits


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
def tuner(spaces, scales, tmp_path):
    with PairRuns(spaces, scales, jobs=2, limits=Limits(wall_s=20)) as runs:
        yield LoopTuner(runs, ordered_pairs(spaces, 3, 1), 8, 1, tmp_path / "studies")


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
    assert tuner.tune_all(candidates, 4 * len(tuner.pairs) - 1) == []
    assert tuner.tune_all([], 1000) == []
    assert not tuner.folder.exists()
    assert [entry.candidate_id for entry in tuner.tune_all(candidates, 4 * len(tuner.pairs) + 1)] == ["0000"]


def test_the_outcome_depends_on_neither_jobs_nor_interruptions(candidates, tuner, spaces, scales, tmp_path):
    whole = tuner.tune_all(candidates[:2], 60)
    assert tuner.tune_all(candidates[:2], 60) == whole
    with PairRuns(spaces, scales, jobs=1, limits=Limits(wall_s=20)) as runs:
        other = LoopTuner(runs, tuner.pairs, tuner.trials, tuner.seed, tmp_path / "other")

        def interrupt(_key, _used):
            calls.append(None)
            if len(calls) == 4:
                raise KeyboardInterrupt

        calls: list[None] = []
        with pytest.raises(KeyboardInterrupt):
            other.tune_all(candidates[:2], 60, interrupt)
        assert other.tune_all(candidates[:2], 60) == whole
