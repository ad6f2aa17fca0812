"""A recording session: measure every config of a kernel, or a sample, and leave a Kernel Tuner cache behind."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from llamea_tune.exceptions import RecordingError
from llamea_tune.recording.ahead import CompileAhead
from llamea_tune.recording.bench import WRONG_RESULT, Bench
from llamea_tune.recording.compiling import Artefact
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.recording.machine import clock_state, describe_machine, device_label, device_name, usable_cores
from llamea_tune.recording.noise import Noise, measure_noise, noise_as_json, noise_from_json
from llamea_tune.recording.recording_file import (
    Entry,
    cache_header,
    config_key,
    read_cache,
    write_cache,
    write_file,
)
from llamea_tune.recording.recording_journal import Journal
from llamea_tune.recording.recording_plan import WHOLE, Plan, in_space_order
from llamea_tune.spaces.space import ParamConfig
from llamea_tune.wording import counted

HOPELESS_AFTER = 20  # configs that all failed, before a recording is given up


@dataclass(frozen=True)
class Progress:
    """How far a session is.

    Attributes:
        done: Configs of this session's share that are recorded.
        total: Its share.
        failed: Those among them that failed.
        best_ms: Shortest time so far; NaN before the first valid config.
        elapsed_s: Seconds since this session began measuring.
        remaining_s: Estimate of the seconds left; NaN before the first measurement.
    """

    done: int
    total: int
    failed: int
    best_ms: float
    elapsed_s: float
    remaining_s: float


@dataclass(frozen=True)
class Recorded:
    """What a session leaves.

    Attributes:
        cache: The finished cache; None while configs or parts are missing.
        configs: Configs recorded.
        valid: Those that have a time.
        measured: How many of them this session measured.
        optimum_ms: Shortest time.
        median_ms: Median time.
        noise: What measuring a sample again gave.
    """

    cache: Path | None
    configs: int
    valid: int
    measured: int
    optimum_ms: float
    median_ms: float
    noise: Noise


def record(
    kernel: KernelFolder,
    out: Path,
    *,
    device: int = 0,
    label: str | None = None,
    sample: int | None = None,
    part: tuple[int, int] = WHOLE,
    seed: int = 0,
    iterations: int = 7,
    compilers: int | None = None,
    noise_sample: int = 50,
    stop_on_wrong_result: bool = True,
    time_limit_s: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Recorded:
    """Record a kernel on one device, resuming where an earlier session ended.

    Variants are compiled in parallel, and measured one at a time. Each measurement is on disk before the next begins.

    Args:
        kernel: What to record.
        out: Folder for the cache `<label>.json.gz`, its provenance, and the journal until they are written.
        device: Number of the GPU.
        label: Short name of the device in file names; made from its full name by default.
        sample: How many configs, drawn at random; None for all.
        part: `(i, n)`: only the i-th of n shares. The session that finds all shares complete in `out` writes the cache.
        seed: Of the order of measuring and of the kernel's arguments.
        iterations: Runs of each benchmark.
        compilers: How many compile at a time; all cores for a CPU kernel, two less for a GPU, by default.
        noise_sample: Configs to measure again at the end, for the statement of noise.
        stop_on_wrong_result: Whether a wrong result ends the session, or is recorded as a failure.
        time_limit_s: Seconds after which the session stops, to be resumed later.
        on_progress: Called after each measurement.

    Raises:
        RecordingError: No device, no compiler, a kernel that fails everywhere, or a wrong result; or another session
            is recording the same.
        SettingsError: A part or sample that makes no sense.
    """
    start = time.monotonic()
    with Bench(kernel, device=device, iterations=iterations, seed=seed) as bench:
        name = device_name(kernel, bench.device)
        plan = Plan(kernel, Path(out), label or device_label(name), sample, part, seed)
        header = cache_header(kernel, name)
        known = _already_finished(plan, header)
        share = [config for config in plan.share() if config_key(config) not in known]
        if not share and all(config_key(config) in known for config in plan.wanted()):
            return _summary(plan.cache, known, 0, Noise())
        machine = describe_machine(kernel, bench.device, device) | {"iterations": iterations, "seed": seed}
        with (
            Journal(plan.journal(), header, wait=False) as journal,
            journal.lock(wait=False),
            _compilers(bench, compilers) as ahead,
        ):
            session = _Session(bench, ahead, journal, stop_on_wrong_result, on_progress)
            finished = session.measure_all(share, None if time_limit_s is None else start + time_limit_s)
            if finished and not plan.about().is_file():
                rng = np.random.default_rng(seed)
                n_again = max(1, noise_sample // part[1]) if noise_sample else 0
                noise = measure_noise(bench, ahead, journal.entries, share, n_again, rng)
                machine["clock_state_at_end"] = clock_state(kernel, device)
                about = {
                    "machine": machine,
                    "noise": noise_as_json(noise),
                    "compilers": _n_compilers(kernel, compilers),
                }
                write_file(plan.about(), json.dumps(about).encode())
            entries = {**known, **journal.entries}
        return _finish(plan, header, known, session.measured) or _summary(None, entries, session.measured, Noise())


def _already_finished(plan: Plan, header: Mapping[str, Any]) -> dict[str, Entry]:
    """Entries of a finished cache of the same kernel and device, as from an earlier sample."""
    if not plan.cache.is_file():
        return {}
    found, entries = read_cache(plan.cache)
    if any(found.get(key) != header[key] for key in ("fingerprint", "device_name")):
        raise RecordingError(
            f"{plan.cache} was recorded with another version of the kernel, or on another device; "
            "move it away, or record to another place"
        )
    return entries


def _n_compilers(kernel: KernelFolder, asked: int | None) -> int:
    return asked or max(1, usable_cores() - (0 if kernel.on_cpu else 2))


@contextlib.contextmanager
def _compilers(bench: Bench, asked: int | None) -> Iterator[CompileAhead | None]:
    toolchain = bench.toolchain()
    if toolchain is None:
        yield None
        return
    with CompileAhead(bench.kernel, toolchain, _n_compilers(bench.kernel, asked)) as ahead:
        yield ahead


class _Session:
    """Measures what is not in the journal yet."""

    def __init__(
        self,
        bench: Bench,
        ahead: CompileAhead | None,
        journal: Journal,
        stop_on_wrong_result: bool,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._bench = bench
        self._ahead = ahead
        self._journal = journal
        self._stop_on_wrong_result = stop_on_wrong_result
        self._on_progress = on_progress
        self._started = time.monotonic()
        self.measured = 0

    def measure_all(self, share: Sequence[ParamConfig], deadline: float | None) -> bool:
        """Measure a share; whether all of it is recorded now."""
        left = [config for config in share if config_key(config) not in self._journal.entries]
        for config, artefact in self._compiled(left):
            if deadline is not None and time.monotonic() >= deadline:
                return False
            entry = self._bench.measure(config, artefact)
            if self._stop_on_wrong_result and entry.get("error_message") == WRONG_RESULT:
                raise RecordingError(
                    f"{self._bench.kernel.name} gives a wrong result with {_readable(self._bench.kernel, config)}; "
                    "mend the kernel or its reference, or record wrong results as failures"
                )
            self._journal.append(config_key(config), entry)
            self.measured += 1
            self._check_hope()
            self._report(len(share), len(left))
        return True

    def _compiled(self, configs: Sequence[ParamConfig]) -> Iterator[tuple[ParamConfig, Artefact | None]]:
        if self._ahead is None:
            yield from ((config, None) for config in configs)
        else:
            yield from self._ahead.compile(configs)

    def _check_hope(self) -> None:
        entries = self._journal.entries
        if len(entries) >= HOPELESS_AFTER and all("__error__" in entry for entry in entries.values()):
            raise RecordingError(_hopeless(self._bench.kernel, entries))

    def _report(self, total: int, left: int) -> None:
        if self._on_progress is None:
            return
        entries = self._journal.entries.values()
        times = [entry["time"] for entry in entries if "time" in entry]
        elapsed = time.monotonic() - self._started
        remaining = elapsed / self.measured * (left - self.measured)
        best = min(times, default=float("nan"))
        done = total - left + self.measured
        self._on_progress(Progress(done, total, len(entries) - len(times), best, elapsed, remaining))


def _hopeless(kernel: KernelFolder, entries: Mapping[str, Entry]) -> str:
    first = next(iter(entries.values()))
    said = " ".join(str(first.get("error_message", "")).split())[:200] or first["__error__"]
    tried = counted(len(entries), "config")
    return f"{kernel.name} failed with all {tried} tried ({said}); mend the kernel or its T1 description"


def _readable(kernel: KernelFolder, config: ParamConfig) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(kernel.tune_params, config, strict=True))


def _finish(plan: Plan, header: Mapping[str, Any], known: Mapping[str, Entry], measured: int) -> Recorded | None:
    """Write the cache if nothing is missing, and remove the journals that went into it."""
    parts = plan.parts()
    if not all(plan.about(part).is_file() and plan.journal(part).is_file() for part in parts):
        return None
    entries, abouts = dict(known), []
    for part in parts:
        with Journal(plan.journal(part), header) as journal:
            entries.update(journal.entries)
        abouts.append(json.loads(plan.about(part).read_text()))
    configs = in_space_order(plan.kernel, plan.wanted())
    if any(config_key(config) not in entries for config in configs):
        return None
    if not any("time" in entry for entry in entries.values()):
        raise RecordingError(_hopeless(plan.kernel, entries))
    recorded = in_space_order(plan.kernel, [c for c in plan.kernel.param_configs if config_key(c) in entries])
    ordered = {config_key(config): entries[config_key(config)] for config in recorded}
    noise = sum((noise_from_json(about["noise"]) for about in abouts), Noise())
    summary = _summary(plan.cache, ordered, measured, noise)
    provenance = _provenance(plan, abouts, ordered, summary)
    write_cache(plan.cache, header, ordered)
    write_file(plan.provenance, (json.dumps(provenance, indent=2) + "\n").encode())
    for part in parts:
        plan.journal(part).unlink()
        plan.about(part).unlink()
    return summary


def _provenance(
    plan: Plan, abouts: Sequence[Mapping[str, Any]], entries: Mapping[str, Entry], summary: Recorded
) -> dict[str, Any]:
    messages = [entry.get("error_message", "") for entry in entries.values()]
    complete = len(entries) == len(plan.kernel.param_configs)
    compilers = abouts[0]["compilers"]
    apart = "in batches between the measurements" if plan.kernel.on_cpu else "beside the measurements, on other cores"
    return {
        "kernel": plan.kernel.name,
        "problem_size": list(plan.kernel.problem_size),
        "coverage": "all permitted configs" if complete else f"a random sample of {counted(len(entries), 'config')}",
        "configs": summary.configs,
        "valid": summary.valid,
        "wrong_results": messages.count(WRONG_RESULT),
        "optimum_ms": summary.optimum_ms,
        "median_ms": summary.median_ms,
        "time": "shortest of the runs" if plan.kernel.on_cpu else "mean of the runs",
        "compiling": f"{compilers} compilers side by side, {apart}; compile_time is what one of them took for a config",
        "noise": summary.noise.describe(),
        "recorded_with": abouts[0]["machine"],
        "other_parts": [about["machine"] for about in abouts[1:]],
    }


def _summary(cache: Path | None, entries: Mapping[str, Entry], measured: int, noise: Noise) -> Recorded:
    times = [entry["time"] for entry in entries.values() if "time" in entry]
    optimum, median = (float(np.min(times)), float(np.median(times))) if times else (float("nan"), float("nan"))
    return Recorded(cache, len(entries), len(times), measured, optimum, median, noise)
