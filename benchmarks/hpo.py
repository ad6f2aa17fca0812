"""What tuning hyperparameters gains, and what pruning saves.

Seven strategies are tuned on some pairs of kernel and GPU, and judged on others of the same kernels: five of
Kernel Tuner's, three of which come with hyperparameters that its authors tuned on such spaces, and two that the offline
proposer writes here. As `llamea-tune tune` advises, the best hyperparameters are taken only where they are better than the
defaults on fresh seeds of the training spaces. Both kinds of spaces have small and large budgets.

Beside that, Kernel Tuner's own `tune_hyper_params` and a study here get the same wall-clock time for one strategy, on the
spaces that both can read, and what they find is judged on the same spaces as above.

    python benchmarks/hpo.py [--trials 40] [--repeats 15] [--final-repeats 25] [--jobs 2] [--hub PATH] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernel_tuner_hpo import kernel_tuners_best

from llamea_tune.execution import NamedStrategy
from llamea_tune.exporting import ExportRequest, export_strategy
from llamea_tune.hpo import StudyResult, StudySettings, TunableContender, rescore, tunable_strategy, tune
from llamea_tune.proposals import make_proposer
from llamea_tune.proposals.proposal import ProposalTask
from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring import Comparison, Scorer, compare, scorecard
from llamea_tune.spaces import load_space
from llamea_tune.spaces.space import Space
from llamea_tune.strategies import register_file
from llamea_tune.testing.local_scorer import local_scorer

NAMED = ("genetic_algorithm", "simulated_annealing", "pso", "firefly_algorithm", "greedy_ils")
OFFLINE_SEEDS = (2, 3)
TRAINING = ("convolution_milo/A100", "convolution_milo/A4000", "dedispersion_milo/A4000", "pnpoly/RTX_2080_Ti")
JUDGING = ("convolution_milo/MI250X", "dedispersion_milo/A100", "dedispersion_milo/MI250X", "pnpoly/RTX_3090")
KERNEL_TUNER_CAN_READ = ("convolution_milo/A4000", "dedispersion_milo/A4000")  # all kernels on all GPUs named
BESIDE = "genetic_algorithm"
DEFAULT_HUB = Path(__file__).parent.parent.parent / "shared" / "data" / "benchmark_hub"

# The ranges in Kernel Tuner's own script for its genetic algorithm.
KERNEL_TUNER_RANGES = {
    "method": ["single_point", "two_point", "uniform", "disruptive_uniform"],
    "popsize": list(range(2, 51, 2)),
    "maxiter": list(range(10, 200, 10)),
    "mutation_chance": list(range(5, 100, 5)),
}

Runs = Mapping[str, Sequence[RunResult]]


@dataclass(frozen=True)
class Gain:
    """How much better one set of hyperparameters is than another, on the judging spaces.

    Attributes:
        mean: Difference of the mean scores.
        low: Lower end of its 95 % interval, paired.
        high: Upper end.
    """

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


@dataclass(frozen=True)
class Row:
    """The outcome for one strategy.

    Attributes:
        name: The strategy.
        default_score: Mean score of its defaults on the judging spaces.
        gain: Of the pruned study's best over the defaults.
        gain_full: Of the best of the study without pruning over the defaults.
        pruning_costs: Of the best of the pruned study over that of the other: no less than 0 if quality is equal.
        failure: Why the strategy failed on the judging spaces, with its defaults or tuned; it then counts in no mean.
        runs: Runs of the pruned study.
        runs_full: Runs of the study without pruning.
        seconds: Wall-clock time of the pruned study.
        seconds_full: That of the other.
        values: Best hyperparameters of the pruned study.
    """

    name: str
    default_score: float
    gain: Gain
    gain_full: Gain
    pruning_costs: Gain
    failure: str
    runs: int
    runs_full: int
    seconds: float
    seconds_full: float
    values: Mapping[str, Any]


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=15, help="repeats on each training space")
    parser.add_argument("--final-repeats", type=int, default=25, help="repeats on each judging space")
    parser.add_argument("--strategies", nargs="*", help="names of the strategies to tune; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--hub", type=Path, default=Path(os.environ.get("LLAMEA_TUNE_HUB", DEFAULT_HUB)))
    parser.add_argument("--json", type=Path, help="file to write the outcome to as well")
    parser.add_argument("--beside-seconds", type=float, default=150.0, help="time for each side of that comparison")
    parser.add_argument("--no-kernel-tuner", action="store_true", help="leave out Kernel Tuner's own tuning")
    arguments = parser.parse_args()
    training, judging = ([load(arguments.hub, name) for name in names] for names in (TRAINING, JUDGING))
    settings = StudySettings(arguments.trials, arguments.repeats)
    print(
        f"{settings.trials} trials on {len(TRAINING)} spaces x {settings.repeats} repeats; judged on {len(JUDGING)}",
        end=" ",
    )
    print(f"others x {arguments.final_repeats} repeats; scores: 0 = random search, 1 = optimum at once\n")
    print(
        f"{'strategy':26}{'default':>8}  {'gain by tuning':24}{'without pruning':24}{'runs':>13}{'fewer':>7}{'s':>11}"
    )
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory() as scratch,
        local_scorer(training, repeats=arguments.final_repeats, seed=1, jobs=arguments.jobs) as trainer,
        local_scorer(judging, repeats=arguments.final_repeats, seed=2, jobs=arguments.jobs) as judge,
    ):
        for tunable in tunables(Path(scratch)):
            if arguments.strategies and tunable.contender.label not in arguments.strategies:
                continue
            rows.append(measure(tunable, trainer, judge, settings, Path(scratch)))
            print(line(rows[-1]), flush=True)
        print_summary(rows)
        beside = None
        if not arguments.no_kernel_tuner:
            beside = kernel_tuner_beside(arguments, judge, settings, Path(scratch))
    if arguments.json:
        outcome = {"rows": [asdict(row) for row in rows], "beside": beside}
        arguments.json.write_text(json.dumps(known(outcome), indent=2, allow_nan=False))


def load(hub: Path, name: str) -> Space:
    """One of the hub's spaces."""
    return load_space(hub / "cachefiles" / f"{name}.json.gz", name=name)


