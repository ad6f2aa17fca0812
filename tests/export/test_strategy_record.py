"""The record says everything, and reads back."""

import hashlib
import json

import pytest

from llamea_tune.exceptions import StrategyError
from llamea_tune.exporting import RecordedScore, SpaceReference, export_strategy, read_record


@pytest.fixture
def exported(walker, request_for, tmp_path):
    request = request_for(
        walker,
        hyperparameters={"tries": 5},
        training=(SpaceReference("convolution/A100", "ab"),),
        validation=(SpaceReference("gemm/CPU", "cd"),),
        scores={"convolution/A100": RecordedScore(0.4, (0.3, 0.5), 100), "gemm/CPU": RecordedScore(-0.1, None, 10)},
        training_score=RecordedScore(0.4, (0.3, 0.5), 100),
        seeds={"run": 1, "validation": 2},
        prompts_hash="ef",
        versions={"kernel_tuner": "1.5.0"},
        run="20260131-120000",
        note="best of two runs",
    )
    return export_strategy(request, tmp_path)


@pytest.mark.parametrize("path", ["code_path", "record_path"])
def test_reads_back_what_was_written(exported, path):
    assert read_record(getattr(exported, path)) == exported.record


def test_record_of_the_sample(exported):
    content = json.loads(exported.record_path.read_text())
    assert content["proposer"] == "offline"
    assert content["candidate"] == {"id": "0042", "operator": "initial", "generation": 3, "parents": ["0001"]}
    tries = content["hyperparameters"]["tries"]
    assert (tries["default"], tries["tuned"]) == (5, True)
    assert tries["description"].endswith("one that it has measured before, or fails")
    assert content["hyperparameters"]["step"] == {"description": "How far to go", "default": 0.5, "tuned": False}
    assert content["code_sha256"] == hashlib.sha256(exported.code_path.read_bytes()).hexdigest()


def test_unknown_fields_are_ignored(exported):
    content = json.loads(exported.record_path.read_text())
    exported.record_path.write_text(json.dumps(content | {"later": 1}))
    assert read_record(exported.record_path) == exported.record


BROKEN = {
    "truncated": (lambda text: text[:50], "cannot be read"),
    "another file": (lambda text: "[1, 2]", "not a strategy record"),
    "later version": (lambda text: text.replace('"format_version": 1', '"format_version": 9'), "version 9"),
    "field lost": (lambda text: text.replace('"class_name"', '"klass"'), "class_name"),
    "wrong field": (lambda text: text.replace("0.3", '"low"'), "wrong one"),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_records(exported, damage, message):
    exported.record_path.write_text(damage(exported.record_path.read_text()))
    with pytest.raises(StrategyError, match=message):
        read_record(exported.record_path)


def test_missing_record(tmp_path):
    with pytest.raises(StrategyError, match="no record"):
        read_record(tmp_path / "walk.py")


def test_default_that_json_does_not_know(head, request_for, tmp_path):
    code = f"{head}\n\nclass Walker(OptAlg):\n    def __init__(self, far=float('inf'), sizes=(1, 2), none=None):\n        pass\n"
    code += "\n    def __call__(self, func, searchspace):\n        pass\n"
    exported = export_strategy(request_for(code), tmp_path)
    written = {name: h.default for name, h in read_record(exported.code_path).hyperparameters.items()}
    assert written == {"far": "float('inf')", "sizes": "(1, 2)", "none": None}
