"""Kernel Tuner's own hyperparameter tuning on some of the hub's spaces, stopped after a while."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import kernel_tuner
from scoring import t4_of


def kernel_tuners_best(
    strategy: str,
    ranges: Mapping[str, Sequence[Any]],
    hub: Path,
    spaces: Sequence[str],
    folder: Path,
    seconds: float,
) -> tuple[dict[str, Any], int]:
    """The best hyperparameters that `tune_hyper_params` finds, none if it measured nothing, and how many it tried.

    It writes beside the package that it is imported from, so it gets a copy of that. It is stopped at the end of its
    time; what it had measured by then is in its cache file.

    Args:
        strategy: Name of the strategy to tune.
        ranges: What each hyperparameter may be.
        hub: The hub's folder.
        spaces: Names of spaces as `kernel/GPU`; Kernel Tuner tunes on all of these kernels on all of these GPUs.
        folder: A new folder to work in.
        seconds: Time that it gets.
    """
    shutil.copytree(Path(kernel_tuner.__file__).parent, folder / "kernel_tuner")
    applications = prepare_for_methodology(hub, spaces, folder)
    script = folder / "tune.py"
    script.write_text(_SCRIPT)
    job = {"strategy": strategy, "ranges": ranges, "applications": applications, "seconds": seconds}
    (folder / "job.json").write_text(json.dumps(job))
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    with contextlib.suppress(subprocess.TimeoutExpired), (folder / "output.txt").open("w") as output:
        subprocess.run(
            [sys.executable, str(script)],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
            timeout=seconds,
            check=False,
        )
    measured = read_cache(folder / "cache.json")
    if not measured:
        last = (folder / "output.txt").read_text(errors="replace").strip().splitlines()[-1:]
        print(f"Kernel Tuner measured nothing in {seconds:.0f} s; its last line: {''.join(last) or '-'}", flush=True)
        return {}, 0
    best = max(measured, key=lambda entry: entry["score"])
    return {name: best[name] for name in ranges}, len(measured)


def read_cache(path: Path) -> list[dict[str, Any]]:
    """What Kernel Tuner's cache file says was measured: closed, open, or with a last line that was cut."""
    if not path.exists():
        return []
    text = path.read_text().rstrip()
    whole_lines = text.rpartition("\n")[0]
    for candidate in (text, text.rstrip(",") + "}}", whole_lines.rstrip().rstrip(",") + "}}"):
        with contextlib.suppress(ValueError):
            measured = json.loads(candidate)["cache"].values()
            return [entry for entry in measured if isinstance(entry.get("score"), float)]
    return []


def prepare_for_methodology(hub: Path, spaces: Sequence[str], folder: Path) -> list[dict[str, Any]]:
    """Lay out what the methodology reads for the spaces that both tune on: descriptions, caches, T4 files."""
    applications = []
    for kernel in dict.fromkeys(name.split("/")[0] for name in spaces):
        place = folder / kernel
        place.mkdir(parents=True)
        shutil.copy(hub / "kernels" / f"{kernel}.json", place)
        source = place / json.loads((place / f"{kernel}.json").read_text())["KernelSpecification"]["KernelFile"]
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("// only simulated\n")
        for name in (name for name in spaces if name.startswith(f"{kernel}/")):
            gpu = name.split("/")[1]
            text = gzip.decompress((hub / "cachefiles" / f"{name}.json.gz").read_bytes()).decode()
            (place / f"{gpu}.json").write_text(text)
            (place / f"{gpu}_T4.json").write_text(json.dumps(t4_of(json.loads(text))))
        applications.append(
            {
                "name": kernel,
                "folder": str(place),
                "input_file": f"{kernel}.json",
                "objective_performance_keys": ["time"],
            }
        )
    return applications


_SCRIPT = """
import json
from pathlib import Path

import kernel_tuner.hyper

here = Path(__file__).parent
job = json.loads((here / "job.json").read_text())
gpus = sorted({path.stem for path in here.glob("*/*.json") if path.with_name(path.stem + "_T4.json").exists()})
pattern = str(here / "${applications}" / "${gpus}_T4.json")
kernel_tuner.hyper.tune_hyper_params(
    job["strategy"],
    job["ranges"],
    [],
    iterations=1,
    compiler_options={
        "gpus": gpus,
        "applications": job["applications"],
        "override": {
            "experimental_groups_defaults": {
                "repeats": 25,
                "samples": 1,
                "minimum_fraction_of_budget_valid": 0.01,
                "minimum_number_of_valid_search_iterations": 2,
                "pattern_for_full_search_space_filenames": {"regex": pattern},
            }
        },
    },
    cache=str(here / "cache.json"),
    strategy="dual_annealing",
    strategy_options={"time_limit": job["seconds"]},
)
"""
