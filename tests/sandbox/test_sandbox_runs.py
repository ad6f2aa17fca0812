"""What the sandbox promises to those who run honest candidates in it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import EVOLVER
from gauntlet import same_trace
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from llamea_tune.exceptions import SandboxError
from llamea_tune.runners import CachedRunner, Meter, RunBudget, RunState
from llamea_tune.runners.strategy_run import run_strategy
from llamea_tune.sandbox import Limits, Sandbox, SandboxedCandidate
from llamea_tune.sandbox.generators import own_generators
from llamea_tune.spaces.searchspace import build_searchspace
from llamea_tune.spaces.space import Space
from llamea_tune.testing.processes import alive, children_of, wait_until
from llamea_tune.testing.synthetic_spaces import synthetic_space

HEAD = "from kernel_tuner.strategies.wrapper import OptAlg\n\nclass Short(OptAlg):\n"


def short(body: str) -> SandboxedCandidate:
    """A candidate whose `__call__` has this body."""
    method = "    def __call__(self, func, searchspace):\n" + textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    return SandboxedCandidate(HEAD + method, "Short")


SAMPLE = short("for config in searchspace.get_random_sample(4): func(config)")
LOOP = short("while True: pass")


@pytest.fixture
def fork_server() -> Callable[[], int]:
    """Gives the process of the one sandbox that the test started."""
    others = children_of(os.getpid())

    def find() -> int:
        (pid,) = alive(children_of(os.getpid()) - others)
        return pid

    return find


def test_a_run_does_not_depend_on_those_before_it(space: Space) -> None:
    """Nor on what they import: scipy's statistics draw numbers when they are imported, and Kernel Tuner imports them late."""
    latin = short("for config in searchspace.get_LHS_sample(8): func(config)")
    learner = SandboxedCandidate("import sklearn.ensemble\n" + SAMPLE.code, "Short")
    with Sandbox([space]) as alone:
        expected = alone.run(latin, 0, 5)
    with Sandbox([space]) as after_another:
        assert len(after_another.run(learner, 0, 5).trace) == 4
        assert same_trace(after_another.run(latin, 0, 5), expected)
    assert len(expected.trace) == 8


