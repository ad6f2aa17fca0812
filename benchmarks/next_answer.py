"""Which prompt brings the better next answer: what a language model is told, varied at recorded decision points.

`render` judges the candidates of a recorded run on a few spaces with small budgets, takes a dozen of its decision points
(history, parents, operator), and writes the prompt of each under every variant ("arm") to `OUT/<arm>/<nn>.prompt.md`. Whoever
answers sees nothing but a prompt, and writes `OUT/<arm>/<nn>.answer.md` beside it. Arms:

    initial       the prompt of a first generation, the same each time: the reference, asked as often as the others
    plain         the parents with one score a space
    evidence      scores over time beside named strategies, requests, facts of the run
    memory        that, and attempts, relatives, siblings, directions
    none, application, hidden
                  as memory, with another level of information on the spaces
    team          as memory, by a planner and a coder: answer `<nn>.plan.prompt.md` with `<nn>.plan.answer.md` first, and
                  render again

`score` runs the answers on fresh seeds, on the spaces that prompts showed and on others, beside the (better) parent of the
decision point, and prints how much better than the parent they are; `OUT/gains.json` has it for each answer. Both commands go on where they
stopped.

    python benchmarks/next_answer.py render OUT [--points 12] [--answers 1] [--repeats 10] [--jobs 2] [--hub PATH]
    python benchmarks/next_answer.py score OUT [--repeats 25] [--without OPERATOR] [--jobs 2] [--hub PATH]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from decision_points import chosen, planned, recorded_candidates

from llamea_tune.candidate import Scored
from llamea_tune.candidate_code import fingerprint
from llamea_tune.evolution.assemble import new_run
from llamea_tune.evolution.briefing import Briefer
from llamea_tune.evolution.descriptions import descriptions
from llamea_tune.evolution.history import History
from llamea_tune.evolution.judge import Judge, contender
from llamea_tune.evolution.records import behaviour_from_json
from llamea_tune.evolution.references import references
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.execution import SandboxedCandidate
from llamea_tune.front_door.named_spaces import AS_THEY_SAY, load_named
from llamea_tune.llm.language_model import Prompt
from llamea_tune.proposals.anchors import read_plan
from llamea_tune.proposals.briefing import Briefing
from llamea_tune.proposals.context import estimated_tokens
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.prompt import render_prompt
from llamea_tune.proposals.proposal import ProposalError, ProposalTask
from llamea_tune.proposals.reply import parse_reply
from llamea_tune.proposals.team import render_code, render_plan
from llamea_tune.scoring import Scorer
from llamea_tune.scoring.behaviour import paired_gain
from llamea_tune.spaces import load_space
from llamea_tune.spaces.space import Space
from llamea_tune.storage import write_text
from llamea_tune.testing.local_scorer import local_scorer

RECORDED = Path(__file__).parent / "recorded_runs" / "llm_gen_best" / "exchanges.jsonl"
DEFAULT_HUB = Path(__file__).parent.parent.parent / "shared" / "data" / "benchmark_hub"
SHOWN = ("hub:convolution_milo/MI250X", "nbody/H200", "stencil_openmp/Xeon_2_cores")
OTHERS = ("nbody/H100_80GB_HBM3", "reduction/H100_80GB_HBM3", "hub:pnpoly/RTX_3090")
REFERENCE, TEAM = "initial", "team"
FRESH_SEED = 20_000
N_RESAMPLES = 2000


def main() -> None:
    """Render prompts, or score answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, repeats in (("render", 10), ("score", 25)):
        command = commands.add_parser(name)
        command.add_argument("out", type=Path)
        command.add_argument("--points", type=int, default=12)
        command.add_argument("--repeats", type=int, default=repeats, help="runs on each space")
        command.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
        command.add_argument("--hub", type=Path, default=Path(os.environ.get("LLAMEA_TUNE_HUB", DEFAULT_HUB)))
        command.add_argument("--shown", nargs="*", default=SHOWN, help="spaces that prompts show")
        command.add_argument("--others", nargs="*", default=OTHERS, help="spaces that they do not show")
    commands.choices["render"].add_argument("--answers", type=int, default=1, help="how often each prompt is asked")
    commands.choices["score"].add_argument("--without", default="", help="leave out the points of this operator")
    arguments = parser.parse_args()
    (render if arguments.command == "render" else score)(arguments)


