"""Kernel Tuner's device, with two differences: it can take a variant that was compiled elsewhere, and it says why one failed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llamea_tune.kernel_tuner_internals import DeviceInterface, KernelInstance
from llamea_tune.recording.compiling import Artefact


class BenchDevice(DeviceInterface):  # type: ignore[misc]
    """Compiles and benchmarks one config at a time, as `kernel_tuner.core.DeviceInterface` does.

    Attributes:
        artefact: The next variant where it is compiled already; it is loaded instead of compiled.
        message: Why compiling or loading the last variant failed; empty if it did not.
    """

    artefact: Artefact | None = None
    message: str = ""

    @property
    def backend_name(self) -> str:
        """Kernel Tuner's backend behind it: `"compiler"`, `"nvcuda"`, `"cupy"`, `"pycuda"`, `"hip"`, `"opencl"`."""
        return type(self.dev).__module__.rpartition(".")[2]

    def compile_kernel(self, instance: KernelInstance, verbose: bool) -> Any:  # noqa: ARG002 (Kernel Tuner's signature)
        """Load or compile; None, which Kernel Tuner takes as a failed compile, whatever went wrong."""
        self.message = ""
        try:
            if self.artefact is None:
                return self.dev.compile(instance)
            if self.artefact.error:
                self.message = self.artefact.error
                return None
            return LOADERS[self.backend_name](self.dev, self.artefact, instance)
        except Exception as err:
            self.message = str(getattr(err, "stderr", "") or err) or type(err).__name__
            return None


def _load_library(backend: Any, artefact: Artefact, instance: KernelInstance) -> Any:
    if backend.lib is not None:
        backend.cleanup_lib()
    backend.using_openmp |= "#pragma omp" in instance.kernel_string  # an OpenMP library must not be unloaded
    backend.lib = ctypes.CDLL(artefact.path)  # numpy's loader keeps libraries, also those that were unloaded since
    function = getattr(backend.lib, artefact.symbol)
    function.restype = ctypes.c_float
    return function


def _load_nvcuda(backend: Any, artefact: Artefact, instance: KernelInstance) -> Any:  # noqa: ARG001 (as the others)
    from cuda.bindings import driver

    if backend.current_module is not None:
        _check(driver.cuModuleUnload(backend.current_module))
        backend.current_module = None
    backend.current_module = _check(driver.cuModuleLoadData(Path(artefact.path).read_bytes()))
    backend.func = _check(driver.cuModuleGetFunction(backend.current_module, artefact.symbol.encode()))
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS
    backend.num_regs = _check(driver.cuFuncGetAttribute(attribute, backend.func))
    return backend.func


def _check(result: tuple[Any, ...]) -> Any:
    status, *values = result
    if int(status):
        raise RuntimeError(str(status))
    return values[0] if values else None


def _load_cupy(backend: Any, artefact: Artefact, instance: KernelInstance) -> Any:  # noqa: ARG001 (as the others)
    import cupy

    backend.current_module = cupy.RawModule(path=artefact.path)
    backend.func = backend.current_module.get_function(artefact.symbol)
    backend.num_regs = backend.func.num_regs
    return backend.func


def _load_pycuda(backend: Any, artefact: Artefact, instance: KernelInstance) -> Any:  # noqa: ARG001 (as the others)
    from pycuda import driver

    backend.current_module = driver.module_from_file(artefact.path)
    backend.func = backend.current_module.get_function(artefact.symbol)
    backend.num_regs = backend.func.num_regs
    return backend.func


LOADERS: dict[str, Callable[[Any, Artefact, KernelInstance], Any]] = {
    "compiler": _load_library,
    "nvcuda": _load_nvcuda,
    "cupy": _load_cupy,
    "pycuda": _load_pycuda,
}
