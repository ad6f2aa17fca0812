"""The worker that measures: holds the device, the kernel's arguments and the answer, and runs one config at a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from llamea_tune.exceptions import LlameaTuneError
from llamea_tune.kernel_tuner_internals import Options
from llamea_tune.recording.compiling import Artefact
from llamea_tune.recording.device import BenchDevice
from llamea_tune.recording.json_worker import Message, serve
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.recording.reference import Arguments

ERROR_LENGTH = 400  # characters of a compiler's message worth keeping


class _WrongResultError(Exception):
    """The kernel ran, and its results are not the reference's."""


class _ArgumentsError(Exception):
    """The reference gives another number of arguments than the kernel takes."""


def _check_arguments(kernel: KernelFolder, arguments: Arguments) -> None:
    """Kernel Tuner warns of arguments that don't fit. Types it may not know by their name; a number is never right."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel.kernel_source.check_argument_lists(kernel.kernel_name, arguments)
    messages = [" ".join(str(warning.message).split()) for warning in caught]
    if messages and all("do not match in size" in message for message in messages):
        raise _ArgumentsError(messages[0])


class _Bench:
    def __init__(self, settings: Message) -> None:
        self._kernel = KernelFolder.load(
            Path(settings["path"]),
            problem_size=tuple(settings["problem_size"]),
            backend=settings["backend"],
            compiler=settings["compiler"],
        )
        arguments = self._kernel.reference.arguments(self._kernel.problem_size, np.random.default_rng(settings["seed"]))
        answer = self._kernel.reference.answer(arguments) if self._kernel.reference.answer else None
        self.device = BenchDevice(
            self._kernel.kernel_source,
            device=settings["device"],
            quiet=True,
            compiler=self._kernel.compiler,
            compiler_options=self._kernel.compiler_options,
            iterations=settings["iterations"],
        )
        _check_arguments(self._kernel, arguments)
        self._kernel_options = self._kernel.options(arguments)
        self._tuning_options = Options(
            verbose=False,
            objective=["time"],
            answer=answer,
            atol=self._kernel.reference.atol,
            verify=self._verify if answer is not None else None,
        )
        self._device_arguments = self.device.ready_argument_list(arguments)
        self._warm = False

    def _verify(self, answer: Any, results: Any, atol: float) -> bool:
        if not self._kernel.reference.matches(answer, results, atol):
            raise _WrongResultError
        return True

    def measure(self, message: Message) -> Message:
        """One config: Kernel Tuner's result, with what failed and whether the device can still be used."""
        params = dict(zip(self._kernel.tune_params, message["config"], strict=True))
        artefact = Artefact(**message["artefact"]) if message["artefact"] else None
        self.device.artefact = artefact
        result, error, usable = self._run(params)
        if usable and not self._warm and not error:  # the first run finds the device cold, and doesn't count
            self._warm = True
            result, error, usable = self._run(params)
        if self._kernel.on_cpu and "times" in result:
            result["time"] = min(result["times"])  # others run there too, and only ever make it longer
        if artefact is not None:
            result["compile_time"] += artefact.compile_ms
        return {"result": _plain(result), "error": error.strip()[:ERROR_LENGTH], "usable": usable}

    def _run(self, params: dict[str, Any]) -> tuple[dict[str, Any], str, bool]:
        """Kernel Tuner's result, why it failed, and whether the device can still be used."""
        start = time.perf_counter()
        try:
            result = self.device.compile_and_benchmark(
                self._kernel.kernel_source, self._device_arguments, params, self._kernel_options, self._tuning_options
            )
        except _WrongResultError:
            return self._failed_run(start), "wrong result", True
        except Exception as err:
            return self._failed_run(start), f"{type(err).__name__}: {err}", self._usable()
        return result, self.device.message, True

    def _usable(self) -> bool:
        """Whether the device still works: after a kernel's invalid access, a GPU's context answers nothing but errors."""
        try:
            self.device.dev.synchronize()
        except Exception:
            return False
        return True

    @staticmethod
    def _failed_run(start: float) -> dict[str, Any]:
        elapsed_ms = (time.perf_counter() - start) * 1000.0
        return {
            "__error__": "RuntimeFailedConfig",
            "compile_time": 0.0,
            "verification_time": elapsed_ms,
            "benchmark_time": 0.0,
        }


def _plain(result: dict[str, Any]) -> Message:
    """Kernel Tuner's result as JSON can hold it."""
    plain: Message = {}
    for key, value in result.items():
        if key == "__error__":
            plain[key] = str(value)
        elif isinstance(value, (list, tuple, np.ndarray)):
            plain[key] = [float(entry) for entry in value]
        else:
            plain[key] = float(value)
    return plain


def _start(settings: Message) -> Callable[[Message], Message]:
    warnings.simplefilter("ignore")
    try:
        bench = _Bench(settings)
    except LlameaTuneError as err:
        failure = {"failure": str(err), "kind": "kernel"}
        return lambda _: failure
    except _ArgumentsError as err:
        failure = {"failure": str(err), "kind": "arguments"}
        return lambda _: failure
    except Exception as err:
        failure = {"failure": f"{type(err).__name__}: {err}", "kind": "device"}
        return lambda _: failure

    def answer(message: Message) -> Message:
        if message["do"] == "describe":
            environment = {key: str(value) for key, value in bench.device.get_environment().items()}
            backend = bench.device.backend_name
            capability = str(getattr(bench.device.dev, "cc", ""))
            return {"name": bench.device.name, "backend": backend, "cc": capability, "environment": environment}
        return bench.measure(message)

    return answer


if __name__ == "__main__":
    serve(_start)
