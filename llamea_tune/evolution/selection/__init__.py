"""Selection schemes, one file each; to add one, write its file and name it in `SELECTIONS`."""

from collections.abc import Callable

from llamea_tune.evolution.selection.epsilon_greedy import EpsilonGreedy
from llamea_tune.evolution.selection.plus import Plus
from llamea_tune.evolution.selection.protocol import Selection, by_fitness

SELECTIONS: dict[str, Callable[[], Selection]] = {"plus": Plus, "epsilon-greedy": EpsilonGreedy}

__all__ = ["SELECTIONS", "EpsilonGreedy", "Plus", "Selection", "by_fitness", "make_selection"]


def make_selection(name: str) -> Selection:
    """Make a selection scheme by its name, one of `SELECTIONS`."""
    return SELECTIONS[name]()