def load(names: Sequence[str], hub: Path) -> list[Space]:
    """Spaces by name: bundled ones, and `hub:` ones from a copy of the benchmark hub."""
    return [
        load_space(hub / "cachefiles" / f"{name.removeprefix('hub:')}.json.gz", name=name.removeprefix("hub:"))
        if name.startswith("hub:")
        else load_named([name], AS_THEY_SAY)[0]
        for name in names
    ]


# ---------------------------------------------------------------------------------------------------------- prompts


def plain(task: ProposalTask) -> ProposalTask:
    """A task with one score a space and nothing else."""
    return replace(task, parents=tuple(map(without_behaviour, task.parents)), briefing=Briefing())


def without_behaviour(scored: Scored) -> Scored:
    """A candidate with its scores alone."""
    return replace(scored, evaluation=replace(scored.evaluation, behaviour={}))


def evidence(task: ProposalTask) -> ProposalTask:
    """A task with evidence, but without memory."""
    return replace(task, briefing=replace(task.briefing, attempts=(), direction="", place="", siblings=()))


def initial(task: ProposalTask) -> ProposalTask:
    """The task of a first generation."""
    return ProposalTask(task.key, "initial", (), task.spaces)


def whole(task: ProposalTask) -> ProposalTask:
    """A task with all that is known."""
    return task


@dataclass(frozen=True)
class Arm:
    """A variant of what is told.

    Attributes:
        task: What it makes of a task.
        information: What it tells of the spaces.
        calls: Calls of a language model for each answer.
    """

    task: Callable[[ProposalTask], ProposalTask]
    information: Any = "space"
    calls: int = 1


ARMS: Mapping[str, Arm] = {
    REFERENCE: Arm(initial),
    "plain": Arm(plain),
    "evidence": Arm(evidence),
    "memory": Arm(whole),
    "none": Arm(whole, "none"),
    "application": Arm(whole, "application"),
    "hidden": Arm(whole, "hidden"),
    TEAM: Arm(whole, calls=2),
}


def render(arguments: argparse.Namespace) -> None:
    """Write all prompts that are not written yet."""
    spaces = load(arguments.shown, arguments.hub)
    settings = Settings(proposer="handoff:", offspring=8, repeats=arguments.repeats, seed=12)
    recorded = recorded_candidates(RECORDED)
    points = chosen(recorded, arguments.points)
    path = arguments.out / "history"
    run = RunDirectory.open_existing(path) if path.exists() else new_run(path, settings, spaces)
    with (
        run.locked(),
        local_scorer(spaces, jobs=arguments.jobs, repeats=settings.repeats, seed=settings.seed) as scorer,
    ):
        history = judged(run, [entry.candidate for entry in recorded], scorer)
        beside = references(run, settings, scorer)
        records = []
        for arm, how in ARMS.items():
            told = replace(settings, information=how.information)
            briefer = Briefer(told, scorer.scales, beside)
            described = descriptions(scorer, how.information)
            tasks: dict[str, ProposalTask] = {}
            for generation in sorted({point.candidate.generation for point in points}):
                before = history.before(generation)
                complete = briefer.complete(planned(recorded, generation, before, described), before)
                tasks |= {entry.id: entry.task for entry in complete}
            most_calls = max(other.calls for other in ARMS.values()) if arm == REFERENCE else 1
            for number in range(len(points) * max(most_calls, arguments.answers)):
                point = points[number % len(points)].candidate
                task = how.task(tasks[point.id])
                write_prompts(arguments.out / arm, number, task, planned_first=arm == TEAM)
                records.append({"arm": arm, "number": number, "point": point.id, "operator": task.operator})
    write_text(arguments.out / "points.json", json.dumps(records, indent=1) + "\n")
    waiting = sum(not answer.exists() for answer in wanted(arguments.out))
    print(f"{len(list(wanted(arguments.out)))} prompts in {arguments.out}, {waiting} of them without an answer")


def judged(run: RunDirectory, candidates: Sequence[Any], scorer: Scorer) -> History:
    """The candidates, judged; what the run directory holds is not run again."""
    judge = Judge(scorer, run.candidates())
    for candidate in candidates:
        if candidate.id not in run.candidates():
            run.record_candidate(judge.judge(candidate))
            print(f"judged {candidate.id} {candidate.class_name}", flush=True)
    return History(run.candidates())


