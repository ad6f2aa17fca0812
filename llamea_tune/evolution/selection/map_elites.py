"""MAP-Elites: an archive that keeps the best of every way to search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from llamea_tune.candidate import Behaviour, Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness, drawn

Cell = tuple[int, ...]

EDGES = {"exploitation": (0.22, 0.25), "travel": (2.3, 3.1), "repetition": (0.05, 0.5)}
"""Where each trait is cut into bins: the thirds of what 47 of the offline proposer's optimizers did on four bundled
spaces, which never repeated a request; for those that do, round numbers.
"""


class MapElites:
    """Parents are drawn evenly from an archive that holds the fittest candidate of each cell of behaviour.

    Source: J.-B. Mouret and J. Clune, "Illuminating search spaces by mapping elites", 2015. The behaviour is measured
    in the traces (`llamea_tune.scoring.behaviour`); candidates without one share a cell.
    """

    def cell_of(self, entry: Scored) -> Cell:
        """The bin of each trait."""
        known = traits(entry.evaluation.behaviour)
        return tuple(int(np.searchsorted(EDGES[name], value, "right")) for name, value in known.items())

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


def traits(behaviour: Mapping[str, Behaviour]) -> dict[str, float]:
    """What tells ways to search apart, each a mean over spaces; empty where no space has a run of two measurements.

    - exploitation: share of the measurements that differ from the best config of that moment in one parameter at most;
    - travel: parameters that change from one measurement to the next;
    - repetition: share of the requests that ask again for what was measured before.

    Args:
        behaviour: Behaviour by space.
    """
    moves = [(of.near, of.travelled) for of in behaviour.values() if of.near is not None and of.travelled is not None]
    if not moves:
        return {}
    near, travelled = zip(*moves, strict=True)
    repetition = fmean(of.repeated / max(1.0, of.repeated + of.measured) for of in behaviour.values())
    return {"exploitation": fmean(near), "travel": fmean(travelled), "repetition": repetition}
