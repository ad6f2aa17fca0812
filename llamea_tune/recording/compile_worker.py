"""The worker that compiles: one variant per request."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from llamea_tune.recording.compiling import Toolchain, compile_variant
from llamea_tune.recording.json_worker import Message, serve

NICENESS = 5  # the process that measures comes first


def _start(settings: Message) -> Callable[[Message], Message]:
    toolchain = Toolchain(**{**settings, "options": tuple(settings["options"])})
    os.nice(NICENESS)

    def answer(message: Message) -> Message:
        return asdict(compile_variant(toolchain, message["name"], message["text"], Path(message["stem"])))

    return answer


if __name__ == "__main__":
    serve(_start)