def write_prompts(folder: Path, number: int, task: ProposalTask, *, planned_first: bool) -> None:
    """Write the prompt of a task; where it is planned first, the planner's, and the coder's once there is a plan."""
    folder.mkdir(parents=True, exist_ok=True)
    if not planned_first:
        write_prompt(folder / f"{number:02d}.prompt.md", render_prompt(task))
        return
    write_prompt(folder / f"{number:02d}.plan.prompt.md", render_plan(task))
    plan = folder / f"{number:02d}.plan.answer.md"
    if plan.exists():
        code = task.parents[0].candidate.code if OPERATORS[task.operator].edits or task.operator == "crossover" else ""
        write_prompt(folder / f"{number:02d}.prompt.md", render_code(task, read_plan(plan.read_text(), code)))


def write_prompt(path: Path, prompt: Prompt) -> None:
    """Write a prompt, unless it is there."""
    if not path.exists():
        write_text(path, f"# System\n\n{prompt.system.strip()}\n\n# Prompt\n\n{prompt.user.strip()}\n")


def wanted(out: Path) -> list[Path]:
    """The answers that prompts ask for."""
    prompts = sorted(out.glob("*/*.prompt.md"))
    return [path.with_name(path.name.replace(".prompt.md", ".answer.md")) for path in prompts]


# ----------------------------------------------------------------------------------------------------------- scores


def score(arguments: argparse.Namespace) -> None:
    """Score all answers that are not scored yet, and print the table."""
    shown = load(arguments.shown, arguments.hub)
    spaces = shown + load(arguments.others, arguments.hub)
    points = json.loads((arguments.out / "points.json").read_text())
    known = RunDirectory.open_existing(arguments.out / "history").candidates()
    log = arguments.out / "scores.jsonl"
    kept = {record["key"]: record for record in map(json.loads, log.read_text().splitlines())} if log.exists() else {}
    with local_scorer(spaces, jobs=arguments.jobs, repeats=arguments.repeats, seed=FRESH_SEED) as scorer:

        def card(key: str, make: Callable[[], Any]) -> dict[str, Any]:
            key = f"{key} x{arguments.repeats} on {','.join(space.name for space in spaces)}"
            if key not in kept:
                kept[key] = {"key": key, **made(make, scorer)}
                with log.open("a") as file:
                    file.write(json.dumps(kept[key], allow_nan=False) + "\n")
            return kept[key]

        rows = []
        operators = {point["point"]: point["operator"] for point in points if point["arm"] != REFERENCE}
        for point in points:
            if operators[point["point"]] == arguments.without:
                continue
            answer = arguments.out / point["arm"] / f"{point['number']:02d}.answer.md"
            if not answer.exists():
                continue
            parents = [known[key] for key in known[point["point"]].candidate.parents]
            parent = max(parents, key=lambda entry: entry.evaluation.fitness or -np.inf).candidate
            text = answer.read_text(encoding="utf-8", errors="replace")
            digest = hashlib.sha256(text.encode()).hexdigest()[:16]
            before = card(f"parent {parent.id}", lambda parent=parent: contender(parent))
            after = card(
                f"{point['arm']} {point['number']:02d} {digest}",
                lambda text=text, point=point, parent=parent: program(text, point["operator"], parent.code),
            )
            rows.append({**point, **compared(scorer, len(shown), after, before), **costs(answer)})
            print(line(rows[-1]), flush=True)
    if rows:
        write_text(arguments.out / "gains.json", json.dumps(rows, indent=1) + "\n")
        print_table(rows)
    else:
        print(f"no answers in {arguments.out} yet")


def program(text: str, operator: str, parent_code: str) -> SandboxedCandidate:
    """The program of an answer.

    Raises:
        ProposalError: It holds none, or the parent's.
    """
    reply = parse_reply(text, parent_code if OPERATORS[operator].edits else None)
    if fingerprint(reply.code) == fingerprint(parent_code):
        raise ProposalError("it is the parent")
    return SandboxedCandidate(reply.code, reply.class_name, {}, reply.class_name)


def made(make: Callable[[], Any], scorer: Scorer) -> dict[str, Any]:
    """What scoring a program gives, as a record."""
    try:
        card = scorer.score(make(), stage="next-answer")
    except ProposalError as err:
        return {"reason": f"no usable answer: {err}", "behaviour": {}}
    return {"reason": card.reason, "behaviour": {name: asdict(of) for name, of in card.behaviour.items()}}


