"""What it is worth to know something of a space beforehand, and what it costs to be misled.

Each strategy runs on each space without a prior, with the recordings of the same kernel on the other devices (one device
is left out: the space's own), with the same dealt out at random (several times) or upside down, with advice where there is
some, and with whatever else `--priors` names, such as `practice` and `practice-improved` (`written_practice.py`). Beside that
stands `order`: the configs in the order of what the others are expected to cost, with no search at all.

The spaces are those of the hub's convolution, dedispersion, gemm and pnpoly, and those that come with the package. Finished runs are
kept, and the outcome is written after each space with each prior: after an interruption, or when `--minutes` are over, the
same command goes on.

    python benchmarks/priors.py [STRATEGY]... [--repeats 100] [--jobs N] [--json priors.json] [--minutes M] [--plot priors.png]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from written_practice import IMPROVED, PRACTICE, with_practice

from llamea_tune.exceptions import PriorError, PriorWarning, SpaceFileWarning
from llamea_tune.execution import make_contender
from llamea_tune.priors import PRIORS, with_priors
from llamea_tune.report.drawing import figure_bytes, line_style, new_figure
from llamea_tune.runners import CachedRunner, Meter, RunBudget
from llamea_tune.runners.trace import RunResult, RunState
from llamea_tune.scoring.aggregate import scorecard
from llamea_tune.scoring.benchmark_curves import score_curve
from llamea_tune.scoring.benchmarking import BenchmarkSettings, run_benchmark
from llamea_tune.scoring.results_store import ResultsStore
from llamea_tune.scoring.score import SpaceScale, space_scale
from llamea_tune.spaces import RecordedSpace, bundled_spaces, load_spaces
from llamea_tune.storage import write_text

NONE, ORDER, SHUFFLED = "none", "order", "shuffled"
KINDS = (NONE, "others", "advice", SHUFFLED, "inverted", ORDER)
DEFAULT_HUB = Path(__file__).parent.parent.parent / "shared" / "data" / "benchmark_hub"
_DRAWN = {
    NONE: "{}",
    "others": "{}, knowing the other devices",
    "advice": "{}, with advice",
    ORDER: "the other devices' order alone",
}
HUB_KERNELS = ("convolution_milo", "dedispersion_milo", "gemm", "pnpoly")

Row = dict[str, Any]


def main() -> None:
    """Make what is missing, print the table, draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategies", nargs="*", default=["llm_gen_best"])
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deals", type=int, default=10, help="how often `shuffled` is dealt out, over all repeats")
    parser.add_argument(
        "--priors",
        nargs="+",
        default=list(KINDS),
        metavar="PRIOR",
        help="see `--prior`, and: order, practice, practice-improved",
    )
    parser.add_argument("--spaces", nargs="+", help="files or folders instead of all spaces")
    parser.add_argument("--only", default="", help="only spaces that have this in their name; all tell of each other")
    parser.add_argument("--hub", type=Path, default=Path(os.environ.get("LLAMEA_TUNE_HUB", DEFAULT_HUB)))
    parser.add_argument("--json", type=Path, default=Path("priors.json"))
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing further after that")
    parser.add_argument("--plot", type=Path, help="draw the curves, from what the JSON file has")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", SpaceFileWarning)
    rows = Rows(arguments.json, {key: getattr(arguments, key) for key in ("repeats", "seed")})
    make_missing(rows, arguments)
    print_table(rows.all, arguments)
    if arguments.plot:
        draw(rows.all, arguments.plot)


