"""What is known of a space reaches strategies in our own runs, and what is kept of them says so."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from kernel_tuner.interface import strategy_map
from test_matching import ELSEWHERE, HERE

import llamea_tune
from llamea_tune._registry import Registry
from llamea_tune.evolution.provenance import export_request
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.exceptions import PriorError, RunDirectoryError
from llamea_tune.execution import LocalExecutor, NamedStrategy, Run, SandboxedCandidate
from llamea_tune.priors import PRIORS, resolved, with_priors
from llamea_tune.runners import RunBudget
from llamea_tune.sandbox.sandboxed import Limits
from llamea_tune.scoring.results_store import runs_key
from llamea_tune.spaces.prior import Prior
from llamea_tune.strategies import register_folder
from llamea_tune.testing.cache_files import write_cache
from llamea_tune.testing.synthetic_spaces import on_another_device, synthetic_space

SMALL = {"block_size_x": (16, 32, 64, 128), "tile": (1, 2, 4), "unroll": (False, True), "order": ("ij", "ji", "tiled")}
CODE = '''
from kernel_tuner.strategies.wrapper import OptAlg


class Reader(OptAlg):
    """Measures configs in the order of the prior."""

    def __call__(self, func, searchspace):
        mean, sd = func.prior_mean, func.prior_sd
        assert (mean is None) == (sd is None)
        order = range(searchspace.size) if mean is None else (mean + 0.0 * sd).argsort()
        for number in order:
            func(searchspace.list[number])
'''
READER = SandboxedCandidate(CODE, "Reader")


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """The same, exported, as a named strategy."""
    from llamea_tune.candidate import Candidate
    from llamea_tune.exporting import ExportRequest, export_strategy

    before = dict(strategy_map)
    candidate = Candidate("0001", "Reader", CODE, "Reads a prior.", "test", "initial", 0)
    export_strategy(ExportRequest("prior_reader", candidate, "2026-01-01"), tmp_path / "own")
    register_folder(tmp_path / "own")
    yield NamedStrategy("prior_reader", "prior_reader")
    strategy_map.clear()
    strategy_map.update(before)


@pytest.fixture
def caches(tmp_path):
    folder = tmp_path / "synthetic"
    folder.mkdir()
    first = synthetic_space(1, tune_params=SMALL, kept=1.0)
    for seed, device in enumerate(("A100", "H100", "MI250X")):
        write_cache(on_another_device(first, seed, device_name=device), folder / f"{device}.json")
    return folder


def known():
    return with_priors([HERE, *ELSEWHERE], ["others"], seed=1)[0]


def measured(space, contender, n=12):
    with LocalExecutor([space]) as executor:
        ((_, result),) = executor.each([Run(contender, 0, 5, RunBudget(max_fevals=n))])
    assert result.state.scorable, result.reason
    return result.trace.indices.tolist()


def test_candidates_and_named_strategies_see_the_arrays_in_the_order_of_the_space(reader):
    space = known()
    order = np.argsort(space.prior.mean, kind="stable")[:12].tolist()
    assert measured(space, READER) == measured(space, reader) == order
    assert measured(HERE, READER) == measured(HERE, reader) == list(range(12))


def test_one_run_cannot_change_the_prior_of_the_next(reader):
    vandal = SandboxedCandidate(CODE.replace("assert", "mean[:] = -mean; assert"), "Reader")
    space = known()
    with LocalExecutor([space]) as executor:
        runs = [Run(each, 0, 5, RunBudget(max_fevals=3)) for each in (vandal, READER, reader)]
        results = {id(run.contender): result.trace.indices.tolist() for run, result in executor.each(runs)}
    first = np.argsort(space.prior.mean, kind="stable")[:3].tolist()
    assert results[id(READER)] == results[id(reader)] == first != results[id(vandal)]


def test_kernel_tuners_own_begin_at_the_best_expected_config():
    space = known()
    assert measured(space, NamedStrategy("pso", "pso"))[0] == int(np.argmin(space.prior.mean))
    assert measured(HERE, NamedStrategy("pso", "pso"))[0] != int(np.argmin(space.prior.mean))
    assert len(measured(space, NamedStrategy("random_sample", "random_sample"))) == 12


def test_a_prior_that_knows_nothing_of_any_config_is_no_obstacle(reader):
    nothing = np.full(HERE.size, np.nan)
    space = replace(HERE, prior=Prior(nothing, nothing, "nothing"))
    assert len(measured(space, reader)) == len(measured(space, NamedStrategy("pso", "pso"))) == 12


def test_kept_runs_depend_on_the_prior():
    space = known()

    def key(space):
        return runs_key(NamedStrategy("pso", "pso"), space, seed=1, limits=Limits())

    other = replace(space, prior=replace(space.prior, sd=space.prior.sd + 1e-9))
    renamed = replace(space, prior=replace(space.prior, told="told otherwise"))
    assert len({key(space), key(HERE), key(other)}) == 3
    assert key(space) == key(renamed)


def test_shuffled_and_inverted_are_the_same_numbers_and_repeat():
    spaces = [HERE, *ELSEWHERE]
    others = known().prior
    for kind in ("shuffled", "inverted"):
        one, again, third = (with_priors(spaces, [kind], seed=seed)[0].prior for seed in (1, 1, 2))
        assert one.fingerprint == again.fingerprint != others.fingerprint
        assert (one.fingerprint == third.fingerprint) == (kind == "inverted")
        assert one.told == f"{others.told}; {kind}"
    np.testing.assert_array_equal(with_priors(spaces, ["inverted"], seed=1)[0].prior.mean, -others.mean)
    shuffled = with_priors(spaces, ["shuffled"], seed=1)[0].prior
    assert sorted(shuffled.mean) == sorted(others.mean)
    assert abs(np.corrcoef(shuffled.mean, others.mean)[0, 1]) < 0.2


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        (["otherz"], "'otherz' is neither a file nor known; choose one of advice, inverted, others"),
        ([""], "'' is neither a file nor known"),
        (["advice"], "tells nothing of any of the spaces"),
    ],
)
def test_what_cannot_be_is_one_sentence(prior, sentence):
    with pytest.raises(PriorError, match=sentence):
        with_priors([HERE, *ELSEWHERE], prior, seed=1)


def test_none_changes_nothing():
    assert with_priors([HERE], ["none"], seed=1) == with_priors([HERE], [], seed=1) == [HERE]
    assert resolved(["none"]) == resolved("none") == ()


def test_a_name_may_stand_without_a_list():
    spaces = [HERE, *ELSEWHERE]
    assert with_priors(spaces, "others", seed=1)[0].prior.fingerprint == known().prior.fingerprint
    assert resolved("others") == ("others",)


def test_a_prior_of_another_space_is_refused(monkeypatch):
    monkeypatch.setattr(type(PRIORS), "load", lambda *_: lambda *_: Prior(np.zeros(3), np.ones(3), "three"))
    with pytest.raises(PriorError, match=f"3 numbers for {HERE.size:,} configs"):
        with_priors([HERE], ["others"], seed=1)


def test_every_named_prior_is_in_the_registry():
    assert isinstance(PRIORS, Registry)
    assert {"others", "advice", "shuffled", "inverted"} <= set(PRIORS)


TOLD = "synthetic/A100: 2 recordings of synthetic: H100, MI250X; 72 of 72 configs known"


def test_the_benchmark_command_tells_what_is_known(caches, tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    program = "import sys; from llamea_tune.cli import main; sys.exit(main())"
    asked = ("mine.py:Reader", "--spaces", str(caches), "-n", "1", "-j", "1", "--baseline", "published", "--json")
    done = subprocess.run(
        [sys.executable, "-c", program, "benchmark", *asked, "--prior", "others", "--prior", "none", "--prior", "no*"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    outcome = json.loads(done.stdout)
    assert TOLD in done.stderr
    assert done.stderr.count("warning: left out of the prior: no* matches no") == 1
    assert "PriorWarning" not in done.stderr
    assert TOLD.endswith(outcome["spaces"][0]["prior"])


def test_a_benchmark_knows_better_with_others(caches, reader):
    settings = {"repeats": 1, "jobs": 1, "baseline": "published"}
    scores = {
        prior: llamea_tune.benchmark(reader, str(caches), prior=[prior], **settings).rows[0].card.mean
        for prior in ("none", "others", "inverted")
    }
    assert scores["others"] > max(scores["none"], scores["inverted"])


def test_evolve_with_others_and_resume(caches, tmp_path):
    told = []
    settings = {"max_candidates": 1, "parents": 1, "offspring": 1, "repeats": 1, "confirm_repeats": 1}
    llamea_tune.evolve(
        str(caches), run=tmp_path / "run", prior=("others",), jobs=1, baseline="published", final_repeats=1,
        final_strategies=("random_sample",), observe=lambda event: told.extend(getattr(event, "told", ())), **settings,
    )  # fmt: skip
    assert told[0] == TOLD
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    assert header["settings"]["prior"] == ["others"]
    assert all(len(space["prior"]) == 64 for space in header["spaces"])
    board = llamea_tune.resume(tmp_path / "run", max_candidates=2, jobs=1)
    note = export_request(RunDirectory.open_existing(tmp_path / "run"), "any", date="", note="Mine.").note
    assert note == "Mine. Trained knowing beforehand: others."
    assert board.run == tmp_path / "run"
    cache = (caches / "A100.json").read_bytes()
    write_cache(
        on_another_device(synthetic_space(1, tune_params=SMALL, kept=1.0), 9, device_name="A100"), caches / "A100.json"
    )
    with pytest.raises(RunDirectoryError, match=r"A100.json has changed since"):
        llamea_tune.resume(tmp_path / "run", jobs=1)
    (caches / "A100.json").write_bytes(cache)
    for space in header["spaces"]:
        space["prior"] = "0" * 64
    (tmp_path / "run" / "run.json").write_text(json.dumps(header))
    with pytest.raises(RunDirectoryError, match="what is known beforehand of synthetic/A100 has changed"):
        llamea_tune.resume(tmp_path / "run", jobs=1)


def test_tune_remembers_the_prior(caches, tmp_path, monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        CODE.replace("    def __call__", "    def __init__(self, k=2):\n        self.k = k\n\n    def __call__")
    )
    settings = {"trials": 1, "repeats": 1, "final_repeats": 1, "jobs": 1, "baseline": "published", "study": "study"}
    tuned = llamea_tune.tune("mine.py:Reader", str(caches), prior=["others"], **settings)
    assert all(space.prior is not None for space in tuned.spaces)
    with pytest.raises(RunDirectoryError, match=r"other settings \(spaces\)"):
        llamea_tune.tune("mine.py:Reader", str(caches), **settings)
