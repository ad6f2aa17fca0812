"""Finished runs kept on disk, found by a hash of everything they depend on.

The store only saves time: whatever is wrong with an entry, the runs are made again and nothing is said. Entries can be
deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from llamea_tune.execution import Contender, Limits, NamedStrategy
from llamea_tune.execution.conditions import SOURCES, package_versions, sources_digest
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.spaces.store import store_folder
from llamea_tune.storage import atomic_file
from llamea_tune.strategies.catalog import resolve
from llamea_tune.strategies.outside import library_of

FORMAT_VERSION = 2

_ARRAYS = ("numbers", "lengths", "indices", "steps_us", "counts", "own_compute_s")
_COUNTS = ("paid", "repeated", "invalid", "failed")
# How these end depends on the machine and its load, so the next call tries again.
_NOT_KEPT = frozenset({RunState.TIMED_OUT, RunState.KILLED})


def results_folder() -> Path:
    """Where finished runs lie: below `$LLAMEA_TUNE_CACHE`, or the user's cache folder."""
    return store_folder().parent / "results"


def runs_key(
    contender: Contender,
    space: RecordedSpace,
    *,
    seed: int,
    limits: Limits,
    charged: bool = False,
    target: bool = False,
) -> str:
    """Hash of everything that the runs of a contender on a space depend on, however many they are.

    The sources of Kernel Tuner and of this package are part of it, so that working on either never gives old results.
    Labels, names of spaces and the baseline are not: they change nothing about the runs.

    Args:
        contender: The contender.
        space: The space.
        seed: Master seed.
        limits: What one run of a candidate may use; plays no part for named strategies.
        charged: Whether own compute is charged to the clock.
        target: Whether runs end where nothing can change their score.
    """
    library = library_of(contender.name) if isinstance(contender, NamedStrategy) else None
    facts: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "space": space.content_hash,
        "seed": seed,
        "charged": charged,
        "target": target,
        "prior": space.prior.fingerprint if space.prior else None,
        "versions": package_versions([] if library is None else [library]),
        "sources": [sources_digest(package) for package in SOURCES],
    }
    if isinstance(contender, NamedStrategy):
        facts["strategy"] = contender.name
        facts["options"] = _sorted_repr(contender.options)
        facts["file"] = _strategy_file_digest(contender.name)
    else:
        facts["candidate"] = [contender.code, contender.class_name, _sorted_repr(contender.hyperparameters)]
        facts["limits"] = asdict(limits)
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


class ResultsStore:
    """Keeps the runs of a contender on a space, by the number of the repeat, in one file per key.

    A file appears whole or not at all. Of two processes that save at the same moment, one may lose what it made.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Use a folder; it is made when it is needed.

        Args:
            folder: The folder; `results_folder()` by default.
        """
        self.folder = folder or results_folder()

    def load(self, key: str, space: RecordedSpace) -> dict[int, RunResult]:
        """Look runs up by the number of the repeat; none where they are not there, or damaged.

        Args:
            key: See `runs_key`.
            space: The space that they were made on.
        """
        with suppress(Exception):  # a damaged archive raises whatever the first wrong byte leads to
            with np.load(self._place(key), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in _ARRAYS}
                ends = json.loads(stored["ends"].tobytes())
            return _unpack(arrays, ends, space)
        return {}

    def save(self, key: str, runs: Mapping[int, RunResult], space: RecordedSpace) -> bool:
        """Keep runs beside those that are there, but not what ended in a way that depends on the machine's load.

        Args:
            key: See `runs_key`.
            runs: Runs by the number of the repeat; they replace those of the same number.
            space: The space that they were made on.

        Returns:
            Whether nothing went wrong; a full disk or a folder that cannot be written is no reason to stop.
        """
        lasting = {number: run for number, run in runs.items() if run.state not in _NOT_KEPT}
        if not lasting:
            return True
        together = {**self.load(key, space), **lasting}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_file(self._place(key)) as file:
                np.savez_compressed(file, **_pack(together))
        except OSError:
            return False
        return True

    def _place(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


def _pack(by_number: Mapping[int, RunResult]) -> dict[str, Any]:
    numbers = sorted(by_number)
    runs = [by_number[number] for number in numbers]
    ends = [[run.state.value, run.reason] for run in runs]
    traces = [run.trace for run in runs]
    return {
        "numbers": np.array(numbers, dtype=np.int64),
        "lengths": np.array([len(trace) for trace in traces], dtype=np.int64),
        "indices": np.concatenate([trace.indices for trace in traces]).astype(np.uint32),
        "steps_us": np.concatenate([np.diff(trace.elapsed_us, prepend=0) for trace in traces]),
        "counts": np.array([[getattr(run.counts, name) for name in _COUNTS] for run in runs], dtype=np.int64),
        "own_compute_s": np.array([run.own_compute_s for run in runs], dtype=np.float64),
        "ends": np.frombuffer(json.dumps(ends).encode(), dtype=np.uint8),
    }


def _unpack(arrays: dict[str, Any], ends: list[list[str]], space: RecordedSpace) -> dict[int, RunResult]:
    """Costs are the space's own.

    Raises:
        ValueError: The parts do not fit together, or not with the space.
    """
    lengths, indices, steps_us = arrays["lengths"], arrays["indices"].astype(np.int64), arrays["steps_us"]
    n_runs = {len(part) for part in (arrays["numbers"], lengths, arrays["counts"], arrays["own_compute_s"], ends)}
    if len(n_runs) != 1 or n_runs == {0}:
        raise ValueError("not one entry for each run")
    if not lengths.sum() == len(indices) == len(steps_us) or (len(indices) and indices.max() >= space.size):
        raise ValueError("traces that are none of this space")
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    runs = {}
    for place, (state, reason) in enumerate(ends):
        own = slice(bounds[place], bounds[place + 1])
        trace = Trace(indices[own], space.costs[indices[own]], np.cumsum(steps_us[own], dtype=np.int64))
        counts = RequestCounts(*(int(count) for count in arrays["counts"][place]))
        own_compute_s = float(arrays["own_compute_s"][place])
        runs[int(arrays["numbers"][place])] = RunResult(trace, RunState(state), reason, counts, own_compute_s)
    return runs


def _sorted_repr(options: Any) -> str:
    return repr(sorted(options.items()))


def _strategy_file_digest(name: str) -> str | None:
    """Digest of the file of a generated strategy; Kernel Tuner's own are part of its sources."""
    path = resolve(name).path
    if path is None or not path.is_file():
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest()
