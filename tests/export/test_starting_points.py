"""An exported strategy begins at the configs that a user gives as `x0`, and what follows can use what they taught."""

import kernel_tuner
import numpy as np
import pytest
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from llamea_tune.strategies import GeneratedStrategy, resolve
from llamea_tune.testing.cache_files import simulate, write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(1)
STARTS = [SPACE.param_config(number) for number in (700, 3, 250)]


def cost(config):
    return SPACE.costs[next(n for n in range(SPACE.size) if SPACE.param_config(n) == config)]


def configs(results):
    return [tuple(result[name] for name in SPACE.param_names) for result in results]


@pytest.fixture
def tune(head, export, tmp_path):
    """Exports a search with this body, tunes with it, and gives what it noted and what was measured."""

    def run(body, scaling=False, **options):
        code = f"{head}\n\nNOTED = []\n\n\nclass Walker(OptAlg):\n    def __init__(self):\n        super().__init__()\n"
        code += f"        self.costfunc_kwargs = {{'scaling': {scaling}, 'snap': {scaling}}}\n"
        code += f"\n    def __call__(self, func, searchspace):\n        {body}\n"
        module = export(code)
        cache = write_cache(SPACE, tmp_path / "cache.json")
        return module.NOTED, configs(simulate(module, SPACE, cache, {"max_fevals": 20, **options}))

    return run


@pytest.mark.parametrize("kind", ["random_sample", "LHS_sample", "distributed_random_sample"])
def test_the_first_samples_begin_with_them_the_best_one_first(tune, kind):
    best_first = sorted(STARTS, key=cost)
    noted, _ = tune(f"NOTED.extend([searchspace.get_{kind}(n) for n in (2, 6, 6)])", x0=STARTS)
    assert [len(set(sample)) for sample in noted] == [2, 6, 6]
    assert noted[0] == best_first[:2]
    assert noted[1][0] == best_first[2]
    assert len({*noted[1], *noted[2]} & set(STARTS)) < 3
    by_number, _ = tune(f"NOTED.extend(searchspace.list[n] for n in searchspace.get_{kind}_indices(6))", x0=STARTS)
    assert by_number[:3] == best_first


def test_the_results_so_far_have_them(tune):
    noted, measured = tune("NOTED.extend(func.results)", x0=STARTS)
    assert configs(noted) == measured == STARTS


def test_to_ask_for_them_again_is_free(tune):
    noted, measured = tune(f"NOTED.extend([func(config) for config in {STARTS!r}])", x0=STARTS, max_fevals=4)
    assert noted == [cost(config) for config in STARTS]
    assert measured == STARTS


def test_they_count_as_spent(tune):
    noted, _ = tune("NOTED.append(func.budget_spent_fraction)", x0=STARTS, max_fevals=4)
    assert noted == [0.75]


@pytest.mark.parametrize("x0", [None, [], ()])
def test_none_is_as_if_there_were_none(tune, x0):
    noted, measured = tune("NOTED.append(func.results == [])", x0=x0)
    assert (noted, measured) == ([True], [])


def test_searches_on_a_scale_take_them_too(tune):
    for x0, first in ((STARTS, STARTS), (list(STARTS[0]), STARTS[:1])):
        _, measured = tune("func([0.1] * 6)", scaling=True, x0=x0)
        assert measured[: len(first)] == first


def test_llm_gen_best_learns_from_them(tmp_path):
    strategy = kernel_tuner.interface.strategy_map["llm_gen_best"]
    assert isinstance(strategy, GeneratedStrategy)
    starts = [SPACE.param_config(number) for number in range(0, 600, 40)]
    optimizer = strategy.load().ThriftyGaussianProcess()
    np.random.seed(1)
    results = simulate(
        OptAlgWrapper(optimizer), SPACE, write_cache(SPACE, tmp_path / "c.json"), {"max_fevals": 40, "x0": starts}
    )
    assert configs(results)[: len(starts)] == starts
    assert [optimizer.configs[number] for number in optimizer.done][: len(starts)] == starts
    assert len(set(configs(results))) == 40


def test_the_list_of_options_has_it():
    assert "x0" in resolve("llm_gen_best").options_and_x0
    assert "x0" not in resolve("llm_gen_best").options
    assert "x0: Configs to measure first" in kernel_tuner.interface.strategy_map["llm_gen_best"].load().tune.__doc__


def test_booleans_beside_numbers_that_equal_them(head, export, tmp_path):
    code = f"{head}\n\nclass Walker(OptAlg):\n    def __call__(self, func, searchspace):\n        func(searchspace.list[0])\n"
    params = {"block_size_x": [128, 192, 256], "flag": [True, False], "mixed": ["test", 1, True, 2.5]}
    space = synthetic_space(1, tune_params=params, kept=1.0, failing=0.0)
    results, _ = kernel_tuner.tune_kernel(
        space.kernel_name,
        f"float {space.kernel_name}(int n) {{ return 0.0f; }}",
        space.problem_size,
        [np.int32(1)],
        params,
        restrictions=["flag == True", "mixed == 2.5"],
        lang="C",
        cache=str(write_cache(space, tmp_path / "cache.json")),
        simulation_mode=True,
        quiet=True,
        strategy=export(code),
        strategy_options={"x0": [192, True, 2.5]},
    )
    assert [results[0][name] for name in params] == [192, True, 2.5]
