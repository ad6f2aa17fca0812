"""What the errors of an OpenAI-compatible server mean for whoever asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import Completion, CompletionError
from llamea_tune.llm.server_reason import names_in, reason_in
from llamea_tune.llm.waiting import TryAgain, asked_wait_s

_LONGEST_SHOWN = 200
_SHORTEST_SECRET = 8  # anything shorter is a placeholder, and could be part of a word
_MASKED = re.compile(r"\S*\*{3,}\S*")
_AGAIN = (408, 409, 425, 429)  # besides 5xx

_KEY_REFUSED = re.compile(
    r"\bapi[ _-]?key\b.{0,30}\b(not valid|invalid|incorrect|expired|missing|not found|wrong|disabled)\b"
    r"|\b(invalid|incorrect|expired|missing|wrong|no|bad)\b.{0,20}\bapi[ _-]?key\b|api_key_invalid|invalid_api_key"
    r"|\b(invalid|expired) (access|bearer|auth\w*) token\b|authentication_?error|\bunauthori[sz]ed\b",
    re.I,
)
_NOTHING_LEFT = re.compile(
    r"insufficient.{0,24}(balance|quota|funds|credit)|credit balance|out of credits|payment required"
    r"|exceeded_current_quota|billing_hard_limit|arrearage|余额不足|欠费",
    re.I,
)
_NO_SUCH_MODEL = re.compile(
    r"model_?not_?found|\bmodel\b.{0,80}\b(not found|not exist)\b|\b(no such|unknown|invalid) model\b"
    r"|is not a valid model",
    re.I,
)
_STREAMS_ONLY = re.compile(
    r"\bonly\b.{0,30}\bstream|\bstream(ing)?\b.{0,30}\b(required|mandatory|must be (set to )?['\"]?true)"
    r"|\bnon-?stream\w*\b.{0,40}\bnot (be )?(supported|allowed)|\b(set|enable)\b.{0,20}\bstream(ing)?\b",
    re.I,
)
_MODERATED = re.compile(r"moderat|flagged|content.?filter|content.?policy", re.I)
_LOADING = re.compile(r"\bloading\b|warming.?up|starting up|is starting|initiali[sz]ing|\bnot (yet )?ready\b", re.I)
_LOADING_FAILED = re.compile(
    r"\b(error|fail\w*|cannot|could not|unable)\b.{0,30}\b(load|initiali)|\bload\w*\b.{0,20}\bfail", re.I
)
_STATUS_OF_NAMES = (
    (re.compile(r"rate.?limit|too.?many.?requests|throttl", re.I), 429),
    (re.compile(r"overloaded|unavailable|server.?error|internal.?error|time.?out", re.I), 503),
)


@dataclass(frozen=True)
class Endpoint:
    """Who was asked, for messages.

    Attributes:
        llm: Name of the model at the server.
        url: Base URL.
        api_key_env: Name of the environment variable that holds the key.
        api_key: The key, which must never be shown.
    """

    llm: str
    url: str
    api_key_env: str
    api_key: str = field(repr=False)

    def without_key(self, text: str) -> str:
        """A text with the key taken out, should a server have echoed it."""
        return text.replace(self.api_key, "***") if len(self.api_key) >= _SHORTEST_SECRET else text

    def without_traces_of_key(self, text: str) -> str:
        """A server's reason with the key taken out, also where it shows a part of it."""
        for length in range(len(self.api_key), _SHORTEST_SECRET - 1, -1):
            text = text.replace(self.api_key[:length], "***").replace(self.api_key[-length:], "***")
        return _MASKED.sub("***", text)


@dataclass(frozen=True)
class ServerError:
    """An error that a server answered with.

    Attributes:
        status: HTTP status, or the one that stands for the error within a proper answer; 0 where none does.
        reason: The server's own reason, on one line and without the key.
        names: Codes, types and parameters by which it calls the error.
        wait_s: Seconds that it asks to wait before the next try.
        completion: What came with it of an answer.
    """

    status: int
    reason: str
    names: str = ""
    wait_s: float | None = None
    completion: Completion | None = None

    @property
    def shown(self) -> str:
        """The reason, short enough for a message."""
        return self.reason if len(self.reason) <= _LONGEST_SHOWN else self.reason[:_LONGEST_SHOWN] + "…"

    @property
    def text(self) -> str:
        """All that it says, for programs."""
        return f"{self.names}\n{self.reason}"


def error_of_status(at: Endpoint, status: int, headers: Mapping[str, str], data: Any) -> ServerError:
    """The error of an answer whose status says that it is one."""
    names = names_in(data)
    reason = reason_in(data) or names or _phrase(status)
    return ServerError(status, at.without_traces_of_key(reason), names, asked_wait_s(headers))


def error_within(at: Endpoint, data: Any, headers: Mapping[str, str], completion: Completion) -> ServerError:
    """The error that stands in an answer whose status is that of a proper one."""
    names = names_in(data)
    error = data if isinstance(data, dict) else {}
    numbers = (str(error.get(name)) for name in ("code", "status", "status_code"))
    known = (int(number) for number in numbers if re.fullmatch(r"[45]\d\d", number))
    by_name = (status for pattern, status in _STATUS_OF_NAMES if pattern.search(names))
    status = next(known, next(by_name, 0))
    reason = at.without_traces_of_key(reason_in(data) or names or "no reason given")
    return ServerError(status, reason, names, asked_wait_s(headers), completion)


def explain(at: Endpoint, error: ServerError) -> ProposerError | CompletionError | TryAgain:
    """What to raise for a server's error."""
    if _is_loading(error):
        return TryAgain(f"{at.url} is loading the model ({error.shown})", wait_s=error.wait_s, loading=True)
    never = _never_works(at, error)
    if never is not None:
        return ProposerError(never)
    if error.status == 429:
        message = f"{at.url} limits the rate ({error.shown})"
        return TryAgain(message, wait_s=error.wait_s, advice="ask for fewer answers at once")
    if _may_get_better(error.status):
        return TryAgain(f"{at.url} failed with status {error.status} ({error.shown})", wait_s=error.wait_s)
    return CompletionError(f"{at.url} refused the prompt ({error.shown})", error.completion)


def _never_works(at: Endpoint, error: ServerError) -> str | None:
    """The message, if asking again cannot help."""
    status, said = error.status, f"({error.shown})"
    if status == 402 or _NOTHING_LEFT.search(error.text):
        return f"{at.url} says that the account's balance or quota is used up {said}; top it up or use another key"
    if status == 401 or _KEY_REFUSED.search(error.text):
        return f"{at.url} refused the key {said}; put a valid one into the environment variable {at.api_key_env}"
    if status == 403 and not _MODERATED.search(error.text):
        return f"{at.url} denies access to {at.llm} {said}; check what the key may use"
    lasts = not _may_get_better(status)
    if lasts and (status in (404, 405) or _NO_SUCH_MODEL.search(error.text)):
        return (
            f"{at.url} knows no model {at.llm!r} {said}; check the model's name, and that the base URL ends as the "
            "server wants it, usually in /v1"
        )
    if lasts and _STREAMS_ONLY.search(error.text):
        return f"{at.url} gives the answers of {at.llm} as streams only {said}; use another model or server"
    return None


def _is_loading(error: ServerError) -> bool:
    can_be = error.status in (0, 404) or _may_get_better(error.status)
    return can_be and bool(_LOADING.search(error.reason)) and not _LOADING_FAILED.search(error.reason)


def _may_get_better(status: int) -> bool:
    return status in _AGAIN or status >= 500


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"status {status}"
