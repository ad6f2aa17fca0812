"""Speaking to the host past Kernel Tuner, over the pipes: descriptor 3 to it, 4 from it."""

from __future__ import annotations

from adversaries.adversary import FAILED, HONEST, HONEST_REQUESTS, KILLED, MAX_FEVALS, STALLED, Adversary

HOST = "the host's protocol"

ADVERSARIES = (
    Adversary(
        "short-message",
        "sends three bytes",
        HOST,
        KILLED,
        'os.write(3, b"abc"); import time; time.sleep(60)',
        reason="broken protocol: a message of the wrong size",
    ),
    Adversary(
        "oversized-message",
        "sends a megabyte in one message",
        HOST,
        KILLED,
        'os.write(3, b"A" * 1_000_000)',
        reason="broken protocol",
    ),
    Adversary(
        "unknown-message",
        "sends a number that means nothing",
        HOST,
        KILLED,
        "os.write(3, message(-99)); import time; time.sleep(60)",
        reason="broken protocol: an unknown message",
    ),
    Adversary(
        "config-out-of-range",
        "asks for config numbers just past the last one, and far past it",
        HOST,
        KILLED,
        "os.write(3, message(searchspace.size)); import time; time.sleep(60)",
        reason="a request for a config that does not exist",
    ),
    Adversary(
        "smallest-number",
        "asks for the smallest number that fits",
        HOST,
        KILLED,
        "os.write(3, message(-2**63)); import time; time.sleep(60)",
        reason="broken protocol",
    ),
    Adversary(
        "flood-of-requests",
        "asks for known configs without reading a reply",
        HOST,
        KILLED | STALLED,
        """
        while True:
            os.write(3, message(0))
        """,
    ),
    Adversary(
        "impossible-counts",
        "says that it has repeated itself a negative number of times",
        HOST,
        KILLED,
        "os.write(3, message(0, -5)); import time; time.sleep(60)",
        reason="broken protocol: impossible counts",
    ),
    Adversary(
        "flood-of-counts",
        "sends the host nothing but counts, for ever",
        HOST,
        KILLED | STALLED,
        """
        while True:
            os.write(3, message(-4, 10_001, 0))
        """,
    ),
    Adversary(
        "request-after-the-end",
        "goes on asking by itself when the budget is gone",
        HOST,
        KILLED,
        """
        for index in range(50):
            os.write(3, message(index))
            os.read(4, 40)
        """,
        reason="broken protocol: a request after the end",
        paid=MAX_FEVALS,
    ),
    Adversary(
        "pretends-to-finish",
        "says that it has finished, then goes on",
        HOST,
        HONEST,
        """
        honest(func, searchspace)
        os.write(3, message(-1))
        while True:
            func(searchspace.get_random_sample(1)[0])
        """,
        paid=HONEST_REQUESTS,
    ),
    Adversary(
        "pretends-to-start-again",
        "says that it is ready, to get another assignment",
        HOST,
        KILLED,
        "os.write(3, message(-5)); import time; time.sleep(60)",
        reason="broken protocol",
    ),
    Adversary(
        "poisoned-reason",
        "fails with a reason full of control characters, far too long",
        HOST,
        FAILED,
        r"""
        os.write(3, message(-2) + b"\x1b[2J\x1b]0;owned\x07\r\n\x00\xff\xfe" * 100)
        import time; time.sleep(60)
        """,
        reason="owned",
    ),
    Adversary(
        "error-without-text",
        "says that it failed, and never says how",
        HOST,
        FAILED,
        "os.write(3, message(-2)); import time; time.sleep(60)",
        reason="an error without a message",
    ),
    Adversary(
        "hang-up",
        "closes the pipes",
        HOST,
        KILLED,
        """
        os.close(3)
        os.close(4)
        import time; time.sleep(60)
        """,
    ),
    Adversary(
        "raw-but-honest",
        "asks for configs over the pipe itself, within its budget",
        HOST,
        HONEST,
        f"""
        for index in range({HONEST_REQUESTS}):
            os.write(3, message(index))
            if len(os.read(4, 100)) != 40:
                raise Escaped("reply")
        """,
        paid=HONEST_REQUESTS,
    ),
)
