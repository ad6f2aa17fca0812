"""A search in a steady state: as soon as an answer is judged, the next candidate is planned from what is known by then.

Nobody waits for the slowest answer of a generation. Each plan is a line of the log, which says what the plan saw: all lines
before it, and so who was waiting for an answer. So the search goes on after an interruption as if there had been none, and
the same answers in the same order give the same log.
"""

from __future__ import annotations

from collections.abc import Mapping

from llamea_tune.evolution.briefing import Asked
from llamea_tune.evolution.events import GenerationStarted
from llamea_tune.evolution.history import History
from llamea_tune.evolution.plan import PlannedCandidate, generation_sizes
from llamea_tune.evolution.search import Search


def search_steadily(search: Search) -> None:
    """Keep as many candidates asked for as may be, from where the log stands until all are judged.

    A generation is but a number of candidates here: the first one is made from nothing, and survivors are tuned after
    as many as make one.

    Raises:
        BudgetUsedUp: A budget is used up.
        ProposerError: Asking is no use.
    """
    waiting = _planned_before(search)
    _keep_survivors(search)
    search.asking.ask(list(waiting.values()))
    while len(search.history) < search.settings.max_candidates:
        _plan_more(search, waiting)
        if not waiting:
            search.ledger.check_asking()
        came = search.asking.take()
        if came is None:  # of those that wait, some were not asked for
            search.ledger.check_asking()
            search.asking.ask(list(waiting.values()))
            continue
        search.take(came, search.race(search.history))
        del waiting[came[0].id]
        _keep_survivors(search)


def _planned_before(search: Search) -> dict[str, PlannedCandidate]:
    """Those that the log says were planned and that were not judged, planned again from what was known then."""
    waiting: dict[str, PlannedCandidate] = {}
    earlier: list[str] = []
    for key, lines in search.run.planned().items():
        if key not in search.history:
            seen = History(search.run.candidates(lines), search.run.confirmations(lines))
            asked = [_asked(search, other, waiting) for other in earlier if other not in seen]
            (waiting[key],) = search.plan([int(key)], seen, asked)
        earlier.append(key)
    return waiting


def _asked(search: Search, key: str, waiting: Mapping[str, PlannedCandidate]) -> Asked:
    """What the author of a candidate that was planned is or was asked for."""
    return Asked.for_task(waiting[key].task) if key in waiting else Asked.for_candidate(search.history[key].candidate)


def _plan_more(search: Search, waiting: dict[str, PlannedCandidate]) -> None:
    """Plan as many as may be asked for at once, and ask for them."""
    settings = search.settings
    while (
        len(waiting) < settings.asked_at_once
        and (number := len(search.history) + len(waiting)) < settings.max_candidates
        and search.ledger.may_ask()
    ):
        if number % settings.offspring == 0:
            sizes = generation_sizes(settings)
            generation = number // settings.offspring
            search.observe(GenerationStarted(generation, len(sizes), sizes[generation]))
        asked = [Asked.for_task(entry.task) for entry in waiting.values()]
        (entry,) = search.plan([number], search.history, asked)
        search.run.record_plan(entry.id, entry.task.llm)
        waiting[entry.id] = entry
        search.asking.ask([entry])


def _keep_survivors(search: Search) -> None:
    """Confirm who would be kept, and tune them where a generation's worth was judged."""
    search.confirm_survivors()
    n_judged = len(search.history)
    is_last = n_judged == search.settings.max_candidates
    if n_judged and (n_judged % search.settings.offspring == 0 or is_last):
        search.tune_survivors((n_judged - 1) // search.settings.offspring)
