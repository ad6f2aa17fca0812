from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

from llamea_tune.scoring import space_budget, space_scale
from llamea_tune.scoring.baselines import published_baseline
from llamea_tune.scoring.baselines.published import time_per_evaluation_us
from llamea_tune.scoring.cutoff import evaluations_to
from llamea_tune.scoring.ranks import rank_table
from llamea_tune.spaces import RecordedSpace
from llamea_tune.testing.synthetic_spaces import synthetic_space

methodology = pytest.importorskip("autotuning_methodology.searchspace_statistics")
baselines = pytest.importorskip("autotuning_methodology.baseline")

TIME_KEYS = ["compilation", "validation", "runtimes"]


def as_t4(space: RecordedSpace) -> dict:
    sign = -1.0 if space.higher_is_better else 1.0
    return {
        "metadata": {"timeunit": "milliseconds"},
        "schema_version": "1.0.0",
        "results": [
            {
                "timestamp": "2024-01-01T00:00:00+00:00",
                "configuration": dict(zip(space.tune_params, space.param_config(i), strict=True)),
                "times": {"compilation": stages[0], "validation": stages[1], "runtimes": [stages[2]]},
                "invalidity": "correct" if math.isfinite(cost) else "runtime",
                "correctness": int(math.isfinite(cost)),
                "measurements": [
                    {
                        "name": space.objective,
                        "value": sign * cost if math.isfinite(cost) else "RuntimeFailedConfig",
                        "unit": "",
                    }
                ],
                "objectives": [space.objective],
            }
            for i, (cost, stages) in enumerate(zip(space.costs.tolist(), space.stage_times_ms.tolist(), strict=True))
        ],
    }


def statistics(path: Path, space: RecordedSpace):
    return methodology.SearchspaceStatistics(
        application_name=space.kernel_name,
        device_name=space.device_name,
        minimization=not space.higher_is_better,
        objective_time_keys=TIME_KEYS,
        objective_performance_keys=[space.objective],
        full_search_space_file_path=path,
        full_validate=False,
    )


def assert_formulas_agree(theirs, space: RecordedSpace) -> None:
    worst_first = np.sort(space.costs[space.valid])[::-1]
    for percentile in (0.01, 0.2, 0.5, 0.8, 0.95, 0.99):
        assert evaluations_to(worst_first, percentile) == theirs.cutoff_point(percentile)[1]
    budget = space_budget(space)
    assert budget.evaluations - budget.start_evaluations >= 2
    _, end, start_s, end_s = theirs.cutoff_point_fevals_time_start_end(0.01, 0.95)
    assert budget.evaluations == end
    assert budget.start_us / 1e6 == pytest.approx(start_s, rel=1e-9)
    assert budget.end_us / 1e6 == pytest.approx(end_s, rel=1e-9)
    assert budget.time_limit_us / 1e6 == pytest.approx(1.1 * end_s, abs=1e-6)
    assert time_per_evaluation_us(space) / 1e6 == pytest.approx(theirs.get_time_per_feval("mean_per_feval"), rel=1e-9)

    scale = space_scale(space, "published")
    baseline = baselines.RandomSearchCalculatedBaseline(theirs)
    sign = -1.0 if space.higher_is_better else 1.0
    curve = baseline.get_curve(scale.grid_us / 1e6, "time")
    np.testing.assert_allclose(sign * curve, scale.baseline_costs, rtol=1e-9)

    rng = np.random.default_rng(0)
    mean_ranks = np.sort(rng.uniform(0, len(worst_first) - 1, len(scale.grid_us)))[::-1]
    found = worst_first[::-1][np.rint(mean_ranks).astype(int)]
    standardised = baseline.get_standardised_curve(scale.grid_us / 1e6, sign * found, "time")
    np.testing.assert_allclose(standardised, scale.curve(mean_ranks), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("higher_is_better", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_formulas_are_those_of_the_reference_implementation(tmp_path, seed, higher_is_better):
    space = synthetic_space(seed, failing=0.1 * (seed % 2), higher_is_better=higher_is_better)
    path = tmp_path / "space_T4.json"
    path.write_text(json.dumps(as_t4(space)))
    assert_formulas_agree(statistics(path, space), space)


@pytest.mark.parametrize("gpu", ["A100", "MI250X"])
def test_formulas_agree_on_t4_files_of_the_hub(tmp_path, hub, gpu):
    from llamea_tune.spaces import load_space

    compressed = hub / "cachefiles" / "convolution_milo" / f"{gpu}_T4.json.gz"
    path = tmp_path / f"{gpu}_T4.json"
    path.write_bytes(gzip.decompress(compressed.read_bytes()))
    space = load_space(path)
    assert_formulas_agree(statistics(path, space), space)


def test_start_and_end_are_apart_whatever_the_objective_values_are():
    """The reference caps the end by an objective value, which is below one evaluation for a kernel of half a millisecond."""
    space = synthetic_space(0, tune_params={"a": tuple(range(6)), "b": (0, 1)}, kept=1.0, failing=0.0)
    budget = space_budget(space)
    assert budget.evaluations >= budget.start_evaluations + 2
    assert budget.time_limit_us == round(1.1 * budget.end_us)


def test_one_evaluation_takes_the_mean_of_valid_configs_and_the_share_of_invalid_ones():
    space = synthetic_space(5, failing=0.3)
    times = space.evaluation_times_s * 1e6
    share = (~space.valid).mean()
    expected = times[space.valid].mean() + share * times[~space.valid].mean()
    assert time_per_evaluation_us(space) == pytest.approx(expected)
    assert published_baseline(space, rank_table(space), np.array([1e9]))[0] == pytest.approx(space.optimum, rel=0.2)
