"""`llamea-tune spaces`, from the outside."""

from __future__ import annotations

import gzip
import json

import pytest

from llamea_tune.exceptions import SpaceFileWarning
from llamea_tune.spaces import load_space


def test_list_says_how_large_spaces_are(command, caches):
    done = command("spaces", "list", caches)
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == ["small/one", "small/two"]
    facts = command("spaces", "list", caches, "--json").json
    space = load_space(caches / "one.json")
    assert facts[0]["configs"] == space.size
    assert facts[0]["valid"] == int(space.valid.sum())
    assert facts[0]["content_hash"] == space.content_hash
    assert facts[0]["median_to_optimum"] > 1.0
    assert facts[0]["evaluations"] > 0 and facts[0]["budget_s"] > 0.0


def test_list_names_and_skips_what_is_broken(command, caches):
    broken = caches / "broken.json"
    broken.write_text((caches / "one.json").read_text()[:-50])
    done = command("spaces", "list", caches)
    assert done.code == 0 and len(done.out.splitlines()) == 3
    assert done.err.startswith(f"warning: skipped: {broken} is cut off") and len(done.err.splitlines()) == 1
    done = command("spaces", "list", caches, "--salvage")
    assert "small/broken" in done.out and "(partial)" in done.out
    assert done.err == f"warning: {broken} is cut off: {load(broken).size} configs used, 1 entry dropped\n"
    refused = command("spaces", "list", broken)
    assert refused.is_refusal() and "--salvage" in refused.err


def load(path):
    with pytest.warns(SpaceFileWarning):
        return load_space(path, salvage=True)


def test_the_objective_can_be_named(command, own_folders):
    entries = {str(x): {"x": x, "watts": 10.0 - x, "energy": 1.0 + x} for x in (1, 2, 3)}
    cache = {"tune_params_keys": ["x"], "tune_params": {"x": [1, 2, 3]}, "cache": entries}
    path, t4 = own_folders / "card.json", own_folders / "card_t4.json"
    path.write_text(json.dumps(cache))
    refused = command("spaces", "show", path)
    assert refused.is_refusal() and "'energy', 'watts'; name another objective with --objective" in refused.err
    assert command("spaces", "show", path, "--objective", "energy", "--json").json["objective"] == "energy"
    assert command("spaces", "list", path, "--objective", "energy").code == 0
    assert command("spaces", "convert", path, t4, "--objective", "energy").code == 0
    assert load_space(t4).objective == "energy"
    for other in (("benchmark", "random_sample", "-n", "2"), ("tune", "random_sample")):
        assert command(*other, "--spaces", path).is_refusal()
    scored = command("benchmark", "random_sample", "-n", "2", "-s", path, "--objective", "energy", "--json")
    assert scored.code == 0, scored


def test_list_without_places_shows_the_bundled_ones(command):
    facts = command("spaces", "list", "--json").json
    assert any(fact["name"].startswith("matmul_openmp/") for fact in facts)


def test_bundled_spaces_go_by_name(command, own_folders):
    names = [fact["name"] for fact in command("spaces", "list", "gemm", "--json").json]
    assert len(names) > 1 and all(name.startswith("gemm/") for name in names)
    assert command("spaces", "show", names[0], "--json").json["name"] == names[0]
    done = command("spaces", "show", "gemm")
    assert done.is_refusal() and names[1] in done.err


def test_list_shows_a_space_on_which_nothing_can_be_scored(command, own_folders):
    cache = {
        "device_name": "d", "kernel_name": "k", "problem_size": 1, "tune_params_keys": ["x"],
        "tune_params": {"x": [1, 2]}, "objective": "time",
        "cache": {str(x): {"x": x, "time": 3.0, "times": [3.0], "compile_time": 1, "verification_time": 0,
                           "benchmark_time": 1} for x in (1, 2)},
    }  # fmt: skip
    path = own_folders / "flat.json"
    path.write_text(json.dumps(cache))
    facts = command("spaces", "list", path, "--json").json
    assert facts[0]["evaluations"] is None and facts[0]["median_to_optimum"] == 1.0
    assert " - " in command("spaces", "list", path).out


def test_show_describes_a_space(command, caches):
    done = command("spaces", "show", caches / "one.json")
    assert done.code == 0
    for expected in ("small/one", "block: 16, 32, 64, 128", "Budget of one run"):
        assert expected in done.out
    assert "Landscape" not in done.out


def test_show_computes_features_when_asked(command, caches):
    assert "Landscape" in command("spaces", "show", caches / "one.json", "--features").out
    facts = command("spaces", "show", caches / "one.json", "--features", "--json").json
    assert facts["tune_params"]["block"] == [16, 32, 64, 128]
    assert set(facts["features"]["importance"]) == {"block", "tile", "unroll", "method"}
    assert command("spaces", "show", caches / "one.json", "--json").json["features"] is None


def test_convert_there_and_back(command, caches, own_folders):
    original = caches / "one.json"
    t4, back = own_folders / "one_T4.json.gz", own_folders / "back.json"
    assert command("spaces", "convert", original, t4, "--json").json["format"] == "T4"
    assert "results" in json.loads(gzip.decompress(t4.read_bytes()))
    done = command("spaces", "convert", t4, back)
    assert (done.code, done.out.strip()) == (0, str(back))
    assert json.loads(back.read_text()) == json.loads(original.read_text())


def test_convert_replaces_files_only_when_told_to(command, caches, own_folders):
    target = own_folders / "there.json"
    target.write_text("mine")
    assert command("spaces", "convert", caches / "one.json", target).is_refusal()
    assert target.read_text() == "mine"
    assert command("spaces", "convert", caches / "one.json", target, "--force", "-q").out == ""
    assert "results" in target.read_text()


@pytest.mark.parametrize(
    "bad",
    [
        ("list", "nowhere"),
        ("list", "*.nothing"),
        ("show", "nowhere.json"),
        ("show", "broken.json"),
        ("show", "t1.json"),
        ("convert", "nowhere.json", "out.json"),
        ("convert", "broken.json", "out.json"),
        ("convert", "t1.json", "out.json"),
        ("convert", "small/one.json", "nowhere/out.json"),
        ("convert", "small/one.json", "small"),
    ],
    ids=" ".join,
)
def test_bad_input_gets_one_sentence(command, caches, own_folders, bad):
    (own_folders / "broken.json").write_text('{"cache": {"1": ')
    t1 = {"ConfigurationSpace": {"TuningParameters": []}, "KernelSpecification": {"KernelName": "k"}}
    (own_folders / "t1.json").write_text(json.dumps(t1))
    done = command("spaces", *bad)
    assert done.is_refusal(), done
    assert done.out == "" and not (own_folders / "out.json").exists()
