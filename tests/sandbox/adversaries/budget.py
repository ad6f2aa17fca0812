"""Stretching the budget, and asking for what there is not."""

from __future__ import annotations

from adversaries.adversary import (
    FAILED,
    HONEST,
    HONEST_REQUESTS,
    MAX_FEVALS,
    SPENT,
    STALLED,
    Adversary,
    foiled,
)

HOST = "the host's meter"

ADVERSARIES = (
    Adversary(
        "swallow-the-stop",
        "catches everything and never stops",
        HOST,
        SPENT,
        """
        while True:
            try:
                func(searchspace.get_random_sample(1)[0])
            except BaseException:
                pass
        """,
        paid=MAX_FEVALS,
    ),
    Adversary(
        "repeat-for-ever",
        "asks for the same config for ever, and catches everything",
        HOST,
        STALLED,
        """
        config = searchspace.get_random_sample(1)[0]
        while True:
            try:
                func(config)
            except BaseException:
                pass
        """,
        paid=1,
    ),
    Adversary(
        "invalid-for-ever",
        "asks for configs outside the space for ever",
        HOST,
        STALLED,
        """
        while True:
            try:
                func(("nowhere",) * len(searchspace.param_names))
            except BaseException:
                pass
        """,
        paid=0,
    ),
    Adversary(
        "seed-hunt",
        "tries one seed after the other for the best start",
        HOST,
        SPENT,
        """
        import random, numpy as np
        best = None
        for seed in range(10_000):
            random.seed(seed); np.random.seed(seed)
            for config in searchspace.get_random_sample(3):
                best = min(best or 1e300, func(config))
        """,
        paid=MAX_FEVALS,
    ),
    Adversary(
        "time-the-host",
        "measures how long the host takes over each reply, to guess costs without paying",
        HOST,
        SPENT,
        """
        import time
        while True:
            for config in searchspace.get_random_sample(4):
                start = time.perf_counter_ns()
                func(config)
                elapsed = time.perf_counter_ns() - start
        """,
        paid=MAX_FEVALS,
    ),
    Adversary(
        "count-down-the-clock",
        "sets the results' times to nothing",
        HOST,
        SPENT,
        """
        for config in searchspace.list:
            func(config)
            for result in func.results:
                result._time_ms = -1e9
        """,
        paid=MAX_FEVALS,
    ),
    foiled(
        "no-numbers",
        "asks for configs of NaN, infinities and huge numbers",
        HOST,
        """
        for value in (float("nan"), float("inf"), -float("inf"), 1e308, 10 ** 100, -1, 0.1):
            func((value,) * len(searchspace.param_names))
        """,
    ),
    foiled(
        "outside-the-space",
        "asks for configs with too few, too many and unknown values",
        HOST,
        """
        config = searchspace.list[0]
        for wrong in (config[:-1], config + config, ("x",) + config[1:], (), [None] * len(config)):
            func(wrong)
        """,
    ),
    Adversary(
        "wrong-types",
        "asks for something that is no config",
        "its error is a state",
        FAILED,
        "func(None)",
        reason="TypeError",
        paid=0,
    ),
    Adversary(
        "unhashable",
        "asks for a config of lists",
        "its error is a state",
        FAILED,
        "func([[1], {}, set()] + [[]] * (len(searchspace.param_names) - 3))",
        reason="TypeError",
        paid=0,
    ),
    Adversary(
        "returns-nonsense",
        "returns a perfect result that it never had",
        HOST,
        HONEST,
        "honest(func, searchspace); return ((1, 2, 3), float('-inf'))",
        paid=HONEST_REQUESTS,
    ),
    Adversary(
        "does-nothing",
        "returns without a request",
        HOST,
        HONEST,
        "return None",
        paid=0,
    ),
)
