"""Put a run together: from settings and spaces to a run directory, and from a run directory to the loop."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llamea_tune import __version__
from llamea_tune.evolution.briefing import Briefer
from llamea_tune.evolution.budgets import Budgets
from llamea_tune.evolution.descriptions import descriptions
from llamea_tune.evolution.events import Observer, RunStarted, ignore
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.loop import evolve
from llamea_tune.evolution.proposers import check_budgets, named_proposer, opened_proposer
from llamea_tune.evolution.provenance import prompts_hash
from llamea_tune.evolution.references import references
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.trying_out import try_out_on
from llamea_tune.evolution.tuning import make_tuner
from llamea_tune.exceptions import RunDirectoryError, SettingsError
from llamea_tune.execution import Executor
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.priors import with_priors
from llamea_tune.proposals import OFFLINE, LLMProposer, Proposer
from llamea_tune.runners.open_live import Devices, LiveKernel, OnSampled, open_all, this_machine
from llamea_tune.scoring import Scorer
from llamea_tune.spaces import Reading, RecordedSpace, Space, load_space
from llamea_tune.wording import counted


def new_run(
    path: Path,
    settings: Settings,
    spaces: Sequence[Space],
    reading: Reading = Reading(),  # noqa: B008 (frozen)
    proposer: Proposer | None = None,
) -> RunDirectory:
    """Make the run directory of a new run.

    Args:
        path: Where to make it.
        settings: The run's settings.
        spaces: The training spaces.
        reading: How they were read.
        proposer: The proposer itself, where the settings hold but its name.

    Raises:
        RunDirectoryError: Something is there already, or it cannot be written.
    """
    header = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings.to_json(),
        "spaces": [_space_record(space, reading) for space in spaces],
        "versions": versions(),
        "prompts_hash": prompts_hash() if _asks(settings, proposer) else None,
        "own_proposer": proposer is not None,
    }
    return RunDirectory.create(path, header)


def _asks(settings: Settings, proposer: Proposer | None) -> bool:
    """Whether the proposer may ask with our prompts."""
    return settings.proposer != OFFLINE if proposer is None else isinstance(proposer, LLMProposer)


def versions() -> dict[str, str]:
    """Versions of what the outcome depends on."""
    packages = ("kernel_tuner", "numpy", "scipy", "scikit-learn")
    return {
        "llamea-tune": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


@contextmanager
def run_spaces(
    run: RunDirectory,
    on_sampled: OnSampled | None = None,
    given: Sequence[Space] | None = None,
    devices: Devices = this_machine,
) -> Iterator[Sequence[Space]]:
    """Load the training spaces of a run again; leaving the context closes the devices of live ones.

    Args:
        run: The run directory.
        on_sampled: See `open_live`.
        given: The spaces, where they need not be loaded.
        devices: Where live ones find their devices.

    Raises:
        RunDirectoryError: A space is not what it was when the run was started.
        LlameaTuneError: A space cannot be loaded any more.
    """
    records = run.header()["spaces"]
    lives = [LiveKernel(**record["live"]) for record in records if record.get("live")]
    if given is not None and len(given) != len(records):
        raise RunDirectoryError(
            f"{run.path} has {counted(len(records), 'space')}, not {len(given)}; hand over all of them."
        )
    opening: AbstractContextManager[Sequence[Space]]
    if given is None and lives:
        opening = open_all(lives, on_sampled, devices)
    else:
        opening = nullcontext([_loaded(record) for record in records] if given is None else given)
    settings = Settings.from_json(run.header()["settings"])
    with opening as there:
        for space, record in zip(there, records, strict=True):  # first, as one space may tell of another
            if space.content_hash != record["content_hash"]:
                raise RunDirectoryError(
                    f"{record['source']} has changed since {run.path} was started; restore it, or start a new run."
                )
        spaces = with_priors(there, settings.prior, seed=settings.seed)
        for space, record in zip(spaces, records, strict=True):
            if _fingerprint(space) != record.get("prior"):
                raise RunDirectoryError(
                    f"what is known beforehand of {record['name']} has changed since {run.path} was started; "
                    "restore the files of its prior, or start a new run."
                )
        yield spaces


def _loaded(record: Mapping[str, Any]) -> RecordedSpace:
    return load_space(
        Path(record["source"]),
        t1=Path(record["t1"]) if record["t1"] else None,
        name=record["name"],
        objective=record.get("objective"),
        salvage=record.get("salvage", False),
    )


def change_settings(
    run: RunDirectory,
    *,
    max_candidates: int | None,
    llm: LLMOptions,
    budgets: Budgets = Budgets(),  # noqa: B008 (frozen)
) -> None:
    """Let a run go on with other settings, whether it has ended or not.

    Where its last generation was a full one, it then ends as a run that was started for as many candidates, and for as
    many runs of tuning: what these may be in all changes in proportion.

    Args:
        run: The run directory.
        max_candidates: Candidates to propose in all, those that are there included; None for as many as before.
        llm: Those options of the language model that change.
        budgets: Those budgets that change, in all, what is spent included.

    Raises:
        SettingsError: The run has more candidates already, or its proposer takes no such option.
        ProposerError: The proposer cannot work with the options.
        RunDirectoryError: Another process holds the run, or the disk is full.
    """
    with run.locked():
        header = run.header()
        settings = Settings.from_json(header["settings"])
        if max_candidates is not None:
            n_judged = len(run.candidates())
            if max_candidates < n_judged:
                there = counted(n_judged, "candidate")
                message = f"max_candidates is {max_candidates}, but {run.path} has {there} already; raise it."
                raise SettingsError(message, fields=("max_candidates",))
            settings = settings.with_max_candidates(max_candidates)
        if budgets.given():
            settings = settings.with_budgets(budgets)
            check_budgets(settings, own=bool(header.get("own_proposer")))
        if llm.given():
            if header.get("own_proposer"):
                raise SettingsError(
                    f"{run.path} has a proposer of your own, which takes no options of ours; leave them out."
                )
            settings = settings.with_llm(llm)
            named_proposer(settings)  # refuses what it does not take
        run.write_json("run.json", {**header, "settings": settings.to_json()})


def carry_out(
    run: RunDirectory,
    executor: Executor,
    *,
    proposer: Proposer | None = None,
    allow_weak_sandbox: bool = False,
    observe: Observer = ignore,
) -> Leaderboard:
    """Do what is left of a run.

    Args:
        run: The run directory.
        executor: Makes runs on its training spaces.
        proposer: The proposer itself, where the run's settings hold but its name.
        allow_weak_sandbox: Whether a team may try programs out where the sandbox is below its stated minimum.
        observe: Told of the progress.

    Raises:
        LlameaTuneError: The proposer, the sandbox or the disk do not do their part.
    """
    with run.locked():
        settings = Settings.from_json(run.header()["settings"])
        spaces = executor.spaces
        names = tuple(space.name for space in spaces)
        told = tuple(f"{space.name}: {space.prior.told}" for space in spaces if space.prior)
        observe(RunStarted(run.path, settings, names, len(run.candidates()), told))
        return _evolve(run, settings, executor, proposer, observe, allow_weak_sandbox=allow_weak_sandbox)


def _evolve(
    run: RunDirectory,
    settings: Settings,
    executor: Executor,
    own: Proposer | None,
    observe: Observer,
    *,
    allow_weak_sandbox: bool,
) -> Leaderboard:
    ledger = Ledger(run, settings.budgets)
    try_out = try_out_on(executor.spaces, allow_weak_sandbox=allow_weak_sandbox)
    with opened_proposer(run, settings, own, observe, ledger, try_out) as proposer:
        scorer = Scorer(executor, repeats=settings.repeats, seed=settings.seed, baseline=settings.baseline)
        reads = own is not None or settings.proposer != OFFLINE
        described = descriptions(scorer, settings.information) if reads else []
        briefer = Briefer(settings, scorer.scales, references(run, settings, scorer)) if reads else None
        tuner = make_tuner(run, settings, scorer)
        board = evolve(run, settings, proposer, scorer, described, observe, tuner=tuner, briefer=briefer, ledger=ledger)
        return replace(board, run=run.path)


def _space_record(space: Space, reading: Reading) -> dict[str, Any]:
    return {
        "name": space.name,
        "source": str(Path(space.source).resolve()),
        "t1": str(reading.t1.resolve()) if reading.t1 else None,
        "objective": reading.objective,
        "salvage": reading.salvage,
        "content_hash": space.content_hash,
        "configs": space.size,
        "live": space.opened_as,
        "prior": _fingerprint(space),
    }


def _fingerprint(space: Space) -> str | None:
    return space.prior.fingerprint if space.prior else None
