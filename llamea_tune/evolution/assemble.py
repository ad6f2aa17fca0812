"""Put a run together: from settings and spaces to a run directory, and from a run directory to the loop."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import singledispatch
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llamea_tune import __version__
from llamea_tune.evolution.budgets import OF_ASKING, Budgets
from llamea_tune.evolution.events import Observer, RunStarted, ignore
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.loop import evolve
from llamea_tune.evolution.provenance import prompts_hash
from llamea_tune.evolution.recorded_llm import RecordedLLM
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.tuning import make_tuner
from llamea_tune.exceptions import RunDirectoryError, SettingsError
from llamea_tune.execution import LocalExecutor
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.llm.prices import price_of
from llamea_tune.proposals import OFFLINE, LLMProposer, Proposer, make_proposer
from llamea_tune.runners.open_live import LiveKernel, OnSampled, open_all
from llamea_tune.scoring import Scorer
from llamea_tune.spaces import (
    LandscapeFeatures,
    Reading,
    RecordedSpace,
    Space,
    describe,
    landscape_features,
    load_space,
)
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
    run: RunDirectory, on_sampled: OnSampled | None = None, given: Sequence[Space] | None = None
) -> Iterator[Sequence[Space]]:
    """Load the training spaces of a run again; leaving the context closes the devices of live ones.

    Args:
        run: The run directory.
        on_sampled: See `open_live`.
        given: The spaces, where they need not be loaded.

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
        opening = open_all(lives, on_sampled)
    else:
        opening = nullcontext([_loaded(record) for record in records] if given is None else given)
    with opening as spaces:
        for space, record in zip(spaces, records, strict=True):
            if space.content_hash != record["content_hash"]:
                raise RunDirectoryError(
                    f"{record['source']} has changed since {run.path} was started; restore it, or start a new run."
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


def check_proposer(run: RunDirectory, proposer: Proposer | None) -> None:
    """Refuse to go on with another proposer than before.

    Args:
        run: The run directory.
        proposer: The proposer itself, None for what the run's settings name.

    Raises:
        SettingsError: The run was started with another one.
    """
    header = run.header()
    before = header["settings"]["proposer"]
    if proposer is None and header.get("own_proposer"):
        raise SettingsError(
            f"{run.path} was started in Python with a proposer of your own, {before!r}; "
            "go on there, and hand it over again: llamea_tune.resume(run, proposer)"
        )
    if proposer is not None and proposer.name != before:
        message = f"{run.path} was started with the proposer {before!r}, not {proposer.name!r}; go on with that one"
        raise SettingsError(message)


def check_budgets(settings: Settings, *, own: bool) -> None:
    """Refuse budgets that could not be kept.

    Args:
        settings: The run's settings.
        own: Whether the proposer is one of a user's own.

    Raises:
        SettingsError: A budget is for language models, and none is asked by us, or one whose prices are not given.
    """
    budgets, llm = settings.budgets, settings.proposer
    limited = [name for name in OF_ASKING if name in budgets.limits()]
    if limited and (own or llm == OFFLINE):
        message = f"budgets.{limited[0]} is for language models, and {llm!r} asks none that we count; leave it out."
        raise SettingsError(message, fields=(f"budgets.{limited[0]}",))
    of_tokens = [name for name in limited if name != "max_llm_calls"]
    if of_tokens and llm.partition(":")[0] == "handoff":
        message = f"budgets.{of_tokens[0]} needs to know how many tokens there are, which 'handoff' does not tell; leave it out."
        raise SettingsError(message, fields=(f"budgets.{of_tokens[0]}",))
    if budgets.max_cost is not None and not budgets.prices:
        message = "budgets.max_cost needs to know what tokens cost; give budgets.prices, too."
        raise SettingsError(message, fields=("budgets.max_cost", "budgets.prices"))
    if budgets.max_cost is not None and llm.startswith("openai:") and price_of(budgets.prices, llm) is None:
        message = f"budgets.max_cost needs the price of {llm!r}, which budgets.prices does not hold; add it."
        raise SettingsError(message, fields=("budgets.max_cost", "budgets.prices"))


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
            make_proposer(settings.proposer, **settings.llm.given())  # refuses what it does not take
        run.write_json("run.json", {**header, "settings": settings.to_json()})


def carry_out(
    run: RunDirectory,
    spaces: Sequence[Space],
    *,
    jobs: int,
    proposer: Proposer | None = None,
    allow_weak_sandbox: bool = False,
    observe: Observer = ignore,
) -> Leaderboard:
    """Do what is left of a run.

    Args:
        run: The run directory.
        spaces: Its training spaces.
        jobs: Runs to make at the same time.
        proposer: The proposer itself, where the run's settings hold but its name.
        allow_weak_sandbox: Whether to run candidates where the sandbox is below its stated minimum.
        observe: Told of the progress.

    Raises:
        LlameaTuneError: The proposer, the sandbox or the disk do not do their part.
    """
    with run.locked():
        settings = Settings.from_json(run.header()["settings"])
        observe(RunStarted(run.path, settings, tuple(space.name for space in spaces), len(run.candidates())))
        return _evolve(run, settings, spaces, jobs, proposer, allow_weak_sandbox, observe)


def _evolve(
    run: RunDirectory,
    settings: Settings,
    spaces: Sequence[Space],
    jobs: int,
    own: Proposer | None,
    allow_weak_sandbox: bool,
    observe: Observer,
) -> Leaderboard:
    ledger = Ledger(run, settings.budgets)
    with (
        _proposer(run, settings, own, observe, ledger) as proposer,
        LocalExecutor(spaces, jobs=jobs, limits=settings.limits, allow_weak=allow_weak_sandbox) as executor,
    ):
        scorer = Scorer(executor, repeats=settings.repeats, seed=settings.seed, baseline=settings.baseline)
        descriptions = [] if own is None and settings.proposer == OFFLINE else _descriptions(scorer, settings)
        tuner = make_tuner(run, settings, scorer)
        board = evolve(run, settings, proposer, scorer, descriptions, observe, tuner, ledger)
        return replace(board, run=run.path)


@contextmanager
def _proposer(
    run: RunDirectory, settings: Settings, own: Proposer | None, observe: Observer, ledger: Ledger
) -> Iterator[Proposer]:
    """The run's proposer; a language model's answers go through the run's log, and none is waited for at the end."""
    proposer = make_proposer(settings.proposer, observe, **settings.llm.given()) if own is None else own
    if type(proposer) is not LLMProposer:  # one of a user's own that derives from it is left as it is
        yield proposer
        return
    recorded = LLMProposer(RecordedLLM(proposer.llm, run.exchanges, ledger))
    try:
        yield recorded
    finally:
        recorded.close()


def _descriptions(scorer: Scorer, settings: Settings) -> list[str]:
    """What prompts say of the training spaces."""
    level = settings.description_level
    return [
        describe(
            space,
            level,
            budget_s=scale.budget.time_limit_us / 1e6,
            features=_landscape(space) if level == "space" else None,
        )
        for space, scale in zip(scorer.spaces, scorer.scales, strict=True)
    ]


@singledispatch
def _landscape(_: Space) -> LandscapeFeatures | None:
    """What is told of a landscape: nothing where only a sample of it is known."""
    return None


@_landscape.register
def _known_landscape(space: RecordedSpace) -> LandscapeFeatures:
    return landscape_features(space)


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
    }
