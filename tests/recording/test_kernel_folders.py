"""Kernel folders: how they are read, what they make, and that the bundled CPU kernels are right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_tuner.file_utils import get_input_file

from llamea_tune._bundled import bundled_path
from llamea_tune.exceptions import LlameaTuneError, RecordingError
from llamea_tune.recording import Bench, KernelFolder
from llamea_tune.recording.reference import BLOCK, Reference, load_reference

BUNDLED = sorted(path for path in bundled_path("searchspaces").iterdir() if path.is_dir())
SMALL = {"matmul_openmp": (384, 384), "stencil_openmp": (150, 150)}


def test_the_cpu_kernels_are_bundled():
    assert set(SMALL) <= {path.name for path in BUNDLED}


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.name)
def test_bundled_folders_follow_the_layout(path: Path):
    get_input_file(path / f"{path.name}.json")
    kernel = KernelFolder.load(path)
    assert kernel.name == path.name
    assert 400 <= len(kernel.param_configs) <= 20_000
    assert (path / "README.md").is_file()
    assert (path / "reference.py").is_file()
    readme = (path / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in kernel.tune_params)


@pytest.mark.parametrize("name", SMALL)
def test_cpu_kernels_agree_with_their_reference(name: str):
    kernel = KernelFolder.load(bundled_path("searchspaces") / name, problem_size=SMALL[name])
    covering = covering_configs(kernel)
    with Bench(kernel, iterations=1) as bench:
        for config in covering:
            entry = bench.measure(config)
            assert "__error__" not in entry, entry
            assert entry["time"] > 0.0


def covering_configs(kernel: KernelFolder) -> list[tuple]:
    """Configs that together hold every value of every parameter."""
    missing = {(name, value) for name, values in kernel.tune_params.items() for value in values}
    configs, chosen = kernel.param_configs, []
    while missing:
        best = max(configs, key=lambda config: len(missing & set(zip(kernel.tune_params, config, strict=True))))
        missing -= set(zip(kernel.tune_params, best, strict=True))
        chosen.append(best)
    return chosen


def test_settings_can_be_given_instead_of_the_descriptions(make_kernel: Callable[..., KernelFolder]):
    path = make_kernel().t1_path
    kernel = KernelFolder.load(path, problem_size=(64,), backend="cupy", compiler="clang")
    assert (kernel.problem_size, kernel.backend, kernel.compiler) == ((64,), "cupy", "clang")
    assert kernel.fingerprint != KernelFolder.load(path).fingerprint
    assert KernelFolder.load(path).fingerprint == KernelFolder.load(path.parent).fingerprint


def test_variants_define_their_parameters(make_kernel: Callable[..., KernelFolder]):
    kernel = make_kernel()
    config = kernel.param_configs[0]
    name, text = kernel.instance_source(config)
    assert name == "twice"
    for parameter, value in zip(kernel.tune_params, config, strict=True):
        assert f"#define {parameter} {value}\n" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t1: t1["KernelSpecification"].pop("ProblemSize"), "has no KernelSpecification.ProblemSize"),
        (lambda t1: t1["KernelSpecification"].update(KernelFile="gone.c"), r"gone\.c, which is not there"),
        (lambda t1: t1["KernelSpecification"].update(Language="Cobol"), "does not follow the T1 schema at .*Language"),
        (lambda t1: t1.pop("ConfigurationSpace"), "no T1 description"),
    ],
)
def test_what_is_wrong_with_a_description_is_said(make_kernel: Callable[..., KernelFolder], change, message: str):
    path = make_kernel().t1_path
    t1 = json.loads(path.read_text())
    change(t1)
    path.write_text(json.dumps(t1))
    with pytest.raises(LlameaTuneError, match=message):
        KernelFolder.load(path)


def test_a_folder_without_description_is_refused(tmp_path: Path):
    with pytest.raises(RecordingError, match="holds no T1 description"):
        KernelFolder.load(tmp_path)
    with pytest.raises(RecordingError, match="neither a kernel folder nor a T1 file"):
        KernelFolder.load(tmp_path / "nowhere")


def test_a_broken_reference_is_refused(make_kernel: Callable[..., KernelFolder]):
    kernel = make_kernel()
    (kernel.t1_path.parent / "reference.py").write_text("arguments = None\n")
    with pytest.raises(RecordingError, match=r"reference\.py cannot be used \(AttributeError"):
        Bench(KernelFolder.load(kernel.t1_path))


def test_arguments_come_from_the_description_where_there_is_no_reference(make_kernel: Callable[..., KernelFolder]):
    kernel = make_kernel()
    (kernel.t1_path.parent / "reference.py").unlink()
    t1 = json.loads(kernel.t1_path.read_text())
    vector = {"Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0] * max(block)"}
    t1["KernelSpecification"]["Arguments"] = [
        {"Name": "out", **vector, "FillType": "Constant", "FillValue": 7},
        {"Name": "in", **vector, "FillType": "Random", "MemType": "Constant"},
        {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 100},
    ]
    kernel.t1_path.write_text(json.dumps(t1))
    reference = KernelFolder.load(kernel.t1_path).reference
    out, values, n = reference.arguments((8,), np.random.default_rng(1))
    assert out.tolist() == [7.0] * 32
    assert values.dtype == np.float32
    assert len(set(values.tolist())) == 32
    assert n == 100
    assert n.dtype == np.int32
    assert reference.answer is None
    assert reference.constant_memory == {"in": 1}
    kernel.t1_path.write_text(json.dumps(t1).replace('"MemType": "Constant"', '"MemType": "Global"'))
    with Bench(KernelFolder.load(kernel.t1_path), iterations=1) as bench:
        assert "time" in bench.measure(kernel.param_configs[0])


@pytest.mark.parametrize(
    "size",
    [
        "().__class__.__base__.__subclasses__()",
        "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0](['touch', 'escaped'])",
        "__import__('os').system('touch escaped')",
        "open('escaped', 'w').write('x')",
        "(lambda: 8)()",
        "max.__self__.exec('1')",
        "ProblemSize.append(1) or 8",
        "9**9**9",
        "float('inf')",
        "ProblemSize[1]",
        "1024 *",
        "-8",
        "unknown",
        10**15,
        [8],
        None,
    ],
)
def test_a_size_that_is_no_length_is_refused_and_never_run(make_kernel, monkeypatch, size):
    kernel = make_kernel()
    monkeypatch.chdir(kernel.t1_path.parent)
    (kernel.t1_path.parent / "reference.py").unlink()
    vector = {"Name": "out", "Type": "float", "MemoryType": "Vector", "Size": size, "FillType": "Constant"}
    specification = {"Arguments": [vector]}
    reference = load_reference(kernel.t1_path, specification, {"block": (1, 2)})
    with pytest.raises(RecordingError, match=r"gives argument out the Size .* no length"):
        reference.arguments([8], np.random.default_rng(1))
    assert not Path("escaped").exists()


def test_arguments_that_do_not_fit_the_kernel_are_refused(make_kernel: Callable[..., KernelFolder]):
    kernel = make_kernel()
    reference = kernel.t1_path.parent / "reference.py"
    reference.write_text(reference.read_text().replace(", np.int32(len(values))", ""))
    with pytest.raises(RecordingError, match="arguments of twice don't fit its kernel"):
        Bench(KernelFolder.load(kernel.t1_path))


@given(
    place=st.integers(0, 2 * BLOCK),
    error=st.floats(1e-5, 10.0) | st.just(float("nan")) | st.just(float("inf")),
    atol=st.floats(1e-4, 1.0),
)
def test_results_are_compared_as_numpy_does(place: int, error: float, atol: float):
    expected = np.linspace(-3.0, 3.0, 2 * BLOCK + 1)
    found = expected.copy()
    found[place] += error
    reference = Reference(arguments=lambda *_: [], answer=None, atol=atol)
    wanted = np.allclose(found, expected, atol=atol, rtol=1e-5)
    assert reference.matches([expected, None], [found, None]) == wanted


def test_a_missing_result_is_wrong():
    reference = Reference(arguments=lambda *_: [], answer=None)
    assert not reference.matches([np.zeros(3)], [None])
    assert not reference.matches([np.zeros(3)], [np.zeros(4)])
