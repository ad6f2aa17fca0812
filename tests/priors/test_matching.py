"""Recordings are matched by names and values of parameters, and weighed by how well they agree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from llamea_tune.exceptions import PriorWarning
from llamea_tune.priors import Configs
from llamea_tune.priors.evidence import from_recordings
from llamea_tune.priors.relative_costs import relative_costs
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.testing.synthetic_spaces import on_another_device, synthetic_space

HERE = synthetic_space(1)
ELSEWHERE = [on_another_device(HERE, seed, device_name=f"D{seed}") for seed in (1, 2, 3)]
CONFIGS = Configs.of_space(HERE)
_PER_CONFIG = ("value_indices", "costs", "failures", "stage_times_ms")


def taken(space: RecordedSpace, rows: np.ndarray) -> RecordedSpace:
    return replace(space, **{name: getattr(space, name)[rows] for name in _PER_CONFIG})


def reordered(space: RecordedSpace, seed: int) -> RecordedSpace:
    """The same measurements with parameters, values and configs in another order."""
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(space.param_names))
    values, columns = {}, []
    for name in names:
        order = rng.permutation(len(space.tune_params[name]))
        values[name] = tuple(space.tune_params[name][place] for place in order)
        columns.append(np.argsort(order)[space.value_indices[:, space.param_names.index(name)]])
    moved = replace(space, tune_params=values, value_indices=np.column_stack(columns).astype(np.uint16))
    return taken(moved, rng.permutation(space.size))


def truth() -> np.ndarray:
    return relative_costs(HERE.costs)


def agreement(mean: np.ndarray, among: np.ndarray) -> float:
    among = among & np.isfinite(truth())
    return float(spearmanr(mean[among], truth()[among])[0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_the_order_of_parameters_values_configs_and_sources_is_no_matter(seed, n_sources):
    sources = ELSEWHERE[:n_sources]
    other = [reordered(source, seed) for source in np.random.default_rng(seed).permutation(np.array(sources, object))]
    one, two = from_recordings(sources, CONFIGS), from_recordings(other, CONFIGS)
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.sd, two.sd, rtol=1e-9)


def test_it_is_near_the_truth_and_says_how_near():
    prior = from_recordings(ELSEWHERE, CONFIGS)
    off = ((prior.mean - truth()) / prior.sd)[HERE.valid]
    assert agreement(prior.mean, HERE.valid) > 0.97
    assert np.abs(np.median(prior.mean)) < 1e-12
    assert 0.5 < np.sqrt(np.mean(off**2)) < 1.5
    assert prior.told == "3 recordings of synthetic: D1, D2, D3; 1,032 of 1,032 configs known".replace(
        "1,032", f"{HERE.size:,}"
    )


def test_failed_configs_count_as_bad_and_as_less_sure():
    prior = from_recordings(ELSEWHERE, CONFIGS)
    assert prior.mean[~HERE.valid].min() > np.quantile(prior.mean, 0.85)
    assert prior.sd[~HERE.valid].min() > np.median(prior.sd)


def test_values_and_configs_that_only_the_recording_has_do_not_matter():
    few = taken(HERE, np.flatnonzero((HERE.value_indices[:, 0] < 3) & (HERE.value_indices[:, 2] > 0)))
    of_few = from_recordings(ELSEWHERE, Configs.of_space(few))
    of_all = from_recordings(
        [taken(each, np.flatnonzero(np.isin(np.arange(HERE.size), rows_of(few)))) for each in ELSEWHERE],
        Configs.of_space(few),
    )
    assert spearmanr(of_few.mean, of_all.mean)[0] > 0.999
    assert of_few.told.endswith(f"{few.size:,} of {few.size:,} configs known")


def rows_of(few: RecordedSpace) -> np.ndarray:
    known = {few.param_config(row) for row in range(few.size)}
    return np.array([row for row in range(HERE.size) if HERE.param_config(row) in known])


def test_an_additional_parameter_of_the_recording_is_averaged_over():
    without = replace(HERE, tune_params={name: v for name, v in HERE.tune_params.items() if name != "unroll"})
    rows = np.delete(HERE.value_indices, HERE.param_names.index("unroll"), axis=1)
    configs = Configs(without.tune_params, np.unique(rows, axis=0), "synthetic")
    prior = from_recordings(ELSEWHERE, configs)
    assert prior.mean.shape == (len(configs),)
    assert prior.told.endswith(f"{len(configs):,} of {len(configs):,} configs known")


def test_a_parameter_that_the_recording_lacks_makes_it_less_sure():
    place = HERE.param_names.index("unroll")
    keep = HERE.value_indices[:, place] == 0
    lacking = [
        replace(
            taken(each, np.flatnonzero(keep)),
            tune_params={name: values for name, values in each.tune_params.items() if name != "unroll"},
            value_indices=np.delete(each.value_indices[keep], place, axis=1),
        )
        for each in ELSEWHERE
    ]
    prior, whole = from_recordings(lacking, CONFIGS), from_recordings(ELSEWHERE, CONFIGS)
    assert agreement(prior.mean, keep) > 0.9
    assert np.median(prior.sd) > np.median(whole.sd)
    assert f"0 of {HERE.size:,} configs known" in prior.told


def test_new_values_take_those_of_the_nearest_and_are_less_sure():
    moved = {**HERE.tune_params, "block_size_x": (16, 32, 64, 120, 512)}
    prior = from_recordings(ELSEWHERE, replace(CONFIGS, tune_params=moved))
    new = HERE.value_indices[:, 0] >= 3
    assert agreement(prior.mean, np.ones(HERE.size, bool)) > 0.95
    assert prior.sd[new].min() > np.median(prior.sd[~new])


def test_a_few_measurements_tell_something_of_all_configs():
    rows = np.random.default_rng(0).choice(HERE.size, 80, replace=False)
    prior = from_recordings([taken(ELSEWHERE[0], rows)], CONFIGS)
    new = ~np.isin(np.arange(HERE.size), rows)
    assert agreement(prior.mean, new) > 0.8
    assert np.median(prior.sd[new]) > np.median(prior.sd[rows])


def test_the_same_measurements_count_once():
    copy = replace(reordered(ELSEWHERE[0], 1), device_name="C")
    one, twice = (from_recordings(sources, CONFIGS) for sources in (ELSEWHERE, [*ELSEWHERE, copy]))
    assert twice.told == one.told
    np.testing.assert_array_equal(twice.sd, one.sd)


def test_a_recording_that_disagrees_counts_for_little():
    wrong = taken(ELSEWHERE[0], np.arange(HERE.size))
    wrong = replace(wrong, costs=np.random.default_rng(0).permutation(wrong.costs), device_name="W")
    assert agreement(from_recordings([*ELSEWHERE, wrong], CONFIGS).mean, HERE.valid) > 0.95


@pytest.mark.parametrize("kind", ["maximised", "of both signs"])
def test_other_objectives(kind):
    maximised = synthetic_space(1, higher_is_better=True)
    sources = [on_another_device(maximised, seed, device_name=f"D{seed}") for seed in (1, 2)]
    if kind == "of both signs":
        sources = [replace(each, costs=each.costs - np.nanmedian(each.costs)) for each in sources]
    prior = from_recordings(sources, Configs.of_space(maximised))
    best = int(np.nanargmin(maximised.costs))
    assert prior.mean[best] < np.quantile(prior.mean, 0.05)
    assert np.isfinite(prior.mean).all()


def test_a_ratio_is_inverted_where_more_is_better():
    np.testing.assert_allclose(relative_costs(np.array([-200.0, -100.0, -50.0])), [-np.log(2), 0.0, np.log(2)])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kernel_name": "gemm"}, "'gemm', not 'synthetic'"),
        ({"objective": "energy"}, "tells of 'energy', minimised, not of 'time', minimised"),
        ({"higher_is_better": True}, "tells of 'time', maximised, not of 'time', minimised"),
        ({"tune_params": {f"p{n}": v for n, v in enumerate(HERE.tune_params.values())}}, "shares only 0 of 12 tunable"),
    ],
)
def test_another_kernel_is_left_out_with_a_sentence(change, reason):
    with pytest.warns(PriorWarning, match=reason) as told:
        prior = from_recordings([replace(ELSEWHERE[0], **change), ELSEWHERE[1]], CONFIGS)
    assert len(told) == 1
    assert prior.told.startswith("1 recording of synthetic: D2;")


def test_many_configs_are_matched_in_a_moment():
    params = {f"p{number}": tuple(range(1, 8)) for number in range(5)}
    big = synthetic_space(1, tune_params=params, kept=1.0)
    sources = [on_another_device(big, seed, device_name=f"D{seed}") for seed in range(3)]
    import time

    started = time.process_time()
    from_recordings(sources, Configs.of_space(big))
    assert big.size == 16807
    assert time.process_time() - started < 1.0
