"""What users of Kernel Tuner give as `prior`, what they are told of it, and what a search finds."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import kernel_tuner
import numpy as np
import pytest
from test_matching import ELSEWHERE, HERE, taken

from llamea_tune.candidate import Candidate
from llamea_tune.exceptions import PriorWarning
from llamea_tune.exporting import ExportRequest, export_strategy
from llamea_tune.priors import prior_for_searchspace
from llamea_tune.spaces import build_searchspace
from llamea_tune.testing.cache_files import simulate, write_cache

CODE = '''
from kernel_tuner.strategies.wrapper import OptAlg


class Reader(OptAlg):
    """Measures configs in the order of the prior."""

    def __call__(self, func, searchspace):
        mean = func.prior_mean
        order = range(searchspace.size) if mean is None else mean.argsort()
        for number in order:
            func(searchspace.list[number])
'''
SEARCHSPACE = build_searchspace(HERE.tune_params, HERE.value_indices)


@pytest.fixture
def reader(tmp_path):
    candidate = Candidate("0001", "Reader", CODE, "Reads a prior.", "test", "initial", 0)
    return export_strategy(ExportRequest("reader", candidate, "2026-01-01"), tmp_path / "out").code_path


@pytest.fixture
def caches(tmp_path):
    folder = tmp_path / "caches"
    folder.mkdir()
    return [write_cache(space, folder / f"{space.device_name}.json") for space in ELSEWHERE]


def load(path):
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def costs(results):
    return [result["time"] for result in results]


def mean_of(prior, **facts):
    found = prior_for_searchspace(prior, SEARCHSPACE, **facts)
    return None if found is None else found.mean


def test_a_search_of_a_few_measurements_finds_good_configs(reader, caches, tmp_path):
    cache = write_cache(HERE, tmp_path / "here.json")
    known = costs(simulate(load(reader), HERE, cache, {"max_fevals": 10, "prior": str(caches[0].parent)}))
    blind = costs(simulate(load(reader), HERE, cache, {"max_fevals": 10}))
    assert min(known) < 1.05 * HERE.optimum < min(blind)


def test_an_exported_strategy_says_which_device_it_tunes_for(reader, tmp_path):
    here = replace(HERE, device_name="NVIDIA RTX A4000")
    ours = replace(ELSEWHERE[0], device_name="NVIDIA A100-PCIE-40GB")
    shuffled = np.random.default_rng(0).permutation(ELSEWHERE[1].costs)
    theirs = replace(ELSEWHERE[1], device_name="MI250X", costs=shuffled)
    prior = [str(write_cache(each, tmp_path / f"{n}.json")) for n, each in enumerate([ours, theirs])]
    cache = write_cache(here, tmp_path / "here.json")
    (first,) = simulate(load(reader), here, cache, {"max_fevals": 1, "prior": prior})
    best = int(np.argmin(mean_of(prior, device_name=here.device_name)))
    assert [first[name] for name in HERE.param_names] == list(HERE.param_config(best))
    assert best != int(np.argmin(mean_of(prior)))


def test_all_kinds_of_sources_and_several_of_them(caches):
    folder = mean_of(caches[0].parent)
    np.testing.assert_array_equal(folder, mean_of([str(path) for path in caches]))
    np.testing.assert_array_equal(folder, mean_of(f"{caches[0].parent}/D*.json"))
    results = [{**json.loads(text)} for text in map(json.dumps, json.loads(caches[0].read_text())["cache"].values())]
    np.testing.assert_allclose(mean_of(caches[0]), mean_of(results), atol=1e-12)
    np.testing.assert_allclose(folder, mean_of([results, *caches[1:]]), atol=1e-9)
    arrays = prior_for_searchspace(caches[0], SEARCHSPACE)
    np.testing.assert_array_equal(arrays.mean, mean_of((arrays.mean, arrays.sd)))
    np.testing.assert_array_equal(arrays.mean, mean_of(arrays))


@pytest.mark.parametrize("number", [float, np.float32])
def test_arrays_may_be_lists_and_have_gaps(number):
    mean = [number(0.1)] * HERE.size
    mean[3] = float("nan")
    prior = prior_for_searchspace((mean, [0.2] * HERE.size), SEARCHSPACE)
    assert np.isnan(prior.mean[3])
    assert np.isnan(prior.sd[3])
    assert f"{HERE.size - 1:,} configs known" in prior.told


def test_results_as_kernel_tuner_returns_them(reader, tmp_path):
    cache = write_cache(ELSEWHERE[0], tmp_path / "there.json")
    results = simulate("random_sample", HERE, cache, {"fraction": 0.2})
    assert any(not isinstance(result["time"], float) for result in results)
    prior = prior_for_searchspace(results, SEARCHSPACE)
    assert prior.told.startswith("1 recording of this kernel: results in memory;")
    best = int(np.nanargmin(HERE.costs))
    assert prior.mean[best] < np.quantile(prior.mean, 0.05)


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        ("nowhere.json", "nowhere.json does not exist"),
        (b"bytes", "is no source; give paths"),
        (5, "5 is no source"),
        ([0.5] * 100, "is no source"),  # the mean without the standard deviation
        ((np.array(["a"] * HERE.size), np.ones(HERE.size)), "the arrays hold no numbers"),
        (([1.0], [1.0]), "1 numbers for"),
        ([{"other": 1, "time": 2.0}], "name none of this kernel's parameters"),
        (
            [{**dict(zip(HERE.tune_params, HERE.param_config(0), strict=True)), "energy": 1.0}],
            "no value of the objective",
        ),
    ],
)
def test_what_cannot_be_used_is_left_out_with_one_sentence(prior, sentence):
    with pytest.warns(PriorWarning, match=sentence) as told:
        assert prior_for_searchspace(prior, SEARCHSPACE) is None
    assert len(told) == 1


def test_files_that_cannot_be_used_do_not_stop_those_that_can(caches, tmp_path):
    caches[1].write_text("{")
    (caches[2]).write_text(json.dumps({"llamea_tune_unheard": 1}))
    with pytest.warns(PriorWarning) as told:
        prior = prior_for_searchspace([str(path) for path in caches], SEARCHSPACE)
    assert prior.told.startswith("1 recording of synthetic: D1;")
    assert len(told) == 2
    assert "'unheard' is not known" in str(told[1].message)


def test_a_glob_stands_for_advice_too_and_a_folder_may_hold_links_to_nowhere(tmp_path):
    config = dict(zip(HERE.tune_params, HERE.param_config(3), strict=True))
    advice = {
        "llamea_tune_advice": 1,
        "kernel": "synthetic",
        "tune_params": {},
        "configs": [{"config": config, "cost": 0.5}],
    }
    (tmp_path / "H200.json").write_text(json.dumps(advice))
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere.json")
    for source in (tmp_path / "H200.json", tmp_path / "*.json", tmp_path):
        assert np.flatnonzero(np.isfinite(mean_of(str(source)))).tolist() == [3]


def test_another_kernel_by_name_is_left_out(caches):
    with pytest.warns(PriorWarning, match="is of the kernel 'synthetic', not 'gemm'"):
        assert prior_for_searchspace(caches[0], SEARCHSPACE, kernel_name="gemm") is None


def test_a_parameter_of_very_many_values_is_no_obstacle():
    many = build_searchspace({"a": tuple(range(70_000))}, np.zeros((1, 1), dtype=np.uint16))
    with pytest.warns(PriorWarning, match="'a' has 70,000 values"):
        assert prior_for_searchspace([{"a": 1, "time": 1.0}], many) is None


def test_no_prior_is_none():
    assert prior_for_searchspace(None, SEARCHSPACE) is None
    assert prior_for_searchspace([], SEARCHSPACE) is None


def test_defaults_of_a_t1_file(tmp_path):
    config = HERE.param_config(7)
    parameters = [
        {"Name": name, "Type": "int", "Values": list(values), "Default": default}
        for (name, values), default in zip(HERE.tune_params.items(), config, strict=True)
    ]
    path = tmp_path / "t1.json"
    path.write_text(json.dumps({"ConfigurationSpace": {"TuningParameters": parameters, "Conditions": []}}))
    prior = prior_for_searchspace(path, SEARCHSPACE)
    assert np.flatnonzero(np.isfinite(prior.mean)).tolist() == [7]
    assert prior.mean[7] < 0.0
    for entry in parameters:
        del entry["Default"]
    path.write_text(json.dumps({"ConfigurationSpace": {"TuningParameters": parameters, "Conditions": []}}))
    with pytest.warns(PriorWarning, match="gives no Default for block_size_x, block_size_y"):
        assert prior_for_searchspace(path, SEARCHSPACE) is None


def test_sources_that_know_different_configs_are_combined(caches):
    whole = prior_for_searchspace(caches[0], SEARCHSPACE)
    mean, sd = np.full(HERE.size, np.nan), np.full(HERE.size, np.nan)
    mean[5], sd[5] = -3.0, 1e-3
    both = prior_for_searchspace([str(caches[0]), (mean, sd)], SEARCHSPACE)
    assert both.mean[5] == pytest.approx(-3.0, abs=0.01)
    np.testing.assert_allclose(np.delete(both.mean, 5), np.delete(whole.mean, 5))
    assert both.told == f"{whole.told}; 1 configs known from arrays"


KERNEL = """
#include <time.h>
float spin(float *out, int n) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    volatile float sum = 0.0f;
    for (int i = 0; i < 20000 * work; i += 1) sum += i * other;
    out[0] = sum;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) * 1e3f + (end.tv_nsec - start.tv_nsec) * 1e-6f;
}
"""


def tune_live(strategy, cache=None, **options):
    params = {"work": [30, 25, 20, 15, 10, 1], "other": [1, 2]}
    results, _ = kernel_tuner.tune_kernel(
        "spin", KERNEL, 1, [np.zeros(4, np.float32), np.int32(4)], params,
        lang="C", iterations=3, cache=cache, strategy=strategy, strategy_options=options,
    )  # fmt: skip
    return results


def test_live_on_a_cpu_with_a_recording_and_with_results(reader, tmp_path, capfd):
    strategy, cache = load(reader), str(tmp_path / "earlier.json")
    earlier = tune_live(strategy, cache, max_fevals=12)
    for prior in (cache, earlier):
        capfd.readouterr()
        first = tune_live(strategy, prior=prior, max_fevals=2)
        assert max(result["work"] for result in first) == 1
        assert capfd.readouterr().out.count("prior: 1 recording of ") == 1


STANDALONE = """
import sys, warnings
sys.modules["llamea_tune"] = None  # as if it were not installed
sys.path[:0] = [{folder!r}, {tests!r}]
import kernel_tuner, numpy as np, reader

