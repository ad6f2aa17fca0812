"""Record kernels from the command line: `python -m llamea_tune.recording searchspaces/gemm --out caches`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from llamea_tune.exceptions import LlameaTuneError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.recording.plan import parse_part
from llamea_tune.recording.session import Progress, Recorded, record

REPORT_EVERY_S = 10.0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m llamea_tune.recording", description=__doc__)
    parser.add_argument("kernels", nargs="+", type=Path, help="kernel folders or T1 files")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder for the caches, one below it for each kernel (default: caches/ in each kernel's folder)",
    )
    parser.add_argument("--backend", help="Kernel Tuner's lang, such as CUDA, cupy, nvcuda, pycuda, HIP, OpenCL, C")
    parser.add_argument("--compiler", help="compiler of the C backend")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--label", help="short name of the device, for file names")
    parser.add_argument("--sample", type=int, help="record that many configs, drawn at random (default: all)")
    parser.add_argument("--part", type=parse_part, default=(1, 1), help="record one share, such as 2/4")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=7, help="runs of each benchmark")
    parser.add_argument("--compilers", type=int, help="how many compile at a time")
    parser.add_argument("--noise-sample", type=int, default=50, help="configs to measure again at the end")
    parser.add_argument("--time-limit", type=float, help="stop after that many seconds, to be resumed")
    parser.add_argument("--keep-going", action="store_true", help="record wrong results as failures")
    return parser.parse_args(argv)


class _Printer:
    """A line every few seconds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._next and progress.done < progress.total:
            return
        self._next = now + REPORT_EVERY_S
        print(
            f"{self._name}: {progress.done}/{progress.total}, {progress.failed} failed, best {progress.best_ms:.4g} ms, "
            f"{progress.elapsed_s:.0f} s, {progress.remaining_s:.0f} s left",
            flush=True,
        )


def _record(path: Path, asked: argparse.Namespace, deadline: float | None) -> Recorded:
    kernel = KernelFolder.load(path, backend=asked.backend, compiler=asked.compiler)
    return record(
        kernel,
        asked.out / kernel.name if asked.out else kernel.t1_path.parent / "caches",
        device=asked.device,
        label=asked.label,
        sample=asked.sample,
        part=asked.part,
        seed=asked.seed,
        iterations=asked.iterations,
        compilers=asked.compilers,
        noise_sample=asked.noise_sample,
        stop_on_wrong_result=not asked.keep_going,
        time_limit_s=None if deadline is None else deadline - time.monotonic(),
        on_progress=_Printer(kernel.name),
    )


def main(argv: list[str] | None = None) -> int:
    """Record each kernel in turn; one that can't be recorded doesn't stop the others.

    Returns:
        0 if all are recorded, 2 if one can't be, 3 if the time limit ended it before the end.
    """
    asked = _arguments(argv)
    deadline = time.monotonic() + asked.time_limit if asked.time_limit else None
    failed = unfinished = False
    for path in asked.kernels:
        if deadline is not None and time.monotonic() >= deadline:
            print(f"{path}: not begun within the time limit", flush=True)
            unfinished = True
            continue
        try:
            recorded = _record(path, asked, deadline)
        except LlameaTuneError as err:
            print(f"{path}: {err}", file=sys.stderr, flush=True)
            failed = True
            continue
        unfinished |= recorded.cache is None
        print(
            f"{path.name}: {recorded.configs} configs, {recorded.valid} valid, median/optimum "
            f"{recorded.median_ms / recorded.optimum_ms:.2f}, noise {recorded.noise.median_spread:.2%}, "
            f"{recorded.cache or 'to be resumed'}",
            flush=True,
        )
    return 2 if failed else 3 if unfinished else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("stopped; the same command resumes", file=sys.stderr)
        sys.exit(130)
