"""From a recording, and a T1 description where there is one, to a compiled space."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from kernel_tuner.searchspace import Searchspace
from numpy.typing import NDArray

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.kernel_tuner_internals import default_block_size_names, objective_default_map
from llamea_tune.spaces.recording import Recording, config_keys, without_repeats
from llamea_tune.spaces.space import ParamValue, RecordedSpace
from llamea_tune.spaces.t1_file import T1Description
from llamea_tune.wording import counted

# Kernel Tuner's simulation runner pretends to this limit, so that its block-size restriction lets every block through.
# The restriction counts all the same: it decides in which order the configs are found.
_SIMULATED_MAX_THREADS = 1_000_000_000

_ANOTHER = "another objective with --objective (in Python, objective=...)"
_MISSING_TIMES_MS = (0.0, 0.0, 1000.0)


def compile_space(
    recording: Recording,
    t1: T1Description | None,
    *,
    name: str,
    source: Path,
    content_hash: str,
    higher_is_better: bool | None = None,
) -> RecordedSpace:
    """Compile a space.

    Args:
        recording: What was measured.
        t1: The space's description, for its restrictions and Kernel Tuner's numbering.
        name: Name of the space.
        source: The recording's file, for messages.
        content_hash: SHA-256 of what it is compiled from.
        higher_is_better: Whether the objective is maximised, where the file does not say.

    Raises:
        SpaceFileError: No config has an objective value, the description does not fit, or it is not known whether the
            objective is maximised.
    """
    notes = tuple(notes_on(recording, source))
    recording, _ = without_repeats(recording)
    maximised = _direction(recording, higher_is_better, source)
    if not np.isfinite(recording.objective_values).any():
        raise SpaceFileError(_without_objective(recording, source))
    tune_params, value_indices, rows, n_permitted = _numbered(recording, t1, source)
    combinations = math.prod(map(len, tune_params.values()))
    costs = recording.objective_values[rows]
    stage_times_ms, has_times = _complete_times(recording)
    space = RecordedSpace(
        name=name,
        kernel_name=recording.kernel_name or (t1.kernel_name if t1 else ""),
        device_name=recording.device_name,
        problem_size=recording.problem_size if recording.problem_size is not None or t1 is None else t1.problem_size,
        tune_params=tune_params,
        restrictions=t1.restrictions if t1 else (),
        objective=recording.objective,
        higher_is_better=maximised,
        value_indices=value_indices,
        costs=-costs if maximised else costs,
        failures=recording.failures[rows],
        stage_times_ms=stage_times_ms[rows],
        has_times=has_times,
        content_hash=content_hash,
        source=str(source),
        partial=len(rows) < (n_permitted or (combinations if recording.unfinished else 0)) or recording.dropped > 0,
        n_permitted=n_permitted,
        notes=notes,
    )
    if t1 is not None and not space.valid.any():
        raise SpaceFileError(f"{t1.path} does not fit {source}: all the configs that it permits failed; check both")
    return freeze(space)


def freeze(space: RecordedSpace) -> RecordedSpace:
    """Make the arrays of a space read-only, since many runs share them."""
    for values in (space.value_indices, space.costs, space.failures, space.stage_times_ms):
        values.setflags(write=False)
    return space


def _without_objective(recording: Recording, source: Path) -> str:
    objective, configs = repr(recording.objective), counted(len(recording.failures), "config")
    if recording.n_not_numbers:
        found = f"such as {recording.not_a_number}, where one number for each config is expected"
        return f"{source} gives the objective {objective} as lists or texts, {found}; write numbers, or name {_ANOTHER}"
    if recording.other_objectives:
        names = ", ".join(map(repr, recording.other_objectives))
        return (
            f"{source}: none of its {configs} has a value of the objective {objective}, but of {names}; name {_ANOTHER}"
        )
    failed = f"none of {len(recording.failures)} has a value of the objective {objective}"
    return f"{source} holds only failed configs: {failed}; record the space again, or name {_ANOTHER}"


def notes_on(recording: Recording, source: Path) -> Iterator[str]:
    """What people should know of a recording, a sentence each."""
    recording, n_ambiguous = without_repeats(recording)
    if n_ambiguous:
        configs = counted(n_ambiguous, "config")
        yield f"{source} records {configs} more than once, differently; the last counts, as in Kernel Tuner"
    if recording.n_not_numbers:
        configs = counted(recording.n_not_numbers, "config")
        yield f"{source}: {configs} failed, as {recording.objective!r} is no number there but {recording.not_a_number}"
    if recording.salvaged and recording.unfinished:
        dropped = counted(recording.dropped, "entry", "entries")
        yield f"{source} is cut off: {counted(len(recording.failures), 'config')} used, {dropped} dropped"


def _direction(recording: Recording, asked: bool | None, source: Path) -> bool:
    for known in (recording.higher_is_better, asked, objective_default_map.get(recording.objective)):
        if known is not None:
            return bool(known)
    measured = ", ".join(map(repr, recording.other_objectives))
    raise SpaceFileError(
        f"{source}: whether a higher {recording.objective!r} is better is not known; "
        f'add "objective_higher_is_better": true or false to the file, or name {_ANOTHER}'
        + (f", such as {measured}" if measured else "")
    )


def _complete_times(recording: Recording) -> tuple[NDArray[np.float64], bool]:
    """Fill in missing times: one second each where the file has none; else a stage's median, 0 for failed configs."""
    times = recording.stage_times_ms.copy()
    recorded = ~np.isnan(times)
    if not recorded.any():
        return np.tile(_MISSING_TIMES_MS, (len(times), 1)), False
    valid = recording.failures == 0
    for stage in range(times.shape[1]):
        known = times[valid & recorded[:, stage], stage]
        times[~recorded[:, stage], stage] = 0.0
        if len(known):
            times[valid & ~recorded[:, stage], stage] = np.median(known)
    return times, True