def compared(scorer: Scorer, n_shown: int, after: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """How much better an answer is than the parent, on spaces that its prompt showed and on the others."""
    child, parent = (behaviour_from_json(record["behaviour"]) for record in (after, before))
    gains = {}
    for name, scales in (("shown", scorer.scales[:n_shown]), ("others", scorer.scales[n_shown:])):
        gain = paired_gain(scales, child, parent)
        gains[name] = None if gain is None else [gain[0], *gain[1]]
    return {"reason": after["reason"], **gains}


def costs(answer: Path) -> dict[str, Any]:
    """Tokens of an answer and of all that was asked for it, as estimated."""
    stem = answer.name.removesuffix(".answer.md")
    asked = list(answer.parent.glob(f"{stem}.*prompt.md"))
    plans = list(answer.parent.glob(f"{stem}.plan.answer.md"))
    read = sum(estimated_tokens(path.read_text()) for path in asked)
    written = sum(estimated_tokens(path.read_text()) for path in [answer, *plans])
    return {"prompt_tokens": read, "answer_tokens": written}


def line(row: Mapping[str, Any]) -> str:
    """An answer's line."""
    told = [f"{name} {gain(row[name])}" for name in ("shown", "others")] if row["shown"] else [row["reason"]]
    return f"{row['arm']:12}{row['number']:3}  {row['operator']:10} from point {row['point']}: {', '.join(told)}"


def gain(found: Sequence[float] | None) -> str:
    """A difference with its interval."""
    return "-" if found is None else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*found)


def print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """The outcome by arm; what has no score gains nothing, as its parent would be kept."""
    print("\ngain over the parent, mean over decision points with its 95 % interval; kept: losses count as 0")
    head = (
        f"{'arm':12}{'answers':>8}{'usable':>8}{'better':>8}  {'gain, shown':26}{'gain, others':26}{'kept, others':26}"
    )
    print(f"{head}{'kept, less initial':26}{'calls':>6}{'read':>9}{'written':>9}")
    reference = [row for row in rows if row["arm"] == REFERENCE]
    for arm, how in ARMS.items():
        own = [row for row in rows if row["arm"] == arm]
        if not own:
            continue
        usable = [row for row in own if row["shown"]]
        kept = {row["number"]: keeping(row) for row in own}
        against = [
            kept[row["number"]] - best
            for row in own
            if (best := best_reference(reference, row["point"], how.calls)) is not None and arm != REFERENCE
        ]
        cells = [
            mean_of([row["shown"][0] for row in usable]),
            mean_of([row["others"][0] for row in usable if row["others"]]),
            mean_of(list(kept.values())),
            mean_of(against),
        ]
        better = sum(row["shown"][0] > 0.0 for row in usable)
        read, written = (sum(row[name] for row in own) for name in ("prompt_tokens", "answer_tokens"))
        counts = f"{arm:12}{len(own):8}{len(usable):8}{better:8}  "
        print(counts + "".join(f"{cell:26}" for cell in cells) + f"{how.calls * len(own):6}{read:9,}{written:9,}")
    print(f"\n{'operator':12}{'arms':34}{'usable':>8}  {'gain, shown':26}{'gain, others':26}")
    for operator in dict.fromkeys(row["operator"] for row in rows):
        usable = [row for row in rows if row["operator"] == operator and row["shown"]]
        arms = ", ".join(sorted({row["arm"] for row in usable}))
        cells = [mean_of([row[where][0] for row in usable if row[where]]) for where in ("shown", "others")]
        print(f"{operator:12}{arms:34}{len(usable):8}  " + "".join(f"{cell:26}" for cell in cells))


def keeping(row: Mapping[str, Any]) -> float:
    """What a run that keeps the better of parent and answer gains on the other spaces; it decides by those shown."""
    if not row["shown"] or row["shown"][0] <= 0.0:
        return 0.0
    return float((row["others"] or row["shown"])[0])


def best_reference(rows: Sequence[Mapping[str, Any]], point: str, calls: int) -> float | None:
    """What is kept of as many answers to the initial prompt: the one that is best on the spaces shown."""
    own = [row for row in rows if row["point"] == point][:calls]
    if len(own) < calls:
        return None
    return keeping(max(own, key=lambda row: row["shown"][0] if row["shown"] else -np.inf))


def mean_of(values: Sequence[float]) -> str:
    """A mean with the bootstrap interval over decision points."""
    if not values:
        return "-"
    numbers = np.array(values)
    drawn = np.random.default_rng(0).integers(0, len(numbers), (N_RESAMPLES, len(numbers)))
    low, high = np.percentile(numbers[drawn].mean(axis=1), (2.5, 97.5))
    return gain([float(numbers.mean()), float(low), float(high)])


if __name__ == "__main__":
    main()
