"""Baselines by name: what random search is expected to have reached at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from llamea_tune.scoring.baselines.exact import exact_baseline
from llamea_tune.scoring.baselines.published import published_baseline
from llamea_tune.scoring.ranks import Floats, RankTable
from llamea_tune.spaces.space import Space

Baseline = Callable[[Space, RankTable, Floats], Floats]

BASELINES: Mapping[str, Baseline] = MappingProxyType({"exact": exact_baseline, "published": published_baseline})

__all__ = ["BASELINES", "Baseline", "exact_baseline", "published_baseline"]
