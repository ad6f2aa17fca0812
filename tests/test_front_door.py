"""The functions that notebooks call: with objects and names, to the outcome that the commands have."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest
from kernel_tuner.interface import strategy_map

import llamea_tune
from llamea_tune.cli.app import with_options
from llamea_tune.evolution.events import CandidateJudged, RunStarted
from llamea_tune.exceptions import ExportError, SettingsError, SpaceFileError
from llamea_tune.execution import Limits, NamedStrategy, SandboxedCandidate
from llamea_tune.hpo import TrialDone
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.proposals import Proposal, ProposalTask
from llamea_tune.testing.cache_files import simulate, write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

PAGE = Path(__file__).parent.parent / "docs" / "python.md"
SMALL = {"block_size_x": (16, 32, 64, 128), "tile": (1, 2, 4), "unroll": (False, True)}
QUICK = {
    **{"parents": 2, "offspring": 2, "repeats": 2, "confirm_repeats": 2, "final_repeats": 2},
    "final_strategies": ("random_sample",),
}
CODE = '''
from kernel_tuner.strategies.wrapper import OptAlg


class Sampler(OptAlg):
    """Samples at random."""

    def __init__(self, batch=2):
        super().__init__()
        self.batch = batch

    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1:
            for config in searchspace.get_random_sample(self.batch):
                func(config)
'''


class Batches:
    """A proposer of one's own, which counts what it is asked."""

    name = "batches"

    def __init__(self) -> None:
        self.tasks: list[ProposalTask] = []
        self._lock = threading.Lock()

    def propose(self, task: ProposalTask) -> Proposal:
        with self._lock:
            self.tasks.append(task)
        batch = 1 + task.seed % 1000
        return Proposal("Sampler", CODE.replace("batch=2", f"batch={batch}"), f"Samples {batch} at a time.", self.name)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with small caches, own strategies and kept runs in it, and Kernel Tuner's strategies put back after."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLAMEA_TUNE_STRATEGIES", str(tmp_path / "own"))
    monkeypatch.setenv("LLAMEA_TUNE_CACHE", str(tmp_path / "kept"))
    (tmp_path / "caches").mkdir()
    for seed, name in enumerate(("one", "two")):
        write_cache(synthetic_space(seed, tune_params=SMALL, kept=1.0), tmp_path / "caches" / f"{name}.json")
    before = dict(strategy_map)
    yield tmp_path
    strategy_map.clear()
    strategy_map.update(before)


def test_a_proposer_of_ones_own_evolves_resumes_and_its_winner_is_used_by_name(place, capsys):
    proposer, events = Batches(), []
    spaces = llamea_tune.load_spaces(["caches/"])
    board = llamea_tune.evolve(
        spaces, proposer, run="runs/mine", max_candidates=2, jobs=2, observe=events.append, **QUICK
    )
    assert board.run == Path("runs/mine") and board.n_candidates == 2
    assert board.winner is not None and {row.label for row in board.rows} >= {"random_sample"}
    assert proposer.tasks[0].spaces and "block_size_x" in proposer.tasks[0].spaces[0]
    started = events[0]
    assert (
        isinstance(started, RunStarted)
        and started.n_judged == 0
        and started.spaces == tuple(space.name for space in spaces)
    )
    assert sum(isinstance(event, CandidateJudged) for event in events) == 2
    header = json.loads(Path("runs/mine/run.json").read_text())
    assert header["settings"]["proposer"] == "batches" and header["prompts_hash"] is None

    with pytest.raises(SettingsError, match=r"a proposer of your own, 'batches'; .*hand it over again"):
        llamea_tune.resume("runs/mine", max_candidates=4)
    assert json.loads(Path("runs/mine/run.json").read_text()) == header
    with pytest.raises(SettingsError, match="takes no options"):
        llamea_tune.resume("runs/mine", proposer, llm=LLMOptions(max_retries=1))
    other = Batches()
    other.name = "others"
    with pytest.raises(SettingsError, match="with the proposer 'batches', not 'others'"):
        llamea_tune.resume("runs/mine", other)
    longer = llamea_tune.resume("runs/mine", proposer, max_candidates=4, jobs=2)
    assert longer.n_candidates == 4 and len(proposer.tasks) == 4
    at_once = llamea_tune.evolve("caches/", Batches(), run="runs/other", max_candidates=4, jobs=2, **QUICK)
    assert at_once == longer

    exported = llamea_tune.export(longer.run, "my_sampler")
    assert exported.code_path == place / "own" / "my_sampler.py" and exported.record.proposer == "batches"
    with pytest.raises(ExportError, match="replace it with force=True"):
        llamea_tune.export(longer.run, "my_sampler")
    space = synthetic_space(0, tune_params=SMALL, kept=1.0)
    assert simulate("my_sampler", space, place / "caches" / "one.json")
    assert capsys.readouterr().out == ""


