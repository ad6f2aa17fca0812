"""The host side of a kernel: its arguments, the right answer, and how results are compared with it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import RecordingError
from llamea_tune.spaces.expressions import evaluate_values

Arguments = list[Any]  # NumPy arrays and NumPy scalars
Answer = list[NDArray[Any] | None]

BLOCK = 1 << 16  # elements compared at a time, so that the temporaries stay in cache


@dataclass(frozen=True)
class Reference:
    """What makes a kernel's arguments and knows the right answer.

    Attributes:
        arguments: From the problem size and a generator: the kernel's arguments, in order.
        answer: From the arguments: what each should hold afterwards, None where that doesn't matter; or None where
            no answer is known.
        atol: Largest permitted absolute difference.
        rtol: Largest permitted difference relative to the answer, added to `atol`.
        constant_memory: Symbols in constant memory, and the number of the argument each is filled from.
    """

    arguments: Callable[[Sequence[int], np.random.Generator], Arguments]
    answer: Callable[[Arguments], Answer] | None
    atol: float = 1e-6
    rtol: float = 1e-5
    constant_memory: Mapping[str, int] = field(default_factory=dict)

    def matches(self, answer: Answer, results: Sequence[NDArray[Any] | None], atol: float | None = None) -> bool:
        """Whether results are close enough to the answer. Kernel Tuner's `verify` function.

        NumPy's `allclose` takes a dozen passes over memory; a kernel's results are large and every variant is
        verified, so this goes block by block.

        Args:
            answer: As from `self.answer`.
            results: The arguments after the kernel ran, in the same order.
            atol: Instead of the reference's own; Kernel Tuner passes it.
        """
        atol = self.atol if atol is None else atol
        pairs = zip(answer, results, strict=True)
        return all(
            expected is None or (result is not None and _close(expected, result, atol, self.rtol))
            for expected, result in pairs
        )


def _close(expected: NDArray[Any], result: NDArray[Any], atol: float, rtol: float) -> bool:
    right, found = np.ravel(expected), np.ravel(result)
    if right.shape != found.shape:
        return False
    for start in range(0, len(right), BLOCK):
        block = right[start : start + BLOCK]
        difference = np.abs(found[start : start + BLOCK] - block)
        # written so that a NaN, which compares false with everything, counts as wrong
        if not bool((difference <= atol + rtol * np.abs(block)).all()):
            return False
    return True


def load_reference(t1_path: Path, specification: Mapping[str, Any], tune_params: Mapping[str, Any]) -> Reference:
    """Load `reference.py` beside a T1 file; where there is none, make the arguments as T1 describes them.

    Args:
        t1_path: The T1 file.
        specification: Its `KernelSpecification`.
        tune_params: The tunable parameters, which sizes in T1 may use.

    Raises:
        RecordingError: The module can't be used.
    """
    path = t1_path.parent / "reference.py"
    if not path.is_file():
        return _reference_from_t1(t1_path, specification, tune_params)
    spec = importlib.util.spec_from_file_location(f"reference_of_{t1_path.stem}", path)
    if spec is None or spec.loader is None:
        raise RecordingError(f"{path} cannot be imported; make it a Python module")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return Reference(
            arguments=module.arguments,
            answer=module.answer,
            atol=float(getattr(module, "ATOL", 1e-6)),
            rtol=float(getattr(module, "RTOL", 1e-5)),
            constant_memory=dict(getattr(module, "CMEM", {})),
        )
    except Exception as err:
        raise RecordingError(f"{path} cannot be used ({type(err).__name__}: {err}); mend it") from err


_MOST_ELEMENTS = 1 << 40
_DTYPES = {"float": np.float32, "double": np.float64, "half": np.float16, "bool": np.bool_}


def _reference_from_t1(t1_path: Path, specification: Mapping[str, Any], tune_params: Mapping[str, Any]) -> Reference:
    described = specification.get("Arguments", [])

    def arguments(problem_size: Sequence[int], rng: np.random.Generator) -> Arguments:
        names = {**tune_params, "ProblemSize": problem_size}
        return [_argument(t1_path, argument, names, rng) for argument in described]

    constant = {a["Name"]: i for i, a in enumerate(described) if a.get("MemType") == "Constant"}
    return Reference(arguments=arguments, answer=None, constant_memory=constant)


def _argument(t1_path: Path, argument: Mapping[str, Any], names: dict[str, Any], rng: np.random.Generator) -> Any:
    name, kind = argument.get("Name", "?"), argument["Type"]
    try:
        dtype = np.dtype(_DTYPES.get(kind, kind))
    except TypeError as err:
        raise RecordingError(
            f"{t1_path} gives argument {name} the type {kind!r}, for which no value can be made; add a reference.py"
        ) from err
    if argument["MemoryType"] == "Scalar":
        return dtype.type(argument.get("FillValue", 0))
    length = _length(t1_path, name, argument.get("Size", 1), names)
    if argument.get("FillType", "Constant") == "Constant":
        return np.full(length, argument.get("FillValue", 0), dtype=dtype)
    if argument["FillType"] == "Random":
        return rng.standard_normal(length).astype(dtype)
    raise RecordingError(
        f"{t1_path} fills argument {name} by {argument['FillType']!r}, which is not supported; add a reference.py"
    )


def _length(t1_path: Path, name: str, size: Any, names: Mapping[str, Any]) -> int:
    """Number of elements of an argument: a number, or an expression with the parameters' values and `ProblemSize`."""
    try:
        length = int(evaluate_values(size, names) if isinstance(size, str) else size)
        if not 0 <= length <= _MOST_ELEMENTS:
            raise ValueError(f"it is {length}")
    except (ValueError, TypeError, OverflowError) as err:
        raise RecordingError(
            f"{t1_path} gives argument {name} the Size {size!r}, which is no length ({err}); write a number, or "
            "arithmetic on ProblemSize and parameters"
        ) from err
    return length