def tunables(folder: Path) -> list[TunableContender]:
    """What is tuned. Programs of the offline proposer are exported first, to be run in-process like the others."""
    found = [tunable_strategy(NamedStrategy(name, name)) for name in NAMED]
    proposer = make_proposer("offline")
    for seed in OFFLINE_SEEDS:
        proposal = proposer.propose(ProposalTask(f"g000-{seed:02d}-initial", "initial", (), (), (), seed))
        name = f"offline_{seed}"
        exported = export_strategy(request_for(name, proposal), folder)
        register_file(exported.code_path)
        found.append(tunable_strategy(NamedStrategy(name, name), proposal.ranges))
    return found


def request_for(name: str, proposal: Any) -> ExportRequest:
    """A proposal as something to export."""
    from llamea_tune.candidate import Candidate

    candidate = Candidate(name, proposal.class_name, proposal.code, proposal.description, "offline", "initial", 0)
    return ExportRequest(name, candidate, "2026-01-01")


def measure(tunable: TunableContender, trainer: Scorer, judge: Scorer, settings: StudySettings, folder: Path) -> Row:
    """Tune a strategy with and without pruning, and judge both."""
    name = tunable.contender.label
    results: list[StudyResult] = []
    seconds = []
    for prune in (True, False):
        started = time.perf_counter()
        chosen = StudySettings(settings.trials, settings.repeats, prune=prune)
        path = folder / f"{name}-{prune}"
        results.append(tune(tunable, trainer.executor, chosen, path, scales=trainer.scales))
        seconds.append(time.perf_counter() - started)
    values = [advised(tunable, result, trainer) for result in results]
    default, pruned, full = (runs_of(judge, tunable, chosen) for chosen in (tunable.defaults, *values))
    card = scorecard(name, judge.scales, default)
    sides = (("defaults", default), ("tuned", pruned), ("tuned without pruning", full))
    failures = [
        f"{side}: {run.reason}" for side, found in sides for runs in found.values() for run in runs if run.reason
    ]
    return Row(
        name,
        card.mean or math.nan,
        gain(judge, pruned, default),
        gain(judge, full, default),
        gain(judge, pruned, full),
        "; ".join(dict.fromkeys(failures)),
        results[0].runs,
        results[1].runs,
        *seconds,
        dict(values[0]),
    )


def advised(tunable: TunableContender, result: StudyResult, trainer: Scorer) -> Mapping[str, Any]:
    """The hyperparameters that `llamea-tune tune` advises after a study."""
    rescored = rescore(tunable, result, trainer)
    return rescored.best.values if rescored is not None and rescored.better else tunable.defaults


def runs_of(judge: Scorer, tunable: TunableContender, values: Mapping[str, Any]) -> Runs:
    """Runs on the judging spaces, on seeds that nothing was tuned on."""
    return judge.run(tunable.contender.with_hyperparameters(values), stage="judge")


