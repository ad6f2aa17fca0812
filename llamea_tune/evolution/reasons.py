"""Reasons why something failed, compared as people compare them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WITH_DIGITS = re.compile(r"\S*\d\S*")


def alike(reason: str) -> str:
    """What reasons share that differ in words with digits only: counts of tokens, sizes, ids of requests."""
    return _WITH_DIGITS.sub("#", reason)


def commonest(reasons: Iterable[str]) -> tuple[str, int]:
    """The reason that was given most often, in the words of the first time, and how often.

    Raises:
        ValueError: No reason was given.
    """
    given = list(reasons)
    kinds = Counter(map(alike, given))
    first = max(given, key=lambda reason: kinds[alike(reason)])
    return first, kinds[alike(first)]
