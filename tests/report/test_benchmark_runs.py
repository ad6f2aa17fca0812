"""A benchmark: fair, repeatable, and safe against interruption and failing strategies."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmark_samples import NAMES, SETTINGS
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import LocalExecutor, NamedStrategy, SandboxedCandidate, make_contender
from llamea_tune.report.benchmark_data import benchmark_csv, benchmark_json
from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace
from llamea_tune.scoring import contender_runs, run_seed
from llamea_tune.scoring.benchmark_events import ContenderDone, RunsDone
from llamea_tune.scoring.benchmarking import make_scorer, run_benchmark
from llamea_tune.scoring.contender_runs import STAGE
from llamea_tune.scoring.ranks import best_ranks, rank_table, thinned
from llamea_tune.scoring.results_store import ResultsStore
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.testing.synthetic_spaces import synthetic_space

pytestmark = pytest.mark.xdist_group("benchmark")
CONTENDERS = [make_contender(name) for name in NAMES]

ONCE = """
import time
from kernel_tuner.strategies.wrapper import OptAlg

class Once(OptAlg):
    def __call__(self, func, searchspace):
        for config in searchspace.get_random_sample(20):
            func(config)
        if func.tuning_options.seed == {seed}:
            {does}
"""


def once(does: str, space: RecordedSpace, repeat: int) -> SandboxedCandidate:
    """A program that does something else in one of its repeats."""
    seed = run_seed(SETTINGS.seed, space.content_hash, repeat, STAGE)
    return SandboxedCandidate(ONCE.format(seed=seed, does=does), "Once", label="once")


def as_text(outcome, spaces) -> str:
    return json.dumps(benchmark_json(outcome, spaces), allow_nan=False) + benchmark_csv(outcome)


class Watch:
    """Collects the pairs that are done; interrupts after some of them."""

    def __init__(self, interrupt_after: int | None = None, kind: type = ContenderDone) -> None:
        self.pairs: list[ContenderDone] = []
        self.events: list[object] = []
        self.interrupt_after = interrupt_after
        self.kind = kind

    def __call__(self, event) -> None:
        if isinstance(event, ContenderDone):
            self.pairs.append(event)
        if isinstance(event, self.kind):
            self.events.append(event)
            if len(self.events) == self.interrupt_after:
                raise KeyboardInterrupt

    @property
    def reused(self) -> int:
        return sum(pair.reused for pair in self.pairs)


def test_scores_are_those_of_the_scorer(outcome, small_spaces):
    with LocalExecutor(small_spaces) as executor:
        scorer = make_scorer(executor, SETTINGS)
        for contender in CONTENDERS:
            expected = scorer.score(contender, stage=STAGE)
            row = next(row for row in outcome.rows if row.label == contender.label)
            assert row.card.mean == expected.mean
            assert row.card.interval == expected.interval
            for name, entry in expected.spaces.items():
                assert row.card.spaces[name].score == entry.score
                assert row.card.spaces[name].counts == entry.counts


def test_rows_are_sorted_and_compared_with_the_best(outcome):
    means = [row.card.mean for row in outcome.rows]
    assert means == sorted(means, reverse=True)
    best, *others = outcome.rows
    assert best.to_best is None
    for row in others:
        assert row.to_best.second == best.label
        assert row.to_best.difference == row.card.mean - best.card.mean <= 0.0
        low, high = row.to_best.interval
        assert low - 0.05 <= row.to_best.difference <= high + 0.05
    assert sorted(row.mean_place for row in outcome.rows)[0] >= 1.0
    assert sum(row.mean_place for row in outcome.rows) == pytest.approx(1 + 2 + 3)


def test_the_second_call_makes_no_runs(outcome, small_spaces, store):
    watch = Watch()
    again = run_benchmark(CONTENDERS, small_spaces, SETTINGS, store=store, observe=watch)
    assert [pair.reused for pair in watch.pairs] == [SETTINGS.repeats] * 6
    assert as_text(again, small_spaces) == as_text(outcome, small_spaces)


def test_fresh_runs_on_two_cores_give_the_same_bytes(outcome, small_spaces, store):
    watch = Watch()
    again = run_benchmark(CONTENDERS, small_spaces, SETTINGS, store=store, jobs=2, fresh=True, observe=watch)
    assert watch.reused == 0
    assert as_text(again, small_spaces) == as_text(outcome, small_spaces)


def test_an_interruption_loses_the_runs_in_flight_only(outcome, small_spaces, tmp_path):
    store = ResultsStore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(CONTENDERS, small_spaces, SETTINGS, store=store, observe=Watch(2 * 6 + 4, RunsDone))
    watch = Watch()
    again = run_benchmark(CONTENDERS, small_spaces, SETTINGS, store=store, observe=watch)
    assert [pair.reused for pair in watch.pairs] == [6, 6, 4, 0, 0, 0]
    assert as_text(again, small_spaces) == as_text(outcome, small_spaces)


def test_a_slow_first_run_holds_no_other_back(small_spaces, tmp_path):
    space = small_spaces[0]
    contenders = [once("time.sleep(3)", space, repeat=0)]
    store = ResultsStore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_benchmark(contenders, [space], SETTINGS, store=store, jobs=2, allow_weak=True, observe=Watch(3, RunsDone))
    kept = [number for path in tmp_path.glob("*.npz") for number in store.load(path.stem, space)]
    assert len(kept) == 3 and 0 not in kept
    watch = Watch()
    again = run_benchmark(contenders, [space], SETTINGS, store=store, jobs=2, allow_weak=True, observe=watch)
    whole = run_benchmark(contenders, [space], SETTINGS, store=store, fresh=True, allow_weak=True)
    assert watch.pairs[0].reused == 3
    assert as_text(again, [space]) == as_text(whole, [space])


def test_of_a_failing_strategy_what_comes_after_the_failure_is_not_needed(small_spaces, tmp_path):
    space = small_spaces[0]
    contenders = [once("raise RuntimeError", space, repeat=2)]
    store = ResultsStore(tmp_path)
    for repeats, made, reused in ((6, 3, 0), (6, 3, 3), (2, 2, 2), (20, 3, 3)):
        watch = Watch()
        run_benchmark(
            contenders, [space], replace(SETTINGS, repeats=repeats), store=store, allow_weak=True, observe=watch
        )
        [pair] = watch.pairs
        assert (len(pair.runs), pair.reused) == (made, reused)
        assert pair.runs[-1].state is (RunState.FAILED if made == 3 else RunState.FINISHED)


def test_fresh_runs_of_few_repeats_leave_the_others(small_spaces, tmp_path):
    store = ResultsStore(tmp_path)
    for repeats, fresh, reused in ((6, False, 0), (2, True, 0), (6, False, 6)):
        watch = Watch()
        few = replace(SETTINGS, repeats=repeats)
        run_benchmark(CONTENDERS[:1], small_spaces[:1], few, store=store, fresh=fresh, observe=watch)
        assert watch.pairs[0].reused == reused


def test_runs_are_saved_while_a_pair_goes_on(small_spaces, tmp_path, monkeypatch):
    monkeypatch.setattr(contender_runs, "_SECONDS_BETWEEN_SAVINGS", 0.0)
    store = ResultsStore(tmp_path)
    kept = []

    def look(event) -> None:
        if isinstance(event, RunsDone):  # told just before the saving
            kept.extend(len(store.load(path.stem, small_spaces[0])) for path in tmp_path.glob("*.npz"))

    run_benchmark(CONTENDERS[:1], small_spaces[:1], SETTINGS, store=store, observe=look)
    assert kept == [1, 2, 3, 4, 5]


def test_more_repeats_go_on_from_fewer_and_fewer_take_the_first(outcome, small_spaces, store, tmp_path):
    apart = ResultsStore(tmp_path)
    for repeats, reused in ((4, 0), (2, 2), (SETTINGS.repeats, 4)):
        watch = Watch()
        made = run_benchmark(CONTENDERS, small_spaces, replace(SETTINGS, repeats=repeats), store=apart, observe=watch)
        assert [pair.reused for pair in watch.pairs] == [reused] * 6
        assert [len(pair.runs) for pair in watch.pairs] == [repeats] * 6
    assert as_text(made, small_spaces) == as_text(outcome, small_spaces)


@pytest.mark.parametrize("baseline", ["exact", "published"])
def test_stopping_at_the_target_changes_no_score(small_spaces, tmp_path, strategy_file, baseline):
    store = ResultsStore(tmp_path / "results")
    contenders = [*CONTENDERS, make_contender("greedy_ils"), make_contender(f"{strategy_file}:Sampler")]
    whole, target = Watch(), Watch()
    rows, early = (
        run_benchmark(
            contenders,
            small_spaces,
            replace(SETTINGS, repeats=8, baseline=baseline, stop_at_target=stop),
            store=store,
            observe=watch,
        ).rows
        for stop, watch in ((False, whole), (True, target))
    )
    for row, same in zip(rows, early, strict=True):
        assert (row.label, row.card.mean, row.card.interval) == (same.label, same.card.mean, same.card.interval)
        assert (row.to_best, row.mean_place) == (same.to_best, same.mean_place)
    for pair, stopped in zip(whole.pairs, target.pairs, strict=True):
        for run, prefix in zip(pair.runs, stopped.runs, strict=True):
            n = len(prefix.trace)
            np.testing.assert_array_equal(run.trace.indices[:n], prefix.trace.indices)
            np.testing.assert_array_equal(run.trace.elapsed_us[:n], prefix.trace.elapsed_us)
        assert stopped.runs[0].state is not RunState.TARGET_REACHED  # the one in which own compute is measured
        assert any(run.state is RunState.TARGET_REACHED for run in stopped.runs)


def test_strategies_added_later_leave_the_others_as_they_were(outcome, small_spaces, store):
    watch = Watch()
    more = [*CONTENDERS, make_contender("greedy_ils")]
    again = run_benchmark(more, small_spaces, SETTINGS, store=store, observe=watch)
    assert {pair.label for pair in watch.pairs if pair.reused < SETTINGS.repeats} == {"greedy_ils"}
    before = {row.label: row.card for row in outcome.rows}
    assert {row.label: row.card.mean for row in again.rows if row.label in before} == {
        label: card.mean for label, card in before.items()
    }


def test_another_seed_gives_other_runs(outcome, small_spaces, store):
    other = run_benchmark(CONTENDERS[:1], small_spaces, replace(SETTINGS, seed=4), store=store)
    same = next(row for row in outcome.rows if row.label == CONTENDERS[0].label)
    assert other.rows[0].card.mean != same.card.mean


def test_a_strategy_ties_with_itself(small_spaces, store):
    same = [NamedStrategy("one", "mls"), NamedStrategy("other", "mls")]
    rows = run_benchmark(same, small_spaces, SETTINGS, store=store).rows
    assert rows[0].card.mean == rows[1].card.mean
    assert (rows[1].to_best.difference, rows[1].to_best.p_value) == (0.0, 1.0)
    assert [row.mean_place for row in rows] == [1.5, 1.5]


def test_a_failing_strategy_is_a_row_with_its_reason(small_spaces, store, strategy_file):
    entries = [make_contender(f"{strategy_file}:Picky"), make_contender(f"{strategy_file}:Sampler:batch=3")]
    outcome = run_benchmark([*entries, CONTENDERS[0]], small_spaces, SETTINGS, store=store)
    *good, failed = outcome.rows
    assert failed.label.endswith(":Picky")
    assert failed.card.mean is None and failed.to_best is None and failed.mean_place is None
    assert list(failed.failures) == ["small/two"]
    assert "no <negative> costs" in failed.failures["small/two"]
    assert list(failed.card.spaces) == ["small/one"]
    assert all(row.card.mean is not None and not row.failures for row in good)


def test_a_strategy_that_cannot_be_loaded_is_a_row(small_spaces, store):
    outcome = run_benchmark([CONTENDERS[0], NamedStrategy("ghost", "pyatf:ghost")], small_spaces, SETTINGS, store=store)
    assert outcome.rows[1].label == "ghost"
    assert set(outcome.rows[1].failures) == {"small/one", "small/two"}
    assert outcome.rows[0].card.mean is not None


def test_when_all_fail_there_is_no_best(small_spaces, store, strategy_file):
    outcome = run_benchmark([make_contender(f"{strategy_file}:Picky")], small_spaces[1:], SETTINGS, store=store)
    assert outcome.rows[0].card.mean is None
    assert outcome.rows[0].card.spaces == {}


def test_own_results_that_cannot_be_kept_are_told(small_spaces, tmp_path):
    (tmp_path / "file").write_text("in the way")
    outcome = run_benchmark(CONTENDERS[:1], small_spaces, SETTINGS, store=ResultsStore(tmp_path / "file" / "x"))
    assert not outcome.kept
    assert outcome.rows[0].card.mean is not None


def test_bad_settings_are_refused_before_any_run(small_spaces, tmp_path):
    store = ResultsStore(tmp_path)
    flat = replace(synthetic_space(3, name="flat"), costs=np.full(synthetic_space(3).size, 1.0))
    watch = Watch()
    for contenders, spaces, match in (
        ([], small_spaces, "no strategy"),
        ([CONTENDERS[0], CONTENDERS[0]], small_spaces, "named twice"),
        (CONTENDERS, [*small_spaces, flat], "flat"),
    ):
        with pytest.raises(SettingsError, match=match):
            run_benchmark(contenders, spaces, SETTINGS, store=store, observe=watch)
    assert watch.pairs == []


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), length=st.integers(0, 60))
def test_thinning_leaves_the_best_so_far(seed, length, small_spaces):
    space = small_spaces[0]
    table = rank_table(space)
    rng = np.random.default_rng(seed)
    indices = rng.choice(space.size, length, replace=False)
    elapsed = np.cumsum(measurement_times_us(space)[indices])
    counts = RequestCounts(paid=length)
    run = RunResult(Trace(indices, space.costs[indices], elapsed), RunState.FINISHED, "", counts, 0.0)
    thin = thinned(run, table)
    grid = np.linspace(0.0, float(elapsed[-1]) * 1.1 if length else 1.0, 500)
    np.testing.assert_array_equal(best_ranks(thin.trace, table, grid), best_ranks(run.trace, table, grid))
    assert thin.counts == counts
    assert np.all(np.diff(thin.trace.costs) < 0)
