"""IOHprofiler data: what the ioh package wrote is what the runs did."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmark_samples import NAMES, SETTINGS

from llamea_tune.execution import make_contender
from llamea_tune.report.ioh_data import IohWriter, file_name
from llamea_tune.runners.trace import RunState
from llamea_tune.scoring.benchmark_events import ContenderDone
from llamea_tune.scoring.benchmarking import run_benchmark

pytest.importorskip("ioh")


@pytest.fixture(scope="module")
def written(small_spaces, store, outcome, tmp_path_factory):
    """A folder of IOHprofiler data, and the pairs that it was written from."""
    folder = tmp_path_factory.mktemp("ioh") / "data"
    pairs: list[ContenderDone] = []
    with IohWriter(folder) as writer:

        def observe(event):
            writer(event)
            if isinstance(event, ContenderDone):
                pairs.append(event)

        run_benchmark([make_contender(name) for name in NAMES], small_spaces, SETTINGS, store=store, observe=observe)
    return folder, pairs


def read_runs(folder, algorithm: str, space: str):
    """The JSON of a strategy on a space, and its runs as arrays of evaluations and values."""
    for path in folder.glob("*/IOHprofiler_f*.json"):
        header = json.loads(path.read_text())
        if header["algorithm"]["name"] == algorithm and header["function_name"] == file_name(space):
            text = (path.parent / header["scenarios"][0]["path"]).read_text()
            blocks = text.split("evaluations raw_y\n")[1:]
            return header, [np.array([line.split() for line in block.splitlines()], dtype=float) for block in blocks]
    raise AssertionError(f"nothing was written for {algorithm} on {space}")


def test_every_pair_is_there(written):
    folder, pairs = written
    assert len(pairs) == 6
    assert len(list(folder.iterdir())) == 3
    for pair in pairs:
        header, runs = read_runs(folder, pair.label, pair.space.name)
        assert header["maximization"] is pair.space.higher_is_better
        assert header["scenarios"][0]["dimension"] == len(pair.space.param_names)
        assert len(runs) == len(header["scenarios"][0]["runs"]) == SETTINGS.repeats


def test_the_best_so_far_is_that_of_the_traces(written):
    folder, pairs = written
    for pair in pairs:
        header, runs = read_runs(folder, pair.label, pair.space.name)
        sign = -1.0 if pair.space.higher_is_better else 1.0
        for run, points, facts in zip(pair.runs, runs, header["scenarios"][0]["runs"], strict=True):
            costs = np.where(np.isfinite(run.trace.costs), run.trace.costs, np.nanmax(pair.space.costs))
            best = np.minimum.accumulate(costs)
            assert facts["evals"] == len(run.trace) == run.counts.paid
            assert sign * facts["best"]["y"] == best[-1]
            so_far = np.minimum.accumulate(sign * points[:, 1])
            np.testing.assert_array_equal(so_far, best[points[:, 0].astype(int) - 1])
            assert set(np.flatnonzero(np.diff(best)) + 2) <= set(points[:, 0].astype(int))
            where = pair.space.value_indices[run.trace.indices[facts["best"]["evals"] - 1]]
            assert facts["best"]["x"] == where.tolist()


def test_the_same_space_has_the_same_number_for_every_strategy(written):
    folder, _ = written
    numbers = {}
    for path in folder.glob("*/IOHprofiler_f*.json"):
        header = json.loads(path.read_text())
        numbers.setdefault(header["function_name"], set()).add(header["function_id"])
    assert numbers == {"small_one": {1}, "small_two": {2}}


def test_failed_runs_are_left_out(written, tmp_path):
    _, pairs = written
    runs = [replace(pairs[0].runs[0], state=RunState.FAILED, reason="broke")]
    with IohWriter(tmp_path / "data") as writer:
        writer(replace(pairs[0], runs=runs))
    assert list((tmp_path / "data").iterdir()) == []
