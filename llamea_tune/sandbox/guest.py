"""The guest: the only place that executes a candidate's code, in a process of its own for each run."""

from __future__ import annotations

import os
import sys
from types import ModuleType, TracebackType
from typing import Any

from kernel_tuner.searchspace import Searchspace
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from llamea_tune.runners.meter import STALL_FACTOR, STALL_MINIMUM, Reply
from llamea_tune.runners.strategy_run import run_strategy
from llamea_tune.sandbox.generators import own_generators
from llamea_tune.sandbox.wire import (
    MESSAGE,
    REASON_BYTES,
    REPLY,
    REPORTED_UNPAID,
    Mark,
    clean_text,
    read_assignment,
    unpack_reply,
)
from llamea_tune.spaces.prior import Prior

_FILE = "<candidate>"
_MODULE = "candidate"
_LONGEST_NAME = 40


class PipeChannel:
    """The strategy's side of a run, over the pipes to the host, which keeps budget, clock and trace.

    What was paid for once is answered from memory.
    """

    def __init__(self, to_host: int, from_host: int) -> None:
        self._to_host = to_host
        self._from_host = from_host
        self._known: dict[int, Reply] = {}
        self._repeated = 0
        self._invalid = 0
        self._unpaid_in_a_row = 0
        self.done = False
        self.spent_fraction = 0.0

    @property
    def stalled(self) -> bool:
        """Whether the strategy has long asked only for what it cannot learn from; by the meter's rule."""
        return self._unpaid_in_a_row > max(STALL_MINIMUM, STALL_FACTOR * len(self._known))

    def request(self, index: int) -> Reply:
        """Ask for config number `index`."""
        known = self._known.get(index)
        if known is not None:
            self._repeated += 1
            self._count_unpaid()
            return Reply(known.cost, known.failure, 0, self.spent_fraction, self.done)
        self.tell(index)
        data = os.read(self._from_host, REPLY.size)
        if len(data) != REPLY.size:
            os._exit(1)  # the host has hung up
        reply = self._known[index] = unpack_reply(data)
        self.done, self.spent_fraction = reply.done, reply.spent_fraction
        self._unpaid_in_a_row = 0
        return reply

    def count_invalid(self) -> None:
        """Count a request for a config outside the space."""
        self._invalid += 1
        self._count_unpaid()

    def tell(self, number: int, text: bytes = b"") -> None:
        """Send the host a message, with what was not worth one before."""
        os.write(self._to_host, MESSAGE.pack(number, self._repeated, self._invalid) + text)
        self._repeated = self._invalid = 0

    def _count_unpaid(self) -> None:
        self._unpaid_in_a_row += 1
        if self._repeated + self._invalid == REPORTED_UNPAID:
            self.tell(Mark.UNPAID)


def run_candidate(searchspace: Searchspace, prior: Prior | None, to_host: int, from_host: int) -> None:
    """Ask for an assignment, run it to its end, and tell the host how it ended.

    Args:
        searchspace: The search space to run it on.
        prior: What it is told of its configs beforehand.
        to_host: Pipe to write requests to.
        from_host: Pipe to read replies from.
    """
    channel = PipeChannel(to_host, from_host)
    channel.tell(Mark.READY)
    assignment = read_assignment(from_host)
    try:
        own_generators(assignment.seed)
        optimizer = _load(assignment.code, assignment.class_name)(**assignment.hyperparameters)
        run_strategy(
            OptAlgWrapper(optimizer),
            searchspace,
            channel,
            objective=assignment.objective,
            seed=assignment.seed,
            prior=prior,
        )
    except MemoryError:
        channel.tell(Mark.OUT_OF_MEMORY)
    except BaseException as error:  # a candidate may raise anything, SystemExit too
        place = clean_text(_place(error.__traceback__)).encode()
        text = clean_text(_describe(error)).encode()[: REASON_BYTES - len(place) - 1]
        channel.tell(Mark.ERROR, text + b" " + place)
    else:
        channel.tell(Mark.FINISHED)


def _load(code: str, class_name: str) -> Any:
    module = ModuleType(_MODULE)
    sys.modules[_MODULE] = module  # dataclasses look their module up
    exec(compile(code, _FILE, "exec"), module.__dict__)
    return getattr(module, class_name)


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # the text of an error is the candidate's code too
        return type(error).__name__


def _place(traceback: TracebackType | None) -> str:
    """Where in the candidate's code an error came from, from its innermost frame there."""
    place = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == _FILE:
            place = f"(line {traceback.tb_lineno} in {code.co_name[:_LONGEST_NAME]})"
        traceback = traceback.tb_next
    return place
