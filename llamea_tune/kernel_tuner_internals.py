"""Every name of Kernel Tuner that we touch and that it does not document, each checked when it is first used.

What is documented (`tune_kernel`, `Searchspace`, `OptAlg`) is imported from Kernel Tuner itself. The rest may move with
any version, so the package asks for one minor version, and whoever has another is told which name is missing.
"""

from __future__ import annotations

import sys
from functools import reduce
from importlib import import_module
from typing import Any

from llamea_tune.exceptions import MissingDependencyError

SUPPORTED = ">=1.5,<1.6"

FAILED_COST = sys.float_info.max
"""What its cost functions give for a config that failed."""

_IMPORTED = {
    "kernel_tuner.core": ("DeviceInterface", "KernelInstance", "KernelSource", "wrap_templated_kernel"),
    "kernel_tuner.file_utils": ("get_input_file",),
    "kernel_tuner.interface": ("Options", "_STRATEGY_PARALLEL", "strategy_map"),
    "kernel_tuner.runners.runner": ("Runner",),
    "kernel_tuner.runners.simulation": ("SimulationDevice", "SimulationRunner"),
    "kernel_tuner.searchspace": ("Searchspace", "supported_neighbor_methods"),
    "kernel_tuner.strategies.common": ("CostFunc",),
    "kernel_tuner.util": (
        *("CompilationFailedConfig", "ErrorConfig", "InvalidConfig", "RuntimeFailedConfig"),
        *("StopCriterionReached", "TuningBudget"),
        *("default_block_size_names", "objective_default_map", "setup_block_and_grid"),
    ),
}
_REACHED = {  # through a class, overridden or called
    "kernel_tuner.strategies.common": ("CostFunc.eval_all", "CostFunc._normalize_and_validate_config"),
    "kernel_tuner.searchspace": (
        *("Searchspace.get_list_dict", "Searchspace.get_list_param_indices_numpy"),
        "Searchspace.get_neighbors_indices_no_cache",
        *("Searchspace.get_param_configs_at_indices", "Searchspace.get_partial_neighbors_indices"),
        *("Searchspace.pop_random_partial_neighbor", "Searchspace._Searchspace__add_to_neighbor_partial_cache"),
    ),
}
_HOME = {name: module for module, names in _IMPORTED.items() for name in names}


def __getattr__(name: str) -> Any:
    """A name of Kernel Tuner, with all that is reached through it.

    Raises:
        MissingDependencyError: This version of Kernel Tuner lacks one of them.
    """
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = _find(_HOME[name], name)
    for reached in _REACHED.get(_HOME[name], ()):
        if reached.startswith(f"{name}."):
            _find(_HOME[name], reached)
    globals()[name] = found  # the next look finds it without asking here
    return found


def check_attributes(thing: object, *names: str) -> None:
    """Refuse an object of Kernel Tuner's that lacks attributes which only its instances have.

    Raises:
        MissingDependencyError: It lacks one.
    """
    for name in names:
        if not hasattr(thing, name):
            raise MissingDependencyError(_sentence(f"{type(thing).__name__}.{name}"))


def missing_names() -> list[str]:
    """All names that this version of Kernel Tuner lacks, for `doctor`."""
    missing = []
    for table in (_IMPORTED, _REACHED):
        for module, names in table.items():
            for name in names:
                try:
                    _find(module, name)
                except MissingDependencyError:
                    missing.append(f"{module}.{name}")
    return missing


def _find(module: str, path: str) -> Any:
    try:
        return reduce(getattr, path.split("."), import_module(module))
    except (ImportError, AttributeError) as err:
        raise MissingDependencyError(_sentence(f"{module}.{path}")) from err


def _sentence(name: str) -> str:
    from importlib.metadata import version  # slow to load, and seldom needed

    return (
        f"kernel_tuner {version('kernel_tuner')} has no {name}, which llamea-tune builds on; "
        f"install a version that it knows: pip install 'kernel_tuner{SUPPORTED}'"
    )
