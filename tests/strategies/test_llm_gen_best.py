"""What the model of `llm_gen_best` is told of configs that failed, and of those that were free."""

import numpy as np
import pytest
from kernel_tuner.interface import strategy_map

import llamea_tune  # noqa: F401  # puts the generated strategies into Kernel Tuner

MODULE = strategy_map["llm_gen_best"].load()


@pytest.mark.parametrize("costs", [[3.0], [3.0, 5.0], [3.0, 3.0, 3.0], [3.0, 4.0, 5.0, 9.0]], ids=len)
def test_a_failed_config_is_worse_than_the_best_from_the_first_that_works_on(costs):
    costs = np.array(costs)
    *warped, failed = MODULE._Warp(costs, 0.5)(np.append(costs, 1e301))
    assert failed > warped[0]
    assert failed >= np.median(warped)


def test_a_config_that_was_free_takes_the_usual_time():
    search = MODULE.ThriftyGaussianProcess()
    search.times, search.done = np.array([np.nan, 0.2, 0.4, 0.0]), [0, 1, 2]
    times, shortest = search._times(np.array([0, 2]))
    assert times == pytest.approx([0.3, 0.4])
    assert shortest == pytest.approx(0.03)
