"""Finished runs come back as they were, or not at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.execution import NamedStrategy
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace
from llamea_tune.sandbox.sandboxed import Limits, SandboxedCandidate
from llamea_tune.scoring.results_store import ResultsStore, runs_key
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(5, failing=0.2)
PROGRAM = SandboxedCandidate("class A: ...", "A", {"x": 1})


def make_run(indices: list[int], state: RunState = RunState.BUDGET_SPENT, own_compute_s: float = 0.25) -> RunResult:
    array = np.array(indices, dtype=np.int64)
    elapsed = np.cumsum(array * 7 + 5_000_000_000)
    reason = "" if state.scorable else "it broke: [bold]ü"
    counts = RequestCounts(len(indices), 3, 2, int((~SPACE.valid[array]).sum()))
    return RunResult(Trace(array, SPACE.costs[array], elapsed), state, reason, counts, own_compute_s)


def assert_equal(first: RunResult, second: RunResult) -> None:
    assert (first.state, first.reason, first.counts) == (second.state, second.reason, second.counts)
    np.testing.assert_equal(first.own_compute_s, second.own_compute_s)
    for name in ("indices", "costs", "elapsed_us"):
        one, other = getattr(first.trace, name), getattr(second.trace, name)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


runs = st.builds(
    make_run,
    st.lists(st.integers(0, SPACE.size - 1), max_size=30),
    st.sampled_from([RunState.FINISHED, RunState.BUDGET_SPENT, RunState.STALLED, RunState.FAILED]),
    st.sampled_from([0.0, 1.5, float("nan")]),
)


@settings(max_examples=30, deadline=None)
@given(made=st.dictionaries(st.integers(0, 200), runs, min_size=1, max_size=5))
def test_runs_come_back_as_they_were(made, tmp_path_factory):
    store = ResultsStore(tmp_path_factory.mktemp("store"))
    assert store.save("key", made, SPACE)
    loaded = store.load("key", SPACE)
    assert sorted(loaded) == sorted(made)
    for number, run in made.items():
        assert_equal(loaded[number], run)


def test_what_is_there_stays_beside_what_is_added(tmp_path):
    store = ResultsStore(tmp_path)
    store.save("key", {number: make_run([number]) for number in range(6)}, SPACE)
    store.save("key", {0: make_run([9]), 7: make_run([7])}, SPACE)
    loaded = store.load("key", SPACE)
    assert sorted(loaded) == [0, 1, 2, 3, 4, 5, 7]
    for number, run in loaded.items():
        assert_equal(run, make_run([number or 9]))


def test_nothing_there_is_nothing_found(tmp_path):
    assert ResultsStore(tmp_path / "nowhere").load("key", SPACE) == {}


@pytest.mark.parametrize("kept", [0, 10, 300, -1])
def test_a_damaged_entry_is_not_there(tmp_path, kept):
    store = ResultsStore(tmp_path)
    store.save("key", {0: make_run([1, 2, 3])}, SPACE)
    place = tmp_path / "key.npz"
    place.write_bytes(place.read_bytes()[:kept])
    assert store.load("key", SPACE) == {}


def test_flipped_bytes_never_give_other_runs(tmp_path):
    store = ResultsStore(tmp_path)
    made = make_run(list(range(40)))
    store.save("key", {0: made}, SPACE)
    place = tmp_path / "key.npz"
    whole = place.read_bytes()
    rng = np.random.default_rng(0)
    for position in rng.choice(len(whole), 60, replace=False):
        flipped = bytearray(whole)
        flipped[position] ^= 0xFF
        place.write_bytes(flipped)
        loaded = store.load("key", SPACE)
        if loaded:
            assert_equal(loaded[0], made)


def test_an_entry_of_a_larger_space_is_not_there(tmp_path):
    store = ResultsStore(tmp_path)
    store.save("key", {0: make_run([SPACE.size - 1])}, SPACE)
    smaller = synthetic_space(5, tune_params={"a": (1, 2, 3), "b": (1, 2)})
    assert store.load("key", smaller) == {}


@pytest.mark.parametrize("state", [RunState.TIMED_OUT, RunState.KILLED])
def test_what_depends_on_the_load_is_not_kept(tmp_path, state):
    store = ResultsStore(tmp_path)
    assert store.save("none", {0: make_run([1], state)}, SPACE)
    assert store.load("none", SPACE) == {}
    assert store.save("some", {0: make_run([1]), 1: make_run([2], state), 2: make_run([3])}, SPACE)
    assert sorted(store.load("some", SPACE)) == [0, 2]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert not ResultsStore(tmp_path / "file" / "results").save("key", {0: make_run([1])}, SPACE)


def test_no_temporary_files_stay(tmp_path):
    store = ResultsStore(tmp_path)
    for _ in range(2):
        store.save("key", {0: make_run([1])}, SPACE)
    assert [path.name for path in tmp_path.iterdir()] == ["key.npz"]


BASE = {"seed": 1, "limits": Limits(), "charged": False}


@pytest.mark.parametrize(
    "change", [{"seed": 2}, {"charged": True}, {"target": True}], ids=lambda change: next(iter(change))
)
def test_settings_are_part_of_the_key(change):
    contender = NamedStrategy("pso", "pso")
    assert runs_key(contender, SPACE, **BASE) != runs_key(contender, SPACE, **{**BASE, **change})


def test_strategy_options_and_content_are_part_of_the_key():
    contenders = [
        NamedStrategy("x", "pso"),
        NamedStrategy("x", "pso", {"popsize": 20}),
        NamedStrategy("x", "pso", {"popsize": "20"}),
        NamedStrategy("x", "mls"),
        replace(PROGRAM, label="x"),
        replace(PROGRAM, code="class A: 1", label="x"),
        replace(PROGRAM, class_name="B", label="x"),
        replace(PROGRAM, hyperparameters={"x": 2}, label="x"),
    ]
    spaces = [SPACE, synthetic_space(6)]
    keys = {runs_key(contender, space, **BASE) for contender in contenders for space in spaces}
    assert len(keys) == len(contenders) * len(spaces)


def test_names_are_no_part_of_the_key():
    one = runs_key(NamedStrategy("pso", "pso"), SPACE, **BASE)
    other = runs_key(NamedStrategy("swarm", "pso"), replace(SPACE, name="renamed", source="elsewhere"), **BASE)
    assert one == other


def test_limits_matter_for_programs_only():
    longer = {**BASE, "limits": Limits(wall_s=120.0)}
    named, program = NamedStrategy("a", "pso"), replace(PROGRAM, label="b")
    assert runs_key(named, SPACE, **BASE) == runs_key(named, SPACE, **longer)
    assert runs_key(program, SPACE, **BASE) != runs_key(program, SPACE, **longer)
