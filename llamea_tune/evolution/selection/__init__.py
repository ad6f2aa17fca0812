"""Selection schemes, one file each; to add one, write its file and name it in `SELECTIONS`."""

from collections.abc import Callable

from llamea_tune._registry import Registry
from llamea_tune.evolution.selection.scheme import Selection, by_fitness
from llamea_tune.exceptions import SettingsError

SELECTIONS: Registry[Callable[[], Selection]] = Registry(
    "llamea_tune.selection",
    "selection scheme",
    SettingsError,
    {
        "plus": "llamea_tune.evolution.selection.plus:Plus",
        "epsilon-greedy": "llamea_tune.evolution.selection.epsilon_greedy:EpsilonGreedy",
    },
)

__all__ = ["SELECTIONS", "Selection", "by_fitness", "make_selection"]


def make_selection(name: str) -> Selection:
    """Make a selection scheme by its name, one of `SELECTIONS`."""
    return SELECTIONS.load(name)()
