"""Compiling ahead: many compilers work while one process measures."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from llamea_tune._closing import Closing
from llamea_tune.recording.compiling import Artefact, Toolchain
from llamea_tune.recording.json_worker import Worker, WorkerDiedError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.spaces.space import ParamConfig

COMPILE_TIMEOUT_S = 120.0
_AHEAD = 3  # variants compiled or waiting, for each compiler

Compiled = tuple[ParamConfig, Artefact]


class CompileAhead(Closing):
    """A pool of compilers, each a worker process of its own."""

    def __init__(self, kernel: KernelFolder, toolchain: Toolchain, n_workers: int) -> None:
        """Make the pool; compilers start when they are first used.

        Args:
            kernel: Whose variants to compile.
            toolchain: With what.
            n_workers: How many at a time.
        """
        self._kernel = kernel
        self._toolchain = toolchain
        self._n_workers = n_workers
        self._folder = tempfile.TemporaryDirectory(prefix="llamea-tune-", ignore_cleanup_errors=True)
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="compile")
        self._thread = threading.local()
        self._workers: list[Worker] = []
        self._count = 0

    def close(self) -> None:
        """End all compilers."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.close()
        self._pool.shutdown(wait=True)
        self._folder.cleanup()

    def compile(self, configs: Sequence[ParamConfig]) -> Iterator[Compiled]:
        """Compile variants; each is removed again once the caller asks for the next.

        Where measuring happens on a GPU, compilers run all the while and variants come as they are ready. On a CPU
        they would disturb it, so a batch is compiled, then measured.
        """
        if self._kernel.on_cpu:
            yield from self._in_batches(configs)
        else:
            yield from self._as_ready(configs)

    def _in_batches(self, configs: Sequence[ParamConfig]) -> Iterator[Compiled]:
        size = self._n_workers * _AHEAD
        for start in range(0, len(configs), size):
            futures = [self._submit(config) for config in configs[start : start + size]]
            wait(futures)
            yield from self._results(futures)

    def _as_ready(self, configs: Sequence[ParamConfig]) -> Iterator[Compiled]:
        waiting = iter(configs)
        pending = {self._submit(config) for config in islice(waiting, self._n_workers * _AHEAD)}
        while pending:
            ready, pending = wait(pending, return_when=FIRST_COMPLETED)
            for compiled in self._results(ready):
                yield compiled
                pending |= {self._submit(config) for config in islice(waiting, 1)}

    @staticmethod
    def _results(futures: Iterable[Future[Compiled]]) -> Iterator[Compiled]:
        for future in futures:
            config, artefact = future.result()
            try:
                yield config, artefact
            finally:
                if artefact.path:
                    Path(artefact.path).unlink(missing_ok=True)

    def _submit(self, config: ParamConfig) -> Future[Compiled]:
        name, text = self._kernel.instance_source(config)
        self._count += 1
        stem = Path(self._folder.name) / f"variant{self._count}"
        return self._pool.submit(self._compile, config, name, text, stem)

    def _compile(self, config: ParamConfig, name: str, text: str, stem: Path) -> Compiled:
        start = time.perf_counter()
        try:
            reply = self._own_worker().request({"name": name, "text": text, "stem": str(stem)}, COMPILE_TIMEOUT_S)
            return config, Artefact(**reply)
        except WorkerDiedError as err:
            return config, Artefact("", name, (time.perf_counter() - start) * 1000.0, f"the compiler {err}")

    def _own_worker(self) -> Worker:
        """The worker of the calling thread."""
        worker: Worker | None = getattr(self._thread, "worker", None)
        if worker is None:
            worker = Worker("llamea_tune.recording.compile_worker", asdict(self._toolchain))
            self._thread.worker = worker
            self._workers.append(worker)
        return worker
