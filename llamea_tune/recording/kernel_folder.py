"""A kernel folder: a kernel's source, its T1 description and its host-side reference, ready to be measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
from kernel_tuner.searchspace import Searchspace

from llamea_tune.exceptions import RecordingError
from llamea_tune.kernel_tuner_internals import (
    KernelSource,
    Options,
    default_block_size_names,
    get_input_file,
    setup_block_and_grid,
    wrap_templated_kernel,
)
from llamea_tune.recording.reference import Arguments, Reference, load_reference
from llamea_tune.spaces.param_values import same_keys
from llamea_tune.spaces.space import ParamConfig, ParamValue
from llamea_tune.spaces.t1_file import read_t1

# As in Kernel Tuner's simulation: its own restriction on the block size lets everything through, and still counts in the
# numbering of configs. T1's conditions say how large a block may be.
MAX_THREADS = 1_000_000_000


@dataclass(frozen=True, eq=False)
class KernelFolder:
    """A tunable kernel as it lies on disk.

    Attributes:
        t1_path: Its T1 file.
        specification: T1's `KernelSpecification`.
        tune_params: Values of each tunable parameter, in order.
        restrictions: T1's conditions, as Python expressions.
        problem_size: One to three sizes.
        backend: Kernel Tuner's `lang`: T1's `Backend` where it has one, else its `Language`.
        compiler: For the C backend: the compiler's name.
    """

    t1_path: Path
    specification: Mapping[str, Any]
    tune_params: Mapping[str, tuple[ParamValue, ...]]
    restrictions: tuple[str, ...]
    problem_size: tuple[int, ...]
    backend: str
    compiler: str | None

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        problem_size: tuple[int, ...] | None = None,
        backend: str | None = None,
        compiler: str | None = None,
    ) -> KernelFolder:
        """Read a kernel folder, or a T1 file with its kernel source beside it.

        Args:
            path: The folder or the T1 file.
            problem_size: Instead of T1's.
            backend: Instead of T1's.
            compiler: Instead of T1's.

        Raises:
            LlameaTuneError: There is no T1 file, or it isn't valid, or it names a source that isn't there.
        """
        t1_path = _find_t1(Path(path))
        t1 = read_t1(t1_path)
        try:
            specification = get_input_file(t1_path)["KernelSpecification"]
        except jsonschema.ValidationError as err:
            raise RecordingError(
                f"{t1_path} does not follow the T1 schema at {err.json_path} ({err.message}); mend that place"
            ) from err
        size = problem_size or specification.get("ProblemSize")
        if not size:
            raise RecordingError(f"{t1_path} has no KernelSpecification.ProblemSize; add it, such as [4096, 4096]")
        folder = cls(
            t1_path=t1_path,
            specification=specification,
            tune_params=t1.tune_params,
            restrictions=t1.restrictions,
            problem_size=tuple(int(n) for n in ([size] if isinstance(size, int) else size)),
            backend=backend or specification.get("Backend") or specification["Language"],
            compiler=compiler or specification.get("Compiler"),
        )
        if confused := same_keys(folder.tune_params):
            raise RecordingError(f"{t1_path} {confused}")
        if not folder.source_path.is_file():
            raise RecordingError(f"{t1_path} names the kernel file {folder.source_path}, which is not there; add it")
        return folder

    @property
    def name(self) -> str:
        """Name of the kernel: that of its T1 file."""
        return self.t1_path.stem

    @property
    def kernel_name(self) -> str:
        """Name of the kernel function."""
        return str(self.specification["KernelName"])

    @property
    def source_path(self) -> Path:
        """The kernel's source."""
        return self.t1_path.parent / str(self.specification["KernelFile"])

    @property
    def compiler_options(self) -> list[str]:
        """T1's compiler options."""
        return list(self.specification.get("CompilerOptions", []))

    @property
    def on_cpu(self) -> bool:
        """Whether it runs where it is compiled, so that compiling disturbs measuring."""
        return self.backend.upper() in ("C", "FORTRAN")

    @cached_property
    def kernel_source(self) -> KernelSource:
        """Kernel Tuner's view of the source."""
        return KernelSource(self.kernel_name, str(self.source_path), self.backend)

    @cached_property
    def searchspace(self) -> Searchspace:
        """Kernel Tuner's search space, whose numbering of configs counts everywhere."""
        tune_params = {name: list(values) for name, values in self.tune_params.items()}
        return Searchspace(
            tune_params, list(self.restrictions), MAX_THREADS, block_size_names=list(default_block_size_names)
        )

    @cached_property
    def param_configs(self) -> list[ParamConfig]:
        """The permitted configs, in Kernel Tuner's order."""
        return [tuple(config) for config in self.searchspace.list]

    @cached_property
    def reference(self) -> Reference:
        """What makes the arguments and knows the right answer."""
        return load_reference(self.t1_path, self.specification, self.tune_params)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that a measurement depends on, except the device."""
        reference = self.t1_path.parent / "reference.py"
        parts = [self.source_path.read_bytes(), reference.read_bytes() if reference.is_file() else b""]
        settings = {
            "specification": dict(self.specification),
            "tune_params": {name: list(values) for name, values in self.tune_params.items()},
            "problem_size": list(self.problem_size),
            "backend": self.backend.upper(),
            "compiler": self.compiler,
        }
        parts.append(json.dumps(settings, sort_keys=True).encode())
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def options(self, arguments: Arguments) -> Options:
        """The kernel's options as `kernel_tuner.tune_kernel` hands them on.

        Args:
            arguments: The kernel's arguments, in order.
        """
        return Options(
            kernel_name=self.kernel_name,
            kernel_source=self.kernel_source,
            problem_size=self.problem_size,
            arguments=arguments,
            grid_div_x=self.specification.get("GridDivX") or None,
            grid_div_y=self.specification.get("GridDivY") or None,
            grid_div_z=self.specification.get("GridDivZ") or None,
            smem_args=None,
            cmem_args={name: arguments[i] for name, i in self.reference.constant_memory.items()} or None,
            texmem_args=None,
            block_size_names=list(default_block_size_names),
        )

    def tune_kernel_arguments(self, arguments: Arguments) -> dict[str, Any]:
        """What a call of `kernel_tuner.tune_kernel` needs to know of the kernel, as keyword arguments.

        Args:
            arguments: The kernel's arguments, in order.
        """
        return {
            **self.options(arguments),
            "kernel_source": str(self.source_path),
            "tune_params": {name: list(values) for name, values in self.tune_params.items()},
            "restrictions": list(self.restrictions),
            "lang": self.backend,
            "compiler": self.compiler,
            "compiler_options": self.compiler_options,
        }

    def instance_source(self, config: ParamConfig) -> tuple[str, str]:
        """Name and source text of one variant, its parameters defined in front, as Kernel Tuner compiles it.

        Args:
            config: One of `param_configs`.
        """
        params = dict(zip(self.tune_params, config, strict=True))
        names = list(default_block_size_names)
        divisors = tuple(self.specification.get(f"GridDiv{axis}") or None for axis in "XYZ")
        threads, grid = setup_block_and_grid(self.problem_size, divisors, params, names)
        name, text, _ = self.kernel_source.prepare_list_of_files(self.kernel_name, params, grid, threads, names)
        if "<" in name:
            text, name = wrap_templated_kernel(text, name)
        return name, text


def _find_t1(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise RecordingError(f"{path} is neither a kernel folder nor a T1 file; give the path of one")
    named = path / f"{path.resolve().name}.json"
    candidates = [named] if named.is_file() else sorted(path.glob("*.json"))
    if len(candidates) != 1:
        raise RecordingError(f"{path} holds no T1 description; it should be {named.name}")
    return candidates[0]
