"""The ledger of a run: what it has spent, from its logs and from now on, and what it may still spend."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from llamea_tune.evolution.budgets import OF_ASKING, Budgets, Spent
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.llm.language_model import Completion
from llamea_tune.llm.prices import cost, price_of

_CLOCK = "clock.json"


class BudgetUsedUp(Exception):  # noqa: N818 - it is no error but the agreed end
    """A budget of the run is used up; `budget` is the name of its limit."""

    def __init__(self, budget: str) -> None:
        super().__init__(budget)
        self.budget = budget


class NotAsked(Exception):  # noqa: N818
    """A language model was not asked, as a budget is used up or is spoken for by the calls under way."""


class Ledger:
    """Counts what is spent; for use from any thread."""

    def __init__(self, run: RunDirectory, budgets: Budgets) -> None:
        """Read what was spent before.

        Args:
            run: The run directory.
            budgets: What may be spent in all.

        Raises:
            RunDirectoryError: A log is corrupt.
        """
        self._run = run
        self._budgets = budgets
        self._lock = threading.Lock()
        self._calls = self._under_way = self._uncounted = 0
        self._prompt_tokens = self._completion_tokens = 0
        self._cost = 0.0
        self._unpriced: dict[str, None] = {}
        for record in run.exchanges.records():
            self._count(record.get("llm") or "", record.get("prompt_tokens"), record.get("completion_tokens"))
        self._runs = sum(map(runs_of, run.records()))
        self._seconds_before = _seconds(run) if run.has(_CLOCK) else 0.0
        self._started = time.monotonic()

    def spent(self) -> Spent:
        """What was spent so far."""
        with self._lock:
            return Spent(
                self._calls,
                self._prompt_tokens,
                self._completion_tokens,
                cost=self._cost if self._budgets.prices else None,
                uncounted=self._uncounted,
                unpriced=tuple(self._unpriced) if self._budgets.prices else (),
                runs=self._runs,
                seconds=self._seconds_before + time.monotonic() - self._started,
            )

    def keep_time(self) -> None:
        """Write down how long the run has taken.

        Raises:
            RunDirectoryError: It cannot be written.
        """
        self._run.write_json(_CLOCK, {"seconds": round(self.spent().seconds, 3)})

    def add_runs(self, runs: int) -> None:
        """Note that candidates were run."""
        with self._lock:
            self._runs += runs

    @contextmanager
    def call(self) -> Iterator[list[Completion]]:
        """One call of a language model; what is put into the list was answered, and is counted.

        Raises:
            NotAsked: A budget does not allow for the call.
        """
        with self._lock:
            limit = self._budgets.max_llm_calls
            spoken_for = limit is not None and self._calls + self._under_way >= limit
            if spoken_for or self._asking_used_up() is not None:
                raise NotAsked
            self._under_way += 1
        answers: list[Completion] = []
        try:
            yield answers
        finally:
            with self._lock:
                self._under_way -= 1
                for answer in answers:
                    self._count(answer.llm, answer.prompt_tokens, answer.completion_tokens)

    def may_ask(self) -> bool:
        """Whether the budgets allow for another call of a language model."""
        with self._lock:
            return self._asking_used_up() is None

    def check(self, runs: int = 0) -> None:
        """Go on only if the time is not over, and so many more runs are allowed.

        Raises:
            BudgetUsedUp: One of the two is not so.
        """
        limit = self._budgets.max_runs
        if limit is not None and self._runs + runs > limit:
            raise BudgetUsedUp("max_runs")
        left = self.seconds_left()
        if left is not None and left <= 0.0:
            raise BudgetUsedUp("max_hours")

    def check_asking(self) -> None:
        """Go on only if a language model may be asked.

        Raises:
            BudgetUsedUp: It may not.
        """
        self.check()
        with self._lock:
            used_up = self._asking_used_up()
        if used_up is not None:
            raise BudgetUsedUp(used_up)

    def seconds_left(self) -> float | None:
        """Seconds until the time is over; None where there is no limit."""
        limit = self._budgets.max_hours
        return None if limit is None else 3600.0 * limit - self._seconds_before - (time.monotonic() - self._started)

    def _asking_used_up(self) -> str | None:
        spent = Spent(self._calls, self._prompt_tokens, self._completion_tokens, self._cost)
        limits = self._budgets.limits()
        return next((name for name in OF_ASKING if name in limits and spent.of(name) >= limits[name]), None)

    def _count(self, llm: str, prompt_tokens: int | None, completion_tokens: int | None) -> None:
        self._calls += 1
        if prompt_tokens is None or completion_tokens is None:
            self._uncounted += 1
        counted = (prompt_tokens or 0, completion_tokens or 0)
        self._prompt_tokens += counted[0]
        self._completion_tokens += counted[1]
        price = price_of(self._budgets.prices, llm)
        if price is None:
            self._unpriced[llm] = None
        else:
            self._cost += cost(price, *counted)


def _seconds(run: RunDirectory) -> float:
    """How long a run has taken, as it was written down."""
    try:
        return float(run.read_json(_CLOCK)["seconds"])
    except (KeyError, TypeError, ValueError) as err:
        message = (
            f"{run.path / _CLOCK} does not tell how long the run has taken; remove it, and time counts from 0 again."
        )
        raise RunDirectoryError(message) from err


def runs_of(record: Mapping[str, Any]) -> int:
    """The runs behind a line of the log; lines of earlier versions do not tell those of candidates that failed."""
    match record.get("kind"):
        case "judged" | "confirmed":
            evaluation = record["evaluation"]
            return int(evaluation.get("runs") or evaluation["repeats"] * len(evaluation["scores"]))
        case "tuned":
            return sum(entry["runs"] + entry["confirm_runs"] for entry in record["candidates"])
        case _:
            return 0
