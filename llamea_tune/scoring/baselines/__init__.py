"""Baselines by name: what random search is expected to have reached at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from llamea_tune.exceptions import SettingsError
from llamea_tune.scoring.baselines.exact import exact_baseline
from llamea_tune.scoring.baselines.published import published_baseline
from llamea_tune.scoring.ranks import Floats, RankTable
from llamea_tune.spaces.space import RecordedSpace

Baseline = Callable[[RecordedSpace, RankTable, Floats], Floats]

BASELINES: Mapping[str, Baseline] = MappingProxyType({"exact": exact_baseline, "published": published_baseline})


def find_baseline(name: str) -> Baseline:
    """The baseline of a name.

    Raises:
        SettingsError: There is none.
    """
    if name not in BASELINES:
        raise SettingsError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}")
    return BASELINES[name]


__all__ = ["BASELINES", "Baseline", "exact_baseline", "find_baseline", "published_baseline"]