def test_batches_are_measured_one_by_one(space: Space, sandbox: Sandbox) -> None:
    """By the names that candidates have for several GPUs, which scored runs don't have."""
    body = """
        configs = searchspace.list[:5]
        assert func.n_workers == 1
        assert func.eval_all([*configs, configs[0]]) == [*map(func, configs), func(configs[0])]
        func.eval_all(searchspace.list[5:])
        raise AssertionError("went on")
    """
    run = sandbox.run(short(body), 0, 1, RunBudget(max_fevals=9))
    assert run.state is RunState.BUDGET_SPENT
    assert [int(index) for index in run.trace.indices] == list(range(9))


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
@pytest.mark.parametrize("budget", [{"max_fevals": 60}, {"time_limit_us": 20_000_000}, {}])
def test_a_run_is_bit_for_bit_that_of_the_same_process(
    sandbox: Sandbox,
    evolver: SandboxedCandidate,
    space: Space,
    seed: int,
    budget: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name in ((random, "seed"), (random.Random, "seed"), (np.random.bit_generator, "randbits")):
        monkeypatch.setattr(module, name, getattr(module, name))  # puts back what `own_generators` replaces
    namespace: dict = {"__name__": "conftest"}
    exec(EVOLVER, namespace)
    meter = Meter(CachedRunner(space), RunBudget(**budget))
    own_generators(seed)
    strategy = OptAlgWrapper(namespace["Evolver"]())
    run_strategy(strategy, build_searchspace(space.tune_params, space.value_indices), meter, seed=seed)

    result = sandbox.run(evolver, 0, seed, RunBudget(**budget))
    expected = meter.trace()
    assert result.reason == ""
    assert result.state is (RunState.BUDGET_SPENT if meter.done else RunState.STALLED)
    assert len(expected) > 12
    np.testing.assert_array_equal(result.trace.indices, expected.indices)
    np.testing.assert_array_equal(result.trace.costs, expected.costs)
    np.testing.assert_array_equal(result.trace.elapsed_us, expected.elapsed_us)
    assert result.counts == meter.counts()


def test_hyperparameters_reach_the_candidate(sandbox: Sandbox, evolver: SandboxedCandidate) -> None:
    budget = RunBudget(max_fevals=40)
    default = sandbox.run(evolver, 0, 3, budget)
    same = sandbox.run(evolver.with_hyperparameters({"population": 12, "mutation": 0.3}), 0, 3, budget)
    other = sandbox.run(evolver.with_hyperparameters({"population": 20}), 0, 3, budget)
    assert same_trace(default, same)
    assert not same_trace(default, other)
    assert sandbox.run(evolver.with_hyperparameters({"colour": 1}), 0, 3, budget).state is RunState.FAILED


def test_strings_hash_alike_in_every_process(space: Space, sandbox: Sandbox) -> None:
    by_hash = short("for config in list(set(searchspace.list))[:10]: func(config)")
    first = sandbox.run(by_hash, 0, 1)
    with Sandbox([space]) as other:
        assert same_trace(other.run(by_hash, 0, 1), first)


def test_booleans_are_numbered_by_value_inside() -> None:
    params = {"block": (16, 32), "pad": (False, True), "swap": (True, False)}
    checking = short(
        """
        rows = searchspace.get_list_param_indices_numpy().tolist()
        assert rows == [list(searchspace.get_param_indices(config)) for config in searchspace.list]
        assert len(set(map(tuple, rows))) == searchspace.size == 8
        for config in searchspace.list:
            assert len(searchspace.get_neighbors(config, "Hamming")) == 3
            func(config)
        """
    )
    with Sandbox([synthetic_space(0, tune_params=params, kept=1.0)]) as own:
        result = own.run(checking, 0, 1)
    assert (result.reason, len(result.trace)) == ("", 8)


def test_own_compute_is_the_time_of_the_process(sandbox: Sandbox) -> None:
    busy = short("import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\n")
    assert 0.4 <= sandbox.run(busy, 0, 1).own_compute_s < 1.5
    idle = sandbox.run(short("import time; time.sleep(0.4)"), 0, 1)
    assert 0.0 < idle.own_compute_s < 0.3


@pytest.mark.parametrize("deaf", ["", "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"])
def test_a_cpu_limit_ends_a_busy_candidate(space: Space, deaf: str) -> None:
    with Sandbox([space], limits=Limits(wall_s=60, cpu_s=0.5)) as strict:
        result = strict.run(short(f"{deaf}while True: pass"), 0, 1)
    assert result.state is RunState.TIMED_OUT
    assert result.reason == "used more than 0.5 s of CPU time"
    assert result.own_compute_s < 3


def test_an_error_says_what_and_where(sandbox: Sandbox) -> None:
    result = sandbox.run(short("def inner(x):\n    return x[1]\ninner([0])"), 0, 1)
    assert result.state is RunState.FAILED
    assert result.reason == "IndexError: list index out of range (line 6 in inner)"


def test_an_error_after_the_end_is_an_error_still(sandbox: Sandbox) -> None:
    careless = short(
        """
        from kernel_tuner.util import StopCriterionReached
        try:
            for config in searchspace.list: func(config)
        except StopCriterionReached:
            return {}["best"]
        """
    )
    result = sandbox.run(careless, 0, 1, RunBudget(max_fevals=5))
    assert result.state is RunState.FAILED
    assert "KeyError" in result.reason
    assert len(result.trace) == 5


@pytest.mark.parametrize(
    "model",
    [
        "from sklearn.ensemble import RandomForestRegressor as Model; model = Model(10, n_jobs=-1)",
        "from sklearn.gaussian_process import GaussianProcessRegressor as Model; model = Model()",
        "from sklearn.cluster import KMeans as Model; model = Model(3)",
    ],
)
def test_scikit_learn_works_inside(sandbox: Sandbox, model: str) -> None:
    learner = short(
        f"""
        {model}
        configs = searchspace.get_random_sample(20)
        costs = [func(config) for config in configs]
        features = [searchspace.get_param_indices(config) for config in configs]
        ranks = [sorted(costs).index(cost) for cost in costs]
        best = model.fit(features, ranks).predict(features).argmin()
        func(searchspace.get_random_neighbor(configs[best], neighbor_method="Hamming"))
        """
    )
    result = sandbox.run(learner, 0, 1)
    assert (result.state, result.reason) == (RunState.FINISHED, "")
    assert 20 <= len(result.trace) <= 21


def test_late_imports_work_inside(sandbox: Sandbox) -> None:
    late = short(
        """
        for name in ("sqlite3", "xml.dom.minidom", "scipy.stats", "scipy.optimize", "sklearn.svm", "numpy.ma"):
            __import__(name)
        """
    )
    assert sandbox.run(late, 0, 1).reason == ""


def test_what_must_not_be_read_is_not_installed_for_a_candidate(sandbox: Sandbox) -> None:
    """So that libraries go on without what they can do without; pytest is installed where tests run."""
    tried = short(
        """
        try:
            __import__("pytest")
        except ModuleNotFoundError as error:
            raise ValueError(f"{error}, {error.name}")
        """
    )
    assert sandbox.run(tried, 0, 1).reason.startswith("ValueError: No module named 'pytest', pytest")


def test_a_run_that_is_no_longer_wanted_ends_early(sandbox: Sandbox) -> None:
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    start = time.monotonic()
    assert not sandbox.run(LOOP, 0, 1, RunBudget(), stop.is_set).state.scorable
    assert time.monotonic() - start < 10
    assert sandbox.run(SAMPLE, 0, 1).state is RunState.FINISHED  # it can still be used


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_dead_fork_server_is_replaced(space: Space, fork_server: Callable[[], int]) -> None:
    with Sandbox([space], limits=Limits(wall_s=20)) as fragile:
        before = fragile.run(SAMPLE, 0, 1)
        os.kill(fork_server(), signal.SIGKILL)
        assert same_trace(fragile.run(SAMPLE, 0, 1), before)

        murder = threading.Timer(0.5, lambda: os.kill(fork_server(), signal.SIGKILL))
        murder.start()  # in the middle of a run, which is then made again
        slow = short("import time; time.sleep(1.5)\nfor config in searchspace.get_random_sample(4): func(config)")
        assert fragile.run(slow, 0, 1).state is RunState.FINISHED


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_fork_server_that_dies_again_and_again_is_given_up(space: Space, fork_server: Callable[[], int]) -> None:
    def stopped() -> bool:
        """Asked again and again while a run goes on."""
        os.kill(fork_server(), signal.SIGKILL)
        return False

    with Sandbox([space], limits=Limits(wall_s=20)) as fragile:
        result = fragile.run(LOOP, 0, 1, RunBudget(), stopped)
    assert result.state is RunState.KILLED
    assert result.reason == "the process that it was started from died (signal 9)"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_guest_dies_with_its_fork_server(space: Space, fork_server: Callable[[], int]) -> None:
    with Sandbox([space], limits=Limits(wall_s=20)) as fragile:
        fragile.run(SAMPLE, 0, 1)
        errors: list[SandboxError] = []

        def run() -> None:
            try:
                fragile.run(LOOP, 0, 1)
            except SandboxError as error:
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        (guest,) = wait_until(lambda: children_of(fork_server()))
        fragile.close()
        thread.join(timeout=10)
        assert len(errors) == 1
        wait_until(lambda: not alive([guest]))


def test_a_closed_sandbox_leaves_nothing_and_says_so(space: Space, fork_server: Callable[[], int]) -> None:
    closed = Sandbox([space])
    closed.run(SAMPLE, 0, 1)
    pid = fork_server()
    closed.close()
    assert not alive([pid])
    with pytest.raises(SandboxError, match="closed"):
        closed.run(SAMPLE, 0, 1)


def test_a_fork_server_ends_when_its_host_is_gone(tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(
        "import os, signal\n"
        "from llamea_tune.sandbox import SandboxedCandidate, Sandbox\n"
        "from llamea_tune.testing.processes import children_of\n"
        "from llamea_tune.testing.synthetic_spaces import synthetic_space\n"
        "sandbox = Sandbox([synthetic_space(1)])\n"
        f"sandbox.run(SandboxedCandidate({SAMPLE.code!r}, 'Short'), 0, 1)\n"
        "print(*children_of(os.getpid()), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    (pid,) = map(int, done.stdout.split())
    wait_until(lambda: not alive([pid]))
