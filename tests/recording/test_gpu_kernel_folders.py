"""The CUDA kernels in searchspaces/: descriptions, spaces, and every value of every tunable parameter, run on the host."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import pytest
from cuda_on_host.emulation import KernelFolder, compile_for_host, load_folder, run_on_host
from kernel_tuner.searchspace import Searchspace
from kernel_tuner.util import check_argument_list

SEARCHSPACES = Path(__file__).parents[2] / "searchspaces"
KERNELS = ("convolution", "gemm", "hotspot", "dedispersion", "nbody", "reduction")
MAX_THREADS = 1024
SHARED_MEMORY_BYTES = 48 * 1024

needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


@pytest.fixture(params=KERNELS)
def folder(request: pytest.FixtureRequest) -> KernelFolder:
    return load_folder(SEARCHSPACES / request.param)


def valid_configs(folder: KernelFolder) -> list[dict[str, int]]:
    space = Searchspace(dict(folder.tune_params), list(folder.restrictions), MAX_THREADS)
    return [dict(zip(folder.tune_params, config, strict=True)) for config in space.list]


def covering_configs(folder: KernelFolder, seed: int) -> list[dict[str, int]]:
    """A few configs that hold every value of every parameter."""
    configs = valid_configs(folder)
    random.Random(seed).shuffle(configs)
    missing = {(name, value) for name, values in folder.tune_params.items() for value in values}
    chosen = []
    while missing:
        best = max(configs, key=lambda config: len(missing & config.items()))
        assert missing & best.items(), f"no valid config has {missing}"
        missing -= best.items()
        chosen.append(best)
    return chosen


def small_problem(folder: KernelFolder, config: Mapping[str, int]) -> list[int]:
    """A problem a little larger than one tile, so that the last block overlaps the one before it."""
    divisors = (folder.spec["GridDivX"], folder.spec["GridDivY"])[: len(folder.spec["ProblemSize"])]
    tile = [prod(config[name] for name in names) for names in divisors]
    return [(tile[0] + 5 + 15) // 16 * 16, *(side + 3 for side in tile[1:])]


def wrong_outputs(
    folder: KernelFolder, config: Mapping[str, int], workplace: Path, problem_size: Sequence[int]
) -> list[str]:
    arguments = folder.reference.arguments(problem_size, np.random.default_rng(7))
    answer = folder.reference.answer(arguments)
    tolerance = {"atol": folder.reference.ATOL, "rtol": getattr(folder.reference, "RTOL", 1e-5)}
    program = compile_for_host(folder, config, problem_size, arguments, workplace)
    return [
        f"argument {i}, {'last' if backwards else 'first'} thread first"
        for backwards in (False, True)
        for i, (got, expected) in enumerate(
            zip(run_on_host(program, arguments, backwards=backwards), answer, strict=True)
        )
        if expected is not None and not np.allclose(got, expected, **tolerance)
    ]


def test_space_has_a_fair_size_and_names_the_parameters_of_its_restrictions(folder: KernelFolder) -> None:
    assert 1000 <= len(valid_configs(folder)) <= 4000
    for condition in folder.conditions:
        used = {name for name in folder.tune_params if re.search(rf"\b{name}\b", condition["Expression"])}
        assert set(condition["Parameters"]) == used


def test_arguments_are_what_the_description_and_the_kernel_say(folder: KernelFolder, recwarn) -> None:
    problem_size = folder.spec["ProblemSize"]
    arguments = folder.reference.arguments(problem_size, np.random.default_rng(0))
    names = dict(folder.tune_params, ProblemSize=problem_size)
    for argument, described in zip(arguments, folder.spec["Arguments"], strict=True):
        if described["MemoryType"] == "Vector":
            assert argument.dtype == np.float32
            assert argument.size == int(eval(described["Size"], names))
        else:
            assert argument.dtype == np.int32
            assert argument == described["FillValue"]
    in_constant_memory = {
        described["Name"]: i
        for i, described in enumerate(folder.spec["Arguments"])
        if described.get("MemType") == "Constant"
    }
    assert in_constant_memory == getattr(folder.reference, "CMEM", {})
    check_argument_list(folder.spec["KernelName"], folder.source(), arguments, "CUDA")
    assert not recwarn.list


def test_every_parameter_is_used_in_the_kernel(folder: KernelFolder) -> None:
    for name in folder.tune_params:
        assert re.search(rf"\b{name}\b", folder.source()), f"{name} is not in the kernel"


@needs_gxx
def test_variants_give_the_answer(folder: KernelFolder, tmp_path: Path) -> None:
    for config in covering_configs(folder, seed=1):
        wrong = wrong_outputs(folder, config, tmp_path, small_problem(folder, config))
        assert not wrong, f"{config} gives a wrong answer: {wrong}"


@needs_gxx
def test_a_missing_barrier_gives_a_wrong_answer(folder: KernelFolder, tmp_path: Path) -> None:
    broken = shutil.copytree(folder.path, tmp_path / folder.name)
    source = broken / folder.spec["KernelFile"]
    source.write_text(source.read_text().replace("__syncthreads();", ""))
    needs_barriers = {"use_shmem": 1, "staged_channels": 32, "block_size_y": 8, "finish": 1}
    config = next(
        config
        for config in valid_configs(folder)
        if all(config.get(name, value) == value for name, value in needs_barriers.items())
    )
    assert wrong_outputs(replace(folder, path=broken), config, tmp_path, small_problem(folder, config))


@needs_gxx
def test_a_barrier_that_some_threads_skip_is_reported(tmp_path: Path) -> None:
    folder = load_folder(SEARCHSPACES / "gemm")
    broken = shutil.copytree(folder.path, tmp_path / folder.name)
    source = broken / folder.spec["KernelFile"]
    source.write_text(source.read_text().replace("__syncthreads();", "if (threadIdx.x > 0) __syncthreads();"))
    config = valid_configs(folder)[0]
    with pytest.raises(AssertionError, match="waits at a barrier that others never reach"):
        wrong_outputs(replace(folder, path=broken), config, tmp_path, small_problem(folder, config))


@needs_nvcc
@pytest.mark.slow
def test_variants_compile_for_a_gpu(folder: KernelFolder, tmp_path: Path) -> None:
    for config in covering_configs(folder, seed=2):
        prepared = folder.prepared_source(config, folder.spec["ProblemSize"])
        source = tmp_path / "variant.cu"
        source.write_text(prepared.text)
        command = ["nvcc", "-arch=sm_90", "-cubin", *folder.spec["CompilerOptions"], "-Xptxas", "-v", source.name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr, done.stderr
        shared = re.search(r"(\d+) bytes smem", done.stderr)
        assert shared is None or int(shared[1]) <= SHARED_MEMORY_BYTES
