"""Samplers by name: how a study chooses the hyperparameters to try next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from llamea_tune._imports import require
from llamea_tune.exceptions import MissingDependencyError, SettingsError

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


def optuna() -> Any:
    """Optuna, quiet about trials and experimental parts.

    Raises:
        MissingDependencyError: It is not installed.
    """
    module = require("optuna", "hpo")
    module.logging.set_verbosity(module.logging.ERROR)
    return module


@dataclass(frozen=True)
class _Sampler:
    """One of Optuna's samplers: its class, the package it needs, how it is made."""

    class_name: str
    needs: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


SAMPLERS: Mapping[str, _Sampler] = MappingProxyType(
    {
        "tpe": _Sampler("TPESampler", options={"multivariate": True, "constant_liar": True}),
        "random": _Sampler("RandomSampler"),
        "cmaes": _Sampler("CmaEsSampler", needs="cmaes"),
        "gp": _Sampler("GPSampler", needs="torch"),
    }
)
"""Optuna's samplers by the name that users give."""


def make_sampler(name: str, seed: int) -> BaseSampler:
    """Make a sampler.

    Args:
        name: One of `SAMPLERS`.
        seed: Its seed.

    Raises:
        SettingsError: The name is unknown.
        MissingDependencyError: It needs a package that is not installed.
    """
    if name not in SAMPLERS:
        raise SettingsError(f"unknown sampler {name!r}; choose one of {', '.join(SAMPLERS)}")
    chosen = SAMPLERS[name]
    module = optuna()
    if chosen.needs is not None and find_spec(chosen.needs) is None:
        message = f"The sampler {name!r} needs {chosen.needs}; install it with: pip install {chosen.needs}"
        raise MissingDependencyError(message)
    sampler: BaseSampler = getattr(module.samplers, chosen.class_name)(seed=seed, **chosen.options)
    return sampler
