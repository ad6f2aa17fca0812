"""Reading optimizers out of answers, tidy and untidy ones."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.proposals.proposal import ProposalError
from llamea_tune.proposals.reply import parse_reply
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE

RANGES = '{"n_initial": {"type": "int", "low": 2, "high": 50, "log": true}}'
TIDY = f"Description: Random sample, then greedy steps.\n\n```python\n{EXAMPLE_CODE}```\n\n```json\n{RANGES}\n```\n"


def test_a_tidy_answer():
    class_name, code, description, ranges, refused = parse_reply(TIDY)
    assert class_name == "ExampleSearch"
    assert code == EXAMPLE_CODE
    assert description == "Random sample, then greedy steps."
    assert ranges == {"n_initial": HyperparameterRange("int", 2, 50, log=True)}
    assert refused == ()


UNTIDY = {
    "CRLF": TIDY.replace("\n", "\r\n"),
    "thinking": f"<think>\n```python\nclass Draft(OptAlg):\n    pass\n```\n</think>\n{TIDY}",
    "thinking without its opening tag": f"First I consider ```python\nx\n```\n</think>\n{TIDY}",
    "usage example behind": TIDY + "\n```python\nalg = ExampleSearch()\nprint(alg)\n```\n",
    "helper block before": "```bash\npip install numpy\n```\n" + TIDY,
    "no language": TIDY.replace("```python", "```"),
    "capital language": TIDY.replace("```python", "```Python"),
    "tildes": TIDY.replace("```", "~~~"),
    "longer fences": TIDY.replace("```", "`````"),
    "indented in a list": textwrap.indent(TIDY, "   "),
    "fence never closed": f"Description: Random sample, then greedy steps.\n```json\n{RANGES}\n```\n```python\n{EXAMPLE_CODE}",
    "no fences": f"Description: Random sample, then greedy steps.\n\n{EXAMPLE_CODE}\nHyperparameters:\n{RANGES}\n",
    "bold description": TIDY.replace("Description:", "**Description:**"),
    "heading description": TIDY.replace("Description:", "# Description:"),
    "numbered description": TIDY.replace("Description:", "1. Description:"),
    "prose with curly quotes": "\u201cHere\u201d it is:\n" + TIDY,
    "curly quotes in the code": TIDY.replace('"Hamming"', "\u201cHamming\u201d"),
    "zero-width characters": "\ufeff" + TIDY.replace("class ", "class\u200b "),
    "ranges with a trailing comma": TIDY.replace("}}", "},}"),
    "ranges with comments": TIDY.replace(RANGES, f"// ranges\n{RANGES} # the end\n/* of it */"),
    "ranges with Python's words": TIDY.replace("true", "True").replace('"type": "int"', "'type': 'int'"),
    "ranges in a wrapper": TIDY.replace(RANGES, f'{{"hyperparameters": {RANGES}}}'),
    "ranges without a fence": TIDY.replace("```json\n", "").replace(f"{RANGES}\n```", RANGES),
}


@pytest.mark.parametrize("text", UNTIDY.values(), ids=UNTIDY)
def test_an_untidy_answer_reads_like_the_tidy_one(text):
    assert parse_reply(text) == parse_reply(TIDY)


def test_the_last_of_two_versions_counts():
    first = TIDY.replace("n_initial=10", "n_initial=99")
    assert "n_initial=10" in parse_reply(first + "\nBetter:\n" + TIDY).code


def test_a_version_that_does_not_parse_yields_to_one_that_does():
    assert parse_reply(TIDY + "\n```python\nclass Broken(OptAlg):\n    def\n```\n").class_name == "ExampleSearch"


def test_the_description_falls_back():
    code = f"```python\n{EXAMPLE_CODE}```"
    assert parse_reply(f"# Answer\n\nA greedy walk.\n\n{code}").description == "A greedy walk."
    assert parse_reply(code).description == "Samples at random, then walks from the best config to better neighbours."
    bare = EXAMPLE_CODE.replace(
        '    """Samples at random, then walks from the best config to better neighbours."""\n', ""
    )
    assert parse_reply(f"```python\n{bare}```").description == "ExampleSearch"
    assert len(parse_reply(f"Description: {'x ' * 999}\n{code}").description) <= 400
    assert parse_reply(f"Description: {'word ' * 99}\n{code}").description.endswith(" word …")


def test_edits_apply_to_the_parent():
    edits = (
        "Description: Larger start.\n\n<<<<<<< SEARCH\n    def __init__(self, n_initial=10, "
        'neighbor_method="Hamming"):\n=======\n    def __init__(self, n_initial=30, neighbor_method="adjacent"):\n'
        ">>>>>>> REPLACE\n"
    )
    reply = parse_reply(edits, EXAMPLE_CODE)
    assert reply.code == EXAMPLE_CODE.replace("n_initial=10", "n_initial=30").replace("Hamming", "adjacent")
    assert reply.description == "Larger start."
    with pytest.raises(ProposalError, match="only edits, where a whole class was asked for"):
        parse_reply(edits)


def test_a_whole_class_stands_in_for_edits_that_fail():
    edits = "<<<<<<< SEARCH\nnot there\n=======\n\n>>>>>>> REPLACE\n"
    assert parse_reply(edits + TIDY, EXAMPLE_CODE).code == EXAMPLE_CODE
    with pytest.raises(ProposalError, match="edit 1 does not match"):
        parse_reply(edits, EXAMPLE_CODE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the answer is empty"),
        ("<think>hm", "the answer is empty"),
        ("I am sorry.", "no Python code"),
        ("```python\nx = 1\n```", "no class derives from OptAlg"),
        ("```python\nclass A(OptAlg):\n    x = (\n```", "no valid Python: .* in line 2: x ="),
        ("```python\nclass A(OptAlg):\n    pass\n```", "class A has no __call__"),
        (
            TIDY.replace("n_initial=10, neighbor_method", "n_initial, neighbor_method"),
            "argument 'n_initial' of __init__ has no default",
        ),
        (
            f"```python\n{EXAMPLE_CODE}\n{EXAMPLE_CODE.replace('ExampleSearch', 'Other')}```",
            r"several classes derive from OptAlg \(ExampleSearch, Other\)",
        ),
    ],
)
def test_unusable_answers(text, message):
    with pytest.raises(ProposalError, match=message):
        parse_reply(text)


def test_a_class_may_derive_through_another_and_by_a_full_name():
    code = EXAMPLE_CODE.replace("(OptAlg)", "(wrapper.OptAlg)")
    code += "\n\nclass Final(ExampleSearch):\n    def __call__(self, func, searchspace):\n        pass\n"
    assert parse_reply(f"```python\n{code}```").class_name == "Final"


def test_keyword_only_arguments_are_hyperparameters():
    code = EXAMPLE_CODE.replace("n_initial=10, ", "*, n_initial=10, ")
    assert set(parse_reply(f"```python\n{code}```\n```json\n{RANGES}\n```").ranges) == {"n_initial"}
    with pytest.raises(ProposalError, match="'n_initial' of __init__ has no default"):
        parse_reply(f"```python\n{code.replace('n_initial=10', 'n_initial')}```")


def ranges_of(init: str, declared: object) -> dict[str, HyperparameterRange]:
    code = EXAMPLE_CODE.replace('n_initial=10, neighbor_method="Hamming"', init)
    return dict(parse_reply(f"```python\n{code}```\n```json\n{json.dumps(declared)}\n```").ranges)


@pytest.mark.parametrize(
    ("default", "declared", "expected"),
    [
        ("10", {"type": "int", "low": 1.5, "high": 20.5}, HyperparameterRange("int", 2, 20)),
        ("10", {"type": "int", "low": 20, "high": 30}, HyperparameterRange("int", 10, 30)),
        ("10", {"type": "float", "low": 1, "high": 20}, HyperparameterRange("int", 1, 20)),
        ("1.5", {"type": "int", "low": 1, "high": 3}, HyperparameterRange("float", 1, 3)),
        ("0.5", {"type": "float", "low": 0.0, "high": 1.0, "log": False}, HyperparameterRange("float", 0.0, 1.0)),
        ("0.5", {"type": "float", "low": 0.0, "high": 1.0, "log": None}, HyperparameterRange("float", 0.0, 1.0)),
        ("0.5", {"type": "real", "low": 0.1, "high": 1, "log": True}, HyperparameterRange("float", 0.1, 1, log=True)),
        ("None", {"type": "int", "low": 1, "high": 9}, HyperparameterRange("int", 1, 9)),
        (
            "'a'",
            {"type": "categorical", "choices": ["b", "c"]},
            HyperparameterRange("categorical", choices=("b", "c", "a")),
        ),
        ("True", {"type": "bool"}, HyperparameterRange("categorical", choices=(False, True))),
        ("1", {"type": "categorical", "choices": [True, 1]}, HyperparameterRange("categorical", choices=(True, 1))),
        ("10", {"type": "int", "low": 10, "high": 10}, None),
        ("10", {"type": "int", "low": "a", "high": 20}, None),
        ("10", {"type": "int", "high": 20}, None),
        ("10", {"type": "int", "low": True, "high": 20}, None),
        ("0.5", {"type": "float", "low": float("nan"), "high": 1}, None),
        ("0.5", {"type": "float", "low": 0, "high": float("inf")}, None),
        ("0.5", {"type": "complex", "low": 0, "high": 1}, None),
        ("0.5", {"low": 0, "high": 1}, None),
        ("True", {"type": "int", "low": 0, "high": 1}, None),
        ("'a'", {"type": "float", "low": 0, "high": 1}, None),
        ("'a'", {"type": "categorical", "choices": ["a"]}, None),
        ("'a'", {"type": "categorical", "choices": "abc"}, None),
        ("'a'", {"type": "categorical", "choices": ["a", ["b"]]}, None),
        ("'a'", "int", None),
    ],
)
def test_ranges(default, declared, expected):
    found = ranges_of(f"n_initial={default}, neighbor_method=None", {"n_initial": declared})
    assert found == ({} if expected is None else {"n_initial": expected})


@pytest.mark.parametrize(
    ("default", "declared", "why"),
    [
        ("10", {"type": "int", "low": 30, "high": 20}, "low 30 is above high 20"),
        ("25", {"type": "int", "low": 30, "high": 20}, "low 30 is above high 20"),
        ("None", {"type": "float", "low": 0.5, "high": 0.25}, "low 0.5 is above high 0.25"),
        ("0.5", {"type": "float", "low": 0.0, "high": 1.0, "log": True}, "log needs low above 0, not 0.0"),
        ("5", {"type": "int", "low": -3, "high": 10, "log": True}, "log needs low above 0, not -3"),
        ("0", {"type": "int", "low": 1, "high": 10, "log": True}, "log needs a default above 0, not 0"),
        ("'a'", {"type": "categorical", "choices": ["a", "b"], "log": True}, "log is for numbers, not for choices"),
        ("True", {"type": "bool", "log": True}, "log is for numbers, not for choices"),
        ("5", {"type": "int", "low": 1, "high": 10, "log": "yes"}, "log 'yes' is neither true nor false"),
    ],
)
def test_ranges_that_contradict_themselves_are_refused_with_a_sentence(default, declared, why):
    code = EXAMPLE_CODE.replace('n_initial=10, neighbor_method="Hamming"', f"n_initial={default}, neighbor_method=None")
    reply = parse_reply(f"```python\n{code}```\n```json\n{json.dumps({'n_initial': declared})}\n```")
    assert reply.ranges == {}
    assert reply.refused_ranges == (f"range of 'n_initial' refused: {why}",)


def test_ranges_of_arguments_that_are_not_there_are_refused_and_noted(caplog):
    with caplog.at_level("INFO"):
        assert (
            ranges_of("n_initial=10, neighbor_method=None", {"self": {}, "beta": {"type": "int", "low": 1, "high": 2}})
            == {}
        )
    assert "ExampleSearch: range of 'beta' refused: __init__ has no such argument" in caplog.text


NOISE = st.text(st.characters(exclude_categories=("Cs",)), max_size=60).filter(
    lambda text: not set(text) & set("`~{}<>=") and "class" not in text and "import" not in text
)


@given(NOISE, NOISE)
@example("Description", "from here")
def test_prose_around_the_code_does_not_matter(before, after):
    reply = parse_reply(f"{before}\n\n```python\n{EXAMPLE_CODE}```\n{after}\n```json\n{RANGES}\n```\n{after}")
    assert reply.code == EXAMPLE_CODE
    assert set(reply.ranges) == {"n_initial"}
    assert reply.description.strip()
    assert "\n" not in reply.description


@given(st.text())
@example("```python\n" + "(" * 500)
@example("class A(OptAlg):\n" + "    " * 200 + "x")
@example("```json\n" + "[" * 5000)
@example("```\nclass A(OptAlg):\n    def __call__(self):\n        '\x00'\n```")
def test_any_text_gives_a_reply_or_a_proposal_error(text):
    try:
        parse_reply(text, EXAMPLE_CODE)
    except ProposalError as err:
        assert str(err)


@given(
    st.lists(
        st.sampled_from([*TIDY.split("\n"), "```", "<think>", "</think>", "=======", "{", "}", "class A(OptAlg):"])
    )
)
def test_shuffled_pieces_give_a_reply_or_a_proposal_error(pieces):
    try:
        reply = parse_reply("\n".join(pieces), EXAMPLE_CODE)
    except ProposalError as err:
        assert str(err)
    else:
        assert reply.class_name in reply.code
