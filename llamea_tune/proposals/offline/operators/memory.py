"""Memories: what the walk avoids besides what it has measured."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

VISITED = Component(name="visited", weight=2.0)

TABU = Component(
    name="tabu",
    phrase="keeps values that it has just left tabu",
    weight=1.0,
    imports=("from collections import deque",),
    hyperparameters=(Hyperparameter("tenure", 6, 2, 40, "Abandoned values that stay tabu.", log=True),),
    state="self.tabu = deque(maxlen=self.tenure)",
    call="pool = self._without_tabu(pool)",
    moved="self._forbid(current, candidate)",
    methods='''
def _without_tabu(self, pool: list[tuple]) -> list[tuple]:
    """Candidates that bring no tabu value back, or all if each does."""
    free = [c for c in pool if not any(c[i] == value for i, value in self.tabu)]
    return free or pool

def _forbid(self, left: tuple, reached: tuple) -> None:
    """Make the values that the walk has just left tabu."""
    for i, (old, new) in enumerate(zip(left, reached, strict=True)):
        if old != new:
            self.tabu.append((i, old))
''',
)

MEMORIES = (VISITED, TABU)
