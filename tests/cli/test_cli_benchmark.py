"""`llamea-tune benchmark`, from the outside."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from kernel_tuner.interface import strategy_map

FAST = ("--baseline", "published")  # the exact one takes seconds to compute

SAMPLER = """
from kernel_tuner.strategies.wrapper import OptAlg


class Sampler(OptAlg):
    def __init__(self, batch=2):
        self.batch = batch

    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1:
            for config in searchspace.get_random_sample(self.batch):
                func(config)


class Broken(OptAlg):
    def __call__(self, func, searchspace):
        raise RuntimeError("[red]not today")
"""


@pytest.fixture
def program(own_folders: Path) -> Path:
    path = own_folders / "mine.py"
    path.write_text(SAMPLER)
    return path


def test_the_whole_command(command, caches, program, own_folders):
    done = command(
        *("benchmark", "simulated_annealing", "genetic_algorithm:popsize=8", f"{program}:Sampler:batch=3"),
        *(f"{program}:Broken", "--spaces", caches, "--repeats", 5, "--jobs", 1, *FAST),
        *("--plot", "curves.svg", "--csv", "scores.csv", "--ioh", "ioh"),
    )
    assert done.code == 0, done.err
    for expected in (
        "simulated_annealing",
        "genetic_algorithm:popsize=8",
        "Sampler:batch=3",
        "small/one",
        "small/two",
    ):
        assert expected in done.out
    assert "mine.py:Broken failed on small/one: " in done.out and "[red]not today" in done.out
    lines = list(csv.DictReader(Path("scores.csv").read_text().splitlines()))
    assert len(lines) == 4 * 2
    assert sum(line["failure"] != "" for line in lines) == 2
    assert "simulated_annealing" in Path("curves.svg").read_text()
    assert len(list(Path("ioh").iterdir())) == 3
    assert "took" in done.err


def test_without_strategies_the_default_ones_compete(command, caches):
    """Kernel Tuner's usual ones, and every generated strategy that is bundled."""
    from llamea_tune._bundled import bundled_path
    from llamea_tune.scoring.benchmarking import DEFAULT_STRATEGIES

    generated = {path.stem for path in bundled_path("strategies_generated").glob("*.py")}
    done = command("benchmark", "-s", caches / "one.json", "-n", 2, "-j", 1, "--json", "-q", *FAST)
    assert {entry["strategy"] for entry in done.json["strategies"]} == set(DEFAULT_STRATEGIES) | generated
    assert all(entry["score"] is not None for entry in done.json["strategies"])
    assert done.err == ""


def test_the_same_seed_gives_the_same_bytes(command, caches):
    outputs = []
    for jobs in (1, 2):
        done = command(
            *("benchmark", "mls", "pso", "-s", caches, "-n", 4, "-j", jobs, "--seed", 7, "--fresh", *FAST),
            *("--json", "--csv", f"{jobs}.csv", "--plot", f"{jobs}.pdf"),
        )
        outputs.append((done.out, Path(f"{jobs}.csv").read_bytes(), Path(f"{jobs}.pdf").read_bytes()))
    assert outputs[0] == outputs[1]
    other = command("benchmark", "mls", "pso", "-s", caches, "-n", 4, "-j", 1, "--seed", 8, "--json", *FAST)
    assert other.json["strategies"] != json.loads(outputs[0][0])["strategies"]


def test_finished_runs_are_kept(command, caches):
    first = command("benchmark", "mls", "-s", caches, "-n", 4, "-j", 1, "--json", *FAST)
    second = command("benchmark", "mls", "-s", caches, "-n", 4, "-j", 1, "--json", *FAST)
    assert "kept from before" not in first.err
    assert "8 of 8 runs" in second.err
    assert first.out == second.out
    assert "kept from before" not in command("benchmark", "mls", "-s", caches, "-n", 4, "-j", 1, "--fresh", *FAST).err


def test_the_baseline_changes_scores_but_needs_no_new_runs(command, caches):
    place = caches / "one.json"
    exact = command("benchmark", "mls", "-s", place, "-n", 4, "-j", 1, "--json")
    published = command("benchmark", "mls", "-s", place, "-n", 4, "-j", 1, "--json", "--baseline", "published")
    assert exact.json["settings"]["baseline"] == "exact"
    assert "4 of 4 runs" in published.err
    assert exact.json["strategies"][0]["score"] != published.json["strategies"][0]["score"]


def test_stopping_at_the_target_gives_the_same_scores(command, caches):
    args = ("benchmark", "mls", "pso", "-s", caches, "-n", 10, "-j", 1, *FAST)
    whole, target = (command(*args, *flag, "--json").json for flag in ((), ("--stop-at-target",)))
    assert target["settings"].pop("stop_at_target") and not whole["settings"].pop("stop_at_target")
    assert target["settings"] == whole["settings"]
    for one, other in zip(target["strategies"], whole["strategies"], strict=True):
        assert (one["strategy"], one["score"], one["interval"]) == (
            other["strategy"],
            other["score"],
            other["interval"],
        )
        for space, entry in one["spaces"].items():
            assert entry["score"] == other["spaces"][space]["score"]
            assert entry["evaluations"] < other["spaces"][space]["evaluations"]
    assert "stopped at the target" in command(*args, "--stop-at-target").out