def _numbered(
    recording: Recording, t1: T1Description | None, source: Path
) -> tuple[Mapping[str, tuple[ParamValue, ...]], NDArray[np.uint16], NDArray[np.intp], int | None]:
    """Parameters, index matrix, the row of the recording behind each config, and how many configs are permitted."""
    in_file_order = np.arange(len(recording.failures), dtype=np.intp)
    if t1 is None:
        return recording.tune_params, recording.value_indices, in_file_order, None
    recorded = _recode(recording, t1, source)
    counts = [len(values) for values in t1.tune_params.values()]
    if not t1.restrictions and math.prod(counts) > len(recorded):
        return t1.tune_params, recorded, in_file_order, math.prod(counts)

    permitted = _permitted_configs(t1)
    keys = config_keys(np.concatenate([recorded, permitted]), counts)
    recorded_keys, permitted_keys = keys[: len(recorded)], keys[len(recorded) :]
    order = np.argsort(recorded_keys)
    position = np.searchsorted(recorded_keys, permitted_keys, sorter=order)
    rows = order[np.minimum(position, len(order) - 1)]
    found = recorded_keys[rows] == permitted_keys
    if found.all():
        return t1.tune_params, permitted, rows, len(permitted)
    kept = np.sort(rows[found])
    if not len(kept):
        raise SpaceFileError(f"{t1.path} does not fit {source}: it permits none of the recorded configs; check both")
    return t1.tune_params, recorded[kept], kept, len(permitted)


def _recode(recording: Recording, t1: T1Description, source: Path) -> NDArray[np.uint16]:
    """The recorded configs as indices into the values of the T1 description."""
    misfit = f"{t1.path} does not fit {source}"
    if list(recording.tune_params) != list(t1.tune_params):
        raise SpaceFileError(
            f"{misfit}: its parameters are {', '.join(t1.tune_params)} and the recorded ones are "
            f"{', '.join(recording.tune_params)}; name the right description, or move this one away"
        )
    recoded = np.empty_like(recording.value_indices)
    for number, (name, values) in enumerate(recording.tune_params.items()):
        place = {value: index for index, value in enumerate(t1.tune_params[name])}
        column = recording.value_indices[:, number]
        for index in np.unique(column):
            if values[index] not in place:
                raise SpaceFileError(
                    f"{misfit}: configs were recorded with {name} = {values[index]!r}, which is none of its values; "
                    "name the right description, or move this one away"
                )
        recoded[:, number] = np.array([place.get(value, 0) for value in values], dtype=np.uint16)[column]
    return recoded


def _permitted_configs(t1: T1Description) -> NDArray[np.uint16]:
    """Index matrix of all configs that the restrictions permit, in the order of Kernel Tuner's `Searchspace`."""
    try:
        searchspace = Searchspace(
            {name: list(values) for name, values in t1.tune_params.items()},
            list(t1.restrictions),
            _SIMULATED_MAX_THREADS,
            block_size_names=default_block_size_names,
        )
    except Exception as err:
        raise SpaceFileError(
            f"{t1.path}: Kernel Tuner cannot apply its restrictions ({type(err).__name__}: {err}); "
            "correct them, and see that they permit some config"
        ) from err
    if not searchspace.size:
        raise SpaceFileError(f"{t1.path} permits no config at all; correct its restrictions")
    indices = searchspace.get_list_param_indices_numpy()
    return np.asarray(indices).astype(np.uint16)
