"""Selection schemes, one file each; to add one, write its file and name it in `SELECTIONS`."""

from collections.abc import Callable

from llamea_tune.evolution.selection.epsilon_greedy import EpsilonGreedy
from llamea_tune.evolution.selection.plus import Plus
from llamea_tune.evolution.selection.protocol import Selection, by_fitness
from llamea_tune.exceptions import SettingsError

SELECTIONS: dict[str, Callable[[], Selection]] = {"plus": Plus, "epsilon-greedy": EpsilonGreedy}

__all__ = ["SELECTIONS", "EpsilonGreedy", "Plus", "Selection", "by_fitness", "make_selection"]


def make_selection(name: str) -> Selection:
    """Make a selection scheme by its name.

    Raises:
        SettingsError: There is none of that name.
    """
    if name not in SELECTIONS:
        raise SettingsError(f"--selection is {name!r}; choose one of: {', '.join(SELECTIONS)}.")
    return SELECTIONS[name]()
