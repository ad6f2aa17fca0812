"""When two programs are the same."""

from __future__ import annotations

import pytest

from llamea_tune.proposals.program import fingerprint, outline
from llamea_tune.proposals.proposal import ProposalError
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


def test_what_does_not_parse():
    for code in ("def", "x = '\0'", "(" * 1000, "x = " + "-" * 3000 + "1", "x = " + "1+" * 3000 + "1"):
        with pytest.raises(ProposalError, match="the code"):
            fingerprint(code)


def test_defaults_that_are_no_plain_values_are_none():
    code = EXAMPLE_CODE.replace("n_initial=10", "n_initial=int(3), step=-1, weights=(1, 2)")
    assert outline(code).defaults == {"n_initial": None, "step": -1, "weights": None, "neighbor_method": "Hamming"}


def test_reading_gives_no_warnings(recwarn):
    outline(EXAMPLE_CODE.replace("Samples", "\\d Samples"))
    assert len(recwarn) == 0