def gain(judge: Scorer, first: Runs, second: Runs) -> Gain:
    """How much better the first is, paired; unknown where one of them failed."""
    if not all(run.state.scorable for side in (first, second) for runs in side.values() for run in runs):
        return Gain(math.nan, math.nan, math.nan)
    found: Comparison = compare(judge.scales, ("first", first), ("second", second))
    return Gain(found.difference, *found.interval)


def known(value: Any) -> Any:
    """The same outcome with null for each number that is not known, which JSON has no other word for."""
    if isinstance(value, dict):
        return {key: known(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [known(entry) for entry in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def mean_gain(gains: Sequence[Gain]) -> Gain:
    """Mean over strategies that did not fail; the interval is that of the runs' luck, for these strategies."""
    if not gains:
        return Gain(math.nan, math.nan, math.nan)
    mean = sum(entry.mean for entry in gains) / len(gains)
    half = math.sqrt(sum(((entry.high - entry.low) / 2.0) ** 2 for entry in gains)) / len(gains)
    return Gain(mean, mean - half, mean + half)


def line(row: Row) -> str:
    """A strategy's line of the table."""
    runs = f"{row.runs}/{row.runs_full}"
    seconds = f"{row.seconds:.0f}/{row.seconds_full:.0f}"
    fewer = row.runs_full / row.runs
    return f"{row.name:26}{row.default_score:+8.3f}  {row.gain!s:24}{row.gain_full!s:24}{runs:>13}{fewer:6.1f}x{seconds:>11}"


def print_summary(rows: Sequence[Row]) -> None:
    """The last lines of the table."""
    for row in rows:
        if row.failure:
            print(f"{row.name} failed on a judging space and counts in no mean; {row.failure}")
    fewer = sum(row.runs_full for row in rows) / sum(row.runs for row in rows)
    sound = [row for row in rows if not row.failure]
    tuned, full = (mean_gain([getattr(row, name) for row in sound]) for name in ("gain", "gain_full"))
    print(f"{'mean':26}{'':8}  {tuned!s:24}{full!s:24}{'':13}{fewer:6.1f}x")
    costs = mean_gain([row.pruning_costs for row in sound])
    print(f"\ntuned with pruning less tuned without: {costs}; pruning needs {fewer:.1f} times fewer runs", flush=True)


def kernel_tuner_beside(
    arguments: argparse.Namespace, judge: Scorer, settings: StudySettings, folder: Path
) -> dict[str, Any]:
    """Tune the same strategy with this library and with Kernel Tuner, for as long, on the same spaces."""
    tunable = tunable_strategy(NamedStrategy(BESIDE, BESIDE))
    spaces = [load(arguments.hub, name) for name in KERNEL_TUNER_CAN_READ]
    started = time.perf_counter()
    with local_scorer(spaces, repeats=arguments.final_repeats, seed=1, jobs=arguments.jobs) as trainer:
        trials = 0
        while time.perf_counter() - started < arguments.beside_seconds:
            trials += 10
            longer = StudySettings(trials, settings.repeats)
            ours = tune(tunable, trainer.executor, longer, folder / "beside", scales=trainer.scales)
        values = advised(tunable, ours, trainer)
    seconds = time.perf_counter() - started
    theirs, their_trials = kernel_tuners_best(
        BESIDE, KERNEL_TUNER_RANGES, arguments.hub, KERNEL_TUNER_CAN_READ, folder / "kernel_tuner", seconds
    )
    theirs = theirs or dict(tunable.defaults)
    default, our_runs, their_runs = (runs_of(judge, tunable, chosen) for chosen in (tunable.defaults, values, theirs))
    outcome = {
        "seconds": seconds,
        "ours": asdict(gain(judge, our_runs, default)),
        "trials": len(ours.trials),
        "theirs": asdict(gain(judge, their_runs, default)),
        "their_trials": their_trials,
        "their_values": theirs,
    }
    print(f"\n{BESIDE}, tuned for {seconds:.0f} s on {', '.join(KERNEL_TUNER_CAN_READ)}; gain over its defaults:")
    print(f"    {'llamea-tune':28}{gain(judge, our_runs, default)!s:26}{len(ours.trials)} trials")
    print(f"    {'Kernel Tuner':28}{gain(judge, their_runs, default)!s:26}{their_trials} trials (tune_hyper_params)")
    return outcome


if __name__ == "__main__":
    main()
