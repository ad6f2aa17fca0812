"""A run that aims at lean candidates prefers them, tells its author so, and goes on alike after an interruption."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import run_program

import llamea_tune
from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.cli.tables import print_leaderboard
from llamea_tune.evolution.events import CandidateJudged
from llamea_tune.evolution.history import History
from llamea_tune.evolution.leaderboard import read_leaderboard
from llamea_tune.evolution.lean import by_worth, lean
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.selection import SELECTIONS, Situation, by_fitness, make_selection
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.tuning import tune_survivors
from llamea_tune.hpo.in_loop import TunedCandidate
from llamea_tune.llm import Completion
from llamea_tune.own_compute import DISCOUNT_PER_DOUBLING, discount
from llamea_tune.proposals import LLMProposer
from llamea_tune.scoring.racing import Race
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE
from llamea_tune.testing.synthetic_spaces import synthetic_space

pytestmark = pytest.mark.xdist_group("lean runs")

SMALL = {"block_size_x": (16, 32, 64, 128), "tile": (1, 2, 4), "unroll": (False, True), "order": ("ij", "ji", "tiled")}
SETTINGS = {
    **{"max_candidates": 6, "offspring": 2, "parents": 1, "seed": 4, "repeats": 2, "confirm_repeats": 2},
    **{"final_repeats": 2, "final_candidates": 3, "final_strategies": ("random_sample",), "asked_at_once": 1},
    **{"reference_strategies": ()},
}
AIM_MS = 4.0
HEAVY = EXAMPLE_CODE.replace(
    "            costs[config] = func(config)\n        best",
    "            sum(number * number for number in range(400_000))\n            costs[config] = func(config)\n        best",
)


class Twins:
    """A language model that writes each program twice: first one that wastes some 20 ms on a measurement, then one that
    does not and is the same otherwise.
    """

    name = "twins"

    def __init__(self):
        self.prompts = {}

    def complete(self, prompt):
        self.prompts[prompt.key] = prompt
        generation, position = int(prompt.key[1:4]), int(prompt.key[5:7])
        code = EXAMPLE_CODE if position % 2 else HEAVY
        code = code.replace("n_initial=10", f"n_initial={10 + generation}")
        return Completion(f"Description: Begins with {10 + generation}.\n```python\n{code}```", self.name)


def space():
    return replace(synthetic_space(1, tune_params=SMALL, kept=1.0), name="gemm/A")


def evolved(run, author, **settings):
    return llamea_tune.evolve(space(), LLMProposer(author), run=run, jobs=2, **SETTINGS, **settings)


def decisions(run):
    """Who was judged, made from whom and how, and who was confirmed: all that selection decided."""
    told = []
    for record in map(json.loads, (run / "candidates.jsonl").read_text().splitlines()):
        of = record.get("candidate", record)
        told.append((record["kind"], of["id"], of.get("operator"), of.get("parents")))
    return told


@pytest.fixture(scope="module")
def aimed(tmp_path_factory):
    """A run with an aim: its directory, its prompts, its leaderboard."""
    run, author = tmp_path_factory.mktemp("runs") / "aimed", Twins()
    return run, author.prompts, evolved(run, author, own_compute_ms=AIM_MS)


@pytest.fixture(scope="module")
def unaimed(tmp_path_factory):
    run, author = tmp_path_factory.mktemp("runs") / "unaimed", Twins()
    return run, author.prompts, evolved(run, author)


def parents(run):
    return {key for kind, _, _, parents in decisions(run) if kind == "judged" for key in parents}


def is_lean(key):
    return int(key) % 2 == 1


def test_of_twins_the_lean_one_is_kept_and_wins(aimed, unaimed):
    for (run, _, board), lean_ones in ((aimed, True), (unaimed, False)):
        assert (
            len({entry.evaluation.fitness for entry in RunDirectory(run).candidates().values()}) == 3
        )  # twins are equal
        assert parents(run)
        assert {is_lean(key) for key in parents(run)} == {lean_ones}
        assert is_lean(board.winner.candidate) == lean_ones


def test_what_is_shown_is_the_score_itself(aimed):
    run, _, board = aimed
    first, second = (RunDirectory(run).candidates()[key].evaluation for key in ("0000", "0001"))
    assert first.fitness == second.fitness == pytest.approx(np.mean(list(first.scores.values())))
    assert first.own_compute_ms > 2 * second.own_compute_ms
    for row in board.rows:
        assert row.mean == pytest.approx(np.mean(list(row.scores.values())))


def test_the_prompt_says_what_is_aimed_at_what_more_costs_and_what_the_parent_takes(aimed, unaimed):
    _, prompts, _ = aimed
    for prompt in prompts.values():
        facts = " ".join(prompt.user.partition("# What holds in this run")[2].partition("\n# ")[0].split())
        assert "aim at 4 ms for each measurement" in facts
        assert f"Each doubling above that takes {DISCOUNT_PER_DOUBLING} off the fitness" in facts
        assert "plan for 4 ms at most for each measurement" in " ".join(prompt.system.split())
    later = [prompt.user for key, prompt in prompts.items() if not key.startswith("g000")]
    assert all(re.search(r"with [\d.e-]+ ms of own compute", user) for user in later)
    children = [user for user in later if "## Parent" in user]
    assert children
    assert all(re.search(r"\| gemm/A \|.* [\d.e-]+ ms \|", user) for user in children)
    _, without, _ = unaimed
    assert not any("aim at" in prompt.user or "ms of own compute" in prompt.user for prompt in without.values())
    assert all("plan for a few milliseconds" in " ".join(prompt.system.split()) for prompt in without.values())


@pytest.mark.parametrize("judged", [1, 3])
def test_an_interrupted_run_goes_on_with_the_same_decisions(judged, aimed, tmp_path):
    def interrupt(event):
        if isinstance(event, CandidateJudged) and event.n_judged == judged:
            raise KeyboardInterrupt

    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        evolved(run, Twins(), own_compute_ms=AIM_MS, observe=interrupt)
    before = (run / "candidates.jsonl").read_text()
    board = llamea_tune.resume(run, LLMProposer(Twins()), spaces=[space()], jobs=2)
    assert (run / "candidates.jsonl").read_text().startswith(before)
    assert decisions(run) == decisions(aimed[0])
    assert board.winner.candidate == aimed[2].winner.candidate


def test_going_on_with_a_run_that_has_ended_changes_nothing(aimed):
    run, _, board = aimed
    names = ("candidates.jsonl", "leaderboard.json", "own_compute.json")
    before = [(run / name).read_bytes() for name in names]
    again = llamea_tune.resume(run, LLMProposer(Twins()), spaces=[space()], jobs=2)
    assert [(run / name).read_bytes() for name in names] == before
    assert again.own_compute() == board.own_compute()


def test_own_compute_is_told_wherever_timings_may_be(aimed, unaimed):
    for run, _, board in (aimed, unaimed):
        assert all(row.own_compute_ms is not None for row in board.rows)
        assert "own_compute_ms" not in (run / "leaderboard.json").read_text()
        assert read_leaderboard(RunDirectory(run)).own_compute() == board.own_compute()
        done = run_program("report", run, "--json")
        rows = json.loads(done.stdout)["leaderboard"]["rows"]
        assert [row["own_compute_ms"] for row in rows] == [row.own_compute_ms for row in board.rows]
        assert [row["on_front"] for row in rows] == list(board.on_front())
        assert any(board.on_front())
        page = (run / "report.html").read_text()
        assert "own ms" in page
        assert "* Pareto front" in page
        assert ("Ordered by score less 0.02 for each doubling of own ms above 4." in page) == (board is aimed[2])


def test_the_screen_marks_the_front(aimed, capsys):
    _, _, board = aimed
    print_leaderboard(board)
    lines = capsys.readouterr().out.splitlines()
    for row, on_front in zip(board.rows, board.on_front(), strict=True):
        (line,) = (line for line in lines if row.label in line)
        assert f"{row.own_compute_ms:.2f}" in line
        assert ("*" in line) == on_front
    assert any("ordered by score less 0.02 for each doubling of own ms above 4" in line for line in lines)


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_every_doubling_above_the_aim_takes_the_same(own_ms, aim_ms):
    taken = discount(own_ms, aim_ms)
    assert taken >= 0.0
    assert (taken == 0.0) == (own_ms <= aim_ms)
    if own_ms > aim_ms:
        assert discount(2.0 * own_ms, aim_ms) == pytest.approx(taken + DISCOUNT_PER_DOUBLING)
    assert discount(own_ms, None) == discount(None, aim_ms) == 0.0


def scored(number, fitness, own_ms):
    candidate = Candidate(f"{number:04d}", "A", f"{number}", "", "offline", "initial", 0)
    return Scored(candidate, Evaluation(CandidateState.SCORED, fitness=fitness, own_compute_ms=own_ms))


@pytest.mark.parametrize("name", SELECTIONS)
def test_every_scheme_goes_by_worth_and_gives_candidates_as_they_are(name):
    entries = [scored(0, 0.80, 64.0), scored(1, 0.75, 1.0), scored(2, 0.74, 0.5), scored(3, 0.10, 0.1)]
    scheme = make_selection(name)
    assert scheme.survivors(entries, 1)[0] is entries[0]
    aiming = lean(make_selection(name), 1.0)
    survivors = aiming.survivors(entries, 1)
    assert survivors == (entries[1],)
    chosen = aiming.parents(Situation(4, survivors, entries), 1, np.random.default_rng(1))
    assert all(any(parent is entry for entry in entries) for parent in chosen)
    assert lean(scheme, None) is scheme
    assert by_worth(entries, 1.0) == [entries[number] for number in (1, 2, 0, 3)]
    assert by_worth(entries, None) == by_fitness(entries)


def test_a_race_counts_own_compute_where_it_is_aimed_at():
    ahead, behind = {"a": [0.80] * 6}, {"a": [0.78] * 6}
    assert Race(ahead).is_lost(behind, 1.0)
    assert not Race(ahead, own_compute_ms=8.0, aim_ms=1.0).is_lost(behind, 1.0)
    assert Race(behind, own_compute_ms=1.0, aim_ms=1.0).is_lost(ahead, 8.0)
    assert Race(behind, own_compute_ms=1.0).is_lost(ahead, 8.0) is False


@pytest.mark.parametrize(("aim_ms", "kept"), [(None, True), (1.0, False)])
def test_tuned_values_are_kept_only_where_their_own_compute_is_worth_it(aim_ms, kept, tmp_path):
    """Values with a little more score for eight times the own compute."""

    class Tuner:
        scorer = SimpleNamespace(spaces=[space()])

        def tune_all(self, candidates, allowance, on_trial):
            return [TunedCandidate(entry.id, {"n_initial": 7}, 0.71, 0.70, 4, 8) for entry in candidates]

    class Judge:
        def confirm(self, candidate, repeats):
            return scored(0, 0.71, 8.0).evaluation

        def know(self, candidate):
            pass

    run = RunDirectory.create(tmp_path / "run", {})
    settings = Settings(own_compute_ms=aim_ms, parents=1, hpo_trials=4)
    entry = scored(0, 0.70, 1.0)
    history = History({"0000": entry})
    ledger = Ledger(run, settings.budgets)
    scheme = lean(make_selection("plus"), aim_ms)
    tune_survivors(run, settings, history, scheme, Judge(), Tuner(), ledger, 0, lambda event: None)
    (tuning,) = run.tunings().values()
    assert tuning.gain == pytest.approx(0.01)
    assert (history["0000"].candidate.hyperparameters == {"n_initial": 7}) == bool(tuning.hyperparameters) == kept
