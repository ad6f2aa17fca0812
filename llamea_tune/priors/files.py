"""Files as sources of priors, told apart by what they hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llamea_tune._registry import Registry
from llamea_tune.exceptions import LlameaTuneError, PriorError, SpaceFileError, SpaceFileWarning
from llamea_tune.priors.configs import Configs
from llamea_tune.priors.defaults import prior_of_defaults
from llamea_tune.priors.evidence import Evidence, leave_out
from llamea_tune.spaces.find import files_of, find_space_files, space_name
from llamea_tune.spaces.load import load_space
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.space import ParamValue, RecordedSpace
from llamea_tune.spaces.space_file import FileKind, file_kind, open_json

_MARK = "llamea_tune_"
_BULKY = ("cache", "results")


class PriorFile(Protocol):
    """What is read from a file that is made to be a prior."""

    def prior_over(self, tune_params: dict[str, tuple[ParamValue, ...]], value_indices: NDArray[np.uint16]) -> Prior:
        """What it says of configs, given as indices into the values of each parameter."""


PRIOR_FILES: Registry[Callable[[Path], PriorFile]] = Registry(
    "llamea_tune.prior_files",
    "prior file",
    PriorError,
    {"advice": "llamea_tune.priors.advice:read_advice"},
)
"""Readers of JSON files that are priors: `"advice"` reads those with a key `"llamea_tune_advice"`, and so on."""


def read_files(spec: str | Path, configs: Configs) -> Evidence:
    """Read what a file, folder or glob stands for; what cannot be used is left out, with a warning.

    A T1 description, whose defaults are taken, must be named itself.

    Args:
        spec: The file, folder or glob.
        configs: What a prior is wanted for; recordings are read for its objective.
    """
    evidence = Evidence()
    for path in _paths(spec):
        try:
            _read(path, configs, evidence)
        except LlameaTuneError as err:
            leave_out(err)
    return evidence


def _read(path: Path, wanted: Configs, evidence: Evidence) -> None:
    kind = marked_kind(path)
    if kind is not None:
        read = PRIOR_FILES.load(kind)(path)
        evidence.priors.append(lambda configs: read.prior_over(dict(configs.tune_params), configs.value_indices))
    elif file_kind(path) is FileKind.T1:
        evidence.priors.append(lambda configs: prior_of_defaults(path, configs))
    else:
        with warnings.catch_warnings(action="ignore", category=SpaceFileWarning):  # told where the space itself is used
            evidence.recordings.append(_recording(path, wanted))


def _recording(path: Path, wanted: Configs) -> RecordedSpace:
    """Read as the file says where that will do, so that what was compiled of it for other ends is used again."""
    with suppress(SpaceFileError):
        recording = load_space(path, name=space_name(path))
        if recording.objective == wanted.objective:
            return recording
    return load_space(path, name=space_name(path), objective=wanted.objective, higher_is_better=wanted.higher_is_better)


def _paths(spec: str | Path) -> list[Path]:
    """The recordings and marked files among those that are named."""
    path = Path(spec)
    if path.is_file():
        return [path]
    found: list[Path] = []
    refused: LlameaTuneError | None = None
    with warnings.catch_warnings(action="ignore", category=SpaceFileWarning):
        try:
            found = find_space_files(spec)
        except LlameaTuneError as err:
            refused = err
    marked = [place for place in files_of(spec) if place.suffix == ".json" and place not in found and _is_marked(place)]
    if refused is not None and not marked:
        leave_out(refused)
    return [*found, *marked]


def _is_marked(path: Path) -> bool:
    try:
        return marked_kind(path) is not None
    except LlameaTuneError:
        return False


def marked_kind(path: Path) -> str | None:
    """The kind of prior that a JSON file says it is, by a key such as `"llamea_tune_advice"`; None for other files.

    Raises:
        SpaceFileError: The file cannot be read, or is not JSON.
    """
    with open_json(path) as stream:
        if stream.peek() != "{":
            return None
        for key in stream.members(open_ended=True):
            if key.startswith(_MARK):
                return key.removeprefix(_MARK)
            if key in _BULKY:
                return None
            stream.value()
    return None
