"""Bad input to evolve, resume and export: one sentence, exit code 2, and nothing left behind."""

import json

import pytest
from in_process import run_program as run

from llamea_tune.testing.cache_files import write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space


def refused(done, *words):
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    message = " ".join(done.stderr.split())
    assert message.startswith("error:")
    for word in words:
        assert word in message
    return message


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return write_cache(synthetic_space(0), tmp_path_factory.mktemp("synthetic") / "gpu.json")


FAILED = json.dumps(
    {
        "device_name": "d",
        "kernel_name": "k",
        "problem_size": 1,
        "tune_params_keys": ["a"],
        "tune_params": {"a": [1, 2]},
        "objective": "time",
        "cache": {"1": {"a": 1, "time": "RuntimeFailedConfig"}, "2": {"a": 2, "time": "CompilationFailedConfig"}},
    }
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["space.json"]),
        ("", ["space.json", "empty"]),
        ('{"device_name": "d", "kernel_name": "k", "cache": {"1', ["space.json"]),
        ('{"hello": "world"}', ["space.json"]),
        (FAILED, ["space.json", "fail"]),
    ],
    ids=["missing", "empty", "truncated", "no cache", "all failed"],
)
def test_a_bad_space_is_named_and_no_run_directory_is_made(content, words, tmp_path):
    path = tmp_path / "space.json"
    if content is not None:
        path.write_text(content)
    refused(run("evolve", "--spaces", path, "--run-dir", tmp_path / "run"), *words)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--final-strategies", "genetic_algoritm"], ["genetic_algoritm", "genetic_algorithm"]),
        (["--proposer", "openai:gpt-4o"], ["OPENAI_API_KEY"]),
        (["--proposer", "oracle"], ["oracle"]),
        (["--selection", "lottery"], ["--selection", "plus"]),
        (["--max-candidates", "0"], ["--max-candidates"]),
        (["--baseline", "grid"], ["--baseline"]),
        (["--timeout", "nan"], ["--timeout is nan"]),
        (["--own-compute-limit", "0"], ["--own-compute-limit is 0", "milliseconds"]),
        (["--own-compute-limit", "nan"], ["--own-compute-limit is nan", "milliseconds"]),
        (["--llm-timeout", "60"], ["offline", "timeout_s"]),
        (["--proposer", "handoff:prompts", "--llm-max-retries", "3"], ["handoff", "max_retries"]),
        (["--model-choice", "bandit"], ["--model-choice is 'bandit'", "--proposer is 'offline'", "mix:openai:a=3"]),
        (["--proposer", "mix:handoff:a", "--model-choice", "bandit"], ["--proposer is 'mix:handoff:a'"]),
        (["--llm-parameter", "max_tokens"], ["--llm-parameter is 'max_tokens'", "max_tokens=8000"]),
        (["--proposer", "openai:tiny", "--llm-api-key-env", "NONSUCH_KEY"], ["NONSUCH_KEY"]),
    ],
    ids=lambda value: value[-1],
)
def test_a_bad_setting_is_named_and_no_run_directory_is_made(arguments, words, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "")
    refused(run("evolve", "--spaces", cache, "--run-dir", tmp_path / "run", *arguments), *words)
    assert not (tmp_path / "run").exists()


def test_a_t1_that_does_not_fit_is_named(cache, tmp_path):
    t1 = tmp_path / "other.json"
    parameter = {"Name": "unheard_of", "Type": "int", "Values": "[1, 2]", "Default": 1}
    t1.write_text(json.dumps({"ConfigurationSpace": {"TuningParameters": [parameter], "Conditions": []}}))
    refused(run("evolve", "--spaces", cache, "--t1", t1, "--run-dir", tmp_path / "run"), "other.json")


def test_a_run_directory_in_the_way_is_left_alone(cache, tmp_path):
    (tmp_path / "thesis.txt").write_text("important")
    refused(run("evolve", "--spaces", cache, "--run-dir", tmp_path), str(tmp_path), "exists already")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("command", [("resume",), ("export", "--name", "mine")], ids=["resume", "export"])
def test_what_is_no_run_directory_is_refused(command, tmp_path):
    refused(run(*command, tmp_path), "run.json")


def test_a_corrupt_log_is_named_with_its_line(cache, tmp_path):
    path = tmp_path / "run"
    quick = ("--max-candidates", "2", "--repeats", "1", "--confirm-repeats", "1", "--final-repeats", "1")
    assert (
        run("evolve", "--spaces", cache, "--run-dir", path, *quick, "--final-strategies", "random_sample").returncode
        == 0
    )
    log = path / "candidates.jsonl"
    log.write_text("{broken\n" + log.read_text())
    refused(run("resume", path), "line 1", "candidates.jsonl", "corrupt")


def test_a_run_keeps_how_its_spaces_were_read(tmp_path):
    document = json.loads(write_cache(synthetic_space(0), tmp_path / "gpu.json").read_text())
    for entry in document["cache"].values():
        entry["joules"] = entry.pop("time")
    document |= {"objective": ["time", "joules"], "objective_higher_is_better": [True, False]}
    document["cache"] = document.pop("cache")  # what comes last is cut off
    space = tmp_path / "gpu.json"
    space.write_text(json.dumps(document)[:-100])
    path = tmp_path / "run"
    quick = ("--max-candidates", "1", "--repeats", "1", "--confirm-repeats", "1", "--final-repeats", "1")
    command = ("evolve", "--spaces", space, "--run-dir", path, *quick, "--final-strategies", "random_sample")
    refused(run(*command, "--objective", "joules"), "cut off", "--salvage")
    done = run(*command, "--objective", "joules", "--salvage")
    assert done.returncode == 0, done.stderr
    assert "warning: " in done.stderr and "1 entry dropped" in done.stderr
    (record,) = json.loads((path / "run.json").read_text())["spaces"]
    assert (record["objective"], record["salvage"]) == ("joules", True)
    resumed = run("resume", path, "--max-candidates", "2")
    assert resumed.returncode == 0, resumed.stderr
    header = json.loads((path / "run.json").read_text())
    del header["spaces"][0]["salvage"], header["spaces"][0]["objective"]
    (path / "run.json").write_text(json.dumps(header))
    refused(run("resume", path), "cut off")


def test_a_changed_space_stops_resume_before_it_changes_anything(tmp_path):
    space = write_cache(synthetic_space(0), tmp_path / "gpu.json")
    path = tmp_path / "run"
    quick = ("--max-candidates", "1", "--repeats", "1", "--confirm-repeats", "1", "--final-repeats", "1")
    assert (
        run("evolve", "--spaces", space, "--run-dir", path, *quick, "--final-strategies", "random_sample").returncode
        == 0
    )
    header = (path / "run.json").read_bytes()
    write_cache(synthetic_space(1), space)
    refused(run("resume", path, "--max-candidates", "99"), "gpu.json", "changed")
    assert (path / "run.json").read_bytes() == header
