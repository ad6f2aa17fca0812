"""Live kernels on a Ray cluster of this machine: a device each, one recording, and what happens when parts are lost."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from llamea_tune.exceptions import ClusterError, RecordingError, SettingsError
from llamea_tune.execution import make_executor
from llamea_tune.execution.devices import devices_for
from llamea_tune.front_door import benchmark
from llamea_tune.runners.open_live import LiveKernel, open_all, open_live
from llamea_tune.runners.sent_kernel import SentKernel
from llamea_tune.testing.executor_contract import same
from llamea_tune.testing.kernels import write_kernel_folder
from llamea_tune.testing.processes import alive, children_of, wait_until
from llamea_tune.testing.ray_clusters import kill_node

slow = pytest.mark.slow
pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'llamea-tune[ray]'"),
    pytest.mark.xdist_group("ray"),  # one cluster for all
]


def live_kernel(folder: Path, name: str = "doubled") -> LiveKernel:
    """A kernel that is measured with the C compiler, and recorded beside its folder."""
    kernel = folder / name
    return LiveKernel(str(kernel if kernel.exists() else write_kernel_folder(kernel)), str(folder / "live"), sample=12)


def recorded(folder: Path) -> list[str]:
    """Keys of what was measured."""
    found = sorted(folder.glob("live/*/*.json"))
    return [line.split('"')[1] for path in found for line in path.read_text().splitlines()[1:]]


def on_gpus(cluster):
    """Devices of the cluster for kernels that only pretend to need a GPU."""
    from llamea_tune.execution.ray_devices import cluster_devices

    return partial(cluster_devices, cluster.address, on_gpu=lambda kernel: True)


def assert_same(found, expected) -> None:
    """To the last bit, but for the own compute, which is measured."""
    for row, other in zip(found.rows, expected.rows, strict=True):
        assert (row.label, row.card.mean, row.card.interval) == (other.label, other.card.mean, other.card.interval)
        for run, twin in zip(*(flat(outcome.runs[row.label]) for outcome in (found, expected)), strict=True):
            assert same(run, twin)


def flat(runs) -> list:
    return [run for of_space in runs.values() for run in of_space]


@slow
def test_what_is_recorded_gives_the_same_scores_and_the_rest_is_measured_once(cluster, tmp_path):
    live = live_kernel(tmp_path)
    compare = partial(benchmark, ["simulated_annealing", "random_sample"], live)
    here = compare(repeats=2)
    known = recorded(tmp_path)
    there = compare(repeats=2, executor=f"ray:{cluster.address}", jobs=2)
    assert_same(there, here)
    assert recorded(tmp_path) == known
    assert not cluster.devices()

    more = compare(repeats=3, executor=f"ray:{cluster.address}")
    assert all(math.isfinite(row.card.mean) for row in more.rows)
    measured = recorded(tmp_path)
    assert measured[: len(known)] == known
    assert len(measured) == len(set(measured)) > len(known)
    assert_same(compare(repeats=3), more)
    assert recorded(tmp_path) == measured


@slow
def test_each_kernel_has_a_gpu_to_itself_and_none_waits_for_one(cluster, tmp_path):
    lives = [live_kernel(tmp_path, name) for name in ("first", "second", "third")]
    with pytest.raises(ClusterError, match="3 live kernels need a GPU each, and the cluster has 0; name fewer"):
        open_all(lives, devices=on_gpus(cluster)).__enter__()
    node = cluster.add_node(cpus=1, gpus=2)
    try:
        with open_all(lives[:2], devices=on_gpus(cluster)) as spaces:
            actors = cluster.devices()
            benches = {pid for actor in actors for pid in children_of(actor)}
            assert len(actors) == len(benches) == 2
            assert {visible_gpus(pid) for pid in benches} == {"0", "1"}
            with ThreadPoolExecutor(2) as pool:
                assert all(pool.map(lambda space: space.runner.measure(7).time_us > 0, spaces))
            with pytest.raises(ClusterError, match="1 live kernel needs a GPU, and 0 of the cluster's 2 are free"):
                open_all(lives[2:], devices=on_gpus(cluster)).__enter__()
        wait_until(lambda: not alive(actors | benches))
    except BaseException:
        kill_node(node)
        raise
    the_node_is_lost(cluster, node, lives[2], tmp_path)


def the_node_is_lost(cluster, node: int, live: LiveKernel, folder: Path) -> None:
    """Measuring ends with it, and goes on elsewhere from what was recorded."""
    with open_all([live], devices=on_gpus(cluster)) as (space,):
        before = space.runner.measure(3)
        known = recorded(folder)
        kill_node(node)
        with pytest.raises(RecordingError, match=r"the node .*, which measures third, was lost .* `resume`"):
            for index in range(space.size):
                space.runner.measure(index)
        assert space.runner.measure(3) == before
    with open_all([live], devices=devices_for(f"ray:{cluster.address}")) as (space,):
        assert space.runner.measure(3) == before
    assert [key for key in known if key not in recorded(folder)] == []


def visible_gpus(pid: int) -> str:
    variables = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return next(text.partition("=")[2] for text in variables if text.startswith("CUDA_VISIBLE_DEVICES="))


@slow
def test_cpu_kernels_need_a_node_each(cluster, tmp_path):
    lives = [live_kernel(tmp_path, f"kernel{number}") for number in range(9)]
    with pytest.raises(ClusterError, match="9 live kernels for CPUs need a node each"):
        benchmark("random_sample", lives, executor=f"ray:{cluster.address}", repeats=2)


INTERRUPTED = """
import sys
from llamea_tune.front_door import benchmark
from llamea_tune.runners.open_live import LiveKernel

