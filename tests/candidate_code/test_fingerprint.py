"""When two programs are the same."""

from __future__ import annotations

import pytest

from llamea_tune.candidate_code import CandidateCode, fingerprint
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import random\n", "import random  # for choices\n\n\n"),
        ('"Hamming"', "'Hamming'"),
        ("Samples at random", "A new method"),
        ("ExampleSearch", "ExampleSearchV2"),
        ("costs[config] = func(config)\n        while", "costs[config] = (func(config))\n\n        while"),
    ],
)
def test_layout_comments_docstrings_and_the_name_do_not_count(old, new):
    assert old in EXAMPLE_CODE
    assert fingerprint(EXAMPLE_CODE.replace(old, new)) == fingerprint(EXAMPLE_CODE)


@pytest.mark.parametrize(
    ("old", "new"), [("n_initial=10", "n_initial=11"), ("min(costs", "max(costs"), ("if near", "if not near")]
)
def test_everything_else_counts(old, new):
    assert old in EXAMPLE_CODE
    assert fingerprint(EXAMPLE_CODE.replace(old, new)) != fingerprint(EXAMPLE_CODE)


def test_a_body_that_is_only_a_docstring():
    assert fingerprint('def f():\n    """Doc."""\n') == fingerprint("def f():\n    pass\n")


def test_what_does_not_parse_is_like_nothing_else():
    for code in ("def", "x = '\0'", "(" * 1000, "x = " + "-" * 3000 + "1", "x = " + "1+" * 3000 + "1"):
        assert fingerprint(code) == code


def test_the_class_asked_for_does_not_matter():
    assert CandidateCode.read(EXAMPLE_CODE, "ExampleSearch").fingerprint == fingerprint(EXAMPLE_CODE)


def test_reading_gives_no_warnings(recwarn):
    CandidateCode.read(EXAMPLE_CODE.replace("Samples", "\\d Samples")).checked()
    assert len(recwarn) == 0
