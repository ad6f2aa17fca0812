"""Every optimizer of another library, behind the same front door as Kernel Tuner's own strategies."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from llamea_tune.exceptions import MissingDependencyError, StrategyError
from llamea_tune.execution import NamedStrategy, Run
from llamea_tune.execution.named import PreparedSpace, find_strategy, run_named
from llamea_tune.runners import RunBudget, RunState
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.space import FailureKind
from llamea_tune.strategies import catalog, resolve
from llamea_tune.strategies.outside import LIBRARIES
from llamea_tune.testing.synthetic_spaces import synthetic_space

PARAMS = {"a": (1, 2, 4, 8), "b": ("x", "y", "z"), "c": (False, True), "d": (0.5, 1.0, 2.0)}
SPACE = synthetic_space(1, tune_params=PARAMS, kept=0.4, failing=0.15, higher_is_better=True)
TINY = synthetic_space(2, tune_params={"a": (1, 2, 4), "b": ("x", "y")}, kept=0.7, failing=0.3)
MOST = {"smac:rf": 3}  # it takes its time
NEEDED = {"optuna:gp": "torch", "optuna:cmaes": "cmaes"}  # besides the library


def _skipped_where_missing(name):
    modules = (LIBRARIES.load(name.partition(":")[0]).module, NEEDED.get(name, "numpy"))
    missing = [module for module in modules if find_spec(module) is None]
    return pytest.param(name, marks=pytest.mark.skipif(bool(missing), reason=f"{name} needs {', '.join(missing)}"))


NAMES = [f"{prefix}:{optimizer}" for prefix in sorted(LIBRARIES) for optimizer in LIBRARIES.load(prefix).optimizers]
OPTIMIZERS = [_skipped_where_missing(name) for name in NAMES]
BRIDGED = [parameter for parameter in OPTIMIZERS if resolve(parameter.values[0]).options]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """As in the workers of an executor."""
    with threadpool_limits(1):
        yield


def made(space, name, most, **options):
    return run_named(PreparedSpace(space), Run(NamedStrategy("x", name, options), 0, 3, RunBudget(max_fevals=most)))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_runs_repeat_and_say_nothing(name, capfd):
    """Where configs fail, costs are negative, and texts and truth values have no order."""
    most = MOST.get(name, 12)
    options = {"patience": 2} if resolve(name).options else {}
    one, other = (made(SPACE, name, most, **options) for _ in range(2))
    assert one.state.scorable, one.reason
    assert 1 < one.counts.paid <= most
    assert one.counts.invalid == 0
    np.testing.assert_array_equal(one.trace.indices, other.trace.indices)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", BRIDGED)
def test_asks_outside_of_the_space_may_be_refused(name):
    most = MOST.get(name, 12)
    result = made(SPACE, name, most, outside="refused", patience=2)
    assert result.state is RunState.BUDGET_SPENT, result.reason
    assert (result.counts.paid, result.counts.invalid) == (most, 0)


@pytest.mark.parametrize("name", BRIDGED)
def test_a_space_in_which_all_fails_is_searched_too(name):
    failures = np.full(TINY.size, FailureKind.RUNTIME, dtype=np.uint8)
    result = made(replace(TINY, costs=np.full(TINY.size, np.nan), failures=failures), name, TINY.size)
    assert result.state.scorable, result.reason
    assert result.counts.failed == result.counts.paid > 1


@pytest.mark.parametrize("name", BRIDGED)
def test_a_space_of_one_parameter_is_searched_too(name):
    """By optimizers that want two dimensions, too."""
    space = synthetic_space(0, tune_params={"a": tuple(range(1, 13))})
    result = made(space, name, MOST.get(name, 6), patience=2)
    assert result.state is RunState.BUDGET_SPENT, result.reason


@pytest.mark.parametrize("name", BRIDGED)
def test_a_prior_is_where_to_begin(name):
    mean = np.arange(SPACE.size, 0.0, -1.0)
    result = made(replace(SPACE, prior=Prior(mean, np.ones(SPACE.size), "a test")), name, 3, patience=2)
    assert result.state is RunState.BUDGET_SPENT, result.reason
    assert result.trace.indices[0] == SPACE.size - 1


@pytest.mark.slow
def test_runs_repeat_in_processes_that_hash_texts_differently():
    """SMAC3 goes through sets."""
    pytest.importorskip("smac")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ONE_RUN],
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    one, other = (process.communicate(timeout=120)[0] for process in started)
    assert len(one.split()) == 6
    assert one == other


ONE_RUN = """
from llamea_tune.execution import NamedStrategy, Run
from llamea_tune.execution.named import PreparedSpace, run_named
from llamea_tune.runners import RunBudget
from llamea_tune.testing.synthetic_spaces import synthetic_space