def test_spaces_handed_over_need_not_lie_on_disk():
    space = synthetic_space(5, tune_params=SMALL, kept=1.0)
    llamea_tune.evolve(space, "offline", run="runs/mine", max_candidates=2, jobs=1, **QUICK)
    with pytest.raises(SpaceFileError):
        llamea_tune.resume("runs/mine")
    board = llamea_tune.resume("runs/mine", spaces=[space], max_candidates=3, jobs=1)
    assert board.n_candidates == 3


def test_strategies_by_name_in_a_file_and_as_objects_are_compared(capsys):
    Path("mine.py").write_text(CODE)
    events = []
    options = {"repeats": 3, "baseline": "published", "jobs": 2}
    named = ["random_sample", "mine.py:Sampler"]
    outcome = llamea_tune.benchmark(named, "caches/one.json", observe=events.append, **options)
    assert {row.card.label for row in outcome.rows} == set(named)
    assert all(row.card.mean is not None for row in outcome.rows)
    objects = [
        NamedStrategy("random_sample", "random_sample"),
        SandboxedCandidate(CODE, "Sampler", label="mine.py:Sampler"),
    ]
    spaces = llamea_tune.load_spaces(["caches/one.json"])
    again = llamea_tune.benchmark(objects, spaces, **options)
    assert [row.card for row in again.rows] == [row.card for row in outcome.rows]
    assert events and capsys.readouterr().out == ""


def test_a_named_strategy_is_tuned_and_a_class_in_a_file_exported_with_what_was_better():
    pytest.importorskip("optuna")
    Path("mine.py").write_text(CODE)
    quick = {"trials": 2, "repeats": 2, "final_repeats": 2, "baseline": "published", "jobs": 1}
    events = []
    tuned = llamea_tune.tune("pso", "caches/one.json", study="studies/pso", observe=events.append, **quick)
    assert len(tuned.study.trials) == 2 and (Path("studies/pso") / "journal.log").is_file()
    assert sum(isinstance(event, TrialDone) for event in events) == 2
    with pytest.raises(ExportError, match="pso is not one of llamea-tune's strategies"):
        llamea_tune.export(tuned, "my_pso")
    ranges = {"batch": {"type": "int", "low": 1, "high": 4}}
    tuned = llamea_tune.tune(
        SandboxedCandidate(CODE, "Sampler"), "caches/one.json", ranges=ranges, study="studies/s", **quick
    )
    exported = llamea_tune.export(tuned, "tuned_sampler", folder="exported")
    assert exported.code_path == Path("exported/tuned_sampler.py")
    assert exported.record.hyperparameters["batch"].tuned == bool(tuned.better)


@pytest.mark.parametrize(
    ("settings", "message", "on_the_command_line"),
    [
        ({"max_candidates": 0}, "max_candidates is 0; it must be at least 1.", "--max-candidates is 0"),
        ({"llm": LLMOptions(timeout_s=0.0)}, "llm.timeout_s is 0; it must be", "--llm-timeout is 0; it must be"),
        ({"selection": "offspring"}, "selection is 'offspring'; choose", "--selection is 'offspring'; choose"),
    ],
)
def test_errors_name_fields_and_the_command_line_options(settings, message, on_the_command_line):
    with pytest.raises(SettingsError) as caught:
        llamea_tune.evolve("caches/", **settings)
    assert str(caught.value).startswith(message)
    assert with_options(caught.value).startswith(on_the_command_line)
    assert not Path("runs").exists()


def test_a_time_limit_is_called_timeout_on_the_command_line():
    with pytest.raises(SettingsError, match=r"^wall_s is 0; ") as caught:
        Limits(wall_s=0.0)
    assert with_options(caught.value) == "--timeout is 0; it must be a number of seconds above 0."


def test_what_cannot_be_used_leaves_no_run_behind():
    for spaces, proposer, kind in (("nowhere/", "offline", SpaceFileError), ("caches/", "no-such:thing", Exception)):
        with pytest.raises(kind):
            llamea_tune.evolve(spaces, proposer)
    with pytest.raises(TypeError, match="max_candidate"):
        llamea_tune.evolve("caches/", max_candidate=3)
    assert not Path("runs").exists()


def test_bundled_spaces_go_by_their_names():
    from llamea_tune.front_door import opened_spaces

    with opened_spaces("hotspot") as spaces:
        assert spaces and all(space.name.startswith("hotspot/") for space in spaces)


def test_the_page_runs(capsys):
    pytest.importorskip("optuna")
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    namespace: dict[str, object] = {}
    exec(block, namespace)
    assert "my_restarts" in capsys.readouterr().out
    assert "my_restarts" in strategy_map
