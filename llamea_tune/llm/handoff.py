"""Prompts as files: for a person, another program, or a model without an API."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.exchanges import without_times
from llamea_tune.llm.language_model import Completion, Prompt, Unanswered
from llamea_tune.storage import write_text

_SAFE_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_Stamp = tuple[int, int]  # size in bytes and time of the last change in nanoseconds


class Handoff:
    """Writes each prompt to `KEY.prompt.md` in a folder and reads the answer from `KEY.reply.md` beside it.

    A reply counts as complete once it is not blank and has stayed the same between two looks, so that one may be
    written in place; whoever writes slowly should write elsewhere and move the file here. A reply that is there
    already is used at once: a run that was stopped goes on where it stood.
    """

    def __init__(self, folder: str | Path, *, poll_s: float = 0.5, timeout_s: float | None = None) -> None:
        """Make the folder if need be.

        Args:
            folder: Where prompts and replies lie; one folder per run.
            poll_s: Seconds between two looks for a reply.
            timeout_s: Seconds to wait for a reply; None waits for ever.

        Raises:
            ProposerError: The folder cannot be made.
        """
        self._folder = Path(folder)
        self._poll_s = poll_s
        self._timeout_s = timeout_s
        self._closed = threading.Event()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as err:
            raise ProposerError(f"handoff folder {folder} cannot be made: {err}; choose another") from err

    @property
    def name(self) -> str:
        """`"handoff"`."""
        return "handoff"

    def close(self) -> None:
        """Stop waiting: all prompts that wait for a reply get `Unanswered`. Their files stay."""
        self._closed.set()

    def complete(self, prompt: Prompt) -> Completion:
        """Write the prompt, wait for the reply, and read it.

        Raises:
            ProposerError: The folder cannot be written, or holds a reply to another prompt of the same key.
            Unanswered: No reply came in time, or `close` was called.
        """
        if not _SAFE_KEY.fullmatch(prompt.key):
            raise ProposerError(f"prompt key {prompt.key!r} cannot name a file; use letters, digits, '.', '_' and '-'")
        started = time.monotonic()
        reply = self._folder / f"{prompt.key}.reply.md"
        self._write_prompt(prompt, reply)
        text = self._wait_for(reply, started)
        return Completion(text, self.name, seconds=time.monotonic() - started)

    def _write_prompt(self, prompt: Prompt, reply: Path) -> None:
        path = self._folder / f"{prompt.key}.prompt.md"
        text = _prompt_text(prompt, reply.name)
        try:
            if path.exists():
                if without_times(path.read_text(encoding="utf-8")) == without_times(text):
                    return
                if reply.exists():
                    message = (
                        f"{reply} answers another prompt than the one now asked under that name; "
                        "use an empty folder for each run, or remove the reply"
                    )
                    raise ProposerError(message)
            write_text(path, text)
        except (OSError, UnicodeError) as err:
            raise ProposerError(f"prompt file {path} cannot be written: {err}") from err

    def _wait_for(self, reply: Path, started: float) -> str:
        before: _Stamp | None = None
        while True:
            stamp = _stamp(reply)
            if stamp is not None and (stamp == before or self._is_old(stamp)):
                text = _read(reply)
                if text.strip():
                    return text
            before = stamp
            wait_s = self._poll_s
            if self._timeout_s is not None:
                wait_s = min(wait_s, started + self._timeout_s - time.monotonic())
                if wait_s <= 0:
                    raise Unanswered(f"no reply in {reply} within {self._timeout_s:g} s")
            if self._closed.wait(wait_s):
                raise Unanswered(f"stopped waiting for {reply}")

    def _is_old(self, stamp: _Stamp) -> bool:
        """Whether a file has not been touched for longer than two looks take."""
        return time.time() - stamp[1] / 1e9 > 2 * self._poll_s


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as err:
        raise ProposerError(f"reply file {path} cannot be read: {err}") from err


def _prompt_text(prompt: Prompt, reply_name: str) -> str:
    return (
        f"> Write the answer to this prompt, and nothing else, into the file `{reply_name}` in this folder.\n\n"
        f"# System\n\n{prompt.system.strip()}\n\n# Prompt\n\n{prompt.user.strip()}\n"
    )


def from_spec(argument: str, *, poll_s: float = 0.5, timeout_s: float | None = None) -> Handoff:
    """Make it from the part of a spec behind `handoff:`, the folder."""
    if not argument:
        raise ProposerError("handoff needs a folder for prompts and replies, as in handoff:FOLDER")
    return Handoff(argument, poll_s=poll_s, timeout_s=timeout_s)