def tune(prior):
    results, _ = kernel_tuner.tune_kernel(
        "k", "float k(int n) {{ return 0.0f; }}", 1, [np.int32(1)], {{"a": [1, 2, 3, 4]}}, lang="C",
        cache={cache!r}, simulation_mode=True, quiet=True, strategy=reader,
        strategy_options={{"max_fevals": 1, "prior": prior}},
    )
    return results[0]["a"]

print(tune(([3.0, 2.0, 1.0, 2.0], [1.0] * 4)))
print(tune("folder/"))
"""


def test_a_file_on_its_own_takes_arrays_and_leaves_paths_out(reader, tmp_path):
    from llamea_tune.testing.synthetic_spaces import synthetic_space

    small = replace(
        synthetic_space(1, tune_params={"a": (1, 2, 3, 4)}, kept=1.0, failing=0.0), kernel_name="k", problem_size=1
    )
    cache = str(write_cache(small, tmp_path / "small.json"))
    script = STANDALONE.format(folder=str(reader.parent), tests=str(Path(__file__).parent), cache=cache)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "4"]  # of 4, 3, 2, 1, as Kernel Tuner finds them
    assert done.stderr.count("the option prior is left out: where llamea-tune is not installed") == 1


def test_a_partial_recording_is_told_as_what_it_knows(tmp_path):
    few = taken(ELSEWHERE[0], np.arange(100))
    assert "; 100 of " in prior_for_searchspace(write_cache(few, tmp_path / "few.json"), SEARCHSPACE).told
