"""llamea-tune: better optimization strategies for Kernel Tuner, found by evolution.

Importing it makes every generated strategy work by name: `tune_kernel(..., strategy="llm_gen_best")`, and mends how
Kernel Tuner numbers the values of boolean parameters. It loads Kernel Tuner and little else; the names in `__all__`
load their rooms when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from llamea_tune.strategies.register import register_generated
from llamea_tune.strategies.value_indices import mend_value_indices

if TYPE_CHECKING:
    from llamea_tune.execution import LocalExecutor, make_contender
    from llamea_tune.exporting import export_strategy
    from llamea_tune.front_door import advise, benchmark, evolve, export, resume, tune
    from llamea_tune.scoring import Scorer
    from llamea_tune.spaces import load_space, load_spaces
    from llamea_tune.strategies import catalog

__version__ = "0.1.0"

__all__ = [
    "LocalExecutor",
    "Scorer",
    "advise",
    "benchmark",
    "catalog",
    "evolve",
    "export",
    "export_strategy",
    "load_space",
    "load_spaces",
    "make_contender",
    "resume",
    "tune",
]

_ROOMS = {
    "LocalExecutor": "execution",
    "Scorer": "scoring",
    "advise": "front_door",
    "benchmark": "front_door",
    "catalog": "strategies",
    "evolve": "front_door",
    "export": "front_door",
    "export_strategy": "exporting",
    "load_space": "spaces",
    "load_spaces": "spaces",
    "make_contender": "execution",
    "resume": "front_door",
    "tune": "front_door",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its room."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    """What is there, names not loaded yet included."""
    return sorted({*globals(), *__all__})


mend_value_indices()
register_generated()
