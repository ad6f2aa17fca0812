"""Cheating inside the guest's own Python."""

from __future__ import annotations

from adversaries.adversary import (
    FAILED,
    HONEST,
    HONEST_REQUESTS,
    MAX_FEVALS,
    SPENT,
    TIMED_OUT,
    Adversary,
    foiled,
)

GUEST = "its error is a state"
HOST = "the host's meter"
FORK = "a process of its own"

ADVERSARIES = (
    Adversary("syntax-error", "is no Python", GUEST, FAILED, "class Adversary(:", "SyntaxError", module=True),
    Adversary("no-class", "has no class of that name", GUEST, FAILED, "x = 1", "AttributeError", module=True),
    Adversary(
        "loop-at-import",
        "loops before there is a class",
        "wall-clock limit",
        TIMED_OUT,
        "while True: pass",
        "ran longer than",
        module=True,
    ),
    Adversary(
        "error-in-constructor",
        "fails in its constructor",
        GUEST,
        FAILED,
        "class Adversary(OptAlg):\n    def __init__(self):\n        raise KeyError('no')\n    def __call__(self, *a): pass",
        "KeyError: 'no' (line",
        module=True,
    ),
    Adversary(
        "endless-error-text",
        "raises an error whose text never ends",
        "wall-clock limit",
        TIMED_OUT,
        """
        class Endless(Exception):
            def __str__(self):
                while True: pass
        raise Endless
        """,
    ),
    Adversary(
        "failing-error-text",
        "raises an error whose text raises another",
        GUEST,
        FAILED,
        """
        class Nested(BaseException):
            def __str__(self):
                raise self
        raise Nested
        """,
        "Nested",
    ),
    Adversary(
        "long-error-text",
        "raises an error with a text of ten megabytes and terminal codes",
        GUEST,
        FAILED,
        r'raise ValueError("\x1b[31mred\n" * 1_500_000)',
        "ValueError: [31mred",
    ),
    foiled(
        "walk-the-heap",
        "looks for the host's objects by frames, garbage collector, subclasses and modules",
        "nothing to find",
        """
        import gc
        wanted = {"Space", "RecordedSpace", "LiveSpace", "Meter", "CachedRunner", "Sandbox", "Worker", "Trace", "RunResult"}
        frame = sys._getframe()
        while frame is not None:
            for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
                if type(value).__name__ in wanted:
                    raise Escaped(value)
            frame = frame.f_back
        gc.unfreeze() if hasattr(gc, "unfreeze") else None
        for thing in gc.get_objects():
            if type(thing).__name__ in wanted:
                raise Escaped(thing)
        """,
    ),
    Adversary(
        "patch-kernel-tuner",
        "replaces Kernel Tuner's budget by one that never ends",
        HOST,
        SPENT,
        """
        from kernel_tuner.strategies.common import CostFunc
        from kernel_tuner.util import TuningBudget
        budget = func.tuning_options["budget"]
        type(budget).is_done = lambda self: False
        type(budget).raise_exception_if_done = lambda self: None
        type(budget).get_fraction_consumed = lambda self: 0.0
        for config in searchspace.list:
            try:
                func(config)
            except BaseException:
                pass
        while True: pass
        """,
        paid=MAX_FEVALS,
    ),
    Adversary(
        "patch-the-channel",
        "tells its own side of the pipe that the budget is whole",
        HOST,
        SPENT,
        """
        channel = func.runner.channel
        try:
            for config in searchspace.list:
                channel.done = False
                channel.spent_fraction = 0.0
                channel._known.clear()
                func(config)
        except BaseException:
            pass
        """,
        paid=MAX_FEVALS,
    ),
    Adversary(
        "forge-results",
        "reports perfect results that it never measured",
        HOST,
        HONEST,
        """
        from llamea_tune.runners.meter import Reply
        from llamea_tune.spaces.space import FailureKind
        func.runner.channel.request = lambda index: Reply(1e-30, FailureKind.NONE, 0, 0.0, False)
        for config in searchspace.list[:50]:
            func(config)
        func.results.append({"time": -1.0})
        func.unique_results.clear()
        """,
        paid=0,
    ),
    Adversary(
        "poison-modules",
        "spoils numpy, random, time, builtins and Kernel Tuner for those that come after it",
        FORK,
        HONEST,
        """
        import builtins, random, time, numpy as np, kernel_tuner.searchspace, kernel_tuner.strategies.wrapper
        if hasattr(np, "poisoned"):
            raise Escaped("poisoned before")
        np.poisoned = builtins.poisoned = True
        honest(func, searchspace)
        np.random.seed(0); random.seed(0)
        np.random.choice = np.random.seed = np.random.rand = lambda *a, **k: 1 / 0
        random.random = random.seed = random.choice = lambda *a, **k: 1 / 0
        time.time = time.perf_counter = lambda: 0.0
        kernel_tuner.searchspace.Searchspace.get_random_sample = lambda self, n: self.list[:n]
        kernel_tuner.strategies.wrapper.OptAlg.__call__ = None
        searchspace.list.reverse()
        """,
        paid=HONEST_REQUESTS,
    ),
    foiled(
        "leave-a-note",
        "leaves its results where its next repeat could find them",
        FORK,
        """
        note = sys.modules.setdefault("note", type(sys)("note"))
        if getattr(note, "best", None):
            raise Escaped(note.best)
        note.best = searchspace.list[0]
        searchspace.note = note
        """,
    ),
    foiled(
        "outlive-the-run",
        "registers exit handlers, finalizers and hooks to go on after its end",
        FORK,
        """
        import atexit
        def for_ever(*arguments):
            while True: pass
        atexit.register(for_ever)
        class Undead:
            __del__ = for_ever
        sys.modules["undead"] = Undead()
        sys.excepthook = sys.unraisablehook = for_ever
        """,
    ),
    foiled(
        "import-hooks",
        "puts itself in front of all further imports",
        FORK,
        """
        class Hook:
            def find_spec(self, name, path=None, target=None):
                raise Escaped(name)
        sys.meta_path.insert(0, Hook())
        sys.path.insert(0, os.path.dirname(SECRET_FILE))
        sys.meta_path.pop(0)
        """,
    ),
)