def test_own_compute_is_reported_and_charged_when_asked(command, caches):
    args = ("benchmark", "pso", "-s", caches / "one.json", "-n", 2, "-j", 1, "--json", "--timings", *FAST)
    (free,) = command(*args).json["strategies"]
    done = command(*args, "--charge-own-compute")
    assert "kept from before" not in done.err
    assert done.json["settings"]["charge_own_compute"] is True
    (charged,) = done.json["strategies"]
    for entry in (free, charged):
        assert entry["spaces"]["small/one"]["own_compute_ms"] > 0.0


def test_optimizers_of_other_libraries_compete(command, caches):
    names = ("pyatf:torczon", "optuna:tpe", "optuna:tpe:outside=refused", "nevergrad:DiscreteOnePlusOne", "mls")
    done = command("benchmark", *names, "-s", caches / "one.json", "-n", 2, "-j", 2, "--json", *FAST)
    assert {entry["strategy"] for entry in done.json["strategies"] if entry["score"] is not None} == set(names)


def test_a_strategy_that_takes_too_long_is_a_row(command, caches, own_folders):
    path = own_folders / "slow.py"
    path.write_text(
        "from kernel_tuner.strategies.wrapper import OptAlg\n"
        "class Slow(OptAlg):\n"
        "    def __call__(self, func, searchspace):\n"
        "        while True: pass\n"
    )
    done = command(
        "benchmark", f"{path}:Slow", "mls", "-s", caches / "one.json", "-n", 2, "--timeout", 1, "--json", *FAST
    )
    assert done.code == 0
    best, slow = done.json["strategies"]
    assert best["strategy"] == "mls" and best["score"] is not None
    assert slow["score"] is None and slow["failures"]["small/one"]


def test_a_named_strategy_that_takes_too_long_is_a_row(command, caches, monkeypatch):
    class Endless:
        def tune(self, searchspace, runner, tuning_options):
            while True:
                pass

    monkeypatch.setitem(strategy_map, "endless", Endless())
    done = command("benchmark", "endless", "mls", "-s", caches / "one.json", "-n", 2, "--timeout", 1, "--json", *FAST)
    assert done.code == 0
    _, endless = done.json["strategies"]
    assert endless["score"] is None
    assert endless["failures"] == {"small/one": "ran longer than 1 s"}


def test_one_run_has_no_interval(command, caches):
    for repeats, shown in ((1, False), (2, True)):
        done = command("benchmark", "pso", "-s", caches / "one.json", "-n", repeats, *FAST)
        assert (" to " in next(line for line in done.out.splitlines() if "pso" in line)) is shown


def test_it_is_a_failure_only_if_every_strategy_failed(command, caches):
    broken = "genetic_algorithm:popsize=many"
    done = command("benchmark", broken, "-s", caches / "one.json", "-n", 2, *FAST)
    assert done.code == 1
    assert "failed on small/one" in done.out and "≈" not in done.out
    assert command("benchmark", broken, "mls", "-s", caches / "one.json", "-n", 2, *FAST).code == 0


@pytest.mark.parametrize(
    "bad",
    [
        ("nonsuch",),
        ("simulated_anealing",),
        ("pso:wings=2",),
        ("pso:wings",),
        ("pso", "pso"),
        ("nowhere.py:Class",),
        ("mine.py:Class",),
        ("pyatf:nonsuch",),
        ("pso", "-s", "nowhere.json"),
        ("pso", "-s", "mine.py"),
        ("pso", "-s", "*.nothing"),
        ("pso", "--t1", "nowhere.json"),
        ("pso", "--repeats", "0"),
        ("pso", "--baseline", "none"),
        ("pso", "--timeout", "0"),
        ("pso", "--plot", "plot.gif"),
        ("pso", "--plot", "nowhere/plot.png"),
        ("pso", "--csv", "small"),
        ("pso", "--ioh", "small"),
    ],
    ids=" ".join,
)
def test_bad_input_gets_one_sentence(command, caches, program, bad):
    spaces = () if "-s" in bad else ("-s", caches)
    done = command("benchmark", *bad, *spaces, "--jobs", "1")
    assert done.is_refusal(), done
    assert done.out == ""


def test_the_installed_script_refuses_in_one_sentence_too(script, caches):
    done = script("benchmark", "nonsuch", "-s", caches)
    assert done.is_refusal(), done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_it_and_the_same_command_goes_on(own_folders, caches, command, number):
    """Sent to the whole group of processes, as terminals and batch systems do."""
    args = ["benchmark", "mls", "pso", "genetic_algorithm", "-s", str(caches), "-n", "40", "-j", "1", "--json", *FAST]
    running = subprocess.Popen(
        [Path(sys.executable).with_name("llamea-tune"), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        start_new_session=True,
    )
    results = own_folders / "cache" / "results"
    while running.poll() is None and not (results.is_dir() and any(results.glob("*.npz"))):
        time.sleep(0.01)
    os.killpg(running.pid, number)
    out, err = running.communicate(timeout=200)
    assert (running.returncode, out) == (130, ""), err
    assert "goes on from there" in err and "Traceback" not in err
    kept = 0
    for place in results.glob("*.npz"):
        with np.load(place) as stored:
            kept += len(stored["numbers"])
    assert 40 <= kept < 240
    done = command(*args)
    assert done.code == 0 and f"{kept} of 240 runs were kept" in done.err
    assert done.out == command(*args, "--fresh").out
