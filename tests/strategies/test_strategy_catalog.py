"""Strategies by name, and as people write them."""

import pytest
from kernel_tuner.interface import _LazyStrategyModule, strategy_map

from llamea_tune.exceptions import MissingDependencyError, StrategyError
from llamea_tune.strategies import (
    NamedStrategy,
    Origin,
    StrategyFile,
    StrategyOption,
    catalog,
    parse_strategy,
    register_folder,
    resolve,
)


def test_lists_strategies_of_every_origin(exported, own_strategy_map):
    register_folder(exported.code_path.parent)
    infos = {info.name: info for info in catalog()}
    assert set(strategy_map) <= set(infos)
    assert infos["simulated_annealing"].origin is Origin.KERNEL_TUNER
    assert infos["pyatf:simulated_annealing"].origin is Origin.LIBRARY
    assert infos["ranked_annealing"].origin is Origin.USER
    assert infos["ranked_annealing"].path == exported.code_path
    register_folder(exported.code_path.parent, bundled=True)
    assert resolve("ranked_annealing").origin is Origin.GENERATED


def test_pyatf_techniques_are_the_ones_it_has():
    module = pytest.importorskip("pyatf.search_techniques")
    techniques = {name for name in dir(module) if name[0].isupper()}
    names = [info.name.removeprefix("pyatf:") for info in catalog() if info.name.startswith("pyatf:")]
    assert names
    assert {name.replace("_", "") for name in names} <= {name.lower() for name in techniques}


def test_options_with_defaults_and_descriptions(exported, own_strategy_map):
    register_folder(exported.code_path.parent)
    assert resolve("ranked_annealing").options == {
        "cooling": StrategyOption("Factor on the temperature after every step", 0.95),
        "neighbor_method": StrategyOption("Which configs count as neighbours of the current one", "Hamming"),
        "memory": StrategyOption("How many recent costs are ranked", 20),
        "restart": StrategyOption("Whether to start anew where a config has no neighbours", True),
    }
    assert resolve("genetic_algorithm").options["popsize"].description == "population size"
    assert resolve("pyatf:torczon").options == {}


def test_options_of_a_strategy_that_lacks_a_package(own_strategy_map):
    own_strategy_map["lacking"] = _LazyStrategyModule("lacking", "no_such_package.lacking")
    with pytest.raises(MissingDependencyError, match="no_such_package"):
        parse_strategy("lacking:popsize=3")
    assert parse_strategy("lacking") == NamedStrategy("lacking", "lacking", {})


NAMED = {
    "pso": ("pso", {}),
    " genetic_algorithm:popsize=30, maxiter=50 ": ("genetic_algorithm", {"popsize": 30, "maxiter": 50}),
    "genetic_algorithm:method=uniform,constraint_aware=false": (
        "genetic_algorithm",
        {"method": "uniform", "constraint_aware": False},
    ),
    "simulated_annealing:T=0.5,x0=(1, 2),max_fevals=9": (
        "simulated_annealing",
        {"T": 0.5, "x0": (1, 2), "max_fevals": 9},
    ),
    "simulated_annealing:x0=[[1, 2], [3, 'a,b']],T=0.5": (
        "simulated_annealing",
        {"x0": [[1, 2], [3, "a,b"]], "T": 0.5},
    ),
    "pyatf:torczon": ("pyatf:torczon", {}),
    "optuna:tpe": ("optuna:tpe", {}),
    "optuna:tpe:outside=refused, patience=3": ("optuna:tpe", {"outside": "refused", "patience": 3}),
    "pso:": ("pso", {}),
}


@pytest.mark.parametrize("text", NAMED)
def test_named_strategies(text):
    assert parse_strategy(text) == NamedStrategy(text, *NAMED[text])


def test_class_in_a_file(exported):
    path = exported.code_path
    assert parse_strategy(f"{path}:RankedAnnealing") == StrategyFile(path, "RankedAnnealing", {})
    assert parse_strategy(f"{path}:RankedAnnealing:cooling=0.5") == StrategyFile(
        path, "RankedAnnealing", {"cooling": 0.5}
    )


WRONG = {
    "genetic_algoritm": "did you mean genetic_algorithm",
    "zzz": "strategies list",
    "": "no strategy ''",
    "pyatf:torzcon": "pyatf:torczon",
    "optuna:tpee": "did you mean optuna:tpe",
    "optuna": "no strategy 'optuna:'",
    "optuna:tpe:popsize=3": "no option 'popsize'.*outside, patience",
    "pso:popsise=3": "no option 'popsise'.*popsize",
    "pyatf:torczon:popsize=3": "no option 'popsize'.*none of its own",
    "pso:popsize": "write name=value",
    "pso:pop size=3": "write name=value",
    "no/such/file.py:Walker": "no strategy file",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said(text):
    with pytest.raises(StrategyError, match=WRONG[text]):
        parse_strategy(text)


NEEDING = """
from kernel_tuner.strategies.wrapper import OptAlg


class Needing(OptAlg):
    def __init__(self, rate, *, step, size=3):
        super().__init__()

    def __call__(self, func, searchspace):
        func(searchspace.list[0])
"""


@pytest.mark.parametrize(
    ("given", "missing", "how"),
    [
        ("", "rate, step", "Needing:rate=VALUE,step=VALUE"),
        (":step=2,size=4", "rate", "Needing:step=2,size=4,rate=VALUE"),
    ],
)
def test_arguments_that_a_class_needs_are_asked_for(tmp_path, given, missing, how):
    path = tmp_path / "needing.py"
    path.write_text(NEEDING)
    with pytest.raises(StrategyError, match=rf"Needing needs a value for {missing}; give it as in .*{how}\."):
        parse_strategy(f"{path}:Needing{given}")
    assert parse_strategy(f"{path}:Needing:rate=1,step=2").options == {"rate": 1, "step": 2}


def test_file_without_the_class(exported, tmp_path):
    with pytest.raises(StrategyError, match="the classes are: RankedAnnealing"):
        parse_strategy(f"{exported.code_path}:Walker")
    (tmp_path / "broken.py").write_text("class Walker(:")
    with pytest.raises(StrategyError, match="no valid Python: invalid syntax in line 1"):
        parse_strategy(f"{tmp_path / 'broken.py'}:Walker")
