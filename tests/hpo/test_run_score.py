"""The score of single runs agrees with the score of the strategy."""

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from llamea_tune.execution import LocalExecutor, NamedStrategy
from llamea_tune.hpo.ordered_runs import ordered_runs
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace, empty_trace
from llamea_tune.scoring import score
from llamea_tune.scoring.run_score import FLOOR, run_score


@pytest.mark.filterwarnings("ignore:overflow")
def test_means_over_runs_order_settings_as_the_score_of_all_runs_does(spaces, scales):
    settings = [
        NamedStrategy("ga", "genetic_algorithm", {"popsize": popsize, "mutation_chance": chance})
        for popsize in (4, 12, 40)
        for chance in (5, 100)
    ]
    settings += [NamedStrategy("sa", "simulated_annealing", {"T": T, "T_min": T / 100}) for T in (0.01, 0.1, 1.0, 10.0)]
    means, scores = [], []
    with LocalExecutor(spaces) as executor:
        for contender in settings:
            made = dict(executor.each(ordered_runs(contender, spaces, scales, 12, seed=3)))
            means.append(np.mean([run_score(scales[run.space], result) for run, result in made.items()]))
            by_space = [[result.trace for run, result in made.items() if run.space == n] for n in range(2)]
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


def test_every_space_has_its_turn_before_any_comes_again(spaces, scales):
    def planned(repeats, seed):
        runs = ordered_runs(NamedStrategy("ga", "genetic_algorithm"), spaces, scales, repeats, seed)
        return [(run.space, run.seed) for run in runs]

    first = planned(5, seed=1)
    for start in range(0, 10, 2):
        assert {space for space, _ in first[start : start + 2]} == {0, 1}
    assert len(set(first)) == 10
    assert first == planned(5, seed=1)
    assert first[:6] == planned(3, seed=1)
    assert {seed for _, seed in first}.isdisjoint(seed for _, seed in planned(5, seed=2))
