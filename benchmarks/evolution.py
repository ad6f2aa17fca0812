"""Which selection scheme, racing and a steady state gain, with a simulated model in place of a real one.

The simulated model answers from a pool: a run of `llamea-tune evolve`, or a folder that `next_answer.py score` has filled with
the scores of a language model's answers; either tells the score of every single run of every candidate. Candidates of the first
generation are the pool's own. What a child is worth, given its parent, is drawn from a model fitted to a run's pairs of parent and
child: a straight line (regression towards the mean) with normal residuals. Of a language model's answers, few and far apart in
quality, it is that of a recorded child of a parent of about the same worth. Its noise is that of the pool's candidate of the
nearest worth: the scores of single runs less their mean on each space, drawn anew. There are failures at the pool's rate.
Everything else is the real thing: plans, selection, confirmations, races.

A simplification: a child's residual does not depend on its operator, and spaces differ in noise only. So this tells schemes
apart that use what is known well or badly, not those whose gain lies in the ideas of another branch.

    python benchmarks/evolution.py RUN [--seeds 200] [--max-candidates 48] [--json FILE]
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from next_answer import DEFAULT_HUB, OTHERS, REFERENCE, SHOWN, load

from llamea_tune.candidate import Behaviour, Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.assemble import run_spaces
from llamea_tune.evolution.history import History
from llamea_tune.evolution.plan import PlannedCandidate, Planner, numbers_of
from llamea_tune.evolution.records import behaviour_from_json
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.selection import SELECTIONS, by_fitness, make_selection
from llamea_tune.evolution.settings import Settings
from llamea_tune.scoring import SpaceScale, space_scale
from llamea_tune.scoring.behaviour import kept_run_scores
from llamea_tune.scoring.racing import Race

BASE = Settings(final_strategies=())
SCHEMES: Mapping[str, Settings] = {
    **{name: replace(BASE, selection=name) for name in SELECTIONS},
    "plus, bandit": replace(BASE, operator_choice="bandit"),
    "plus, steady state": replace(BASE, steady_state=True),
    "epsilon-greedy, steady state": replace(BASE, selection="epsilon-greedy", steady_state=True),
    "plus, racing": replace(BASE, racing=True),
}
LIKE_PARENTS = 16  # recorded children to draw from
P_THRESHOLDS = (0.01, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Judged:
    """A candidate of a pool.

    Attributes:
        parents: What it was made from.
        behaviour: Its runs by space; empty where it has no score.
    """

    parents: tuple[str, ...]
    behaviour: Mapping[str, Behaviour]


@dataclass(frozen=True)
class Pool:
    """What is known of recorded candidates.

    Attributes:
        worth: Shape `(n,)`: mean score of single runs over spaces and repeats.
        noise: By candidate, shape `(n_spaces, repeats)`: scores of single runs less their mean on the space.
        behaviours: By candidate.
        first: Worth of those without parents.
        line: Slope and intercept of a child's worth over its best parent's.
        residual: Standard deviation around it.
        failures: Share of candidates without a score.
        pairs: Worth of the best parent and of the child, shape `(n_pairs, 2)`: what the line is fitted to.
        as_recorded: Whether a child is a recorded child of a parent of about the same worth, instead of one by the line.
    """

    worth: np.ndarray
    noise: Sequence[np.ndarray]
    behaviours: Sequence[Mapping[str, Behaviour]]
    first: np.ndarray
    line: tuple[float, float]
    residual: float
    failures: float
    pairs: np.ndarray
    as_recorded: bool


def read_pool(path: Path) -> Pool:
    """Read a run or scored answers, and fit the model."""
    answers = (path / "scores.jsonl").exists()
    known, scales = read_answers(path) if answers else read_run(path)
    scored = {key: one for key, one in known.items() if one.behaviour}
    scores = {key: np.array(list(kept_run_scores(scales, one.behaviour).values())) for key, one in scored.items()}
    worth = {key: float(of.mean()) for key, of in scores.items()}
    pairs = [
        (max(worth[parent] for parent in one.parents if parent in worth), worth[key])
        for key, one in scored.items()
        if any(parent in worth for parent in one.parents)
    ]
    parent, child = np.array(pairs).T
    slope, intercept = np.polyfit(parent, child, 1)
    residual = float(np.std(child - slope * parent - intercept, ddof=2))
    return Pool(
        np.array(list(worth.values())),
        [of - of.mean(axis=1, keepdims=True) for of in scores.values()],
        [one.behaviour for one in scored.values()],
        np.array([worth[key] for key, one in scored.items() if not one.parents]),
        (float(slope), float(intercept)),
        residual,
        1.0 - len(scored) / len(known),
        np.array(pairs),
        answers,
    )


def read_run(path: Path) -> tuple[dict[str, Judged], list[SpaceScale]]:
    """The candidates of a run directory, and the scales of its spaces."""
    run = RunDirectory.open_existing(path)
    with run_spaces(run) as spaces:
        scales = [space_scale(space) for space in spaces]
    judged = [entry for entry in History(run.candidates()).all() if not entry.evaluation.raced_out]
    return {entry.candidate.id: Judged(entry.candidate.parents, entry.evaluation.behaviour) for entry in judged}, scales


def read_answers(path: Path) -> tuple[dict[str, Judged], list[SpaceScale]]:
    """Scored answers to prompts and what they started from, and the scales of all spaces that they were scored on."""
    records = [json.loads(line) for line in (path / "scores.jsonl").read_text().splitlines()]
    recorded = RunDirectory.open_existing(path / "history").candidates()
    points = {
        (point["arm"], point["number"]): point["point"] for point in json.loads((path / "points.json").read_text())
    }
    known = {}
    for record in records:
        kind, number, *_ = record["key"].split()
        if kind == "parent":
            started = recorded[number].candidate.parents
        else:
            started = () if kind == REFERENCE else recorded[points[kind, int(number)]].candidate.parents[:1]
        parents = tuple(f"parent {key}" for key in started)
        known[f"{kind} {number}"] = Judged(parents, behaviour_from_json(record["behaviour"]))
    names = records[0]["key"].split(" on ")[1].split(",")
    hub = Path(os.environ.get("LLAMEA_TUNE_HUB", DEFAULT_HUB))
    return known, [space_scale(space) for space in load([*SHOWN, *OTHERS], hub) if space.name in names]


class Simulation:
    """One search with the simulated model; `worth` holds what nobody in the search knows."""

    def __init__(self, pool: Pool, settings: Settings, seed: int) -> None:
        self.pool = pool
        self.settings = replace(settings, seed=seed)
        self.selection = make_selection(settings.selection, settings.selection_options)
        self.planner = Planner(self.settings, self.selection, ())
        self.history = History()
        self.worth: dict[str, float] = {}
        self.first_scores: dict[str, dict[str, tuple[float, ...]]] = {}
        self.runs = 0
        self.seconds = 0.0
        self.raced_out = 0

    def search(self) -> float:
        """Search to the end; gives the worth of the candidate that the run would hand over."""
        if self.settings.steady_state:
            self._steadily()
        else:
            self._in_generations()
        scored = self.history.scored()
        return self.worth[by_fitness(scored)[0].candidate.id] if scored else 0.0

    def _in_generations(self) -> None:
        for generation in range(-(-self.settings.max_candidates // self.settings.offspring)):
            before = self.history.before(generation)
            planned = self.planner.plan(numbers_of(generation, self.settings), before)
            race = self._race(before)
            waits = np.array([self._wait(entry) for entry in planned])
            self.seconds += _makespan(waits, self.settings.asked_at_once)
            for entry in planned:
                self._judge(entry, race)
            self._confirm()

    def _steadily(self) -> None:
        under_way: list[tuple[float, int, PlannedCandidate]] = []
        number = 0
        while len(self.worth) < self.settings.max_candidates:
            while len(under_way) < self.settings.asked_at_once and number < self.settings.max_candidates:
                (entry,) = self.planner.plan([number], self.history)
                heapq.heappush(under_way, (self.seconds + self._wait(entry), number, entry))
                number += 1
            self.seconds, _, entry = heapq.heappop(under_way)
            self._judge(entry, self._race(self.history))
            self._confirm()

    def _rng(self, candidate_id: str, what: int) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, int(candidate_id), what])

    def _wait(self, entry: PlannedCandidate) -> float:
        """How long an answer takes: log-normal around 60 s, a few take much longer."""
        return float(self._rng(entry.id, 3).lognormal(np.log(60.0), 0.7))

    def _judge(self, entry: PlannedCandidate, race: Race | None) -> None:
        self.worth[entry.id] = self.answer(entry)
        task, ids = entry.task, tuple(parent.candidate.id for parent in entry.task.parents)
        made = Candidate(
            entry.id, "A", f"a{entry.id}", "", "simulated", task.operator, entry.generation, ids, llm=task.llm
        )
        self.history.add(Scored(made, self._evaluate(entry.id, self.settings.repeats, 1, race)))

    def answer(self, entry: PlannedCandidate) -> float:
        """What the simulated model's answer is worth; not a finite number where it fails."""
        rng = self._rng(entry.id, 0)
        parents = [self.worth[parent.candidate.id] for parent in entry.task.parents]
        known = [worth for worth in parents if np.isfinite(worth)]
        if rng.random() < self.pool.failures:
            return float("nan")
        return self._child_of(max(known), rng) if known else float(rng.choice(self.pool.first))

    def _child_of(self, parent: float, rng: np.random.Generator) -> float:
        """What a child of a parent of that worth is worth."""
        if self.pool.as_recorded:
            parents, children = self.pool.pairs.T
            like = np.argsort(np.abs(parents - parent), kind="stable")[:LIKE_PARENTS]
            return float(children[rng.choice(like)])
        slope, intercept = self.pool.line
        return min(1.0, slope * parent + intercept + self.pool.residual * float(rng.normal()))

    def _evaluate(self, key: str, repeats: int, stage: int, race: Race | None = None) -> Evaluation:
        worth = self.worth[key]
        if not np.isfinite(worth):
            return Evaluation(CandidateState.FAILED, "it failed", runs=1)
        nearest = int(np.abs(self.pool.worth - worth).argmin())
        noise = self.pool.noise[nearest]
        drawn = self._rng(key, stage).integers(noise.shape[1], size=(len(noise), repeats))
        scores = worth + np.take_along_axis(noise, drawn, axis=1)
        kept, raced_out = raced(scores, race)
        self.runs += kept.size
        self.raced_out += raced_out
        self.first_scores.setdefault(key, as_scores(kept))
        return Evaluation(
            CandidateState.SCORED,
            fitness=float(kept.mean()),
            runs=kept.size,
            raced_out=raced_out,
            behaviour=self.pool.behaviours[nearest],
        )

    def _confirm(self) -> None:
        while scored := self.history.scored():
            survivors = self.selection.survivors(scored, self.settings.parents)
            lucky = next(
                (entry.candidate for entry in survivors if not self.history.is_confirmed(entry.candidate)), None
            )
            if lucky is None:
                return
            self.history.confirm(lucky, self._evaluate(lucky.id, self.settings.confirm_repeats, 2))

    def _race(self, history: History) -> Race | None:
        scored = history.scored()
        if not self.settings.racing or not scored:
            return None
        survivors = self.selection.survivors(scored, self.settings.parents)
        return Race(self.first_scores[survivors[-1].candidate.id]) if len(survivors) == self.settings.parents else None


