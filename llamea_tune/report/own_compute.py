"""Own compute on a leaderboard, as the screen and the page of a run tell it."""

from __future__ import annotations

from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.own_compute import DISCOUNT_PER_DOUBLING

_ON_FRONT = "*"


def own_compute_cells(board: Leaderboard) -> list[str]:
    """A cell for each row: milliseconds, marked on the Pareto front; no cells where nothing is known."""
    if not board.own_compute():
        return []
    return [
        "-" if row.own_compute_ms is None else f"{_ON_FRONT if on_front else ''} {row.own_compute_ms:.2f}".strip()
        for row, on_front in zip(board.rows, board.on_front(), strict=True)
    ]


def own_compute_notes(board: Leaderboard) -> list[str]:
    """What the cells mean, and what the order of the rows goes by."""
    notes = []
    if board.aim_ms is not None:
        off = f"{DISCOUNT_PER_DOUBLING:g} for each doubling of own ms above {board.aim_ms:g}"
        notes.append(f"ordered by score less {off}")
    if board.own_compute():
        notes.append(
            f"own ms: own compute for each measurement; {_ON_FRONT} Pareto front: nobody has as high a score for less"
        )
    return notes
