"""The security page's table is made from the adversaries; `python tests/sandbox/test_security_page.py` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

from adversaries import ADVERSARIES

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
PLACE = re.compile(r"(<!-- adversaries -->\n).*(<!-- end -->)", re.DOTALL)


def table() -> str:
    """All adversaries, one a row."""
    rows = ["| candidate | what it does | what stops it | ends as |", "| --- | --- | --- | --- |"]
    for adversary in ADVERSARIES:
        states = " or ".join(sorted(state.value for state in adversary.states))
        rows.append(f"| {adversary.name} | {adversary.behaviour} | {adversary.layer} | {states} |")
    return "\n".join(rows) + "\n"


def page_with_table() -> str:
    return PLACE.sub(lambda match: match[1] + table() + match[2], PAGE.read_text(encoding="utf-8"))


def test_the_page_lists_every_adversary() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_with_table()


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), encoding="utf-8")