def raced(scores: np.ndarray, race: Race | None) -> tuple[np.ndarray, bool]:
    """The scores of those runs that are made, shape `(n_spaces, repeats)`, and whether the race is lost."""
    repeats = scores.shape[1]
    if race is not None:
        for done in range(race.first, repeats, race.first):
            if race.is_lost(as_scores(scores[:, :done])):
                return scores[:, :done], True
    return scores, False


def as_scores(scores: np.ndarray) -> dict[str, tuple[float, ...]]:
    """Scores of single runs by space."""
    return {str(number): tuple(row.tolist()) for number, row in enumerate(scores)}


def _makespan(waits: np.ndarray, at_once: int) -> float:
    """When the last of a generation is answered."""
    free = [0.0] * at_once
    for wait in waits:
        heapq.heapreplace(free, free[0] + float(wait))
    return max(free)


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean with its 95 % interval over seeds."""
    mean, half = float(values.mean()), 1.96 * float(values.std(ddof=1)) / np.sqrt(len(values))
    return mean, mean - half, mean + half


def compare_schemes(pool: Pool, seeds: int, max_candidates: int) -> list[dict[str, Any]]:
    """Every scheme at equal calls, paired by seed with `plus`."""
    rows: list[dict[str, Any]] = []
    reference: np.ndarray | None = None
    for name, settings in SCHEMES.items():
        made = [Simulation(pool, replace(settings, max_candidates=max_candidates), seed) for seed in range(seeds)]
        worth = np.array([simulation.search() for simulation in made])
        reference = worth if reference is None else reference
        row = {
            "scheme": name,
            "worth": interval(worth),
            "beside_plus": interval(worth - reference),
            "runs": float(np.mean([simulation.runs for simulation in made])),
            "raced_out": float(np.mean([simulation.raced_out for simulation in made])),
            "hours_of_waiting": float(np.mean([simulation.seconds for simulation in made])) / 3600.0,
        }
        rows.append(row)
        mean, low, high = row["beside_plus"]
        print(
            f"{name:30} {row['worth'][0]:.3f}  {mean:+.3f} [{low:+.3f}, {high:+.3f}]  {row['runs']:6.0f} runs  "
            f"{row['raced_out']:4.1f} raced out  {row['hours_of_waiting']:.2f} h",
            flush=True,
        )
    return rows


def racing_errors(pool: Pool, draws: int = 500) -> list[dict[str, float]]:
    """What races between the pool's candidates save, and how often they drop who is truly the better one."""
    rng = np.random.default_rng(0)
    rows = []
    order = np.argsort(-pool.worth)
    weakest = int(order[min(BASE.parents, len(order)) - 1])
    for p_threshold in P_THRESHOLDS:
        made = of = wrong = better = 0
        for _ in range(draws):
            own = int(rng.integers(len(pool.worth)))
            theirs, ours = (pool.worth[n] + _resampled(pool.noise[n], rng) for n in (weakest, own))
            kept, lost = raced(ours, Race(as_scores(theirs), p_threshold=p_threshold))
            made, of = made + kept.size, of + ours.size
            better += pool.worth[own] >= pool.worth[weakest]
            wrong += lost and pool.worth[own] >= pool.worth[weakest]
        rows.append({"p": p_threshold, "saved": 1.0 - made / of, "wrongly_dropped": wrong / max(1, better)})
        print(
            f"p < {p_threshold:<5} {rows[-1]['saved']:6.1%} of the runs saved  {rows[-1]['wrongly_dropped']:6.1%} of the better ones dropped"
        )
    return rows


def _resampled(noise: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    drawn = rng.integers(noise.shape[1], size=(len(noise), BASE.repeats))
    return np.take_along_axis(noise, drawn, axis=1)


def read_arguments(about: str | None) -> argparse.Namespace:
    """The command line of a study of simulated searches: its pool, how many, how long, and where the outcome goes."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run directory to take the pool from")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--max-candidates", type=int, default=48)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    """Print both tables."""
    arguments = read_arguments(__doc__)
    pool = read_pool(arguments.run)
    print(
        f"pool: {len(pool.worth)} candidates, {pool.failures:.0%} failed; child = {pool.line[0]:.2f} * parent "
        f"{pool.line[1]:+.2f} ± {pool.residual:.2f} from {len(pool.pairs)} pairs; first generation {pool.first.mean():.2f}"
    )
    schemes = compare_schemes(pool, arguments.seeds, arguments.max_candidates)
    races = racing_errors(pool)
    if arguments.json:
        arguments.json.write_text(json.dumps({"schemes": schemes, "racing": races}, indent=2) + "\n")


if __name__ == "__main__":
    main()