class Rows:
    """The outcome so far, one row for each strategy, space and prior; on disk after each."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self._path = path
        self._settings = settings
        kept = json.loads(path.read_text()) if path.exists() else {}
        self.all: list[Row] = kept.get("rows", []) if kept.get("settings") == settings else []

    def find(self, strategy: str, space: str, prior: str, fingerprint: str | None) -> Row | None:
        """The row of these; one that was made with another prior does not count."""
        key = (strategy, space, prior, fingerprint)
        return next((row for row in self.all if _key(row) == key), None)

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.all = [other for other in self.all if _key(other)[:3] != _key(row)[:3]] + [row]
        write_text(self._path, json.dumps({"settings": self._settings, "rows": self.all}, indent=1) + "\n")


def _key(row: Row) -> tuple[str, str, str, str | None]:
    return row["strategy"], row["space"], row["prior"], row["fingerprint"]


def load_all(arguments: argparse.Namespace) -> list[RecordedSpace]:
    """All spaces; the hub's where it is."""
    if arguments.spaces:
        return load_spaces(arguments.spaces)
    folders = [arguments.hub / "cachefiles" / kernel for kernel in HUB_KERNELS]
    return load_spaces([*(folder for folder in folders if folder.is_dir()), *bundled_spaces()])


def known_with(space: RecordedSpace, spaces: Sequence[RecordedSpace], kind: str, seed: int) -> RecordedSpace | None:
    """The space with a prior of this kind; None where there is nothing to know.

    Raises:
        PriorError: There is no such prior.
    """
    if kind == NONE:
        return space
    if kind in (PRACTICE, IMPROVED):
        return with_practice(space, kind)
    name = "others" if kind == ORDER else kind
    if name not in PRIORS:
        (known,) = with_priors([space], [name], seed=seed)
        return replace(space, prior=known.prior)
    prior = PRIORS.load(name)(space, spaces, seed)
    return None if prior is None else replace(space, prior=prior)


def other_deals(
    space: RecordedSpace, spaces: Sequence[RecordedSpace], kind: str, arguments: argparse.Namespace
) -> list[RecordedSpace]:
    """The space with its prior dealt out anew, since the luck of one deal weighs more than that of the runs."""
    if kind != SHUFFLED:
        return []
    seeds = range(arguments.seed + 1, arguments.seed + min(arguments.deals, arguments.repeats))
    return [known for seed in seeds if (known := known_with(space, spaces, kind, seed))]


def make_missing(rows: Rows, arguments: argparse.Namespace) -> None:
    """Make the rows that are not there; the spaces with small budgets first, so that a table is there early."""
    began, spaces = time.monotonic(), load_all(arguments)
    chosen = [space for space in spaces if arguments.only in space.name]
    scales = {space.name: space_scale(space) for space in chosen}
    for space in sorted(chosen, key=lambda space: scales[space.name].budget.evaluations):
        for kind in arguments.priors:
            try:
                known = known_with(space, spaces, kind, arguments.seed)
            except PriorError as err:
                print(f"{space.name}: {err}", file=sys.stderr)
                continue
            if known is None:
                continue
            for strategy in [ORDER] if kind == ORDER else arguments.strategies:
                if rows.find(strategy, space.name, kind, known.prior.fingerprint if known.prior else None):
                    continue
                if time.monotonic() - began > 60.0 * arguments.minutes:
                    print("the time is over; the same command goes on", file=sys.stderr)
                    return
                started = time.monotonic()
                made = (
                    order_alone(known, scales[space.name])
                    if kind == ORDER
                    else searched([known, *other_deals(space, spaces, kind, arguments)], kind, strategy, arguments)
                )
                rows.add(made)
                took = time.monotonic() - started
                print(f"{strategy} on {space.name}, {kind}: {made['score']:+.3f}, {took:.0f} s", file=sys.stderr)


def searched(spaces: Sequence[RecordedSpace], kind: str, strategy: str, arguments: argparse.Namespace) -> Row:
    """The row of a strategy; the repeats are dealt out to the spaces, which differ in their priors alone."""
    runs: list[RunResult] = []
    for number, space in enumerate(spaces):
        share = len(range(number, arguments.repeats, len(spaces)))
        settings = BenchmarkSettings(share, arguments.seed + number, stop_at_target=True)
        outcome = run_benchmark(
            [make_contender(strategy)], [space], settings, store=ResultsStore(), jobs=arguments.jobs
        )
        (row,) = outcome.rows
        if row.failures:
            raise SystemExit(f"{strategy} failed on {space.name}: {row.failures[space.name]}")
        runs += outcome.runs[strategy][space.name]
    return _row(spaces[0], kind, strategy, outcome.scales[0], runs)