space = PreparedSpace(synthetic_space(0, kept=0.3))
result = run_named(space, Run(NamedStrategy("x", "smac:rf", {"patience": 2}), 0, 3, RunBudget(max_fevals=6)))
print(*result.trace.indices)
"""


@pytest.mark.parametrize("prefix", ["nevergrad", "optuna", "smac"])
def test_a_missing_library_is_named_with_what_installs_it(prefix, monkeypatch):
    monkeypatch.setitem(sys.modules, prefix, None)
    (optimizer, *_) = LIBRARIES.load(prefix).optimizers
    with pytest.raises(MissingDependencyError, match=rf"pip install 'llamea-tune\[{prefix}\]'"):
        find_strategy(f"{prefix}:{optimizer}")


@pytest.mark.parametrize(("name", "module"), NEEDED.items())
def test_what_a_sampler_needs_besides_is_named(name, module, monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=f"needs {module} .*pip install {module}"):
        find_strategy(name)


def test_an_optuna_that_is_too_old_is_named(monkeypatch):
    optuna = pytest.importorskip("optuna")
    for kind in (optuna.Trial, optuna.trial.BaseTrial):
        monkeypatch.delattr(kind, "set_constraint")  # which came with 5.0
    with pytest.raises(MissingDependencyError, match=r"too old .*pip install 'llamea-tune\[optuna\]'"):
        find_strategy("optuna:tpe")


@pytest.mark.parametrize("name", ["optuna:annealing", "smac:gp", "nevergrad:NGOptt", "nobody:tpe"])
def test_unknown_optimizers_are_refused(name):
    if name.startswith("nevergrad"):
        pytest.importorskip("nevergrad")
    for find in (resolve, find_strategy):
        with pytest.raises(StrategyError, match=r"unknown|no strategy"):
            find(name)


def test_lists_hold_those_of_libraries_that_are_installed(monkeypatch):
    listed = {info.name for info in catalog()}
    for prefix in LIBRARIES:
        library = LIBRARIES.load(prefix)
        names = {f"{prefix}:{optimizer}" for optimizer in library.optimizers}
        assert names <= listed if library.installed else not names & listed


@pytest.mark.parametrize("name", ["Portfolio", "ScrHammersleySearch"])
def test_a_design_of_experiments_ends_after_as_many_asks_as_were_planned(name):
    pytest.importorskip("nevergrad")
    result = made(SPACE, f"nevergrad:{name}", 10)
    assert result.state is RunState.FINISHED, result.reason
    assert 1 < result.counts.paid < 10  # some of the asks were for what was measured before


def test_nevergrad_has_more_than_are_listed():
    pytest.importorskip("nevergrad")
    assert resolve("nevergrad:DiscreteBSOOnePlusOne").library.title == "Nevergrad"


def test_a_library_that_is_there_but_cannot_be_imported_is_one_sentence(tmp_path):
    (tmp_path / "smac.py").write_text("")  # a version without what is needed of it
    (tmp_path / "ConfigSpace.py").write_text("Configuration = object\n")
    finished = subprocess.run(
        [sys.executable, "-m", "llamea_tune", "benchmark", "smac:rf", "--repeats", "1", "--spaces", "nbody"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "LLAMEA_TUNE_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode != 0
    assert "SMAC3 cannot be imported" in finished.stderr + finished.stdout
    assert "Traceback" not in finished.stderr + finished.stdout
