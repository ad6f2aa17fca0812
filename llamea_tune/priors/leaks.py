"""Keeps a space's own measurements out of its prior."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from llamea_tune.priors.relative_costs import relative_costs
from llamea_tune.spaces.find import plain_stem
from llamea_tune.spaces.recording import config_keys
from llamea_tune.spaces.space import ParamValue, RecordedSpace, Space

_CLOSE = (
    1e-6  # differences of logarithms below that are none: two devices, or two days, differ by a thousand times as much
)
_SHARE = 0.2  # of the configs in common that may agree so, or have cost values that both have
_FEWEST = 8  # different values that must agree before it is called no chance
_FEWEST_PAIRS = 50
_SAME_ORDER = 0.98  # of neighbours in one order that are so in the other; half of them where noise decides
_DIGITS = 6


def same_device(one: Space, other: Space) -> bool:
    """Whether two spaces were measured on one kind of device, by its name or, where it has none, by the file's."""
    return _device(one) == _device(other)


def reason_to_refuse(space: Space, source: RecordedSpace) -> str | None:
    """Why a source may not tell of a space that is to be scored, as a sentence; None where it may.

    It may not hold the space's own measurements: not by its content, nor by kernel, device and problem size, nor by its
    values. Values are the same where a good share of them agrees in all digits, but for one common factor; where
    the order of (nearly) all is the same down to the noise; and where the two hold the same numbers, whatever the parameters are
    called.
    """
    if source.content_hash == space.content_hash or Path(source.source).resolve() == Path(space.source).resolve():
        return f"{source.source} is {space.name} itself; name recordings of other devices"
    if _kernel(source) == _kernel(space) and same_device(source, space) and _size(source) == _size(space):
        return f"{source.source} is the same kernel, device and problem size as {space.name}; name recordings of others"
    if _holds_values_of(space.known, source):
        return f"{source.source} holds the measurements of {space.name} under another name; name recordings of others"
    return None


def _holds_values_of(known: RecordedSpace, source: RecordedSpace) -> bool:
    ours, theirs = _in_common(known, source)
    return _agree_but_for_a_factor(ours, theirs) or _same_order(ours, theirs) or _same_numbers(known, source)


def _agree_but_for_a_factor(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    """Whether a good share of the logarithms differ by one constant."""
    if len(ours) < _FEWEST:
        return False
    order = np.argsort(ours - theirs)
    difference = (ours - theirs)[order]
    ends = np.searchsorted(difference, difference + _CLOSE, side="right")
    start = int(np.argmax(ends - np.arange(len(ends))))
    agreeing = order[start : ends[start]]
    distinct = len(np.unique(np.round(ours[agreeing], _DIGITS)))
    return len(agreeing) >= _SHARE * len(ours) and distinct >= _FEWEST


def _same_order(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> bool:
    """Whether one rises with the other in nearly every step between neighbours, where noise alone would decide."""
    order = np.argsort(theirs, kind="stable")
    steps = np.diff(ours[order])[np.diff(theirs[order]) > 0.0]
    return len(steps) >= _FEWEST_PAIRS and float(np.mean(steps >= 0.0)) >= _SAME_ORDER and bool(np.any(steps > 0.0))


def _same_numbers(known: RecordedSpace, source: RecordedSpace) -> bool:
    """Whether a good share of the source's fine numbers occur among the space's."""
    fine = np.unique(np.abs(source.costs[source.valid]))
    fine = fine[_rounded(fine, _DIGITS) != fine]
    mine = np.unique(_rounded(np.abs(known.costs[known.valid]), 2 * _DIGITS))
    shared = int(np.isin(_rounded(fine, 2 * _DIGITS), mine).sum())
    return shared >= _FEWEST and shared >= _SHARE * len(fine)


def _rounded(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """To that many significant digits."""
    with np.errstate(divide="ignore"):
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.where(values > 0.0, values, 1.0))))
    return np.asarray(np.round(values * scale) / scale)


def _in_common(known: RecordedSpace, source: RecordedSpace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Relative costs of the configs that both hold, and that failed in neither."""
    nothing = np.empty(0)
    if set(known.tune_params) != set(source.tune_params):
        return nothing, nothing
    names = list(known.tune_params)
    values = {name: list(dict.fromkeys((*known.tune_params[name], *source.tune_params[name]))) for name in names}
    codes = [_codes(space, values) for space in (known, source)]
    keys = config_keys(np.concatenate(codes), [len(values[name]) for name in names])
    ours, theirs = keys[: known.size], keys[known.size :]
    _, mine, other = np.intersect1d(ours, theirs, return_indices=True)
    one, two = relative_costs(known.costs)[mine], relative_costs(source.costs)[other]
    valid = np.isfinite(one) & np.isfinite(two)
    return one[valid], two[valid]


def _codes(space: RecordedSpace, values: Mapping[str, Sequence[ParamValue]]) -> NDArray[np.uint16]:
    """Each config's values as places in common lists."""
    columns = []
    for name, among in values.items():
        place = {value: number for number, value in enumerate(among)}
        number = list(space.tune_params).index(name)
        code = np.array([place[value] for value in space.tune_params[name]], dtype=np.uint16)
        columns.append(code[space.value_indices[:, number]])
    return np.column_stack(columns)


def _device(space: Space) -> str:
    return re.sub(r"\W+", "", space.device_name or plain_stem(Path(space.source))).lower()


def _kernel(space: Space) -> object:
    return space.kernel_name or tuple(space.tune_params)


def _size(space: Space) -> tuple[str, ...]:
    size = space.problem_size
    return tuple(map(str, size)) if isinstance(size, list | tuple) else (str(size),)
