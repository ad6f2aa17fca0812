"""Start a run, and go on with one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from llamea_tune.evolution.assemble import carry_out, change_settings, new_run, run_spaces
from llamea_tune.evolution.budgets import Budgets
from llamea_tune.evolution.events import Observer, ignore
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.proposers import check_budgets, check_proposer, named_proposer
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.starting import starting_proposals
from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import LOCAL, make_contender, make_executor
from llamea_tune.execution.devices import devices_for
from llamea_tune.front_door.named_spaces import AS_THEY_SAY, SpaceLike, first_spaces, opened_spaces
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.priors import resolved, with_priors
from llamea_tune.proposals import OFFLINE, Proposer
from llamea_tune.runners.open_live import OnSampled
from llamea_tune.scoring import space_budget
from llamea_tune.spaces import Reading, Space

AS_BEFORE = LLMOptions()
NO_OTHER = Budgets()


def evolve(
    spaces: SpaceLike | Iterable[SpaceLike] | None = None,
    proposer: str | Proposer = OFFLINE,
    *,
    run: str | Path | None = None,
    reading: Reading = AS_THEY_SAY,
    jobs: int | None = None,
    executor: str = LOCAL,
    allow_weak_sandbox: bool = False,
    on_sampled: OnSampled | None = None,
    observe: Observer = ignore,
    **settings: Any,
) -> Leaderboard:
    """Evolve strategies on search spaces.

    Args:
        spaces: The training spaces: files, folders, globs, names of bundled ones, loaded spaces, or live kernels; by
            default four of the bundled ones.
        proposer: Who proposes: a spec such as `"offline"` or `"openai:gpt-4o"`, or a proposer of one's own.
        run: Run directory to make; by default `runs/<date>-<time>`.
        reading: How the files of the spaces are read.
        jobs: Runs at the same time; by default one per core, of all machines that the executor has.
        executor: What makes the runs: `"local"`, `"ray"` or `"ray:HOST:PORT"` for a cluster, or what another package adds.
        allow_weak_sandbox: Whether to run candidates where the sandbox is below its stated minimum.
        on_sampled: See `open_live`.
        observe: Told of the progress, from any thread; see `llamea_tune.evolution.events`.
        **settings: Fields of `Settings`, such as `max_candidates=100`.

    Returns:
        The leaderboard; its `run` is the run directory.

    Raises:
        LlameaTuneError: A setting is out of range, a space cannot be used, or the proposer, the sandbox or the disk do
            not do their part.
    """
    own = None if isinstance(proposer, str) else proposer
    chosen = Settings(proposer=proposer if isinstance(proposer, str) else proposer.name, **settings)
    chosen = replace(chosen, prior=resolved(chosen.prior))
    if own is not None and chosen.llm.given():
        raise SettingsError("llm is for proposers that are named; set up one's own instead", fields=("llm",))
    check_budgets(chosen, own=own is not None)
    for strategy in (*chosen.final_strategies, *chosen.reference_strategies):
        make_contender(strategy)  # refuses what it does not know now, rather than after the evolution
    starting_proposals(chosen.start_from)
    given = first_spaces() if spaces is None else spaces
    with opened_spaces(given, reading, on_sampled, executor=executor) as there:
        opened = with_priors(there, chosen.prior, seed=chosen.seed)
        for space in opened:
            space_budget(space)  # nor start what cannot be scored on
        if own is None:
            named_proposer(chosen)  # and a missing key before there is a run directory
        path = Path("runs") / datetime.now().strftime("%Y%m%d-%H%M%S") if run is None else Path(run)
        with make_executor(executor, opened, jobs=jobs, limits=chosen.limits, allow_weak=allow_weak_sandbox) as maker:
            return carry_out(
                new_run(path, chosen, opened, reading, own),
                maker,
                proposer=own,
                allow_weak_sandbox=allow_weak_sandbox,
                observe=observe,
            )


def resume(
    run: str | Path,
    proposer: Proposer | None = None,
    *,
    spaces: Sequence[Space] | None = None,
    max_candidates: int | None = None,
    llm: LLMOptions = AS_BEFORE,
    budgets: Budgets = NO_OTHER,
    jobs: int | None = None,
    executor: str = LOCAL,
    allow_weak_sandbox: bool = False,
    on_sampled: OnSampled | None = None,
    observe: Observer = ignore,
) -> Leaderboard:
    """Go on with a run that was interrupted, or that is to be longer.

    Args:
        run: The run directory.
        proposer: The proposer, where the run was started with one's own.
        spaces: The training spaces, where they cannot be loaded again from where they came from.
        max_candidates: Candidates to propose in all; by default as many as before.
        llm: Options of the language model that change.
        budgets: Budgets that change; they are in all, what was spent before included.
        jobs: Runs at the same time; by default one per core, of all machines that the executor has.
        executor: What makes the runs: `"local"`, `"ray"` or `"ray:HOST:PORT"` for a cluster, or what another package adds.
        allow_weak_sandbox: Whether to run candidates where the sandbox is below its stated minimum.
        on_sampled: See `open_live`.
        observe: Told of the progress, from any thread.

    Raises:
        LlameaTuneError: There is no such run, it does not fit what is given, or something does not do its part.
    """
    directory = RunDirectory.open_existing(Path(run))
    check_proposer(directory, proposer)
    with run_spaces(directory, on_sampled, spaces, devices_for(executor)) as opened:
        if max_candidates is not None or llm.given() or budgets.given():
            change_settings(directory, max_candidates=max_candidates, llm=llm, budgets=budgets)
        limits = Settings.from_json(directory.header()["settings"]).limits
        with make_executor(executor, opened, jobs=jobs, limits=limits, allow_weak=allow_weak_sandbox) as maker:
            return carry_out(
                directory, maker, proposer=proposer, allow_weak_sandbox=allow_weak_sandbox, observe=observe
            )
