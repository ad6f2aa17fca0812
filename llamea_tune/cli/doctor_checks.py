"""What doctor looks at."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from llamea_tune import __version__
from llamea_tune.exceptions import LlameaTuneError
from llamea_tune.kernel_tuner_internals import SUPPORTED, missing_names
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.sandbox.layers import LayerStatus

_OPTIONAL = {
    "openai": ("llamea-tune[llm]", "asking language models"),
    "optuna": ("llamea-tune[optuna]", "tuning hyperparameters, comparing with Optuna's samplers"),
    "matplotlib": ("llamea-tune[report]", "plots and reports"),
    "ioh": ("llamea-tune[ioh]", "IOHprofiler data"),
    "ray": ("llamea-tune[ray]", "running on a cluster"),
    "pyatf": ("pyatf", "comparing with pyATF's techniques"),
    "nevergrad": ("llamea-tune[nevergrad]", "comparing with Nevergrad's optimizers"),
    "smac": ("llamea-tune[smac]", "comparing with SMAC3"),
}
_NEEDED = ("kernel_tuner", "numpy", "scipy", "scikit-learn", "rich", "typer")
_LITTLE_MEMORY_GIB = 2.0
_LITTLE_DISK_GIB = 0.5
_GIB = 1 << 30
_PROPOSER = "proposer"
_EXECUTOR = "executor"
_FEW_TOKENS = 500  # enough for a model that thinks before it says one word


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        what: The thing.
        status: `"ok"`, `"warn"` where something optional is missing or may get in the way, or `"fail"`.
        detail: What was found, and what to do.
    """

    what: str
    status: Literal["ok", "warn", "fail"]
    detail: str


def all_checks(proposer: str | None, llm: LLMOptions, executor: str = "local") -> Iterator[Check]:
    """All checks, made one after the other.

    Args:
        proposer: A proposer to look for.
        llm: How to ask it, where it is a language model.
        executor: What is to make runs; the nodes of a Ray cluster are looked at.
    """
    yield from _versions()
    yield from _machine()
    yield from _sandbox()
    yield from _compilers()
    yield from _optional_packages()
    yield from _folders()
    yield from _strategies()
    yield from check_executor(executor)
    if proposer is not None:
        yield check_proposer(proposer, llm)


def _versions() -> Iterator[Check]:
    yield Check("llamea-tune", "ok", f"{__version__}, Python {platform.python_version()}, {sys.executable}")
    for package in _NEEDED:
        try:
            yield Check(package, "ok", version(package))
        except PackageNotFoundError:
            yield Check(
                package, "fail", "not installed; install llamea-tune again: pip install --force-reinstall llamea-tune"
            )
    missing = missing_names()
    if missing:
        detail = f"lacks {', '.join(missing)}; pip install 'kernel_tuner{SUPPORTED}'"
        yield Check("kernel_tuner's internals", "fail", detail)
    else:
        yield Check("kernel_tuner's internals", "ok", "all that llamea-tune builds on are there")


def _machine() -> Iterator[Check]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Check("cores", "ok", f"{cores}, all used unless --jobs says otherwise")
    total, available = _memory_gib()
    if available is None:
        yield Check("memory", "ok" if total else "warn", f"{total:.1f} GiB" if total else "not known on this platform")
    elif available < _LITTLE_MEMORY_GIB:
        yield Check(
            "memory", "warn", f"{available:.1f} of {total:.1f} GiB free; large spaces may not fit, use fewer --jobs"
        )
    else:
        yield Check("memory", "ok", f"{available:.1f} of {total:.1f} GiB free")


def _memory_gib() -> tuple[float, float | None]:
    """Memory in all, and what is free of it where the platform tells; within the container's limit."""
    names = ("SC_PAGE_SIZE", "SC_PHYS_PAGES")
    total = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
        if all(n in os.sysconf_names for n in names)
        else 0.0
    )
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        available = int(lines["MemAvailable"].split()[0]) / (1 << 20)
    except (OSError, KeyError, ValueError):
        return total, None
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")) / _GIB
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")) / _GIB
        return min(total, limit), min(available, limit - used)
    except (OSError, ValueError):
        return total, available


def _sandbox() -> Iterator[Check]:
    from llamea_tune.sandbox import layers

    try:
        found = layers()
    except LlameaTuneError as problem:
        yield Check("sandbox", "fail", str(problem))
        return
    for layer in found:
        status: Literal["ok", "warn", "fail"] = "ok" if layer.active else "fail" if layer.required else "warn"
        need = "" if layer.active else "; needed" if layer.required else "; not needed, the other layers hold"
        yield Check(f"sandbox: {layer.name}", status, layer.detail + need)
    yield sandbox_verdict(found)


def _compilers() -> Iterator[Check]:
    for tool, purpose in (("gcc", "recording and tuning kernels on the CPU"), ("nvcc", "some CUDA backends")):
        path = shutil.which(tool)
        if path is None:
            yield Check(tool, "warn", f"not found; only needed for {purpose}")
        else:
            yield Check(tool, "ok", path)
    yield _gpus()


