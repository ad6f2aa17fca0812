"""The score of single runs agrees with the score of the strategy."""

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from llamea_tune.hpo.objective import FLOOR, run_score
from llamea_tune.hpo.pairs import PairRuns, ordered_pairs
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace, empty_trace
from llamea_tune.scoring import Contender, score


@pytest.mark.filterwarnings("ignore:overflow")
def test_means_over_runs_order_settings_as_the_score_of_all_runs_does(spaces, scales):
    pairs = ordered_pairs(spaces, 12, seed=3)
    settings = [
        Contender("ga", "genetic_algorithm", {"popsize": popsize, "mutation_chance": chance})
        for popsize in (4, 12, 40)
        for chance in (5, 100)
    ]
    settings += [Contender("sa", "simulated_annealing", {"T": T, "T_min": T / 100}) for T in (0.01, 0.1, 1.0, 10.0)]
    means, scores = [], []
    with PairRuns(spaces, scales) as runs:
        for contender in settings:
            made = runs.run(contender, pairs)
            means.append(np.mean([run_score(scales[p.space], run) for p, run in zip(pairs, made, strict=True)]))
            by_space = [[r.trace for p, r in zip(pairs, made, strict=True) if p.space == n] for n in range(2)]
            scores.append(np.mean([score(scale, traces) for scale, traces in zip(scales, by_space, strict=True)]))
    assert pearsonr(means, scores).statistic > 0.95
    assert kendalltau(means, scores).statistic > 0.75


def test_the_best_and_the_worst_run(spaces, scales):
    best = int(np.nanargmin(spaces[0].costs))
    perfect = Trace(np.array([best]), spaces[0].costs[[best]], np.array([1]))
    counts = RequestCounts()
    assert run_score(scales[0], RunResult(perfect, RunState.FINISHED, "", counts, 0.0)) == pytest.approx(1.0)
    nothing = run_score(scales[0], RunResult(empty_trace(), RunState.FINISHED, "", counts, 0.0))
    assert FLOOR <= nothing < 0.0


def test_every_space_has_its_turn_before_any_comes_again(spaces):
    pairs = ordered_pairs(spaces, 5, seed=1)
    for start in range(0, 10, 2):
        assert {pair.space for pair in pairs[start : start + 2]} == {0, 1}
    assert len(set(pairs)) == 10
    assert pairs == ordered_pairs(spaces, 5, seed=1)
    assert pairs[:6] == ordered_pairs(spaces, 3, seed=1)
    assert {pair.seed for pair in pairs}.isdisjoint(pair.seed for pair in ordered_pairs(spaces, 5, seed=2))
