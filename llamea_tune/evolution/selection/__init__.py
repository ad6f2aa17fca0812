"""Selection schemes, one file each; to add one, write its file and name it in `SELECTIONS`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from llamea_tune._registry import Registry
from llamea_tune.evolution.selection.scheme import Selection, Situation, by_fitness
from llamea_tune.exceptions import SettingsError

SELECTIONS: Registry[Callable[..., Selection]] = Registry(
    "llamea_tune.selection",
    "selection scheme",
    SettingsError,
    {
        "plus": "llamea_tune.evolution.selection.plus:Plus",
        "comma": "llamea_tune.evolution.selection.comma:Comma",
        "tournament": "llamea_tune.evolution.selection.tournament:Tournament",
        "roulette": "llamea_tune.evolution.selection.roulette:Roulette",
        "islands": "llamea_tune.evolution.selection.islands:Islands",
        "map-elites": "llamea_tune.evolution.selection.map_elites:MapElites",
        "epsilon-greedy": "llamea_tune.evolution.selection.epsilon_greedy:EpsilonGreedy",
    },
)

__all__ = ["SELECTIONS", "Selection", "Situation", "by_fitness", "make_selection", "needs_generations"]


def make_selection(name: str, options: Mapping[str, Any] | None = None) -> Selection:
    """Make a selection scheme by its name, one of `SELECTIONS`.

    Args:
        name: The name.
        options: Arguments of the scheme, by name.

    Raises:
        SettingsError: There is no such scheme, or it takes no such option.
    """
    factory = SELECTIONS.load(name)
    taken = list(inspect.signature(factory).parameters)
    for option in options or {}:
        if option not in taken:
            known = ", ".join(taken) or "none"
            message = f"selection scheme {name} takes no option {option!r}; it takes {known}; leave it out."
            raise SettingsError(message, fields=("selection_options",))
    return factory(**(options or {}))


def needs_generations(name: str) -> bool:
    """Whether a scheme makes sense only where candidates come in generations."""
    return bool(getattr(SELECTIONS.load(name), "needs_generations", False))
