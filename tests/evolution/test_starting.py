"""Runs that start from programs that are there already."""

from __future__ import annotations

import pytest
from test_briefing import SETTINGS, Author, spaces

import llamea_tune
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.starting import starting_proposals
from llamea_tune.exceptions import SettingsError, StrategyError
from llamea_tune.proposals import LLMProposer
from llamea_tune.testing.proposer_contract import OTHER_EXAMPLE_CODE


@pytest.mark.parametrize("steady_state", [False, True], ids=["generations", "steady state"])
def test_a_run_starts_from_a_class_in_a_file_whose_source_is_a_parent_later(steady_state, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OTHER_EXAMPLE_CODE)
    author = Author()
    settings = {**SETTINGS, "max_candidates": 9, "offspring": 3, "parents": 3, "start_from": (f"{file}:SpreadSample",)}
    settings["steady_state"] = steady_state
    llamea_tune.evolve(spaces(), LLMProposer(author), run=tmp_path / "run", jobs=2, **settings)
    judged = RunDirectory.open_existing(tmp_path / "run").candidates()
    first = judged["0000"].candidate
    assert (first.operator, first.code, first.proposer) == ("start", OTHER_EXAMPLE_CODE, f"start:{file}:SpreadSample")
    assert not any(key.startswith("g000-00") for key in author.prompts)
    assert any("0000 (start): fitness" in prompt.user for prompt in author.prompts.values())
    children = [entry.candidate for entry in judged.values() if "0000" in entry.candidate.parents]
    assert all(OTHER_EXAMPLE_CODE.strip() in author.prompts[key].user for key in _keys(author, children))


def _keys(author, candidates):
    return [
        key
        for key in author.prompts
        for made in candidates
        if key.startswith(f"g{made.generation:03d}-{int(made.id) % 3:02d}")
    ]


def test_a_bundled_strategy_is_started_from_as_it_is_exported():
    (proposal,) = starting_proposals(["llm_gen_best"])
    assert "class ThriftyGaussianProcess(OptAlg)" in proposal.code
    assert "_options" not in proposal.code
    assert proposal.description


@pytest.mark.parametrize("name", ["hybrid_vndx", "genetic_algorithm"])
def test_kernel_tuners_own_are_no_optalg_classes(name):
    with pytest.raises(SettingsError, match=r"name an exported strategy \(.*llm_gen_best.*\) or a class in a file"):
        starting_proposals([name])


def test_what_is_not_there_is_refused():
    with pytest.raises(StrategyError, match="no strategy file"):
        starting_proposals(["nowhere.py:Mine"])
    with pytest.raises(SettingsError, match="start_from names 2 programs"):
        Settings(offspring=1, start_from=("a", "b"))
