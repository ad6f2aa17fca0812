"""The catalog: every strategy that can be named, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from llamea_tune.exceptions import MissingDependencyError, StrategyError
from llamea_tune.kernel_tuner_internals import strategy_map
from llamea_tune.strategies.generated import GeneratedStrategy

PYATF_PREFIX = "pyatf:"
PYATF_TECHNIQUES = (
    "auc_bandit",
    "differential_evolution",
    "pattern_search",
    "random",
    "round_robin",
    "simulated_annealing",
    "torczon",
)

# What Kernel Tuner's interface takes for every strategy, besides the strategy's own options.
_SHARED_OPTIONS = ("max_fevals", "time_limit", "x0", "searchspace_construction_options")


class Origin(StrEnum):
    """Where a strategy comes from."""

    KERNEL_TUNER = "kernel_tuner"
    GENERATED = "generated"  # bundled with llamea-tune
    USER = "user"  # exported to the user's own folder
    PYATF = "pyatf"


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
    def options(self) -> dict[str, StrategyOption]:
        """Its own options by name, in order; this loads the strategy.

        Raises:
            MissingDependencyError: It needs a package that is not installed.
            StrategyError: Its file cannot be loaded.
        """
        if self.origin is Origin.PYATF:
            return {}
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
    """Every strategy that can be named: Kernel Tuner's, then the generated ones, the user's, and pyATF's if installed."""
    infos = [_info(name) for name in strategy_map]
    if find_spec("pyatf") is not None:
        infos += [_info(PYATF_PREFIX + technique) for technique in PYATF_TECHNIQUES]
    return sorted(infos, key=lambda info: (list(Origin).index(info.origin), info.name))


def resolve(name: str) -> StrategyInfo:
    """The strategy of a name.

    Raises:
        StrategyError: There is none; the message says which names are near.
    """
    known = [*strategy_map, *(PYATF_PREFIX + technique for technique in PYATF_TECHNIQUES)]
    if name in known:
        return _info(name)
    from difflib import get_close_matches

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


def _info(name: str) -> StrategyInfo:
    if name.startswith(PYATF_PREFIX):
        return StrategyInfo(name, Origin.PYATF)
    strategy = strategy_map[name]
    if isinstance(strategy, GeneratedStrategy):
        return StrategyInfo(name, Origin.GENERATED if strategy.bundled else Origin.USER, strategy.path)
    return StrategyInfo(name, Origin.KERNEL_TUNER)
