"""Read a brief from what users have: a kernel folder, a T1 file, a cache or a T4 file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from llamea_tune.advising.brief import KernelBrief
from llamea_tune.exceptions import AdviceError
from llamea_tune.kernel_tuner_internals import objective_default_map
from llamea_tune.spaces import Reading, find_t1, load_space, param_configs
from llamea_tune.spaces.find import kernel_folder, plain_stem
from llamea_tune.spaces.space_file import FileKind, file_kind, open_json
from llamea_tune.spaces.t1_file import read_t1

_LONGEST_SOURCE = 60_000


def read_brief(path: Path, reading: Reading | None = None, problem_size: tuple[int, ...] | None = None) -> KernelBrief:
    """Read what there is to tell of a kernel.

    Args:
        path: A kernel folder, its T1 file, or a recording: a Kernel Tuner cache or a T4 file.
        reading: How a recording is read; its `t1` is also the description where none lies beside it. Of an objective
            that only a T1 file speaks for, Kernel Tuner knows whether it is maximised; where it does not, it is minimised.
        problem_size: Told instead of the recorded one; sizes that belong to the other are then left out.

    Raises:
        LlameaTuneError: There is nothing of that kind, or it cannot be read.
    """
    reading = reading or Reading()
    path = description_of(path)
    if file_kind(path, salvage=reading.salvage) is FileKind.T1:
        if reading.t1 is not None or reading.salvage:
            raise AdviceError(f"{path} is itself a T1 description; leave out t1 and salvage", fields=("t1", "salvage"))
        objective = reading.objective or KernelBrief.objective
        brief = _from_t1(path, path.stem, problem_size)
        return replace(brief, objective=objective, higher_is_better=objective_default_map.get(objective, False))
    t1 = reading.t1 or find_t1(path, salvage=reading.salvage)
    space = load_space(path, t1=t1, objective=reading.objective, salvage=reading.salvage)
    brief = KernelBrief(kernel_folder(path), space.kernel_name, space.tune_params)
    if t1 is not None:
        brief = _from_t1(t1, brief.name, problem_size)
    unknown = not space.restrictions and t1 is None
    return replace(
        brief,
        kernel_name=space.kernel_name or brief.kernel_name,
        tune_params=space.tune_params,
        permitted=frozenset(param_configs(space.tune_params, space.value_indices)) if unknown else None,
        device=space.device_name or plain_stem(path).replace("_", " "),
        problem_size=problem_size or space.problem_size,
        objective=space.objective,
        higher_is_better=space.higher_is_better,
    )


def description_of(folder: Path) -> Path:
    """The T1 file of a kernel folder; any file is itself.

    Raises:
        AdviceError: There is no such place, or the folder holds none, or several.
    """
    if not folder.exists():
        raise AdviceError(f"{folder} does not exist; name a kernel folder, a T1 file, or a recording such as a cache")
    if not folder.is_dir():
        return folder
    named = folder / f"{folder.resolve().name}.json"
    found = [named] if named.is_file() else sorted(folder.glob("*.json"))
    descriptions = [place for place in found if file_kind(place) is FileKind.T1]
    if len(descriptions) != 1:
        raise AdviceError(f"{folder} holds no one T1 description; name a T1 file, or a recording such as a cache")
    return descriptions[0]


def _from_t1(path: Path, name: str, problem_size: tuple[int, ...] | None) -> KernelBrief:
    t1 = read_t1(path)
    with open_json(path) as stream:
        specification = stream.value().get("KernelSpecification")
    specification = specification if isinstance(specification, dict) else {}
    return KernelBrief(
        name,
        t1.kernel_name or name,
        t1.tune_params,
        restrictions=t1.restrictions,
        language=str(specification.get("Language") or ""),
        source=_source(path.parent, str(specification.get("KernelFile") or "")),
        problem_size=problem_size or t1.problem_size,
        launch=tuple(_launch(specification, sizes=problem_size is None)),
    )


def _source(folder: Path, name: str) -> str:
    """A kernel's source, where it lies below the description that names it: no other file is anyone's to send away."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    return text if len(text) <= _LONGEST_SOURCE else text[:_LONGEST_SOURCE] + "\n… (cut off here)"


def _launch(specification: Mapping[str, Any], *, sizes: bool) -> Iterator[str]:
    """A line each on the compiler's options, the thread block, the grid and the arguments."""
    if options := specification.get("CompilerOptions"):
        yield f"Compiler options: {' '.join(map(str, options))}"
    if isinstance(block := specification.get("LocalSize"), dict):
        yield f"Threads of a block: {', '.join(f'{axis} = {size}' for axis, size in block.items())}"
    for axis in "XYZ":
        if divisors := specification.get(f"GridDiv{axis}"):
            yield f"Blocks along {axis}: the problem size divided by {' * '.join(map(str, divisors))}, rounded up"
    for argument in _dicts(specification.get("Arguments")):
        yield _argument(argument, sizes=sizes)


def _dicts(entries: Any) -> list[dict[str, Any]]:
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, Sequence) else []


def _argument(argument: Mapping[str, Any], *, sizes: bool) -> str:
    text = f"Argument {argument.get('Name')}: {argument.get('Type')}"
    if argument.get("MemoryType") == "Scalar":
        return f"{text} = {argument['FillValue']}" if sizes and "FillValue" in argument else text
    size = argument.get("Size")
    told = size is not None and (sizes or not re.fullmatch(r"[\d\s*]*", str(size)))
    where = " in constant memory" if argument.get("MemType") == "Constant" else ""
    return f"{text} array{where}" + (f" of {size} elements" if told else "")
