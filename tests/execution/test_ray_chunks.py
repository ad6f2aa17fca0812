"""How many runs are handed over at once."""

from __future__ import annotations

import math
from itertools import repeat

import pytest

from llamea_tune.execution.ray_chunks import ChunkSizes, seconds_of_a_chunk
from llamea_tune.testing.executor_contract import NAMED, make_runs

WORKERS = 4


def taken(sizes, waiting):
    """Lengths of all chunks up to the end."""
    return [len(chunk) for chunk in iter(lambda: sizes.take(waiting, WORKERS), [])]


@pytest.fixture
def experienced():
    """Chunk sizes after many runs of so many seconds."""

    def learn(seconds):
        sizes = ChunkSizes(ahead=True)
        for run in make_runs(NAMED, seeds=range(200)):
            sizes.learn(run, seconds)
        return sizes

    return learn


def test_runs_go_out_one_by_one_where_each_may_change_the_next():
    sizes = ChunkSizes(ahead=False)
    waiting = iter(make_runs(NAMED, seeds=range(5)))
    assert len(sizes.take(waiting, WORKERS)) == 1
    assert len(list(waiting)) == 9
    assert not sizes.are_short(make_runs(NAMED), WORKERS)


def test_without_experience_chunks_are_single_runs_that_may_be_long():
    sizes = ChunkSizes(ahead=True)
    runs = make_runs(NAMED, seeds=range(20))
    assert taken(sizes, iter(runs)) == [1] * 40
    assert not sizes.are_short(runs[:1], WORKERS)


def test_a_chunk_takes_long_enough_and_the_last_are_small(experienced):
    lengths = taken(experienced(0.015), iter(make_runs(NAMED, seeds=range(500))))
    assert sum(lengths) == 1000
    assert max(lengths) == lengths[0] == math.ceil(seconds_of_a_chunk(WORKERS) / 0.015)
    assert sorted(lengths, reverse=True) == lengths
    assert lengths[-2 * WORKERS :] == [1] * (2 * WORKERS)


@pytest.mark.parametrize(("seconds", "short"), [(0.01, True), (10.0, False)])
def test_only_after_short_runs_another_chunk_is_at_hand(experienced, seconds, short):
    sizes = experienced(seconds)
    assert sizes.are_short(sizes.take(iter(make_runs(NAMED, seeds=range(100))), WORKERS), WORKERS) == short


def test_a_pause_is_no_end(experienced):
    sizes = experienced(0.01)
    assert sizes.take(repeat(None), WORKERS) == []
    runs = make_runs(NAMED, seeds=[1])
    assert sizes.take(iter([runs[0], None, runs[1]]), WORKERS) == runs[:1]
