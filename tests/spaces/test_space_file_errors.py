"""Every unusable file is one sentence that names it, the place in it, and what to do."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces import cache_to_t4, load_space, load_spaces

NOBODY = 65534


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(SpaceFileError) as error:
        load_space(path, **options)
    message = str(error.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("[1, 2]", "neither a Kernel Tuner cache nor T4"),
        ('{"a": 1}', "neither a Kernel Tuner cache nor T4"),
        ('{"results": [1, 2]}', "neither a Kernel Tuner cache nor T4"),
        ('{"results": []}', "records no config"),
        ('{"cache": {}}', "records no config"),
        ('{"ConfigurationSpace": {}}', "is a T1 description"),
        ("not JSON", "no valid JSON from character 1 on"),
        ('{"cache": [1]}', "neither a Kernel Tuner cache nor T4"),
        ('{"cache": {"1": 5}}', "the entry '1' is no object"),
        ('{"cache": {1: 5}}', "no valid JSON"),
        ('{"tune_params_keys": 5, "tune_params": {}, "cache": {"1": {"x": 1, "time": 1}}}', "is no list of names"),
        ('{"tune_params_keys": ["x"], "tune_params": {"x": 5}, "cache": {"1": {"x": 1}}}', "values of 'x'"),
        ('{"results": [{"configuration": {"x": 1}}]}', "results[0] has no 'times'"),
        (
            '{"results": [{"configuration": {"x": 1}, "times": {}}, {"configuration": {}, "times": {}}]}',
            "results[1] has no value for the parameter 'x'",
        ),
        (
            '{"metadata": {"timeunit": "fortnights"}, "results": [{"configuration": {"x": 1}, "times": {}}]}',
            "'fortnights' is unknown",
        ),
        ("[" * 100_000, "no valid JSON"),
        ('{"cache": ' + "[" * 100_000, "no valid JSON"),
    ],
)
def test_what_is_no_recording(text: str, reason: str, write: Callable[..., Path]) -> None:
    assert reason in refusal(write(text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "absent.json")
    assert "is a folder" in refusal(tmp_path)


def test_files_without_permission(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    path = write(cache)
    path.chmod(0)
    child = os.fork()
    if child == 0:  # another user, to whom the file is closed even where the tests run as root
        status = 1
        try:
            os.chdir(path.parent)
            if os.geteuid() == 0:
                os.seteuid(NOBODY)
            load_space(path.name)
        except SpaceFileError as err:
            status = 0 if str(err).startswith(f"{path.name} may not be read by this user") else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_cut_off_files_of_every_length(cache: dict[str, Any], write: Callable[..., Path], tmp_path: Path) -> None:
    text = json.dumps(cache)
    whole = len(cache["cache"])
    for length in range(1, len(text) - 2, 7):
        path = write(text[:length])
        try:
            space = load_space(path)
        except SpaceFileError as err:
            assert str(path) in str(err)
        else:
            assert space.size <= whole
            assert text[length - 1] in "},0123456789 "
    compressed = gzip.compress(text.encode())
    path = tmp_path / "cut.json.gz"
    for length in range(1, len(compressed), 13):
        path.write_bytes(compressed[:length])
        refusal(path)
    path.write_bytes(compressed)
    assert load_space(path).size == whole


def test_damaged_compressed_data_and_text(tmp_path: Path, cache: dict[str, Any]) -> None:
    compressed = bytearray(gzip.compress(json.dumps(cache).encode()))
    compressed[len(compressed) // 2] ^= 0xFF
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(compressed)
    refusal(path)
    path.write_bytes(b'{"device_name": "\xff\xfe"}')
    assert "no UTF-8 text" in refusal(path)


def test_an_entry_cut_in_the_middle_names_the_one_before(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    text = json.dumps(cache)
    assert "after the entry '64,True,a,0.5'" in refusal(write(text[: text.rindex('"GFLOP/s"')]))


def test_only_failed_configs(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    for fields in cache["cache"].values():
        fields["time"] = "CompilationFailedConfig"
    assert "only failed configs: none of 12 has a value of the objective 'time'" in refusal(write(cache))


def test_an_objective_that_was_not_measured(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    path = write(cache)
    assert "the objective 'energy'" in refusal(path, objective="energy")


def test_an_objective_of_unknown_direction(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    cache["objective"] = "hits"
    assert '"objective_higher_is_better": true or false' in refusal(write(cache))


@pytest.mark.parametrize("salvage", [False, True])
def test_what_follows_the_end_is_never_ignored(
    cache: dict[str, Any], write: Callable[..., Path], salvage: bool
) -> None:
    text = json.dumps(cache)
    more = json.dumps({"64,False,c,0.5": cache["cache"]["64,False,a,0.5"]})[1:-1]
    for appended in (text, f"{more}}}\n}}", f",\n{more},", "x"):
        message = refusal(write(f"{text}\n{appended}"), salvage=salvage)
        assert f"goes on after its end, at character {len(text) + 2}" in message
    results = write(cache, "saxpy/cache.json")
    cache_to_t4(results, results.with_name("t4.json"))
    assert "goes on after its end" in refusal(write(results.with_name("t4.json").read_text() * 2))


def test_a_git_lfs_pointer(write: Callable[..., Path]) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
    message = refusal(write(pointer, "saxpy/A100.json.gz"))
    assert "is a Git LFS pointer" in message and "run git lfs pull" in message


def test_objectives_that_are_no_numbers_are_not_called_failures(
    cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    for odd in ([1.5, 2.5], "1.5e-3", {"mean": 1.5}):
        for fields in cache["cache"].values():
            fields["time"] = odd
        message = refusal(write(cache))
        assert f"gives the objective 'time' as lists or texts, such as {odd!r}" in message
        assert "--objective" in message
    assert load_space(write(cache), objective="GFLOP/s").optimum == -99.0


def test_what_was_measured_instead_is_named(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    message = refusal(write(cache), objective="energy")
    assert "none of its 12 configs has a value of the objective 'energy', but of 'GFLOP/s', 'time'" in message


def test_a_cut_off_file_names_the_way_to_use_it(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    text = json.dumps(cache)
    for cut in (text[: text.rindex('"GFLOP/s"')], text[: text.rindex("0.5")]):
        message = refusal(write(cut))
        assert "is cut off" in message and "--salvage" in message
    broken = refusal(write(text.replace('"mode"', "mode", 1)))
    assert "--salvage" not in broken


@pytest.mark.parametrize(
    ("value", "reason"),
    [([1], "has [1] for"), (None, "has None for"), ({}, "has {} for"), (float("nan"), "has nan for")],
)
def test_values_that_no_parameter_can_have(
    value: object, reason: str, cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    cache["cache"]["32,True,a,0.5"]["mode"] = value
    message = refusal(write(cache))
    assert "the entry '32,True,a,0.5'" in message
    assert reason in message


def test_a_parameter_without_value(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    del cache["cache"]["32,True,a,0.5"]["mode"]
    assert "the entry '32,True,a,0.5' has no value for the parameter 'mode'" in refusal(write(cache))


def test_more_values_than_fit(write: Callable[..., Path]) -> None:
    entries = ",".join(f'"{i}":{{"x":{i},"time":1.5}}' for i in range(65537))
    assert "the entry '65536' has the 65537th value of the parameter 'x'" in refusal(
        write(f'{{"cache":{{{entries}}}}}')
    )


def test_folders_and_globs_without_a_space(tmp_path: Path, write: Callable[..., Path]) -> None:
    write({"a": 1}, "empty/other.json")
    for spec, reason in (
        (tmp_path / "empty", "holds no Kernel Tuner cache or T4 file"),
        (f"{tmp_path}/*/x*.json", "matches no Kernel Tuner cache or T4 file"),
        (tmp_path / "absent", "does not exist"),
    ):
        with pytest.raises(SpaceFileError, match=reason):
            load_spaces([spec])
    with pytest.raises(SpaceFileError, match="no search space is named"):
        load_spaces([])
