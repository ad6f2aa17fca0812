"""What the name of a hyperparameter tells about it, and whether it is one at all."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

# Arguments that say how long, how loudly or from which seed to search, not how.
_NO_HYPERPARAMETER_WORDS = frozenset(
    {"budget", "debug", "deadline", "logger", "logging", "quiet", "rng", "seed", "seeds", "silent", "timeout"}
    | {"verbose", "verbosity"}
)
_NO_HYPERPARAMETERS = frozenset(
    {"constraint_aware", "display", "log", "max_evals", "max_evaluations", "max_fevals", "max_time", "n_evals"}
    | {"n_evaluations", "plot", "print", "random_state", "time_limit", "use_searchspace_cache", "x0"}
)
_BUDGET_DESCRIPTION = re.compile(r"maximum number of evaluations|search space to cover", re.IGNORECASE)
_TEMPERATURE = re.compile(r"t(emp(erature)?)?_?(0|min|max|init|initial|start|end|final|cur)?", re.IGNORECASE)
_PROBABILITY_WORDS = frozenset(
    {"chance", "fraction", "frac", "p", "percentage", "prob", "probability", "proportion", "quantile", "ratio", "share"}
)
_RATE_WORDS = frozenset({"rate", "speed", "step", "stepsize", "tol", "tolerance", "eps", "epsilon"})
_POPULATION_WORDS = frozenset({"pack", "pop", "popsize", "population", "swarm", "wolves", "particles", "fireflies"})


def words(name: str) -> frozenset[str]:
    """The words of a name: of `"popSize_max2"`, they are pop, size, max and 2."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


def is_left_alone(name: str, description: str = "") -> bool:
    """Whether an argument is no hyperparameter: a budget, a seed, or a flag about output or the search space.

    Args:
        name: Its name.
        description: What is said about it, if anything.
    """
    if name in _NO_HYPERPARAMETERS or words(name) & _NO_HYPERPARAMETER_WORDS:
        return True
    return _BUDGET_DESCRIPTION.search(description) is not None


def is_temperature(name: str, description: str = "") -> bool:
    """Whether it is a temperature, which matters by its order of magnitude."""
    return _TEMPERATURE.fullmatch(name) is not None or "temperature" in (words(name) | words(description))


def is_probability(name: str, description: str = "") -> bool:
    """Whether it is a probability, or a fraction of something."""
    return bool((words(name) | words(description)) & _PROBABILITY_WORDS)


def is_rate(name: str) -> bool:
    """Whether it is a rate, a step or a tolerance."""
    return bool(words(name) & _RATE_WORDS)


def is_population(name: str) -> bool:
    """Whether it is the size of a population, which operators take several members from."""
    return bool(words(name) & _POPULATION_WORDS)
