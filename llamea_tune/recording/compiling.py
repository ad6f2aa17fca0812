"""Compiling a variant outside the process that measures, with the steps that Kernel Tuner's backends take.

No device is needed, only its architecture.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Artefact:
    """A compiled variant, or why there is none.

    Attributes:
        path: The shared library or cubin; empty if compiling failed.
        symbol: Name of the kernel in it.
        compile_ms: What compiling took, in milliseconds of wall-clock time.
        error: The compiler's message; empty if all went well.
    """

    path: str
    symbol: str
    compile_ms: float
    error: str = ""


@dataclass(frozen=True)
class Toolchain:
    """How a kernel's variants are compiled.

    Attributes:
        kind: `"c"`, `"nvrtc"` or `"nvcc"`.
        compiler: For `"c"`: the compiler's name.
        options: Compiler options.
        architecture: For CUDA: the GPU's, such as `"90"`.
    """

    kind: str
    compiler: str
    options: tuple[str, ...]
    architecture: str = ""


def _compile_c(toolchain: Toolchain, _name: str, text: str, stem: Path) -> Path:
    """Compile and link a shared library, in two steps as Kernel Tuner's C backend does."""
    source = _with_c_linkage(text, stem.with_suffix(".c"))
    library = stem.with_suffix(".dylib" if platform.system() == "Darwin" else ".so")
    options = ["-fPIC", *toolchain.options]
    _run([toolchain.compiler, "-c", str(source), *options, "-o", str(stem.with_suffix(".o"))])
    _run([toolchain.compiler, str(stem.with_suffix(".o")), *options, "-shared", "-o", str(library)])
    return library


def _compile_nvcc(toolchain: Toolchain, _name: str, text: str, stem: Path) -> Path:
    """Compile a cubin with nvcc, as PyCUDA does."""
    source, cubin = _with_c_linkage(text, stem.with_suffix(".cu")), stem.with_suffix(".cubin")
    _run(["nvcc", "-cubin", f"-arch=sm_{toolchain.architecture}", *toolchain.options, "-o", str(cubin), str(source)])
    return cubin


def _with_c_linkage(text: str, path: Path) -> Path:
    """Write source so that its functions are found by their names."""
    path.write_text(text if 'extern "C"' in text else 'extern "C" {\n' + text + "\n}")
    return path


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, capture_output=True, text=True, check=True)


def _compile_nvrtc(toolchain: Toolchain, name: str, text: str, stem: Path) -> tuple[Path, str]:
    """Compile a cubin with NVRTC, with the options of Kernel Tuner's cuda-python backend; gives the symbol, too."""
    from cuda.bindings import nvrtc

    options = list(toolchain.options)
    if not any(option.startswith(("-std=", "--std=")) for option in options):
        options.append("--std=c++11")
    options.append(f"--gpu-architecture=sm_{toolchain.architecture}")
    include = cuda_include()
    if include:
        options.append(f"-I{include}")
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"CUDAProgram", 0, [], [])
    try:
        nvrtc.nvrtcAddNameExpression(program, name.encode())
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            _, size = nvrtc.nvrtcGetProgramLogSize(program)
            log = b" " * size
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(log.decode(errors="replace").strip("\0 \n") or str(status))
        _, size = nvrtc.nvrtcGetCUBINSize(program)
        code = b" " * size
        nvrtc.nvrtcGetCUBIN(program, code)
        _, lowered = nvrtc.nvrtcGetLoweredName(program, name.encode())
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    cubin = stem.with_suffix(".cubin")
    cubin.write_bytes(code)
    return cubin, lowered.decode()


def nvrtc_version() -> str:
    """Version of NVRTC, such as `13.0`; empty where it can't be loaded."""
    try:
        from cuda.bindings import nvrtc

        _, major, minor = nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError):
        return ""
    return f"{major}.{minor}"


def cuda_include() -> str:
    """Folder of CUDA's headers, or an empty string if there is none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    nvcc = shutil.which("nvcc")
    places = [Path(home)] if home else []
    places += [Path(nvcc).resolve().parent.parent] if nvcc else []
    return next(
        (str(place / "include") for place in [*places, Path("/usr/local/cuda")] if (place / "include").is_dir()), ""
    )


_COMPILERS: dict[str, Callable[[Toolchain, str, str, Path], Path | tuple[Path, str]]] = {
    "c": _compile_c,
    "nvcc": _compile_nvcc,
    "nvrtc": _compile_nvrtc,
}


def compile_variant(toolchain: Toolchain, name: str, text: str, stem: Path) -> Artefact:
    """Compile one variant and take the time.

    Args:
        toolchain: What to compile with.
        name: Name of the kernel.
        text: The source, with its parameters defined.
        stem: Path of the files to write, without extension.
    """
    start = time.perf_counter()
    try:
        made = _COMPILERS[toolchain.kind](toolchain, name, text, stem)
        path, symbol = made if isinstance(made, tuple) else (made, name)
        error = ""
    except (subprocess.CalledProcessError, RuntimeError, OSError) as err:
        path, symbol, error = Path(), name, str(getattr(err, "stderr", "") or err)
    compile_ms = (time.perf_counter() - start) * 1000.0
    for suffix in (".c", ".cu", ".o"):
        stem.with_suffix(suffix).unlink(missing_ok=True)
    return Artefact("" if error else str(path), symbol, compile_ms, error)
