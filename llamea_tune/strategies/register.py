"""Adds the generated strategies to Kernel Tuner's strategy map.

Kernel Tuner has no entry points: a name works once something puts it into `kernel_tuner.interface.strategy_map`. This
is done when `llamea_tune` is imported, so it lists file names and does nothing else.

It also gives `tune_kernel(parallel=...)` more than one worker only to what is in `_STRATEGY_PARALLEL`. The names in there
are of no use: it looks for what it has found in the map. So the strategies themselves are added.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from llamea_tune._bundled import bundled_path
from llamea_tune.kernel_tuner_internals import _STRATEGY_PARALLEL, strategy_map
from llamea_tune.strategies.generated import GeneratedStrategy

FOLDER_VARIABLE = "LLAMEA_TUNE_STRATEGIES"


def user_folder() -> Path:
    """Where a user's own exported strategies lie: `$LLAMEA_TUNE_STRATEGIES`, else the user's data directory."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("llamea-tune") / "strategies"


def register_generated() -> None:
    """Register the bundled strategies and the user's own."""
    register_folder(bundled_path("strategies_generated"), bundled=True)
    try:
        own = user_folder()
    except RuntimeError:  # a user without a home, as in containers with arbitrary user ids, has none
        return
    register_folder(own, bundled=False)


def register_folder(folder: Path, *, bundled: bool = False) -> list[GeneratedStrategy]:
    """Register every strategy file in a folder, by the name of the file.

    A name that Kernel Tuner or another file has taken is skipped with a warning. Nothing is loaded.

    Args:
        folder: The folder; nothing happens if it is missing or unreadable.
        bundled: Whether it belongs to the package.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if _is_strategy_file(path))
    except OSError:
        return []
    return [strategy for path in paths if (strategy := register_file(path, bundled=bundled))]


def register_file(path: Path, *, bundled: bool = False) -> GeneratedStrategy | None:
    """Register one strategy file; registering the same file again loads it anew.

    Args:
        path: The file, named after the strategy.
        bundled: Whether it belongs to the package.

    Returns:
        The strategy, or None if its name is taken.
    """
    path = path.absolute()
    name = path.stem
    taken = strategy_map.get(name)
    if taken is not None and not (isinstance(taken, GeneratedStrategy) and taken.path == path):
        owner = str(taken.path) if isinstance(taken, GeneratedStrategy) else "Kernel Tuner itself"
        warnings.warn(f"The strategy {path} is skipped: its name belongs to {owner}; rename the file.", stacklevel=2)
        return None
    strategy = GeneratedStrategy(name, path, bundled=bundled)
    strategy_map[name] = strategy
    _STRATEGY_PARALLEL.append(strategy)
    return strategy


def _is_strategy_file(path: Path) -> bool:
    return path.suffix == ".py" and path.stem.isidentifier() and not path.stem.startswith("_")