live = LiveKernel(sys.argv[2], sys.argv[3], sample=12)
told = lambda name, done, total: done == total and print("ready", flush=True)
benchmark("random_sample", live, executor=f"ray:{sys.argv[1]}", repeats=1000, on_sampled=told)
"""


@slow
def test_the_device_is_free_soon_after_ctrl_c(cluster, tmp_path):
    live = live_kernel(tmp_path)
    command = [sys.executable, "-c", INTERRUPTED, cluster.address, live.kernel, live.recordings]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        (actor,) = cluster.devices()
        held = {actor, *children_of(actor)}
        wait_until(lambda: len(recorded(tmp_path)) > 14, 30.0)
        process.send_signal(signal.SIGINT)
        since = time.monotonic()
        assert process.wait(timeout=30) != 0
        wait_until(lambda: not alive(held))
        assert time.monotonic() - since < 15
    keys = recorded(tmp_path)
    assert len(keys) == len(set(keys))


@slow
def test_a_kernel_that_does_not_work_there_is_refused_in_its_own_words(cluster, tmp_path):
    live = live_kernel(tmp_path)
    t1 = Path(live.kernel, "doubled.json")
    t1.write_text(t1.read_text().replace('"gcc"', '"no-such-compiler"'))
    with pytest.raises(RecordingError, match=r"the compiler 'no-such-compiler', .* is not on PATH"):
        benchmark("random_sample", live, executor=f"ray:{cluster.address}", repeats=2)
    assert not cluster.devices()


def test_a_space_that_is_open_here_is_refused(tmp_path):
    with (
        open_live(live_kernel(tmp_path)) as space,
        pytest.raises(SettingsError, match="measured live, on this machine; name its kernel"),
    ):
        make_executor("ray", [space])


def test_the_device_has_to_be_the_one_that_was_measured_on(tmp_path):
    live = LiveKernel(**{**vars(live_kernel(tmp_path)), "device_name": "another"})
    with pytest.raises(RecordingError, match="doubled was measured on another, and the device is now"):
        open_live(live).__enter__()
    assert not recorded(tmp_path)


def test_only_small_folders_that_hold_all_are_sent(tmp_path):
    live = live_kernel(tmp_path)
    folder = Path(live.kernel)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "large").write_bytes(bytes(17 << 20))
    sent = SentKernel.of(live.load())
    assert sorted(sent.files) == ["doubled.c", "doubled.json", "reference.py"]
    with sent.start(tmp_path / "there") as runner:
        assert runner.kernel.fingerprint == live.load().fingerprint
    (folder / "large").write_bytes(bytes(17 << 20))
    with pytest.raises(RecordingError, match="holds more than the 16 MB"):
        SentKernel.of(live.load())
    (folder / "large").unlink()
    (folder / "doubled.c").rename(tmp_path / "doubled.c")
    t1 = folder / "doubled.json"
    t1.write_text(t1.read_text().replace('"doubled.c"', '"../doubled.c"'))
    with pytest.raises(RecordingError, match=r"only what is in the T1 file's folder is sent"):
        SentKernel.of(live.load())
