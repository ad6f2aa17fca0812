"""Descriptions of options, from docstrings of every style."""

import pytest

from llamea_tune.export.docstrings import argument_descriptions

DOCSTRINGS = {
    "google": "Walk.\n\nArgs:\n    step: How far.\n    tries (int): How\n        often: at most.\n\nReturns:\n    x: y\n",
    "list": "Walk.\n\n- step: How far.\n- `tries`: How often: at most.\n",
    "sphinx": "Walk.\n\n:param step: How far\n:param tries: How often: at most\n:returns: x\n",
    "plain": "step: How far\ntries: How often: at most",
}


@pytest.mark.parametrize("docstring", DOCSTRINGS.values(), ids=DOCSTRINGS)
def test_styles(docstring):
    assert argument_descriptions([docstring], ["step", "tries", "cool_down"]) == {
        "step": "How far",
        "tries": "How often: at most",
        "cool_down": "cool down",
    }


def test_first_docstring_wins():
    assert argument_descriptions([None, "a: first", "a: second\nb: last"], ["a", "b"]) == {"a": "first", "b": "last"}
