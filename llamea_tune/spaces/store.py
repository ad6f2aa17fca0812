"""What was computed from recorded spaces, kept on disk and found by the hash of what it was computed from.

The store only saves time: whatever is wrong with it, the work is done again and nothing is said.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.storage import atomic_file

FORMAT_VERSION = 2
FOLDER_VARIABLE = "LLAMEA_TUNE_CACHE"

_DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error)
_ARRAYS = {"value_indices": np.uint16, "costs": np.float64, "failures": np.uint8, "stage_times_ms": np.float64}
_TEXTS = (
    *("kernel_name", "device_name", "problem_size", "restrictions"),
    *("objective", "higher_is_better", "has_times", "content_hash", "partial", "n_permitted", "notes"),
)


def store_folder() -> Path:
    """Where compiled spaces lie: `$LLAMEA_TUNE_CACHE`, or the user's cache folder."""
    return Path(os.environ.get(FOLDER_VARIABLE) or platformdirs.user_cache_path("llamea-tune")) / "spaces"


def load_compiled(content_hash: str, *, name: str, source: Path) -> RecordedSpace | None:
    """Look a space up; None where it is not there, or damaged.

    Args:
        content_hash: Hash of what it was compiled from.
        name: Its name now.
        source: Where its file lies now.
    """
    with suppress(*_DAMAGED):
        with np.load(_place(content_hash), allow_pickle=False) as stored:
            texts = json.loads(stored["texts"].tobytes())
            arrays = {key: stored[key] for key in _ARRAYS}
        tune_params = {param: tuple(values) for param, values in texts.pop("tune_params")}
        texts |= {key: tuple(texts[key]) for key in ("restrictions", "notes")}
        space = RecordedSpace(name=name, source=str(source), tune_params=tune_params, **texts, **arrays)
        if space.content_hash == content_hash and _is_sound(space):
            return space
    return None


def save_compiled(space: RecordedSpace) -> None:
    """Keep a space, in one step that other processes see whole or not at all."""
    texts: dict[str, Any] = {key: getattr(space, key) for key in _TEXTS}
    texts["tune_params"] = list(space.tune_params.items())
    with suppress(TypeError, ValueError):
        packed = np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)
        _save(_place(space.content_hash), {"texts": packed, **{key: getattr(space, key) for key in _ARRAYS}})


def kept_array(key: str, compute: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
    """An array from the store, computed and kept where it is not there, or damaged.

    Args:
        key: Names the array and all that it depends on; part of a file name.
        compute: Computes it.
    """
    place = store_folder() / f"{key}.npz"
    with suppress(*_DAMAGED), np.load(place, allow_pickle=False) as stored:
        return np.asarray(stored["array"], dtype=np.float64)
    computed = compute()
    _save(place, {"array": computed})
    return computed


def _save(place: Path, arrays: Mapping[str, Any]) -> None:
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(place) as file:
            np.savez(file, **arrays)


def _place(content_hash: str) -> Path:
    """The numbering of configs is Kernel Tuner's, so its version and its solver's are part of the name."""
    versions = f"{version('kernel_tuner')}-{version('python-constraint2')}"
    return store_folder() / f"{content_hash}-v{FORMAT_VERSION}-{versions}.npz"


def _is_sound(space: RecordedSpace) -> bool:
    n_configs, n_params = len(space.costs), len(space.tune_params)
    shapes = {
        "value_indices": (n_configs, n_params),
        "costs": (n_configs,),
        "failures": (n_configs,),
        "stage_times_ms": (n_configs, 3),
    }
    arrays = {key: getattr(space, key) for key in _ARRAYS}
    return n_configs > 0 and all(
        array.shape == shapes[key] and array.dtype == _ARRAYS[key] for key, array in arrays.items()
    )
