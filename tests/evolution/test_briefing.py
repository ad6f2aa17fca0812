"""What a run tells its proposer: evidence, memory, and to each something of its own."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import llamea_tune
from llamea_tune.evolution.history import History
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.llm import Completion
from llamea_tune.llm.exchanges import without_times
from llamea_tune.proposals import LLMProposer
from llamea_tune.proposals.directions import kinds
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE
from llamea_tune.testing.synthetic_spaces import synthetic_space

SMALL = {"block_size_x": (16, 32, 64, 128), "tile": (1, 2, 4), "unroll": (False, True), "order": ("ij", "ji", "tiled")}
SETTINGS = {
    **{"max_candidates": 14, "offspring": 5, "parents": 2, "seed": 4, "repeats": 3, "confirm_repeats": 2},
    **{"final_repeats": 2, "final_candidates": 1, "final_strategies": (), "reference_strategies": ("random_sample",)},
}


class Author:
    """A language model that writes another program for each prompt, and a broken one now and then."""

    name = "author"

    def __init__(self):
        self.prompts = {}

    def complete(self, prompt):
        assert prompt.key not in self.prompts
        self.prompts[prompt.key] = prompt
        number = 2 + 17 * int(prompt.key[1:4]) + int(prompt.key[5:7])
        code = EXAMPLE_CODE.replace("n_initial=10", f"n_initial={number}")
        if number % 4 == 0:
            code = code.replace("costs = {}", "costs = {}['nothing']")
        return Completion(f"Description: Begins with {number}.\n```python\n{code}```", self.name)


def spaces():
    made = (synthetic_space(seed, tune_params=SMALL, kept=1.0) for seed in (1, 2))
    return [replace(space, name=name) for space, name in zip(made, ("convolution/A", "gemm/B"), strict=True)]


def evolved(path, **settings):
    author = Author()
    llamea_tune.evolve(spaces(), LLMProposer(author), run=path, jobs=2, **{**SETTINGS, **settings})
    return author.prompts


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "finished"
    return run, evolved(run)


def test_no_two_prompts_of_a_run_are_the_same(finished):
    _, prompts = finished
    assert len(prompts) >= 14
    assert len({prompt.user for prompt in prompts.values()}) == len(prompts)


def test_the_first_generation_is_asked_for_different_kinds(finished):
    _, prompts = finished
    asked = {kind for kind in kinds() for key, prompt in prompts.items() if f"main mechanism: {kind}" in _job(prompt)}
    first = [key for key in prompts if key.startswith("g000")]
    assert len(asked) >= len(first) == 5


def _job(prompt):
    return prompt.user[prompt.user.index("# Your task") :]


def test_prompts_show_scores_over_time_beside_a_named_strategy_and_facts(finished):
    run, prompts = finished
    mutations = [prompt.user for key, prompt in prompts.items() if key.endswith("mutate")]
    assert mutations
    for user in mutations:
        assert re.search(r"\| convolution/A \| this program( \| -?\d\.\d\d){11} \|", user)
        assert re.search(r"\|  \| random_sample( \| -?\d\.\d\d){11} \|", user)
        assert "What the fitness lacks to 1, by space: " in user
        assert "Hyperparameters are not tuned in this run" in user
        assert "measurements that random_sample paid for" in user
        assert "more than 60 s ends without a score" in user
    for record in json.loads((run / "references.json").read_text()).values():
        assert set(record) == {"convolution/A", "gemm/B"}


def test_an_optimizer_of_another_library_is_a_reference(tmp_path):
    pytest.importorskip("optuna")
    prompts = evolved(tmp_path / "run", max_candidates=7, reference_strategies=("optuna:tpe",))
    assert set(json.loads((tmp_path / "run" / "references.json").read_text())) == {"optuna:tpe"}
    (user, *_) = (prompt.user for key, prompt in prompts.items() if key.endswith("mutate"))
    assert re.search(r"\|  \| optuna:tpe( \| -?\d\.\d\d){11} \|", user)


def test_prompts_tell_what_became_of_relatives(finished):
    run, prompts = finished
    judged = RunDirectory.open_existing(run).candidates()
    later = [prompt.user for key, prompt in prompts.items() if key.startswith("g002") and "diversify" not in key]
    children = [entry.candidate for entry in judged.values() if entry.candidate.generation == 1]
    assert any(child.parents for child in children)
    for user in later:
        for child in children:
            if child.parents:
                assert f"{child.id} ({child.operator} of {' and '.join(child.parents)}): " in user
    text = "".join(later)
    assert "on the same seeds" in text
    assert "no score: " in text
    assert "Lines it brought, without gain: `def __init__(self, n_initial=" in text


def test_what_was_asked_is_kept_with_the_candidate(finished):
    run, _ = finished
    judged = RunDirectory.open_existing(run).candidates().values()
    assert all(entry.candidate.direction for entry in judged if entry.candidate.operator == "initial")


def test_evidence_is_read_back_as_it_was_written(finished):
    run, _ = finished
    directory = RunDirectory.open_existing(run)
    scored = History(directory.candidates(), directory.confirmations()).scored()
    assert scored
    for entry in scored:
        assert set(entry.evaluation.behaviour) == {"convolution/A", "gemm/B"}
        for space, of in entry.evaluation.behaviour.items():
            assert sum(of.tenths) / 10 == pytest.approx(entry.evaluation.scores[space], abs=1e-3)


def test_a_run_that_is_resumed_asks_the_same(finished, tmp_path):
    run, prompts = finished
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "candidates").mkdir()
    (cut / "run.json").write_text((run / "run.json").read_text())
    lines = (run / "candidates.jsonl").read_text().splitlines(keepends=True)
    generations = [json.loads(line).get("candidate", {}).get("generation", -1) for line in lines]
    (cut / "candidates.jsonl").write_text("".join(lines[: generations.index(2) + 1]))
    author = Author()
    llamea_tune.resume(cut, LLMProposer(author), spaces=spaces(), jobs=2)
    assert author.prompts
    for key, prompt in author.prompts.items():
        assert without_times(prompt.user) == without_times(prompts[key].user)


def test_a_steady_run_that_is_resumed_asks_what_was_planned_before_the_same(tmp_path):
    run = tmp_path / "steady"
    steady = {"steady_state": True, "asked_at_once": 3, "max_candidates": 10}
    prompts = evolved(run, **steady)
    lines = (run / "candidates.jsonl").read_text().splitlines(keepends=True)
    planned = [number for number, line in enumerate(lines) if json.loads(line)["kind"] == "planned"]
    compared = set()
    for last in (planned[4], planned[-1]):
        cut = tmp_path / f"cut_{last}"
        (cut / "candidates").mkdir(parents=True)
        (cut / "run.json").write_text((run / "run.json").read_text())
        (cut / "candidates.jsonl").write_text("".join(lines[: last + 1]))
        directory = RunDirectory.open_existing(cut)
        waiting = {
            f"g{int(key) // 5:03d}-{int(key) % 5:02d}" for key in directory.planned().keys() - directory.candidates()
        }
        author = Author()
        llamea_tune.resume(cut, LLMProposer(author), spaces=spaces(), jobs=2)
        asked_again = {key: prompt for key, prompt in author.prompts.items() if key[:7] in waiting and key in prompts}
        assert {key[:7] for key in asked_again} == waiting and len(waiting) > 1
        for key, prompt in asked_again.items():
            assert without_times(prompt.user) == without_times(prompts[key].user)
        compared |= asked_again.keys()
    assert any("proposal 3 of 3" in prompts[key].user for key in compared)
    assert len({prompt.user for prompt in prompts.values()}) == len(prompts)


def test_hidden_names_are_in_no_prompt(tmp_path):
    prompts = evolved(tmp_path / "hidden", information="hidden", max_candidates=7)
    for prompt in prompts.values():
        for name in ("convolution/A", "gemm/B", "block_size_x", "tiled", "synthetic"):
            assert name not in prompt.user, name
        assert "## space 1\n" in prompt.user


def test_prompts_fit_into_their_window(tmp_path):
    prompts = evolved(tmp_path / "small", context_tokens=5_000, max_candidates=10)
    assert any("Parent" in prompt.user for prompt in prompts.values())
    for prompt in prompts.values():
        assert (len(prompt.system) + len(prompt.user)) / 3 <= 5_000
        assert "# Answer format" in prompt.user
