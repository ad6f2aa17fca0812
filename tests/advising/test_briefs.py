"""What an adviser is told of a kernel, and what is kept from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune._bundled import bundled_path
from llamea_tune.advising import Hiding, advice_request
from llamea_tune.advising.brief import KernelBrief
from llamea_tune.exceptions import AdviceError
from llamea_tune.priors.opinion import EffectRule, NamedConfig, Opinion
from llamea_tune.spaces import Reading
from llamea_tune.testing.cache_files import write_cache
from llamea_tune.testing.kernels import write_kernel_folder
from llamea_tune.testing.synthetic_spaces import synthetic_space

PARAMS = {"block": (16, 32), "order": ("row", "col", "both"), "fast": (False, True), "layout": ("col", "soa")}


def test_a_recording_and_its_kernel_folder_are_told_alike():
    folder = bundled_path("searchspaces") / "nbody"
    of_folder = advice_request(folder, device="NVIDIA H200")
    of_cache = advice_request(folder / "caches" / "H200.json.gz")
    assert of_folder.prompt == of_cache.prompt
    assert of_folder.path == of_cache.path == folder / "advice" / "H200.json"
    told = of_cache.prompt.user
    for part in (
        "- Name: nbody",
        "Device: NVIDIA H200",
        "__global__ void nbody",
        "use_rsqrt: 0, 1",
        "n: int32 = 16384",
    ):
        assert part in told


def test_nothing_that_was_measured_is_told(tmp_path: Path):
    space = synthetic_space(3)
    told = advice_request(write_cache(space, tmp_path / "X.json")).prompt.user
    assert not any(str(cost) in told for cost in space.costs[space.valid])
    assert f"{space.size} combinations" in told.replace(",", "")


def test_another_size_takes_the_sizes_of_the_recorded_one_away():
    told = advice_request(bundled_path("searchspaces") / "nbody", problem_size=(99,)).prompt.user
    assert "Problem size: 99" in told
    assert "16384" not in told


def test_what_is_maximised_is_asked_for_as_a_cost():
    told = advice_request(bundled_path("searchspaces") / "nbody", reading=Reading(objective="GFLOP/s")).prompt.user
    assert "Measured: GFLOP/s; higher is better" in told
    assert "0.5 is twice the median's" in told


@pytest.mark.parametrize("hidden", ["names", "source", "device"])
def test_what_is_hidden_is_not_told(hidden):
    request = advice_request(
        bundled_path("searchspaces") / "nbody" / "caches" / "H200.json.gz",
        about="gravity",
        hiding=Hiding(**{hidden: True}),
    )
    told = request.prompt.user
    gone = {
        "names": ("nbody", "use_rsqrt", "gravity", "__global__", "Argument"),
        "source": ("__global__",),
        "device": ("H200",),
    }
    assert not any(word in told for word in gone[hidden])
    assert request.path.name == f"H200-{hidden}-hidden.json"
    assert request.brief.kernel_name == "nbody"


def test_a_source_elsewhere_is_not_sent_away(tmp_path: Path):
    folder = write_kernel_folder(tmp_path / "kernel")
    t1 = next(folder.glob("*.json"))
    assert "doubled" in advice_request(folder).brief.source
    (tmp_path / "secret.txt").write_text("my secret")
    document = json.loads(t1.read_text())
    document["KernelSpecification"]["KernelFile"] = "../secret.txt"
    t1.write_text(json.dumps(document))
    assert advice_request(folder).brief.source == ""


def test_a_folder_of_recordings_alone_is_no_kernel(tmp_path: Path):
    write_cache(synthetic_space(1), tmp_path / "X.json")
    with pytest.raises(AdviceError, match="holds no one T1 description"):
        advice_request(tmp_path)


@pytest.fixture(scope="module")
def nameless(tmp_path_factory) -> tuple[KernelBrief, KernelBrief]:
    """A brief of which all combinations are permitted, and the same without names."""
    space = synthetic_space(1, tune_params=PARAMS, kept=1.0, failing=0.0)
    request = advice_request(
        write_cache(space, tmp_path_factory.mktemp("briefs") / "X.json"), hiding=Hiding(names=True)
    )
    assert len(request.told.permitted or ()) == space.size
    return request.brief, request.told


config = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in PARAMS.items()})
effects = st.fixed_dictionaries(
    {}, optional={n: st.dictionaries(st.sampled_from(v), st.just(2.0)) for n, v in PARAMS.items()}
)
rules = st.sampled_from(
    ["block > 16 and order == 'col'", "not fast or layout == 'soa'", "block * (order in ('row', 'both')) > 20"]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(config, min_size=1, max_size=5), effects, rules)
def test_what_is_said_in_hidden_names_is_kept_in_the_kernels_own(nameless, configs, said, rule):
    brief, told = nameless
    hidden = dict(zip(brief.tune_params, told.tune_params, strict=True))

    def hide(name: str, value: object) -> object:
        return told.tune_params[hidden[name]][PARAMS[name].index(value)]

    own = Opinion(tuple(NamedConfig(c, 0.5) for c in configs), said, (EffectRule(rule, 1.5),))
    as_told = Opinion(
        tuple(NamedConfig({hidden[n]: hide(n, v) for n, v in c.items()}, 0.5) for c in configs),
        {hidden[n]: {hide(n, v): f for v, f in of.items()} for n, of in said.items()},
        (EffectRule(_in_hidden_names(rule), 1.5),),
    )
    assert Hiding(names=True).unhide(as_told, brief.tune_params) == own
    for entry in as_told.configs:
        assert tuple(entry.config[name] for name in told.tune_params) in told.permitted


def _in_hidden_names(rule: str) -> str:
    return {
        "block > 16 and order == 'col'": "p1 > 16 and p2 == 'v2'",
        "not fast or layout == 'soa'": "not p3 or p4 == 'v2'",
        "block * (order in ('row', 'both')) > 20": "p1 * (p2 in ('v1', 'v3')) > 20",
    }[rule]
