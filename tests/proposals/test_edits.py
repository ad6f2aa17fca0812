"""Search/replace edits."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.proposals.edits import Edit, apply_edits, find_edits, without_edits
from llamea_tune.proposals.proposal import ProposalError
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE

CODE = textwrap.dedent(
    """\
    def f(x):
        if x:
            return 1
        return 2


    def g(x):
        if x:
            return 1
        return 3
    """
)


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def test_finds_edits_among_prose_and_fences():
    first, second = block("a\nb\n", "c\n"), block("d\n", "")
    text = f"Description: x\n```python\n{first}```\nand\n{second}end"
    assert find_edits(text) == (Edit("a\nb\n", "c\n"), Edit("d\n", ""))
    assert "SEARCH" not in without_edits(text)
    assert without_edits(text).endswith("end")


@pytest.mark.parametrize(
    "marks", ["<<<<< SEARCH\n{}=====\n{}>>>>> REPLACE", "  <<<<<<<SEARCH:\n{}  =======\n{}  >>>>>>>REPLACE"]
)
def test_sloppy_markers(marks):
    assert find_edits(marks.format("a\n", "b\n")) == (Edit("a\n", "b\n"),)


def test_exact():
    assert apply_edits(CODE, [Edit("    return 2\n", "    return 20\n")]) == CODE.replace("return 2", "return 20")


def test_deletion_and_insertion():
    assert "return 2\n" not in apply_edits(CODE, [Edit("    return 2\n", "")])
    longer = apply_edits(CODE, [Edit("def g(x):\n", "def g(x):\n    x += 1\n\n    x += 2\n")])
    assert "def g(x):\n    x += 1\n\n    x += 2\n    if x:\n" in longer


def test_white_space_does_not_matter_and_indentation_follows():
    search = "def g( x ):\n  if x:\n    return 1\n  return 3\n"
    assert "def g(x):\n  return 4\n" in apply_edits(CODE, [Edit(search, "def g(x):\n  return 4\n")])
    shifted = apply_edits(CODE, [Edit("return 3\n", "if x > 1:\n    return 4\nreturn 3\n")])
    assert shifted.endswith("    if x > 1:\n        return 4\n    return 3\n")


def test_edits_build_on_one_another():
    edits = [Edit("    return 2\n", "    return 5\n"), Edit("    return 5\n", "    return 6\n")]
    assert "return 6" in apply_edits(CODE, edits)


def test_all_failures_are_reported():
    edits = [
        Edit("    return 2\n", "    return 5\n"),
        Edit("nothing like it\n", ""),
        Edit("    if x:\n", ""),
        Edit("\n", ""),
    ]
    with pytest.raises(ProposalError) as raised:
        apply_edits(CODE, edits)
    message = str(raised.value)
    assert "edit 1" not in message
    assert "edit 2 does not match the parent's code ('nothing like it')" in message
    assert "edit 3 matches 2 places ('if x:'); its SEARCH part needs more lines" in message
    assert "edit 4 has nothing in its SEARCH part" in message


LINES = EXAMPLE_CODE.rstrip("\n").split("\n")


@given(st.data())
def test_any_run_of_lines_can_be_replaced(data):
    start = data.draw(st.integers(0, len(LINES) - 1))
    stop = data.draw(st.integers(start + 1, len(LINES)))
    search = LINES[start:stop]
    if not search[0].strip() or not search[-1].strip():
        return
    new = data.draw(st.lists(st.sampled_from(["x = 1", "    y = 2", "if z:"]), max_size=3))
    edit = Edit("\n".join(search) + "\n", "".join(line + "\n" for line in new))
    places = [i for i in range(len(LINES)) if LINES[i : i + len(search)] == search]
    if len(places) > 1:
        with pytest.raises(ProposalError, match="matches"):
            apply_edits(EXAMPLE_CODE, [edit])
    else:
        assert apply_edits(EXAMPLE_CODE, [edit]).split("\n") == [*LINES[:start], *new, *LINES[stop:], ""]


@given(st.data())
def test_a_search_part_that_lost_its_indentation_gives_the_same(data):
    start = data.draw(st.integers(0, len(LINES) - 3))
    search = LINES[start : start + 3]
    if not search[0].strip() or not search[-1].strip():
        return
    strip = min(len(line) - len(line.lstrip()) for line in search if line.strip())
    bare = [line[strip:] for line in search]
    if bare[0][:1] == " ":
        return
    exact = Edit("\n".join(search) + "\n", " " * strip + "x = 1\n")
    loose = Edit("\n".join(bare) + "\n", "x = 1\n")
    assert apply_edits(EXAMPLE_CODE, [loose]) == apply_edits(EXAMPLE_CODE, [exact])


@given(st.text(), st.text(), st.text())
def test_never_anything_but_a_proposal_error(code, search, replace):
    try:
        assert isinstance(apply_edits(code, [Edit(search, replace)]), str)
    except ProposalError as err:
        assert str(err).startswith("edit 1 ")
