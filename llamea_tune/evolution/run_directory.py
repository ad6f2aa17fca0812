"""The run directory: all state of a run, on disk, rebuilt from there and nowhere else.

run.json            settings, versions, spaces with their hashes
candidates.jsonl    one line for each candidate that was judged, each confirmation of one, each generation's tuning; in
                    steady state also for each that was planned
exchanges.jsonl     one line for each prompt and its answer
candidates/         the code of every candidate
references.json     how named strategies do on the spaces, where prompts show it
studies/            the studies of hyperparameters, where any were tuned
leaderboard.json    the outcome, once there is one
own_compute.json    own compute of who is on it
clock.json          how long the run has taken
lock                held by the process that works on the run
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

from llamea_tune.candidate import Candidate, Evaluation, Scored
from llamea_tune.evolution.records import candidate_from_json, evaluation_from_json
from llamea_tune.evolution.tuning_record import Tuning
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.storage import Journal, write_text

FORMAT = 1


class RunDirectory:
    """One run's directory. Open it with `create` or `open_existing`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._candidates = Journal(path / "candidates.jsonl", RunDirectoryError)
        self.exchanges = Journal(path / "exchanges.jsonl", RunDirectoryError)

    @classmethod
    def create(cls, path: Path, header: Mapping[str, Any]) -> RunDirectory:
        """Make a new run directory.

        Args:
            path: Where; it may exist if it is empty.
            header: What `run.json` holds: settings, versions, spaces.

        Raises:
            RunDirectoryError: Something is there already, or it cannot be written.
        """
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            hint = f"resume it with: llamea-tune resume {path}" if (path / "run.json").exists() else "choose another"
            raise RunDirectoryError(f"{path} exists already; {hint}.")
        try:
            (path / "candidates").mkdir(parents=True, exist_ok=True)
            run = cls(path)
            run.write_json("run.json", {"format": FORMAT, **header})
        except OSError as err:
            raise RunDirectoryError(f"{path} cannot be written ({err.strerror or err}); choose another place.") from err
        return run

    @classmethod
    def open_existing(cls, path: Path) -> RunDirectory:
        """Open the directory of an earlier run.

        Raises:
            RunDirectoryError: It is not there, or is no run directory of this version.
        """
        if not (path / "run.json").is_file():
            raise RunDirectoryError(f"{path} is no run directory: it has no run.json; give one that evolve made.")
        run = cls(path)
        header = run.header()
        written = header.get("format")
        if written != FORMAT:
            raise RunDirectoryError(f"{path} was written in format {written}, this version reads format {FORMAT}.")
        missing = [name for name in ("settings", "spaces", "versions") if name not in header]
        if missing:
            raise RunDirectoryError(f"{path / 'run.json'} lacks {', '.join(missing)}; restore it from a copy.")
        return run

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process, and repair what a crash left in its logs.

        Raises:
            RunDirectoryError: Another process holds it.
        """
        with (self.path / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as err:
                message = f"{self.path} is in use by another process; wait for it to end, or stop it first."
                raise RunDirectoryError(message) from err
            self._candidates.repair()
            self.exchanges.repair()
            yield

    def header(self) -> dict[str, Any]:
        """What `run.json` holds."""
        header = self.read_json("run.json")
        if not isinstance(header, dict):
            raise RunDirectoryError(f"{self.path / 'run.json'} holds no JSON object; restore it from a copy.")
        return header

    def record_candidate(self, scored: Scored) -> None:
        """Log a judged candidate, its code first."""
        candidate = scored.candidate
        if candidate.code:
            self._write(f"candidates/{candidate.id}_{candidate.class_name or 'unnamed'}.py", candidate.code)
        self._candidates.append({"kind": "judged", **asdict(scored)})

    def record_confirmation(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """Log that a candidate was scored again on fresh seeds."""
        record = {"kind": "confirmed", "id": candidate.id, "evaluation": asdict(evaluation)}
        self._candidates.append(record)

    def record_tunings(self, tunings: Sequence[Tuning]) -> None:
        """Log the tuning of a generation's survivors."""
        self._candidates.append({"kind": "tuned", "candidates": [asdict(tuning) for tuning in tunings]})

    def record_plan(self, candidate_id: str, llm: str = "") -> None:
        """Log that a candidate was planned, from what the log holds before that line.

        Args:
            candidate_id: Its id.
            llm: Which language model of a mix is asked, where the plan chose one.
        """
        self._candidates.append({"kind": "planned", "id": candidate_id, **({"llm": llm} if llm else {})})

    def planned(self) -> dict[str, int]:
        """How many lines of the log each planned candidate was planned from, by id; empty without a steady state."""
        return {record["id"]: lines for lines, record in enumerate(self.records()) if record.get("kind") == "planned"}

    def records(self, lines: int | None = None) -> Iterator[dict[str, Any]]:
        """The lines of the log of candidates, all or the first ones."""
        return islice(self._candidates.records(), lines)

    def candidates(self, lines: int | None = None) -> dict[str, Scored]:
        """All judged candidates by id, with their tuned hyperparameters but evaluated as first judged.

        Args:
            lines: How many lines of the log to read; by default all. So in the two methods below.
        """
        tuned = {key: tuning.hyperparameters for key, tuning in self.tunings(lines).items()}
        return {
            scored.candidate.id: replace(
                scored, candidate=scored.candidate.with_hyperparameters(tuned.get(scored.candidate.id, {}))
            )
            for scored in self._judged(lines)
        }

    def confirmations(self, lines: int | None = None) -> dict[str, Evaluation]:
        """Evaluations on fresh seeds by candidate id, with tuned hyperparameters where those were kept."""
        confirmed = {
            record["id"]: evaluation_from_json(record["evaluation"])
            for record in self.records(lines)
            if record.get("kind") == "confirmed"
        }
        tuned = {key: tuning.evaluation for key, tuning in self.tunings(lines).items()}
        return confirmed | {key: evaluation for key, evaluation in tuned.items() if evaluation is not None}

    def tunings(self, lines: int | None = None) -> dict[str, Tuning]:
        """What tuning did to candidates, by id."""
        tunings = (
            Tuning.from_json(entry)
            for record in self.records(lines)
            if record.get("kind") == "tuned"
            for entry in record["candidates"]
        )
        return {tuning.candidate: tuning for tuning in tunings}

    def _judged(self, lines: int | None) -> Iterator[Scored]:
        for record in self.records(lines):
            if record.get("kind") == "judged":
                yield Scored(candidate_from_json(record["candidate"]), evaluation_from_json(record["evaluation"]))

    def write_json(self, name: str, data: object) -> None:
        """Write a JSON file atomically."""
        self._write(name, json.dumps(data, indent=2, allow_nan=False) + "\n")

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return (self.path / name).is_file()

    def read_json(self, name: str) -> Any:
        """Read a JSON file.

        Raises:
            RunDirectoryError: It is missing or corrupt.
        """
        path = self.path / name
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError) as err:
            raise RunDirectoryError(f"{path} cannot be read ({err}); restore it from a copy.") from err

    def _write(self, name: str, text: str) -> None:
        path = self.path / name
        try:
            write_text(path, text)
        except OSError as err:
            message = f"{path} could not be written ({err.strerror or err}); nothing is lost: make room, then resume."
            raise RunDirectoryError(message) from err
