"""The catalog: every strategy that can be named, and what it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from llamea_tune.exceptions import MissingDependencyError, StrategyError
from llamea_tune.kernel_tuner_internals import strategy_map
from llamea_tune.strategies.generated import GeneratedStrategy
from llamea_tune.strategies.outside import LIBRARIES, Library, library_of

# What Kernel Tuner's interface takes for every strategy, besides the strategy's own options.
_SHARED_OPTIONS = ("max_fevals", "time_limit", "x0", "searchspace_construction_options")


class Origin(StrEnum):
    """Where a strategy comes from."""

    KERNEL_TUNER = "kernel_tuner"
    GENERATED = "generated"  # bundled with llamea-tune
    USER = "user"  # exported to the user's own folder
    LIBRARY = "library"  # an optimizer of another library


class StrategyOption(NamedTuple):
    """One of a strategy's `strategy_options`."""

    description: str
    default: Any


@dataclass(frozen=True)
class StrategyInfo:
    """A strategy that can be named.

    Attributes:
        name: Its name.
        origin: Where it comes from.
        path: Its file, for generated strategies.
    """

    name: str
    origin: Origin
    path: Path | None = None

    @cached_property
    def library(self) -> Library | None:
        """The library that it comes from, where that is another one."""
        return library_of(self.name)

    @cached_property
    def options(self) -> dict[str, StrategyOption]:
        """Its own options by name, in order; this loads the strategy.

        Raises:
            MissingDependencyError: It needs a package that is not installed.
            StrategyError: Its file cannot be loaded.
        """
        if self.library is not None:
            return {name: StrategyOption(*option) for name, option in self.library.options.items()}
        try:
            options = strategy_map[self.name]._options
        except ImportError as err:
            message = f"The strategy {self.name!r} cannot be loaded ({err}); install what it needs."
            raise MissingDependencyError(message) from err
        return {name: StrategyOption(*option) for name, option in options.items()}

    @cached_property
    def options_and_x0(self) -> dict[str, StrategyOption]:
        """Its own options, and `x0` and `prior` where it is an exported strategy that takes configs to begin with.

        Raises:
            MissingDependencyError: See `options`.
            StrategyError: See `options`.
        """
        strategy = strategy_map.get(self.name)
        module = strategy.load() if isinstance(strategy, GeneratedStrategy) else None
        shared = {**getattr(module, "_X0", {}), **getattr(module, "_PRIOR", {})}
        return {**self.options, **{name: StrategyOption(*option) for name, option in shared.items()}}


def catalog() -> list[StrategyInfo]:
    """Every strategy that can be named: Kernel Tuner's, the generated ones, the user's, those of libraries that are installed.

    Of a library with very many optimizers it holds a selection.
    """
    installed = [prefix for prefix in LIBRARIES if LIBRARIES.load(prefix).installed]
    infos = [_info(name) for name in (*strategy_map, *_names_outside(installed))]
    return sorted(infos, key=lambda info: (list(Origin).index(info.origin), info.name))


def resolve(name: str) -> StrategyInfo:
    """The strategy of a name.

    Raises:
        StrategyError: There is none; the message says which names are near.
        MissingDependencyError: Only a library that is not installed knows whether there is.
    """
    library = library_of(name)
    if name in strategy_map or (library is not None and library.has(name.partition(":")[2])):
        return _info(name)
    from difflib import get_close_matches

    known = [*strategy_map, *_names_outside(LIBRARIES)]
    near = get_close_matches(name, known, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "'llamea-tune strategies list' shows all names."
    raise StrategyError(f"There is no strategy {name!r}; {advice}")


def check_options(info: StrategyInfo, options: dict[str, Any]) -> None:
    """Refuse options that a strategy does not take, as Kernel Tuner will.

    Raises:
        StrategyError: An option is unknown, or the strategy's file cannot be loaded.
        MissingDependencyError: The strategy needs a package that is not installed.
    """
    if not options:
        return
    accepted = [*info.options, *_SHARED_OPTIONS]
    unknown = next((name for name in options if name not in accepted), None)
    if unknown is not None:
        takes = ", ".join(info.options) or "none of its own"
        raise StrategyError(f"The strategy {info.name!r} takes no option {unknown!r}; its options are: {takes}.")


def _names_outside(prefixes: Iterable[str]) -> list[str]:
    return [f"{prefix}:{optimizer}" for prefix in prefixes for optimizer in LIBRARIES.load(prefix).optimizers]


def _info(name: str) -> StrategyInfo:
    strategy = strategy_map.get(name)
    if strategy is None:
        return StrategyInfo(name, Origin.LIBRARY)
    if isinstance(strategy, GeneratedStrategy):
        return StrategyInfo(name, Origin.GENERATED if strategy.bundled else Origin.USER, strategy.path)
    return StrategyInfo(name, Origin.KERNEL_TUNER)
