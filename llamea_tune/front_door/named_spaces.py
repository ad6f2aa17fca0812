"""Spaces as people name them: loaded, by path or glob, by the name of a bundled one, or as a kernel to measure live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import LOCAL
from llamea_tune.execution.devices import devices_for
from llamea_tune.runners.open_live import LiveKernel, OnSampled, open_all
from llamea_tune.spaces import Reading, Space, bundled_spaces, load_spaces
from llamea_tune.spaces.find import kernel_folder, space_name

SpaceLike = str | Path | Space | LiveKernel
"""A file, folder, glob or bundled name; a space that is loaded or open; or a kernel to be opened live."""

FIRST_SPACES = ("hotspot/caches/H200*", "nbody/caches/H200*", "matmul_openmp/caches/*", "stencil_openmp/caches/*")
"""The bundled spaces that a run trains on by default: one of each nature, with small budgets, to be done soon."""

AS_THEY_SAY = Reading()


@contextmanager
def opened_spaces(
    spaces: SpaceLike | Iterable[SpaceLike] | None,
    reading: Reading = AS_THEY_SAY,
    on_sampled: OnSampled | None = None,
    *,
    executor: str = LOCAL,
) -> Iterator[Sequence[Space]]:
    """Load or open spaces; leaving the context closes the live ones that were opened here.

    Args:
        spaces: What to load; None for all bundled ones.
        reading: How files are read.
        on_sampled: See `open_live`.
        executor: What makes the runs, and says where live kernels find their devices; see `make_executor`.

    Raises:
        SettingsError: Recorded and live spaces are mixed.
        LlameaTuneError: One of them cannot be used.
    """
    given = [spaces] if isinstance(spaces, SpaceLike) else list(bundled_spaces() if spaces is None else spaces)
    live = [space for space in given if isinstance(space, LiveKernel) or (isinstance(space, Space) and space.opened_as)]
    if live and len(live) < len(given):
        raise SettingsError("recorded and live spaces are named together; name one kind of them")
    kernels = [space for space in live if isinstance(space, LiveKernel)]
    if not kernels:
        yield load_named(given, reading)
    elif len(kernels) < len(given):
        raise SettingsError(
            "live spaces that are open and kernels to be opened are named together; name one kind of them"
        )
    else:
        with open_all(kernels, on_sampled, devices_for(executor)) as opened:
            yield opened


def load_named(given: Sequence[SpaceLike], reading: Reading) -> list[Space]:
    """The loaded spaces as they are, then those that are named by files, which get unique names together.

    Raises:
        SpaceFileError: One of them cannot be loaded.
    """
    there = [space for space in given if isinstance(space, Space)]
    files = [file for spec in given if isinstance(spec, str | Path) for file in _files(spec)]
    return there + (load_spaces(files, **vars(reading)) if files or not there else [])


def _files(spec: str | Path) -> list[str | Path]:
    """What a space is loaded from: where there is no such file, a bundled space of that name, or all of a bundled kernel."""
    if Path(spec).exists():
        return [spec]
    bundled = [path for path in bundled_spaces() if str(spec) in (space_name(path), kernel_folder(path))]
    return [*bundled] or [spec]


def first_spaces() -> list[Path]:
    """The files of `FIRST_SPACES`."""
    return [path for path in bundled_spaces() if any(path.match(f"{pattern}.json.gz") for pattern in FIRST_SPACES)]
