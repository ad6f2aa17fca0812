"""Islands: populations that evolve apart, and now and then exchange."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Candidate, Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness, drawn, whole


class Islands:
    """Candidate number k belongs to island k modulo the number of islands, and comes from parents there.

    Every so many of its candidates an island takes the parents from the island before it, in a ring: that child is the
    migrant. So both are a matter of the number alone, and need no memory.
    """

    def __init__(self, islands: int = 2, migration: int = 4) -> None:
        """Set the islands up.

        Args:
            islands: How many there are; no more than survive.
            migration: Of so many candidates of an island, one has its parents on another island.

        Raises:
            SettingsError: One of them is no whole number above 0.
        """
        self._islands = whole("islands", islands)
        self._migration = whole("migration", migration)

    def island_of(self, candidate: Candidate) -> int:
        """Number of the island that a candidate belongs to."""
        return int(candidate.id) % self._islands

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The fittest of each island in turn, until there are `size`; the best of all is always among them."""
        ranked = by_fitness(scored)
        place = dict.fromkeys(range(self._islands), 0)
        places: list[tuple[int, int]] = []  # on the island, and over all
        for number, entry in enumerate(ranked):
            island = self.island_of(entry.candidate)
            places.append((place[island], number))
            place[island] += 1
        return tuple(ranked[number] for number in sorted(number for _, number in sorted(places)[:size]))

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Drawn evenly from the island; where it has too few, the others help out."""
        turn, home = divmod(situation.number, self._islands)
        island = (home - 1) % self._islands if turn % self._migration == self._migration - 1 else home
        natives = [entry for entry in situation.population if self.island_of(entry.candidate) == island]
        others = [entry for entry in situation.population if self.island_of(entry.candidate) != island]
        first = drawn(natives, count, rng) if natives else ()
        missing = count - len(first)
        return first + (drawn(others, missing, rng) if missing and others else ())
