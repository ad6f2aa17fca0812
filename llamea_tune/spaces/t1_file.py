"""T1 files: a tuning problem as its parameters, their values and restrictions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.expressions import check_restriction, evaluate_values
from llamea_tune.spaces.param_values import alike
from llamea_tune.spaces.space import ParamValue
from llamea_tune.spaces.space_file import open_json


@dataclass(frozen=True)
class T1Description:
    """What a T1 file says of a search space.

    Attributes:
        path: Where it lies, for messages.
        kernel_name: Name of the kernel, possibly empty.
        problem_size: As written there; None where it is missing.
        tune_params: Values of each tunable parameter, in order.
        restrictions: Restrictions as Python expressions over parameter names, checked to be harmless.
    """

    path: Path
    kernel_name: str
    problem_size: object
    tune_params: dict[str, tuple[ParamValue, ...]]
    restrictions: tuple[str, ...]


def read_t1(path: Path) -> T1Description:
    """Read a T1 file.

    Raises:
        SpaceFileError: It cannot be read, or is no T1 description.
    """
    with open_json(path) as stream:
        document = stream.value()
    space = document.get("ConfigurationSpace") if isinstance(document, dict) else None
    parameters = space.get("TuningParameters") if isinstance(space, dict) else None
    if not isinstance(space, dict) or not isinstance(parameters, list) or not parameters:
        raise SpaceFileError(f"{path} is no T1 description: it has no ConfigurationSpace with TuningParameters")
    tune_params = dict(_parameter(path, number, entry) for number, entry in enumerate(parameters))
    conditions = space.get("Conditions") or []
    if not isinstance(conditions, list):
        raise SpaceFileError(f"{path}: its Conditions are no list; write them as T1 asks")
    kernel = document.get("KernelSpecification")
    kernel = kernel if isinstance(kernel, dict) else {}
    return T1Description(
        path=path,
        kernel_name=str(kernel.get("KernelName", "")),
        problem_size=kernel.get("ProblemSize"),
        tune_params=tune_params,
        restrictions=tuple(_restriction(path, condition, tune_params) for condition in conditions),
    )


def _parameter(path: Path, number: int, entry: Any) -> tuple[str, tuple[ParamValue, ...]]:
    place = f"{path}, TuningParameters[{number}]"
    try:
        name, values = entry["Name"], entry["Values"]
    except (KeyError, TypeError) as err:
        raise SpaceFileError(f"{place} has no Name or no Values; write both as T1 asks") from err
    if not isinstance(name, str) or not name.isidentifier():
        raise SpaceFileError(f"{place}: the Name {name!r} is no identifier; rename the parameter")
    try:
        values = evaluate_values(values) if isinstance(values, str) else values
    except ValueError as err:
        raise SpaceFileError(f"{place} ({name}): {err}; write its Values as a list of numbers or strings") from err
    values = tuple(values) if isinstance(values, (list, tuple, range)) else (values,)
    if not values or not all(isinstance(value, (int, float, bool, str)) for value in values):
        raise SpaceFileError(f"{place} ({name}): its Values are no numbers or strings; write them as a list")
    distinct: dict[ParamValue, ParamValue] = {}
    for value in values:
        if repr(distinct.setdefault(value, value)) != repr(value):
            raise SpaceFileError(f"{place} {alike(name, distinct[value], value)}")
    return name, tuple(distinct)


def _restriction(path: Path, condition: Any, tune_params: dict[str, tuple[ParamValue, ...]]) -> str:
    expression = condition.get("Expression") if isinstance(condition, dict) else condition
    if not isinstance(expression, str):
        raise SpaceFileError(f"{path} has a condition without an Expression: {condition!r}; write it as T1 asks")
    try:
        check_restriction(expression, tune_params)
    except ValueError as err:
        raise SpaceFileError(
            f"{path}: the restriction {err}; write it with parameters, numbers, comparisons and logic only"
        ) from err
    return expression
