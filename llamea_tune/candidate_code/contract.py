"""What candidate code may and may not do: the lists behind the rules, and the sentences that prompts tell of them.

A courtesy to whoever writes candidates, who gets a clear reason at no cost: the walls of the sandbox do not rely on it.
"""

from __future__ import annotations

import textwrap

PACKAGES = ("numpy", "scipy", "sklearn", "kernel_tuner")
STANDARD_MODULES = (
    *("math", "random", "statistics", "itertools", "functools", "operator", "collections", "heapq", "bisect", "copy"),
    *("dataclasses", "enum", "typing", "warnings", "sys", "abc", "cmath", "fractions", "numbers", "string"),
    "__future__",
)
"""May be imported, with all that is below them. Not `time`: runs must repeat bit for bit."""

HINTS = {
    "time": "the budget is func.budget_spent_fraction, and runs must not depend on the clock",
    "os": "candidates have no access to the system",
    "subprocess": "candidates have no access to the system",
}

MAX_CODE_BYTES = 200_000

REFUSED_NAMES = ("breakpoint", "compile", "eval", "exec", "globals", "input", "open", "vars")
ESCAPES = frozenset(
    {
        *("__base__", "__bases__", "__builtins__", "__closure__", "__code__", "__globals__", "__import__"),
        *("__loader__", "__mro__", "__reduce__", "__reduce_ex__", "__spec__", "__subclasses__"),
    }
)
"""Names of no use to an optimizer, by which code reaches for what it was not given."""

SEEDED = frozenset({"default_rng", "RandomState", "Random", "SeedSequence", "seed"})
"""Functions that must not be given a fixed seed, which would make all repeats alike."""

# A candidate becomes a strategy of Kernel Tuner in the end, whose names it must leave alone.
RESERVED_ARGUMENTS = frozenset(
    {
        "constraint_aware",
        "custom_search_method_path",
        "max_fevals",
        "prior",
        "searchspace_construction_options",
        "time_limit",
    }
)
RESERVED_NAMES = frozenset(
    {
        *("_CostFunc", "_SearchEnded", "_Workers", "_X0", "_accept_x0", "_ask_for_workers", "_config_of"),
        *("_configs_of", "_index_by_value", "_options", "_position", "_sampling_first", "_use_workers", "tune"),
        *("_PRIOR", "_arrays_of", "_first", "_given_arrays", "_know_prior", "_start_from_prior", "_WEIGHS_PRIOR"),
    }
)
IMPORTED_BY_EXPORT = frozenset({"llamea_tune.priors"})  # by what it adds, where a user asks for it
MARKS_OF_A_STRATEGY = frozenset({"_CostFunc", "_options", "tune"})
"""A module with all of these is the file of a strategy already, and may be run, tuned and exported like its candidate."""

NAMES_OF_KERNEL_TUNER = {
    "StopCriterionReached": "kernel_tuner.util.StopCriterionReached",
    "common": "kernel_tuner.strategies.common",
}


def prompt_sentences(own_compute_ms: float | None = None) -> dict[str, str]:
    """The lists as a prompt tells them, and what own compute to plan for, by their name in its template.

    Args:
        own_compute_ms: Own compute that is aimed at for each measurement, in milliseconds; None for a few.
    """
    planned = "a few milliseconds" if own_compute_ms is None else f"{own_compute_ms:g} ms at most"
    names = ", ".join(f"`{name}`" for name in REFUSED_NAMES)
    imports = f"{', '.join(PACKAGES)}, and {', '.join(STANDARD_MODULES)}"
    return {
        "imports": _item(f"- Imports allowed: {imports}. Any other import is refused, `time` too."),
        "refused": _item(f"- No files, network, processes, threads or printing; no {names}."),
        "own_compute": _item(
            "- The algorithm's own compute is measured, and a run that takes too much of it ends without a score: plan for "
            f"{planned} for each measurement. Do not rebuild a model over the whole space for each measurement."
        ),
    }


def _item(text: str) -> str:
    return textwrap.fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
