"""The defaults of a T1 description as a prior: one config that somebody has found good enough."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import numpy as np

from llamea_tune.exceptions import PriorError
from llamea_tune.priors.configs import Configs
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.space_file import open_json

EXPECTED, SD = -log(1.5), 0.5
"""What is expected of a default: a cost a third below the median's. A choice, with an uncertainty to match."""


def prior_of_defaults(path: Path, configs: Configs) -> Prior:
    """What the `Default` of each parameter in a T1 file says: something of one config, nothing of the others.

    Raises:
        PriorError: Not every parameter has a default, or they make no permitted config.
        SpaceFileError: The file cannot be read.
    """
    defaults = _defaults(path)
    lacking = [name for name, values in configs.tune_params.items() if len(values) > 1 and name not in defaults]
    if lacking:
        raise PriorError(f"{path} gives no Default for {', '.join(lacking)}; add it, or name another source")
    found = np.ones(len(configs), dtype=bool)
    for column, (name, values) in zip(configs.value_indices.T, configs.tune_params.items(), strict=True):
        if name in defaults:
            places = [place for place, value in enumerate(values) if value == defaults[name]]
            found &= np.isin(column, places)
    if not found.any():
        raise PriorError(f"{path}: its defaults are no permitted config of this search space; correct them")
    mean = np.where(found, EXPECTED, np.nan)
    return Prior(mean, np.where(found, SD, np.nan), f"the defaults in {path.name}")


def _defaults(path: Path) -> dict[str, Any]:
    with open_json(path) as stream:
        document = stream.value()
    parameters = document.get("ConfigurationSpace", {}).get("TuningParameters", [])
    return {
        entry["Name"]: entry["Default"]
        for entry in parameters
        if isinstance(entry, dict) and "Name" in entry and "Default" in entry
    }
