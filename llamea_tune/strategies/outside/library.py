"""Libraries whose optimizers can be named, by the prefix of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from llamea_tune._registry import Registry
from llamea_tune.exceptions import MissingDependencyError, StrategyError


@dataclass(frozen=True)
class Library:
    """A library whose optimizers are strategies.

    Attributes:
        title: What people call it.
        module: The module that is there where it is installed.
        packages: What results of its optimizers depend on: distributions, whose versions are kept with the results.
        optimizers: Their names, to be shown in lists.
        strategy: Makes an optimizer, by its name, an object with Kernel Tuner's `tune(searchspace, runner, tuning_options)`;
            imports what it needs, and raises a `StrategyError` or a `MissingDependencyError` where it cannot.
        options: The `strategy_options` that all of them take: a description and a default by name.
        more_optimizers: Whether there are more than those that are listed.
    """

    title: str
    module: str
    packages: tuple[str, ...]
    optimizers: tuple[str, ...]
    strategy: Callable[[str], Any]
    options: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    more_optimizers: bool = False

    def load(self, optimizer: str) -> Any:
        """What `strategy` makes.

        Raises:
            StrategyError: There is no such optimizer.
            MissingDependencyError: The library, or what the optimizer needs besides, is not installed or cannot be imported.
        """
        try:
            return self.strategy(optimizer)
        except ImportError as err:
            message = f"{self.title} cannot be imported ({err}); install what it needs, in a version that fits"
            raise MissingDependencyError(message) from err

    @property
    def installed(self) -> bool:
        """Whether it is; nothing is imported."""
        return find_spec(self.module) is not None

    def has(self, optimizer: str) -> bool:
        """Whether there is an optimizer of this name.

        Raises:
            MissingDependencyError: Only the library itself knows, and it is not installed or cannot be imported.
        """
        if optimizer in self.optimizers or not self.more_optimizers:
            return optimizer in self.optimizers
        try:
            self.load(optimizer)
        except StrategyError:
            return False
        return True


_HERE = "llamea_tune.strategies.outside"

LIBRARIES: Registry[Library] = Registry(
    "llamea_tune.libraries",
    "library",
    StrategyError,
    {
        "nevergrad": f"{_HERE}.nevergrad_optimizers:NEVERGRAD",
        "optuna": f"{_HERE}.optuna_samplers:OPTUNA",
        "pyatf": f"{_HERE}.pyatf_techniques:PYATF",
        "smac": f"{_HERE}.smac_models:SMAC",
    },
)


def library_of(name: str) -> Library | None:
    """The library that a strategy's name belongs to, as in `"optuna:tpe"`; None if it is no such name."""
    prefix, colon, _ = name.partition(":")
    return LIBRARIES.load(prefix) if colon and prefix in LIBRARIES else None


def find_outside(name: str) -> Any:
    """The strategy of such a name; see `Library.load`.

    Raises:
        StrategyError: There is no such library, or no such optimizer.
        MissingDependencyError: See `Library.load`.
    """
    library = library_of(name)
    if library is None:
        known = ", ".join(f"{prefix}:" for prefix in sorted(LIBRARIES))
        raise StrategyError(f"unknown strategy {name!r}; names with a colon begin with one of {known}")
    return library.load(name.partition(":")[2])
