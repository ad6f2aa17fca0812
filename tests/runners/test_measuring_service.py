"""Live spaces on a real kernel: measured once, for threads and processes alike."""

from __future__ import annotations

import math
import multiprocessing
import pickle
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from llamea_tune.exceptions import RecordingError, SettingsError
from llamea_tune.recording import KernelFolder
from llamea_tune.runners.live_runner import LiveRunner
from llamea_tune.runners.measuring import MeasuringService
from llamea_tune.runners.open_live import LiveKernel, open_all, open_live
from llamea_tune.testing.kernels import write_kernel_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_kernel_folder(tmp_path / "doubled")


def lines(recordings: Path) -> list[str]:
    """Keys in the order of measuring."""
    (file,) = recordings.rglob("*.json")
    return [line.split('"')[1] for line in file.read_text().splitlines()[1:]]


def test_threads_and_forked_processes_share_one_device(folder: Path, tmp_path: Path):
    kernel = KernelFolder.load(folder)
    with MeasuringService(LiveRunner(kernel), tmp_path / "live" / "cpu.json") as service:
        client = service.client()
        with ThreadPoolExecutor(3) as pool:
            first = list(pool.map(client.measure, [1, 2, 3, 1, 2, 3]))
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        process = context.Process(target=lambda: queue.put([service.client().measure(i) for i in (3, 4)]))
        process.start()
        forked = queue.get()
        process.join()
        assert forked[0] == first[2] == client.measure(3)
        assert service.measured == 4
    assert sorted(lines(tmp_path / "live")) == sorted(set(lines(tmp_path / "live")))
    assert len(lines(tmp_path / "live")) == 4


def test_runs_on_other_machines_ask_over_the_network_and_strangers_do_not_get_in_the_way(folder: Path, tmp_path: Path):
    device = LiveRunner(KernelFolder.load(folder))
    device.host = "127.0.0.1"
    with MeasuringService(device, tmp_path / "live" / "cpu.json") as service:
        client = service.client()
        address = client.__reduce__()[1][0]
        with socket.create_connection(address), socket.create_connection(address) as noisy:  # the first says nothing
            noisy.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with pytest.raises(AuthenticationError):
                Client(address, authkey=b"guessed")
            sent = pickle.loads(pickle.dumps(client))
            assert sent.lowest_cost() == math.inf
            assert sent.measure(3) == client.measure(3)
            assert sent.lowest_cost() == sent.measure(3).cost
    with pytest.raises(RecordingError, match="the device was closed"):
        sent.measure(4)


def test_closing_drops_the_measurement_under_way_rather_than_record_a_failure(folder: Path, tmp_path: Path):
    source = folder / "doubled.c"
    source.write_text(source.read_text().replace("float away", "while (tile == 1) { }\n    float away"))
    kernel = KernelFolder.load(folder)
    hanging = next(i for i, config in enumerate(kernel.param_configs) if config[1] == 1 and config[0] != 13)
    errors: list[Exception] = []

    def ask() -> None:
        try:
            client.measure(hanging)
        except RecordingError as err:
            errors.append(err)

    with MeasuringService(LiveRunner(kernel), tmp_path / "live" / "cpu.json") as service:
        client = service.client()
        client.measure(next(i for i, config in enumerate(kernel.param_configs) if config[1] == 2))
        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(1.0)
        started = time.monotonic()
    thread.join(10.0)
    assert time.monotonic() - started < 8.0
    assert "closed" in str(errors[0])
    assert len(lines(tmp_path / "live")) == 1


def test_the_same_sample_is_found_again(folder: Path, tmp_path: Path):
    live = LiveKernel(str(folder), str(tmp_path / "live"), sample=12)
    told: list[tuple[int, int]] = []
    with open_live(live, lambda name, done, total: told.append((done, total))) as space:
        first, opened_as = space, space.opened_as
    assert told == [(n, 12) for n in range(1, 13)]
    assert (space.size, space.sample.size) == (150, 12)
    assert space.reference == space.sample.optimum
    before = lines(tmp_path / "live")
    with open_all([LiveKernel(**opened_as)]) as (again,):
        assert again.content_hash == first.content_hash
        assert again.sample.costs.tolist() == pytest.approx(first.sample.costs.tolist(), nan_ok=True)
        assert again.lowest_cost() == first.reference
    assert lines(tmp_path / "live") == before


def test_a_kernel_that_never_works_is_refused(folder: Path, tmp_path: Path):
    source = folder / "doubled.c"
    source.write_text("#error nothing works\n" + source.read_text())
    live = LiveKernel(str(folder), str(tmp_path / "live"), sample=10)
    with (
        pytest.raises(RecordingError, match=r"failed with all 10 configs of the sample.* remove .*\.json"),
        open_all([live]),
    ):
        pass


def test_settings_out_of_range_are_refused():
    with pytest.raises(SettingsError, match=r"^sample is 3"):
        LiveKernel("k", "live", sample=3)
    with pytest.raises(SettingsError, match=r"^budget_s is 0"):
        LiveKernel("k", "live", budget_s=0.0)