def _gpus() -> Check:
    nvidia_smi = shutil.which("nvidia-smi")
    if nvidia_smi is None:
        return Check("GPU", "warn", "no NVIDIA driver found; only needed to record or tune live on a GPU")
    query = [nvidia_smi, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Check("GPU", "warn", f"nvidia-smi does not answer ({problem}); check the driver")
    gpus = [line.strip() for line in answer.stdout.splitlines() if line.strip()]
    if answer.returncode != 0 or not gpus:
        said = " ".join((answer.stdout + answer.stderr).split())[:200]
        return Check("GPU", "warn", f"nvidia-smi finds none ({said}); only needed to record or tune live on a GPU")
    return Check("GPU", "ok", "; ".join(gpus))


def _optional_packages() -> Iterator[Check]:
    for package, (source, purpose) in _OPTIONAL.items():
        try:
            yield Check(package, "ok", f"{version(package)}, for {purpose}")
        except PackageNotFoundError:
            yield Check(package, "warn", f"not installed; for {purpose}: pip install '{source}'")


def _folders() -> Iterator[Check]:
    from llamea_tune.spaces.store import store_folder
    from llamea_tune.strategies import user_folder

    yield _folder(
        "cache folder", store_folder().parent, "set LLAMEA_TUNE_CACHE to another; without it work is done again"
    )
    yield _folder("strategies folder", user_folder(), "set LLAMEA_TUNE_STRATEGIES to another, or export with --output")


def _folder(what: str, folder: Path, otherwise: str) -> Check:
    """Whether a folder, or the nearest one above that exists, can be written to."""
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            free = shutil.disk_usage(nearest).free / _GIB
    except OSError as problem:
        return Check(what, "warn", f"{folder} cannot be written ({problem.strerror or problem}); {otherwise}")
    if free < _LITTLE_DISK_GIB:
        return Check(what, "warn", f"{folder} has only {free:.2f} GiB free; make room, or {otherwise}")
    return Check(what, "ok", f"{folder} can be written, {free:.0f} GiB free")


def _strategies() -> Iterator[Check]:
    from llamea_tune.strategies import Origin, catalog

    generated = [info for info in catalog() if info.origin in (Origin.GENERATED, Origin.USER)]
    broken = 0
    for info in generated:
        try:
            _ = info.options
        except LlameaTuneError as problem:
            broken += 1
            yield Check(f"strategy {info.name}", "warn", str(problem))
    yield Check("generated strategies", "ok", f"{len(generated) - broken} can be used by name")


def check_executor(spec: str) -> Iterator[Check]:
    """Whether what makes runs is there; of a Ray cluster, whether each node is fit for it."""
    from llamea_tune.execution import EXECUTORS, LOCAL

    name, _, address = spec.partition(":")
    if name == LOCAL:
        return
    if name != "ray":
        try:
            EXECUTORS.load(name)
            yield Check(_EXECUTOR, "ok", f"{name} is installed")
        except LlameaTuneError as problem:
            yield Check(_EXECUTOR, "fail", str(problem))
        return
    from llamea_tune.cli.doctor_cluster import cluster_checks

    yield from cluster_checks(address)


def sandbox_verdict(found: Iterable[LayerStatus]) -> Check:
    """Whether candidates can be run where these layers hold."""
    missing = [layer.name for layer in found if layer.required and not layer.active]
    if missing:
        advice = "candidates run only with --allow-weak-sandbox, which you should use only if you trust all their code"
        return Check("sandbox", "fail", f"below its minimum: lacks {', '.join(missing)}; {advice}")
    return Check("sandbox", "ok", "its minimum is met: candidates can be run")


def check_proposer(spec: str, options: LLMOptions) -> Check:
    """Whether a proposer is there and answers; a server is asked for one word, with the options of a run."""
    from llamea_tune.llm import make_llm
    from llamea_tune.proposals import OFFLINE, PROPOSERS, make_proposer

    if spec == OFFLINE:
        return Check(_PROPOSER, "ok", "offline needs nothing")
    try:
        if spec.partition(":")[0] in PROPOSERS:
            return Check(_PROPOSER, "ok", f"{make_proposer(spec, **options.given()).name} is set up")
        llm = make_llm(spec, **_impatient(spec, options))
    except LlameaTuneError as problem:
        return Check(_PROPOSER, "fail", str(problem))
    if not hasattr(llm, "check"):
        return Check(_PROPOSER, "ok", f"{llm.name} is set up; whether it answers shows when it is asked")
    return _asked(llm)


def _impatient(spec: str, options: LLMOptions) -> dict[str, Any]:
    """The options for one word, which few tokens and one try are enough for."""
    if not spec.startswith("openai:"):
        return options.given()
    limited = {"max_tokens", "max_completion_tokens"} & set(options.parameters)
    parameters = {**options.parameters, **({} if limited else {"max_tokens": _FEW_TOKENS})}
    return {"timeout_s": 60.0, "max_retries": 0, **options.given(), "parameters": parameters}


def _asked(llm: Any) -> Check:
    """What a tiny prompt gets from a server."""
    from llamea_tune.llm.language_model import CompletionError, Prompt, Unanswered

    try:
        completion = llm.complete(Prompt("doctor", "You answer in one word.", "Answer with the word: ready", 0.0))
    except CompletionError as problem:
        wrote = problem.completion is not None and problem.completion.completion_tokens
        return Check(_PROPOSER, "warn" if wrote else "fail", f"it answers, but not a tiny prompt: {problem}")
    except Unanswered as problem:
        return Check(_PROPOSER, "fail", str(problem))
    except LlameaTuneError as problem:
        return Check(_PROPOSER, "fail", f"{problem}{_models(llm)}")
    return Check(_PROPOSER, "ok", f"{llm.name} answered a tiny prompt in {completion.seconds:.1f} s")


def _models(llm: Any) -> str:
    """What a server has instead of a model that it does not know, if it tells."""
    from llamea_tune.llm.language_model import CompletionError, Unanswered

    try:
        listed, found = llm.check()
    except (LlameaTuneError, CompletionError, Unanswered):
        return ""
    return "" if listed else f"; {found}"