def order_alone(space: RecordedSpace, scale: SpaceScale) -> Row:
    """The row of measuring configs in the order of the prior."""
    assert space.prior is not None
    meter = Meter(CachedRunner(space), RunBudget(scale.budget.time_limit_us))
    for index in np.argsort(space.prior.mean, kind="stable").tolist():
        if meter.request(index).done:
            break
    run = RunResult(meter.trace(), RunState.BUDGET_SPENT, "", meter.counts(), float("nan"))
    return _row(space, ORDER, ORDER, scale, [run])


def _row(space: RecordedSpace, kind: str, strategy: str, scale: SpaceScale, runs: Sequence[RunResult]) -> Row:
    made = scorecard(strategy, [scale], {space.name: runs}).spaces[space.name]
    curve = score_curve([scale], {space.name: runs})
    return {
        "strategy": strategy,
        "space": space.name,
        "prior": kind,
        "fingerprint": space.prior.fingerprint if space.prior else None,
        "told": space.prior.told if space.prior else None,
        "evaluations": scale.budget.evaluations,
        "repeats": made.repeats,
        "score": made.score,
        "interval": list(made.interval),
        "curve": [round(float(value), 4) for value in curve.mean],
    }


def print_table(rows: Iterable[Row], arguments: argparse.Namespace) -> None:
    """One table for each strategy: spaces by priors, and means over the spaces that have all of the priors."""
    by_key = {_key(row)[:3]: row for row in rows}
    spaces = {row["space"]: row["evaluations"] for row in by_key.values()}
    for strategy in arguments.strategies:
        found = {
            (space, kind): row
            for space in spaces
            for kind in arguments.priors
            if (row := by_key.get((ORDER if kind == ORDER else strategy, space, kind)))
        }
        kinds = [kind for kind in arguments.priors if any((space, kind) in found for space in spaces)]
        print(f"\n{strategy}, {arguments.repeats} repeats\n")
        print(f"| space | measurements | {' | '.join(kinds)} |\n| --- | --- |{' --- |' * len(kinds)}")
        for space in sorted(spaces, key=lambda name: spaces[name]):
            scores = [f"{found[space, kind]['score']:+.3f}" if (space, kind) in found else "" for kind in kinds]
            print(f"| {space} | {spaces[space]:,} | {' | '.join(scores)} |")
        whole = [space for space in spaces if all((space, kind) in found for kind in kinds if kind != "advice")]
        means = [_mean([found[space, kind]["score"] for space in whole if (space, kind) in found]) for kind in kinds]
        print(f"| mean of {len(whole)} | | {' | '.join(means)} |")


def _mean(scores: Sequence[float]) -> str:
    return f"{np.mean(scores):+.3f}" if scores else ""


def draw(rows: Iterable[Row], path: Path) -> None:
    """Draw how the score rises over the budget, with and without, averaged over the spaces that have both."""
    curves: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        if row["prior"] in _DRAWN:
            curves.setdefault((row["strategy"], row["prior"]), {})[row["space"]] = row["curve"]
    if not curves:
        raise SystemExit("there is nothing to draw yet")
    common = sorted(set.intersection(*(set(of_space) for of_space in curves.values())))
    figure, ((part, axes),) = new_figure(7.0, 3.6)
    part.suptitle(f"mean over {len(common)} spaces")
    for number, ((strategy, prior), of_space) in enumerate(sorted(curves.items())):
        values = np.mean([of_space[space] for space in common], axis=0)
        label = _DRAWN[prior].format(strategy)
        axes.plot(np.linspace(0.0, 1.0, len(values)), values, label=label, **line_style(number))
    axes.set(xlabel="share of the budget", ylabel="score", xlim=(0.0, 1.0), ylim=(None, 1.02))
    axes.legend(frameon=False)
    path.write_bytes(figure_bytes(figure, path.suffix.lstrip(".") or "png"))


if __name__ == "__main__":
    warnings.simplefilter("once", PriorWarning)
    main()
