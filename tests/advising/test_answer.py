"""Answers as language models give them: read where they hold advice, refused with a reason where they do not."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llamea_tune.advising.answer import AnswerError, parse_answer
from llamea_tune.advising.brief import KernelBrief

PARAMS = {
    "block_x": (16, 32, 64, 128),
    "tile": (1, 2, 4),
    "fast": (False, True),
    "order": ("row", "col"),
    "fixed": (7,),
}
BRIEF = KernelBrief("toy", "toy", PARAMS, restrictions=("block_x * tile <= 256", "tile > 1 or order == 'row'"))
PERMITTED = [config for config in product(*PARAMS.values()) if not BRIEF.broken_restriction(config)]

configs = st.sampled_from(PERMITTED).map(lambda config: dict(zip(PARAMS, config, strict=True)))
factors = st.floats(0.01, 100.0)
entries = st.lists(st.tuples(configs, factors), min_size=3, max_size=12, unique_by=lambda entry: str(entry[0]))
effects = st.dictionaries(st.sampled_from(list(PARAMS)), factors, max_size=4)

WRAPPERS = (
    lambda text: text,
    lambda text: f"```json\n{text}\n```",
    lambda text: f"<think>{{{{ maybe block_x: 16? }}}}</think>\nHere it is:\n\n```json\n{text}\n```\nGood luck!",
    lambda text: f"First a draft: {{}}\n```\n{text}\n```",
    lambda text: text.replace("false", "False").replace("true", "True").replace('"', "'"),
    lambda text: text[:-1] + ",}",
)
SHAPES = (
    lambda config, cost: {"config": config, "cost": cost},
    lambda config, cost: {**config, "cost": cost},
    lambda config, cost: {"parameters": {key.upper(): str(value) for key, value in config.items()}, "cost": f"{cost}x"},
    lambda config, cost: {"config": list(config.values()), "expected_cost": cost},
    lambda config, cost: {"config": {k: v for k, v in config.items() if k != "fixed"}, "relative_cost": cost},
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(entries, effects, st.sampled_from(WRAPPERS), st.sampled_from(SHAPES))
def test_what_was_said_is_read_however_it_is_written(told, said, wrap, shape):
    document = {
        "configs": [shape(config, cost) for config, cost in told],
        "effects": {name: {str(PARAMS[name][0]): factor} for name, factor in said.items()},
        "rules": [{"when": "block_x * tile > 128 and not fast", "factor": 1.5}],
    }
    read = parse_answer(wrap(json.dumps(document)), BRIEF)
    assert [(entry.config, pytest.approx(entry.cost)) for entry in read.opinion.configs] == told
    assert read.opinion.effects == {name: {PARAMS[name][0]: pytest.approx(factor)} for name, factor in said.items()}
    assert [rule.when for rule in read.opinion.rules] == ["block_x * tile > 128 and not fast"]
    assert read.notes == ()


json_data = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.sampled_from([*PARAMS, "row", "config", "configs", "cost"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*PARAMS, "config", "configs", "effects", "rules", "when", "cost"]), inner, max_size=5
        )
    ),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(json_data, configs, st.text(max_size=20))
def test_nonsense_is_refused_or_what_is_left_is_permitted(data, config, text):
    for document in (data, {"configs": [data, config, {"config": data}], "effects": data, "rules": data}):
        try:
            read = parse_answer(text + json.dumps(document), BRIEF)
        except AnswerError as err:
            assert str(err)
            continue
        assert all(tuple(entry.config.values()) in PERMITTED for entry in read.opinion.configs)
        assert all(0.0 < entry.cost < float("inf") for entry in read.opinion.configs)


def answer(*given: object) -> str:
    return json.dumps({"configs": [{"config": config, "cost": 0.5} for config in given]})


def config(**changes: object) -> dict[str, object]:
    return {"block_x": 32, "tile": 2, "fast": True, "order": "row", **changes}


def test_a_value_between_two_becomes_the_nearer_and_one_outside_is_none():
    read = parse_answer(
        answer(config(block_x=100), config(tile=3), config(), config(block_x=1024), config(order="diagonal")), BRIEF
    )
    assert [entry.config["block_x"] for entry in read.opinion.configs] == [128, 32, 32]
    assert [entry.config["tile"] for entry in read.opinion.configs] == [2, 4, 2]
    assert read.notes == (
        "configuration 4 has 1024 for block_x, which is none of its values",
        "configuration 5 has 'diagonal' for order, which is none of its values",
    )


def test_the_reason_names_what_is_wrong_with_each_config():
    given = answer(config(block_x=128, tile=4), config(tile=1, order="col"), {"block_x": 32}, config())
    with pytest.raises(AnswerError) as refused:
        parse_answer(given, BRIEF)
    assert "1 of its configurations can be used, at least 3 are needed" in str(refused.value)
    for reason in ("1 does not meet block_x * tile <= 256", "2 does not meet tile > 1", "3 has no value for tile"):
        assert reason in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", "```json\n{}\n```", '{"configs": 3}', "[[[[", "{" * 3000]
)
def test_no_advice_is_said_to_be_none(text):
    with pytest.raises(AnswerError, match="configs"):
        parse_answer(text, BRIEF)


def test_a_rule_that_is_more_than_arithmetic_is_left_out():
    rules = [{"when": "__import__('os').getpid() > 1", "factor": 2}, {"when": "tile > 1 && fast", "factor": 2}]
    read = parse_answer(json.dumps({"configs": [config(), config(tile=4), config(tile=1)], "rules": rules}), BRIEF)
    assert [rule.when for rule in read.opinion.rules] == ["tile > 1  and  fast"]
    assert len(read.notes) == 1


def test_what_cannot_be_used_of_effects_and_rules_is_noted():
    given = {
        "configs": [config(), config(tile=4), config(tile=1)],
        "effects": {"warp": {"1": 2.0}, "tile": {"1": 1.5, "3": 0.5, "4": "good"}},
        "rules": [{"when": "tile > 1"}],
    }
    read = parse_answer(json.dumps(given), BRIEF)
    assert (read.opinion.effects, read.opinion.rules) == ({"tile": {1: 1.5}}, ())
    assert [note.partition(":")[0] for note in read.notes] == [
        "an effect is of 'warp', which is no parameter",
        "the effect of tile = '3' is 0.5",
        "the effect of tile = '4' is 'good'",
        "the rule {'when'",
    ]


def test_a_space_of_one_config_needs_one():
    brief = KernelBrief("one", "one", {"a": (1,)})
    assert parse_answer('{"configs": [{"config": {"a": 1}}]}', brief).opinion.configs[0].config == {"a": 1}
