"""A study on disk: its directory, what it was started with, and Optuna's journal, which survives a crash at any moment.

study.json     what is tuned, on which spaces, how
journal.log    Optuna's journal; `optuna-dashboard <directory>/journal.log` shows it, during the study too
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.hpo.samplers import optuna
from llamea_tune.storage import append, repair, write_text

if TYPE_CHECKING:
    from optuna import Study

FORMAT = 1
STUDY_NAME = "llamea-tune"
_PATIENCE_S = 5.0  # for the last process of a killed study to go


class _Journal:
    """Optuna's journal file, without waiting for the disk at every line, and locked by the operating system.

    A killed process loses nothing by the first; `StudyDirectory.sync` after every trial guards against power cuts. The
    lock is free at once when its holder dies, which Optuna's own, a file, is after half a minute.
    """

    def __init__(self, path: Path) -> None:
        self._backend = optuna().storages.journal.JournalFileBackend(str(path))
        self._path = path

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """The records from a number on."""
        logs: Iterator[dict[str, Any]] = self._backend.read_logs(log_number_from)
        return logs

    def append_logs(self, logs: Sequence[Mapping[str, Any]]) -> None:
        """Append records."""
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
        with self._path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            append(file.fileno(), text.encode(), durable=False)


class StudyDirectory:
    """The directory of one study."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal.log"

    @contextmanager
    def opened(self, header: Mapping[str, Any]) -> Iterator[None]:
        """Make or reopen the directory, and hold it for this process.

        Args:
            header: What is tuned, on which spaces, how. An existing study must have the same.

        Raises:
            RunDirectoryError: It belongs to something else, is in use, or cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with (self.path / "lock").open("w") as lock:
                self._hold(lock)
                self._check_header({"format": FORMAT, **header})
                repair(self.journal)  # Optuna does not read over a half-written last line
                yield
        except OSError as err:
            message = f"{self.path} cannot be used for a study ({err.strerror or err}); choose another directory."
            raise RunDirectoryError(message) from err

    def load(self) -> Study:
        """Optuna's study; every process that takes part needs its own."""
        module = optuna()
        study: Study = module.create_study(
            storage=module.storages.JournalStorage(_Journal(self.journal)),
            study_name=STUDY_NAME,
            direction="maximize",
            pruner=module.pruners.NopPruner(),  # trials are stopped by a race of our own
            load_if_exists=True,
        )
        return study

    def sync(self) -> None:
        """Wait until the journal is on the disk."""
        with self.journal.open("rb") as file:
            os.fsync(file.fileno())

    def _hold(self, lock: IO[str]) -> None:
        """Lock by process, so that the study's own workers, which inherit the file, do not hold on to it."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as err:
                if time.monotonic() > deadline:
                    message = f"{self.path} is in use by another process; wait for it to end, or stop it first."
                    raise RunDirectoryError(message) from err
                time.sleep(0.1)
            else:
                return

    def _check_header(self, header: Mapping[str, Any]) -> None:
        path = self.path / "study.json"
        wanted = json.loads(json.dumps(header))
        if not path.exists():
            if self.journal.exists():
                raise RunDirectoryError(f"{self.path} holds a journal without {path.name}; choose another directory.")
            write_text(path, json.dumps(wanted, indent=2) + "\n")
            return
        try:
            found = json.loads(path.read_text())
        except ValueError as err:
            raise RunDirectoryError(f"{path} is no JSON ({err}); restore it, or choose another directory.") from err
        different = sorted(key for key in {*wanted, *found} if wanted.get(key) != found.get(key))
        if different:
            what = ", ".join(different)
            message = (
                f"{self.path} holds a study with other settings ({what}); repeat those, or choose another directory."
            )
            raise RunDirectoryError(message)


def fail_interrupted(study: Study) -> int:
    """Fail the trials that were under way when the study was interrupted.

    Returns:
        How many there were.
    """
    state = optuna().trial.TrialState
    stale = study.get_trials(deepcopy=False, states=(state.RUNNING,))
    for trial in stale:
        study.tell(trial.number, state=state.FAIL)
    return len(stale)
