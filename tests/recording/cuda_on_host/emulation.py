"""Compiles one variant of a kernel folder for the host and runs it there."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from kernel_tuner.file_utils import get_input_file
from kernel_tuner.util import default_block_size_names, prepare_kernel_string, setup_block_and_grid

_HEADER = Path(__file__).with_name("cuda_on_host.h")
_FLAGS = ("-std=c++17", "-O1", "-fno-strict-aliasing", "-ffp-contract=off", "-Wno-unknown-pragmas")
_C_TYPES = {"float32": "float", "int32": "int"}


@dataclass(frozen=True)
class KernelFolder:
    """A folder in `searchspaces/`: its T1 description, kernel source and reference."""

    name: str
    path: Path
    spec: Mapping[str, Any]
    tune_params: Mapping[str, Sequence[int]]
    conditions: Sequence[Mapping[str, Any]]
    reference: ModuleType

    @property
    def restrictions(self) -> list[str]:
        """Restrictions as Python expressions over the tunable parameters."""
        return [condition["Expression"] for condition in self.conditions]

    def source(self) -> str:
        """The kernel source as it lies in the folder."""
        return (self.path / str(self.spec["KernelFile"])).read_text()

    def prepared_source(self, config: Mapping[str, int], problem_size: Sequence[int]) -> PreparedSource:
        """The source of one variant as Kernel Tuner prepares it, with its launch dimensions."""
        grid_div = tuple(self.spec.get(f"GridDiv{axis}") for axis in "XYZ")
        threads, grid = setup_block_and_grid(tuple(problem_size), grid_div, config, default_block_size_names)
        _, text = prepare_kernel_string(
            self.spec["KernelName"], self.source(), config, grid, threads, default_block_size_names, "CUDA", None
        )
        return PreparedSource(text, grid, threads)


@dataclass(frozen=True)
class PreparedSource:
    """Source text of one variant, and the blocks and threads to launch it with."""

    text: str
    grid: tuple[int, ...]
    threads: tuple[int, ...]


def load_folder(path: Path) -> KernelFolder:
    """Read a kernel folder."""
    description = get_input_file(path / f"{path.name}.json")
    space = description["ConfigurationSpace"]
    module_spec = importlib.util.spec_from_file_location(f"reference_{path.name}", path / "reference.py")
    assert module_spec is not None
    assert module_spec.loader is not None
    reference = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(reference)
    return KernelFolder(
        name=path.name,
        path=path,
        spec=description["KernelSpecification"],
        tune_params={p["Name"]: eval(p["Values"]) for p in space["TuningParameters"]},
        conditions=space["Conditions"],
        reference=reference,
    )


def compile_for_host(
    folder: KernelFolder,
    config: Mapping[str, int],
    problem_size: Sequence[int],
    arguments: Sequence[np.ndarray | np.generic],
    workplace: Path,
    *,
    flags: Sequence[str] = (),
) -> Path:
    """Compile one variant, with its launch and its scalar arguments, into a program for the host.

    Args:
        folder: The kernel.
        config: Value of each tunable parameter.
        problem_size: As in the T1 description, but small.
        arguments: Kernel arguments.
        workplace: Folder for the program.
        flags: More options for the compiler.
    """
    source = workplace / "variant.cpp"
    program = workplace / "variant"
    source.write_text(_program(folder, config, problem_size, arguments))
    _call(["g++", *_FLAGS, *flags, "-o", str(program), str(source)])
    return program


def run_on_host(
    program: Path, arguments: Sequence[np.ndarray | np.generic], *, backwards: bool = False
) -> list[np.ndarray | np.generic]:
    """Run a compiled variant and return its arguments as the kernel left them.

    Args:
        program: What `compile_for_host` returned.
        arguments: The same arguments as there; this call leaves them unchanged.
        backwards: Whether the threads of a block take their turns from the last to the first.
    """
    paths = [program.with_name(f"argument_{i}.bin") for i in range(len(arguments))]
    for path, argument in zip(paths, arguments, strict=True):
        path.write_bytes(argument.tobytes())
    _call([str(program), str(int(backwards)), *map(str, paths)])
    return [
        np.frombuffer(path.read_bytes(), argument.dtype).reshape(argument.shape)
        if isinstance(argument, np.ndarray)
        else argument
        for path, argument in zip(paths, arguments, strict=True)
    ]


def _call(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr[-2000:]}"


def _program(
    folder: KernelFolder,
    config: Mapping[str, int],
    problem_size: Sequence[int],
    arguments: Sequence[np.ndarray | np.generic],
) -> str:
    prepared = folder.prepared_source(config, problem_size)
    passed, reads, writes = [], [], []
    for i, argument in enumerate(arguments):
        c_type = _C_TYPES[str(argument.dtype)]
        if isinstance(argument, np.ndarray):
            reads.append(f"arrays[{i}] = fibers::read_array(argv[{i + 2}], {argument.nbytes});")
            writes.append(f"fibers::write_array(argv[{i + 2}], arrays[{i}], {argument.nbytes});")
            passed.append(f"({c_type} *)arrays[{i}]")
        else:
            passed.append(f"({c_type}){argument.item()!r}")
    for symbol, i in getattr(folder.reference, "CMEM", {}).items():
        reads.append(f'static_assert(sizeof {symbol} == {arguments[i].nbytes}, "size of constant memory");')
        reads.append(f"memcpy({symbol}, arrays[{i}], sizeof {symbol});")
    grid, threads = ("{" + ", ".join(map(str, dims)) + "}" for dims in (prepared.grid, prepared.threads))
    lines = [
        f'#include "{_HEADER}"',
        prepared.text,
        f"static char *arrays[{len(arguments)}];",
        f"static void run() {{ {folder.spec['KernelName']}({', '.join(passed)}); }}",
        "int main(int, char **argv) {",
        *reads,
        f"fibers::launch({grid}, {threads}, argv[1][0] == '1', run);",
        *writes,
        "}",
    ]
    return "\n".join(lines) + "\n"
