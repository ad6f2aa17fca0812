"""Using up the machine."""

from __future__ import annotations

from adversaries.adversary import FAILED, HONEST, HONEST_REQUESTS, KILLED, TIMED_OUT, Adversary, foiled

LIMITS = "resource limits"
CLOCK = "wall-clock limit"

ADVERSARIES = (
    Adversary(
        "memory-flood",
        "allocates until there is no more",
        LIMITS,
        KILLED,
        """
        hoard = []
        while True:
            hoard.append(bytearray(10_000_000))
        """,
        reason="out of memory",
    ),
    Adversary(
        "memory-flood-again-and-again",
        "allocates, catches the error, and goes on for ever",
        f"{LIMITS} and {CLOCK}",
        TIMED_OUT | KILLED,
        """
        hoard = []
        while True:
            try:
                hoard.append(bytearray(10_000_000))
            except MemoryError:
                hoard.clear()
        """,
    ),
    foiled(
        "map-memory",
        "maps far more memory than it may have, shared and private",
        LIMITS,
        """
        import mmap
        forbidden(mmap.mmap, -1, 1 << 36)
        forbidden(mmap.mmap, -1, 1 << 36, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        """,
    ),
    Adversary(
        "output-flood",
        "prints a hundred megabytes to both streams, then goes on honestly",
        "output goes nowhere",
        HONEST,
        """
        for _ in range(50):
            print("x" * 1_000_000)
            print("x" * 1_000_000, file=sys.stderr)
        honest(func, searchspace)
        """,
        paid=HONEST_REQUESTS,
    ),
    Adversary(
        "output-without-end",
        "prints for ever",
        CLOCK,
        TIMED_OUT,
        'while True: print("x" * 100_000)',
        reason="ran longer than",
    ),
    foiled(
        "descriptor-flood",
        "opens descriptors until there are no more",
        LIMITS,
        """
        try:
            for number in range(10_000):
                os.dup(0)
        except OSError:
            pass
        if number > 64:
            raise Escaped(number)
        for fd in range(5, 64):
            try:
                os.close(fd)
            except OSError:
                pass
        """,
    ),
    Adversary("endless-loop", "loops without a request", CLOCK, TIMED_OUT, "while True: pass", reason="ran longer"),
    Adversary("sleep", "sleeps", CLOCK, TIMED_OUT, "import time; time.sleep(1e6)", reason="ran longer than"),
    Adversary(
        "deaf-loop",
        "ignores every signal and loops in a single long operation",
        CLOCK,
        TIMED_OUT,
        """
        import re, signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        re.match(r"(a+)+$", "a" * 64 + "b")
        """,
    ),
    Adversary(
        "huge-number",
        "computes a number that has no room",
        f"{LIMITS} and {CLOCK}",
        TIMED_OUT | KILLED,
        "x = 9 ** 9 ** 9 if searchspace.size else 0; x = x * x",
    ),
    Adversary(
        "recursion",
        "calls itself without end",
        "its error is a state",
        FAILED,
        """
        def again():
            return again()
        again()
        """,
        reason="RecursionError",
    ),
    Adversary(
        "deep-recursion",
        "lifts Python's limit and recurses until the stack ends",
        "a process of its own",
        KILLED | FAILED,
        """
        sys.setrecursionlimit(10 ** 9)
        class Deep:
            def __getattr__(self, name):
                return getattr(self, name + "x")
        str(Deep().a)
        """,
    ),
    Adversary(
        "deep-pickle",
        "pickles a deeply nested object",
        "its error is a state",
        FAILED | KILLED,
        """
        import pickle
        nest = []
        for _ in range(100_000):
            nest = [nest]
        pickle.dumps(nest)
        """,
    ),
)
