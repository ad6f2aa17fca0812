"""What `import llamea_tune` adds to `import kernel_tuner`: milliseconds, and as a ratio.

Fresh interpreters import one or both, in turn; the medians are compared. The promise is less than 50 ms.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

PROGRAM = """
import time
start = time.perf_counter()
import kernel_tuner
middle = time.perf_counter()
import llamea_tune
print(middle - start, time.perf_counter() - middle)
"""
PROMISED_MS = 50.0


def measure(repeats: int) -> tuple[float, float]:
    """Median milliseconds of importing Kernel Tuner, and of importing llamea-tune after it."""
    times: list[tuple[float, float]] = []
    for _ in range(repeats + 1):
        run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
        first, second = map(float, run.stdout.split())
        times.append((1000 * first, 1000 * second))
    warm = times[1:]
    return statistics.median(first for first, _ in warm), statistics.median(second for _, second in warm)


def main() -> int:
    """Measure, print, and tell whether the promise is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="interpreters to start")
    repeats = parser.parse_args().repeats
    kernel_tuner_ms, added_ms = measure(repeats)
    print(f"import kernel_tuner    {kernel_tuner_ms:8.1f} ms   (median of {repeats})")
    print(f"import llamea_tune adds{added_ms:8.1f} ms   ratio {1 + added_ms / kernel_tuner_ms:.3f}")
    return 0 if added_ms < PROMISED_MS else 1


if __name__ == "__main__":
    sys.exit(main())
