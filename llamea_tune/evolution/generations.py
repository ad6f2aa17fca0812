"""A search in generations: all of one are planned at once, from what was known before the first of them was judged."""

from __future__ import annotations

from llamea_tune.evolution.events import GenerationStarted
from llamea_tune.evolution.plan import candidate_id, generation_sizes, numbers_of
from llamea_tune.evolution.search import Search


def search_in_generations(search: Search) -> None:
    """Go from generation to generation, from where the history stands to the last one.

    Answers are judged as they come; what a generation leaves behind does not depend on their order.

    Raises:
        BudgetUsedUp: A budget is used up.
        ProposerError: Asking is no use.
    """
    n_generations = len(generation_sizes(search.settings))
    for generation in range(n_generations):
        if search.history.has_later_than(generation):
            continue  # it is complete, and what is kept of it was decided before the next one began
        _make_generation(search, generation, n_generations)
        search.confirm_survivors()
        search.tune_survivors(generation)


def _make_generation(search: Search, generation: int, n_generations: int) -> None:
    before = search.history.before(generation)
    numbers = numbers_of(generation, search.settings)
    n_missing = sum(candidate_id(number) not in search.history for number in numbers)
    search.observe(GenerationStarted(generation, n_generations, n_missing))
    if not n_missing:
        return
    planned = search.plan(numbers, before)
    race = search.race(before)
    while missing := [entry for entry in planned if entry.id not in search.history]:
        search.ledger.check()
        for came in search.asking.each(missing):
            search.take(came, race)
        if any(entry.id not in search.history for entry in missing):
            search.ledger.check_asking()
