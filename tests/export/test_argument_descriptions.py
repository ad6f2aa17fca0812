"""Descriptions of options, from docstrings of every style."""

import pytest

from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exporting.docstrings import argument_descriptions

DOCSTRINGS = {
    "google": "Walk.\n\nArgs:\n    step: How far.\n    tries (int): How\n        often: at most.\n\nReturns:\n    x: y\n",
    "list": "Walk.\n\n- step: How far.\n- `tries`: How often: at most.\n",
    "sphinx": "Walk.\n\n:param step: How far\n:param tries: How often: at most\n:returns: x\n",
    "plain": "step: How far\ntries: How often: at most",
}


def described(of_class: str, of_init: str = "") -> dict[str, str]:
    init = f"def __init__(self, step=1, tries=2, cool_down=3):\n        {of_init!r}"
    return argument_descriptions(CandidateCode.read(f"class Walker(OptAlg):\n    {of_class!r}\n    {init}\n"))


@pytest.mark.parametrize("docstring", DOCSTRINGS.values(), ids=DOCSTRINGS)
def test_styles(docstring):
    assert described(docstring) == {
        "step": "How far",
        "tries": "How often: at most",
        "cool_down": "cool down",
    }


def test_what_init_says_wins():
    assert described("step: second\ntries: last", "Begin.\n\n- step: first\n") == {
        "step": "first",
        "tries": "last",
        "cool_down": "cool down",
    }
