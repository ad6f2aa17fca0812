"""Generated strategies keep the contract; the contract finds those that do not."""

import importlib.util
import random
from itertools import cycle, product

import pytest
from kernel_tuner.interface import strategy_map
from kernel_tuner.strategies.wrapper import OptAlg, OptAlgWrapper

from llamea_tune.strategies import GeneratedStrategy
from llamea_tune.testing.strategy_contract import ExportedStrategyContract, StrategyContract

BUNDLED = sorted(name for name, s in strategy_map.items() if isinstance(s, GeneratedStrategy) and s.bundled)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestExportedSample(ExportedStrategyContract):
    @pytest.fixture
    def strategy(self, exported):
        return load(exported.code_path)


class TestBundledStrategies(ExportedStrategyContract):
    @pytest.fixture(params=BUNDLED)
    def strategy(self, request):
        return request.param


class TestAStrategyOfKernelTuner(StrategyContract):
    @pytest.fixture
    def strategy(self):
        return "genetic_algorithm"


class Flawed(OptAlg):
    """Samples at random, with one flaw."""

    def __init__(self, flaw):
        super().__init__()
        self.flaw = flaw

    def __call__(self, func, searchspace):
        if self.flaw == "stops":
            return
        order = list(searchspace.list)
        (random.Random() if self.flaw == "unseeded" else random).shuffle(order)
        if self.flaw == "sees the sign" and func.objective_higher_is_better[0]:
            order.reverse()
        if self.flaw == "asks outside":
            values = searchspace.tune_params.values()
            order = [config for config in product(*values) if config not in set(order)]
        for config in cycle(order[:1]) if self.flaw == "repeats" else order:
            if func.budget_spent_fraction < 1:
                func(config, check_restrictions=self.flaw != "asks outside")


class FlawedStrategy(OptAlgWrapper):
    def __init__(self, flaw):
        super().__init__(Flawed(flaw))
        self.flaw = flaw
        self._options = {"alpha": ("a number", 1)}

    def tune(self, searchspace, runner, tuning_options):
        if self.flaw == "overspends":
            tuning_options.budget.max_fevals += 1
        if self.flaw == "overtime":
            tuning_options.budget.time_limit *= 2
        return super().tune(searchspace, runner, tuning_options)


class TestTheContractFinds:
    """Each flaw fails the test that is there for it."""

    @pytest.fixture
    def contract(self):
        return StrategyContract()

    requests = StrategyContract.requests

    @pytest.mark.parametrize("flaw", ["none", "overspends"])
    def test_overspending(self, contract, requests, tmp_path, flaw):
        self.expect(flaw, contract.test_max_fevals_is_never_exceeded, requests, tmp_path, 5)

    @pytest.mark.parametrize("flaw", ["none", "overtime"])
    def test_overtime(self, contract, requests, tmp_path, flaw):
        self.expect(flaw, contract.test_time_limit_is_honoured, requests, tmp_path)

    @pytest.mark.parametrize("flaw", ["none", "repeats"])
    def test_endless_search(self, contract, requests, tmp_path, flaw):
        self.expect(flaw, contract.test_ends_when_the_space_is_exhausted, requests, tmp_path)

    @pytest.mark.parametrize("flaw", ["none", "unseeded"])
    def test_unseeded_randomness(self, contract, requests, tmp_path, flaw):
        self.expect(flaw, contract.test_repeats_under_a_seed, requests, tmp_path)

    @pytest.mark.parametrize("flaw", ["none", "stops"])
    def test_search_that_measures_nothing(self, contract, requests, tmp_path, flaw):
        self.expect(flaw, contract.test_one_config_space, requests, tmp_path)
        self.expect(flaw, contract.test_all_but_one_config_fail, requests, tmp_path)
        self.expect(flaw, contract.test_its_own_options_are_taken, requests, tmp_path)
        self.expect(flaw, contract.test_finds_good_configs_in_every_direction, requests, tmp_path, "negated")

    @pytest.mark.parametrize("flaw", ["none", "sees the sign"])
    def test_another_search_for_another_sign(self, contract, requests, tmp_path, flaw):
        self.expect(flaw, contract.test_direction_is_only_a_sign, requests, tmp_path)

    @pytest.mark.filterwarnings("ignore:Configuration .* not in cache")
    @pytest.mark.parametrize("flaw", ["none", "asks outside"])
    def test_configs_outside_the_space(self, contract, requests, tmp_path, flaw):
        self.expect(flaw, contract.test_measures_only_configs_of_the_space, requests, tmp_path)

    def test_ignored_options(self, contract, requests, tmp_path):
        self.expect("ignores", contract.test_unknown_option_is_refused, requests, tmp_path)
        self.expect("ignores", contract.test_x0_is_honoured_or_refused, requests, tmp_path)

    @staticmethod
    def expect(flaw, test, requests, *arguments):
        strategy = FlawedStrategy(flaw)
        requests.clear()
        random.seed(1)
        if flaw == "none":
            test(strategy, requests, *arguments)
        else:
            with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
                test(strategy, requests, *arguments)
