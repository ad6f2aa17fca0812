"""Advice as a prior: what is expected of the configs of a space, that of the advice or another."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.exceptions import AdviceError
from llamea_tune.priors.advice import Advice, advice_path, read_advice
from llamea_tune.priors.opinion import EffectRule, NamedConfig, Opinion

PARAMS = {"block": (16, 32, 64, 128), "tile": (1, 2, 4), "order": ("row", "col")}


def every_config(params):
    return np.array(list(product(*(range(len(values)) for values in params.values()))), dtype=np.uint16)


def advice(*, configs=(), effects=None, rules=()) -> Advice:
    opinion = Opinion(tuple(NamedConfig(c, cost) for c, cost in configs), effects or {}, tuple(rules), "a guess")
    return Advice("toy", "GPU", (64, 64), PARAMS, opinion, "openai:tiny", "0" * 64, "2026-01-31", ("device",))


FIRST = {"block": 64, "tile": 2, "order": "row"}
SECOND = {"block": 32, "tile": 2, "order": "row"}
FULL = advice(
    configs=[(FIRST, 0.4), (SECOND, 0.3)],
    effects={"block": {16: 1.5, 128: 0.7}, "order": {"row": 0.8, "col": 1.25}},
    rules=[EffectRule("block * tile > 256", 2.0)],
)


def test_a_file_holds_all_of_it(tmp_path: Path):
    path = tmp_path / "H200.json"
    path.write_text(json.dumps(FULL.to_json()))
    assert read_advice(path) == Advice(**{**vars(FULL), "problem_size": [64, 64]})


def test_the_order_counts_and_nothing_is_expected_to_be_better_than_what_was_named():
    indices = every_config(PARAMS)
    prior = FULL.prior_over(PARAMS, indices)
    order = np.argsort(prior.mean, kind="stable")
    named = [[PARAMS[n].index(c[n]) for n in PARAMS] for c in (FIRST, SECOND)]
    rows = indices.tolist()
    numbers = [rows.index(row) for row in named]
    assert prior.mean[numbers].tolist() == pytest.approx([np.log(0.4)] * 2)  # the second is no better than the first
    assert prior.mean.min() == prior.mean[numbers[0]]
    assert set(order[:2]) == set(numbers)
    assert (prior.sd[numbers] < np.delete(prior.sd, numbers).min()).all()
    assert "2 configs named" in prior.told


def test_without_effects_only_the_named_are_known():
    prior = advice(configs=[(FIRST, 0.5)]).prior_over(PARAMS, every_config(PARAMS))
    assert np.isfinite(prior.mean).sum() == 1


def test_a_rule_may_name_a_set_of_values():
    indices = every_config(PARAMS)
    of_set, of_list = (
        advice(rules=[EffectRule(when, 0.5)]).opinion.log_effect(PARAMS, indices)
        for when in ("tile in {2, 4}", "tile in [2, 4]")
    )
    np.testing.assert_array_equal(of_set, of_list)
    assert np.isfinite(of_set).sum() == 16


def test_numbers_in_between_are_interpolated_and_factors_are_bounded():
    only_blocks = advice(effects={"block": {16: 1e-3, 64: 1e3}}).opinion
    logs = only_blocks.log_effect(PARAMS, every_config({"block": PARAMS["block"]} | {"tile": (1,), "order": ("row",)}))
    assert logs.tolist() == pytest.approx([-np.log(8), 0.0, np.log(8), np.log(8)])


def test_a_space_without_a_parameter_or_value_still_learns_of_the_others():
    params = {"order": ("col", "row"), "block": (16, 96, 128), "extra": (0, 1)}
    prior = FULL.prior_over(params, every_config(params))
    assert np.isfinite(prior.mean).all()
    table = prior.mean.reshape(2, 3, 2)
    assert (table[1] < table[0]).all()
    assert (np.diff(table, axis=1) < 0).all()
    assert "0 configs named" in prior.told


@settings(max_examples=30, deadline=None)
@given(st.permutations(list(PARAMS)), st.randoms(use_true_random=False))
def test_the_order_of_parameters_values_and_configs_does_not_matter(names, random):
    params = {name: tuple(random.sample(PARAMS[name], len(PARAMS[name]))) for name in names}
    indices = every_config(params)
    indices = indices[random.sample(range(len(indices)), len(indices))]

    def by_config(params, indices):
        prior = FULL.prior_over(params, indices)
        configs = [tuple(sorted((n, v[i]) for (n, v), i in zip(params.items(), row, strict=True))) for row in indices]
        return dict(zip(configs, zip(prior.mean.round(9), prior.sd, strict=True), strict=True))

    assert by_config(params, indices) == by_config(PARAMS, every_config(PARAMS))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is not JSON"),
        ("[1]", "is no advice"),
        ('{"cache": {}}', "is no advice"),
        ('{"llamea_tune_advice": 2}', "of version 2"),
        ('{"llamea_tune_advice": 1}', "holds no usable advice"),
        (json.dumps(FULL.to_json() | {"rules": [{"when": "exit()", "factor": 1}]}), "holds no usable advice"),
        (json.dumps(FULL.to_json() | {"configs": [{"config": {}, "cost": -1}]}), "no number above 0"),
        (json.dumps(FULL.to_json() | {"configs": [{"config": {}, "cost": 10**400}]}), "holds no usable advice"),
        (json.dumps(FULL.to_json() | {"effects": []}), "holds no usable advice"),
        (json.dumps(FULL.to_json() | {"effects": {"tile": [[float("nan"), 2.0]]}}), "nan is no value of a parameter"),
        (json.dumps(FULL.to_json() | {"effects": {"tile": [[10**400, 2.0]]}}), "holds no usable advice"),
    ],
)
def test_what_is_no_advice_is_refused_in_a_sentence(tmp_path: Path, text, what):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(AdviceError, match=what) as refused:
        read_advice(path)
    assert str(path) in str(refused.value)


def test_a_missing_file_is_refused_too(tmp_path: Path):
    with pytest.raises(AdviceError, match="cannot be read"):
        read_advice(tmp_path / "none.json")


def test_advice_lies_in_the_kernels_folder(tmp_path: Path):
    assert advice_path(tmp_path / "gemm" / "caches" / "H200.json.gz") == tmp_path / "gemm" / "advice" / "H200.json"
    assert advice_path(tmp_path / "gemm" / "A100_T4.json") == tmp_path / "gemm" / "advice" / "A100.json"
