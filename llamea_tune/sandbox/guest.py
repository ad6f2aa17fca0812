"""The guest: the only place that executes a candidate's code, in a process of its own for each run."""

from __future__ import annotations

import os
import sys
from types import ModuleType, TracebackType
from typing import Any

from kernel_tuner.searchspace import Searchspace
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from llamea_tune.runners.meter import Reply
from llamea_tune.runners.session import run_strategy
from llamea_tune.sandbox.generators import own_generators
from llamea_tune.sandbox.wire import MESSAGE, REASON_BYTES, REPLY, Mark, clean_text, read_assignment, unpack_reply

_FILE = "<candidate>"
_MODULE = "candidate"


class PipeGateway:
    """The strategy's side of a run, over the pipes to the host, which keeps budget, clock and trace."""

    def __init__(self, to_host: int, from_host: int) -> None:
        self._to_host = to_host
        self._from_host = from_host
        self.done = False
        self.stalled = False
        self.spent_fraction = 0.0

    def request(self, index: int) -> Reply:
        """Ask for config number `index`."""
        return self._ask(index)

    def count_invalid(self) -> None:
        """Report a request for a config outside the space."""
        self._ask(Mark.INVALID)

    def _ask(self, message: int) -> Reply:
        os.write(self._to_host, MESSAGE.pack(message))
        data = os.read(self._from_host, REPLY.size)
        if len(data) != REPLY.size:
            os._exit(1)  # the host has hung up
        reply, self.stalled = unpack_reply(data)
        self.done, self.spent_fraction = reply.done, reply.spent_fraction
        return reply


def run_candidate(searchspace: Searchspace, to_host: int, from_host: int) -> None:
    """Ask for an assignment, run it to its end, and tell the host how it ended.

    Args:
        searchspace: The search space to run it on.
        to_host: Pipe to write requests to.
        from_host: Pipe to read replies from.
    """
    os.write(to_host, MESSAGE.pack(Mark.READY))
    assignment = read_assignment(from_host)
    try:
        own_generators(assignment.seed)
        optimizer = _load(assignment.code, assignment.class_name)(**assignment.hyperparameters)
        gateway = PipeGateway(to_host, from_host)
        run_strategy(
            OptAlgWrapper(optimizer), searchspace, gateway, objective=assignment.objective, seed=assignment.seed
        )
    except MemoryError:
        os.write(to_host, MESSAGE.pack(Mark.OUT_OF_MEMORY))
    except BaseException as error:  # a candidate may raise anything, SystemExit too
        text = clean_text(f"{_describe(error)}{_place(error.__traceback__)}")
        os.write(to_host, MESSAGE.pack(Mark.ERROR) + text.encode()[:REASON_BYTES])
    else:
        os.write(to_host, MESSAGE.pack(Mark.FINISHED))


def _load(code: str, class_name: str) -> Any:
    module = ModuleType(_MODULE)
    sys.modules[_MODULE] = module  # dataclasses look their module up
    exec(compile(code, _FILE, "exec"), module.__dict__)
    return getattr(module, class_name)


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _place(traceback: TracebackType | None) -> str:
    """Where in the candidate's code an error came from, from its innermost frame there."""
    place = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == _FILE:
            place = f" (line {traceback.tb_lineno} in {code.co_name})"
        traceback = traceback.tb_next
    return place
