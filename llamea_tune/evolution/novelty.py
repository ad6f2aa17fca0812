"""Novelty: what is too much like a program that was judged before is not worth its runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from llamea_tune.candidate import Scored
from llamea_tune.candidate_code import fingerprint

_TOKEN = re.compile(r"\w+")
_LENGTH = 4


class Novelty:
    """Tells what is too similar to the programs of some candidates."""

    def __init__(self, judged: Iterable[Scored], threshold: float) -> None:
        """Compare with these.

        Args:
            judged: The candidates.
            threshold: Smallest similarity that is too much, above 0 and below 1.
        """
        self._known = [(entry.candidate.id, entry.candidate.code) for entry in judged if entry.candidate.code]
        self._threshold = threshold

    def refuses(self, code: str) -> str | None:
        """Why a program is refused, in words fit for its author; None where it is novel enough."""
        most, nearest = max(((similarity(code, known), key) for key, known in self._known), default=(0.0, ""))
        if most < self._threshold:
            return None
        return (
            f"{most:.1%} of it is the program of candidate {nearest}, where less than {self._threshold:.1%} is wanted"
        )


def similarity(code: str, other: str) -> float:
    """How much two programs share, from 0 to 1: layout, comments, docstrings and the name of the class left out.

    The Jaccard index of the multisets of all runs of four tokens of their syntax trees.
    """
    ours, theirs = _shingles(code), _shingles(other)
    union = (ours | theirs).total()
    return (ours & theirs).total() / union if union else 1.0


@lru_cache(maxsize=4096)
def _shingles(code: str) -> Counter[tuple[str, ...]]:
    tokens = _TOKEN.findall(fingerprint(code))
    return Counter(zip(*(tokens[start:] for start in range(_LENGTH)), strict=False))
