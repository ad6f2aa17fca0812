"""MAP-Elites: an archive that keeps the best of every way to search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness, drawn

Cell = tuple[int, ...]

EDGES = {"exploitation": (0.41, 0.45), "travel": (0.32, 0.44), "repetition": (0.05, 0.5)}
"""Where each behaviour is cut into bins: the thirds of what 32 of the offline proposer's optimizers did on four bundled
spaces, which never repeated a request; for those that do, round numbers.
"""


class MapElites:
    """Parents are drawn evenly from an archive that holds the fittest candidate of each cell of behaviour.

    Source: J.-B. Mouret and J. Clune, "Illuminating search spaces by mapping elites", 2015. The behaviour is measured
    in the traces (`llamea_tune.scoring.behaviour`); candidates without one share a cell.
    """

    def cell_of(self, entry: Scored) -> Cell:
        """The bin of each behaviour."""
        known = entry.evaluation.behaviour
        return tuple(
            int(np.searchsorted(edges, known[name], "right")) for name, edges in EDGES.items() if name in known
        )

    def archive(self, scored: Sequence[Scored]) -> dict[Cell, Scored]:
        """The fittest of each cell, the cell of the best of all first."""
        elites: dict[Cell, Scored] = {}
        for entry in by_fitness(scored):
            elites.setdefault(self.cell_of(entry), entry)
        return elites

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The `size` fittest elites."""
        return tuple(self.archive(scored).values())[:size]

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Drawn evenly from the whole archive."""
        return drawn(tuple(self.archive(situation.scored).values()), count, rng)
