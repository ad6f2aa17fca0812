"""Workers end, hang and are closed; who waits for them learns of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from llamea_tune.recording.json_worker import Worker, WorkerDiedError

MODULE = """
import time
from llamea_tune.recording.json_worker import serve

def start(settings):
    def answer(message):
        time.sleep(message["idle_s"])
        return message
    return answer

serve(start)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    (tmp_path / "idle_worker.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    with Worker("idle_worker", {}) as idle:
        assert idle.request({"idle_s": 0}, 60.0) == {"idle_s": 0}
        yield idle


def test_one_that_takes_too_long_is_ended_and_started_again(worker: Worker) -> None:
    with pytest.raises(WorkerDiedError, match="no answer within 1 s"):
        worker.request({"idle_s": 60}, 1.0)
    assert worker.request({"idle_s": 0}, 60.0) == {"idle_s": 0}


def test_an_answer_may_take_several_looks(worker: Worker) -> None:
    assert worker.request({"idle_s": 1.2}, 60.0) == {"idle_s": 1.2}


@pytest.mark.parametrize("pipe_goes_first", [False, True])
def test_who_waits_learns_that_another_thread_closed_it(worker: Worker, pipe_goes_first: bool) -> None:
    errors: list[Exception] = []

    def ask() -> None:
        try:
            worker.request({"idle_s": 60}, 60.0)
        except WorkerDiedError as err:
            errors.append(err)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.5)
    process = worker._process
    assert process is not None and process.stdout is not None
    if pipe_goes_first:  # as where the one who waits has had no turn since the process was killed
        worker._process = None
        process.stdout.close()
    started = time.monotonic()
    worker.close()
    asking.join(20.0)
    process.kill()
    process.wait()
    assert len(errors) == 1
    assert time.monotonic() - started < 10.0
