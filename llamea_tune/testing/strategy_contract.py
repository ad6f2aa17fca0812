"""The contract of a strategy: what everything that Kernel Tuner takes as `strategy=` must do.

Make a subclass in a test module and give it the strategy, by name or as an object:

    class TestMyStrategy(StrategyContract):
        @pytest.fixture
        def strategy(self):
            return "my_strategy"

What `llamea-tune export` wrote has to do more: `ExportedStrategyContract`.

The tests tune with Kernel Tuner's own simulation on small spaces written to `tmp_path`; what was measured is counted at
Kernel Tuner's runner, not by the strategy.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llamea_tune.kernel_tuner_internals import SimulationRunner, strategy_map
from llamea_tune.spaces.space import FailureKind, ParamConfig, ParamValue, RecordedSpace
from llamea_tune.testing.cache_files import simulate, write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

MOST_REQUESTS = 200_000
_numpy_seeds: Any = np.random.bit_generator  # where numpy's generators without a seed take one from
SMALL: dict[str, tuple[ParamValue, ...]] = {
    "block_size_x": (16, 32),
    "unroll": (False, True),
    "method": ("a", "b", "c"),
}


class Requests:
    """What a strategy asked Kernel Tuner's runner for.

    Attributes:
        asked: Every config that reached the runner, in order.
        paid: The configs that were measured, in the order of their first visits.
    """

    def __init__(self) -> None:
        self.asked: list[ParamConfig] = []
        self.paid: list[ParamConfig] = []
        self._calls = 0

    def count(self, configs: list[ParamConfig], results: list[Any]) -> None:
        """Count a batch; a strategy that asks without end fails its test."""
        self._calls += 1 + len(configs)
        if self._calls > MOST_REQUESTS:
            pytest.fail(f"the strategy made more than {MOST_REQUESTS} requests without coming to an end")
        self.asked += configs
        for config, result in zip(configs, results, strict=True):
            if result is not None and config not in self.paid:
                self.paid.append(config)

    def clear(self) -> None:
        """Forget everything, before another run."""
        self.asked.clear()
        self.paid.clear()
        self._calls = 0


class StrategyContract:
    """The tests; see the module for how to use them."""

    @pytest.fixture
    def requests(self, monkeypatch: pytest.MonkeyPatch) -> Requests:
        """What the strategy asks for during the test."""
        requests = Requests()
        run = SimulationRunner.run

        def counting_run(runner: Any, parameter_space: Any, tuning_options: Any) -> list[Any]:
            configs = [tuple(config) for config in parameter_space]
            results: list[Any] = run(runner, configs, tuning_options)
            requests.count(configs, results)
            return results

        monkeypatch.setattr(SimulationRunner, "run", counting_run)
        return requests

    @pytest.fixture(autouse=True)
    def _seeded(self) -> Iterator[None]:
        states = random.getstate(), np.random.get_state(), _numpy_seeds.randbits
        _seed(1)
        yield
        random.setstate(states[0])
        np.random.set_state(states[1])
        _numpy_seeds.randbits = states[2]

    @pytest.mark.parametrize("direction", ["minimise", "maximise", "negated"])
    def test_finds_good_configs_in_every_direction(
        self, strategy: Any, requests: Requests, tmp_path: Path, direction: str
    ) -> None:
        """Among 100 measurements one is in the best quarter, and failed ones are not taken for good."""
        space = _space(direction)
        _tune(strategy, space, tmp_path, max_fevals=100)
        costs = [_cost(space, config) for config in requests.paid]
        assert np.nanmin(costs) <= np.nanquantile(space.costs, 0.25)

    def test_direction_is_only_a_sign(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """Maximising an objective searches exactly as minimising its negative does."""
        maximised = _space("maximise")
        _tune(strategy, maximised, tmp_path, max_fevals=60)
        paid = list(requests.paid)
        requests.clear()
        _seed(1)
        _tune(strategy, replace(maximised, higher_is_better=False), tmp_path, max_fevals=60)
        assert requests.paid == paid

    @pytest.mark.parametrize("max_fevals", [1, 2, 37])
    def test_max_fevals_is_never_exceeded(
        self, strategy: Any, requests: Requests, tmp_path: Path, max_fevals: int
    ) -> None:
        """Down to a budget of one measurement."""
        _tune(strategy, _space("minimise"), tmp_path, max_fevals=max_fevals)
        assert 1 <= len(requests.paid) <= max_fevals

    def test_time_limit_is_honoured(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """No measurement starts after the limit, on the simulated clock."""
        space = _space("minimise")
        _tune(strategy, space, tmp_path, time_limit=20)
        times = [space.evaluation_times_s[_index(space, config)] for config in requests.paid]
        assert 0.0 < sum(times[:-1]) <= 20.0

    def test_one_config_space(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """A space of a single config is searched in one measurement."""
        params: dict[str, tuple[ParamValue, ...]] = {"block_size_x": (16,), "unroll": (True,), "method": ("a",)}
        space = synthetic_space(1, tune_params=params, kept=1.0, failing=0.0)
        _tune(strategy, space, tmp_path)
        assert requests.paid == [space.param_config(0)]

    def test_ends_when_the_space_is_exhausted(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """Without a budget the search comes to an end by itself."""
        space = synthetic_space(2, tune_params=SMALL, kept=1.0, failing=0.2)
        results = _tune(strategy, space, tmp_path)
        assert 1 <= len(requests.paid) <= space.size
        assert results

    def test_all_but_one_config_fail(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """Failures are no reason to give up, or to ask without end."""
        space = synthetic_space(3, tune_params=SMALL, kept=1.0, failing=0.0)
        costs, failures = np.full(space.size, np.nan), np.full(space.size, FailureKind.RUNTIME, dtype=np.uint8)
        costs[5], failures[5] = 1.0, FailureKind.NONE
        results = _tune(strategy, replace(space, costs=costs, failures=failures), tmp_path)
        assert len(requests.paid) > 1
        assert all("__error__" in result for result in results if _config(space, result) != space.param_config(5))

    def test_measures_only_configs_of_the_space(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """Restricted configs never reach the runner, and values keep their types: ints, floats, booleans, strings."""
        space = _space("minimise")
        permitted = {space.param_config(index) for index in range(space.size)}
        _tune(strategy, space, tmp_path, max_fevals=150)
        assert set(requests.asked) <= permitted
        types = [type(values[0]) for values in space.tune_params.values()]
        assert all([type(value) for value in config] == types for config in requests.asked)

    def test_booleans_beside_whole_numbers(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """Where all values are whole numbers or booleans, Kernel Tuner itself has to be kept from confusing the two."""
        params: dict[str, tuple[ParamValue, ...]] = {"block_size_x": (16, 32, 64), "pad": (False, True), "tile": (1, 2)}
        space = synthetic_space(4, tune_params=params, kept=1.0, failing=0.0)
        _tune(strategy, space, tmp_path, max_fevals=11)
        assert {config[1] for config in requests.paid} == {False, True}

    def test_repeats_under_a_seed(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """The same seeds give the same search, also where numpy's generators are made without one."""
        runs = []
        for _ in range(2):
            _seed(7)
            requests.clear()
            _tune(strategy, _space("minimise"), tmp_path, max_fevals=80)
            runs.append(list(requests.asked))
        assert runs[0] == runs[1]

    def test_unknown_option_is_refused(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """As Kernel Tuner refuses it, before anything is measured."""
        with pytest.raises(ValueError, match="no_such_option"):
            _tune(strategy, _space("minimise"), tmp_path, max_fevals=5, no_such_option=1)
        assert not requests.paid

    def test_its_own_options_are_taken(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """Every option can be given, here with its default."""
        module = strategy_map[strategy] if isinstance(strategy, str) else strategy
        options = {name: default for name, (_, default) in module._options.items()}
        _tune(strategy, _space("minimise"), tmp_path, max_fevals=5, **options)
        assert requests.paid

    def test_x0_is_honoured_or_refused(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """A starting point is measured first, or the error names `x0`; it is never silently ignored."""
        space = _space("minimise")
        start = space.param_config(space.size // 2)
        try:
            _tune(strategy, space, tmp_path, max_fevals=30, x0=list(start))
        except ValueError as err:
            assert "x0" in str(err)
            assert not requests.paid
        else:
            assert requests.paid[0] == start


class ExportedStrategyContract(StrategyContract):
    """The tests for a strategy that was exported: those for every strategy, and that it begins wherever it is told to."""

    def test_x0_may_be_several_configs(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """They are measured first, in order, failing ones too, each once; and the search goes on."""
        space = _space("minimise")
        failing = int(np.flatnonzero(space.failures)[0])
        starts = [space.param_config(index) for index in (space.size - 1, failing, 0, 7)]
        _tune(strategy, space, tmp_path, max_fevals=30, x0=[list(starts[0]), *starts[1:], starts[0]])
        assert requests.paid[:4] == starts
        assert len(requests.paid) == 30
        assert len(requests.asked) == len(set(requests.asked))

    def test_several_workers_share_one_budget(
        self, strategy: Any, requests: Requests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Batches end where the budget ends, within one, and no config is in two of them."""
        monkeypatch.setattr(SimulationRunner, "available_parallelism", lambda runner: 3)  # noqa: ARG005
        results = _tune(strategy, _space("minimise"), tmp_path, max_fevals=37)
        assert len(results) == len(requests.paid) == 37
        assert len(requests.asked) == len(set(requests.asked))

    def test_x0_is_paid_for(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """No more is measured than the budget allows."""
        space = _space("minimise")
        starts = [space.param_config(index) for index in range(5)]
        _tune(strategy, space, tmp_path, max_fevals=3, x0=starts)
        assert requests.paid == starts[:3]

    def test_x0_gets_the_values_of_the_space(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """Equal values of another type are the space's own to the runner; booleans are not taken for numbers."""
        params: dict[str, tuple[ParamValue, ...]] = {"a": ("test", True, 2.5), "b": (16, 32), "c": (True, False)}
        space = synthetic_space(4, tune_params=params, kept=1.0, failing=0.0)
        _tune(strategy, space, tmp_path, max_fevals=4, x0=[[True, 32.0, 1], ["test", np.int64(16), False]])
        assert [[*map(repr, config)] for config in requests.paid[:2]] == [
            ["True", "32", "True"],
            ["'test'", "16", "False"],
        ]

    @pytest.mark.parametrize(
        "wrong",
        [(16, 1), (16, 1, 1, 0.5, True, "nonsuch"), (16, 1, 1, 0.25, True, "row"), 16, "row", {"tile": 1}],
        ids=repr,
    )
    @pytest.mark.parametrize("several", [False, True])
    def test_x0_that_is_no_config_is_refused(
        self, strategy: Any, requests: Requests, tmp_path: Path, wrong: Any, several: bool
    ) -> None:
        """In one sentence that names `x0`, before anything is measured."""
        space = _space("minimise")
        x0 = [space.param_config(0), wrong] if several else wrong
        with pytest.raises(ValueError, match=r"\Ax0 .*\.\Z"):
            _tune(strategy, space, tmp_path, max_fevals=5, x0=x0)
        assert not requests.paid

    def test_x0_that_is_not_permitted_is_refused(self, strategy: Any, requests: Requests, tmp_path: Path) -> None:
        """As one that is no config."""
        space = _space("minimise")
        permitted = {space.param_config(index) for index in range(space.size)}
        forbidden = next(config for config in product(*space.tune_params.values()) if config not in permitted)
        with pytest.raises(ValueError, match=r"\Ax0 .* restrictions .*\.\Z"):
            _tune(strategy, space, tmp_path, max_fevals=5, x0=[forbidden])
        assert not requests.paid


def _seed(seed: int) -> None:
    """Seed the global generators, and those that numpy and scipy make without a seed, as for Latin hypercube samples."""
    random.seed(seed)
    np.random.seed(seed)
    _numpy_seeds.randbits = random.Random(seed).getrandbits


def _space(direction: str) -> RecordedSpace:
    space = synthetic_space(1, higher_is_better=direction == "maximise")
    if direction == "negated":
        return replace(space, costs=space.costs - 2 * float(np.nanmax(space.costs)))
    return space


def _tune(strategy: Any, space: RecordedSpace, folder: Path, **strategy_options: Any) -> list[dict[str, Any]]:
    return simulate(strategy, space, write_cache(space, folder / "cache.json"), strategy_options)


def _index(space: RecordedSpace, config: ParamConfig) -> int:
    return next(index for index in range(space.size) if space.param_config(index) == config)


def _cost(space: RecordedSpace, config: ParamConfig) -> float:
    return float(space.costs[_index(space, config)])


def _config(space: RecordedSpace, result: dict[str, Any]) -> ParamConfig:
    return tuple(result[name] for name in space.param_names)
