"""What the errors of an OpenAI-compatible server mean for whoever asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.protocol import CompletionError

_UNREACHABLE = ("ConnectError", "ConnectTimeout", "UnsupportedProtocol", "InvalidURL", "LocalProtocolError")
_LONGEST_MESSAGE = 200
_SHORTEST_SECRET = 8  # anything shorter is a placeholder, and could be part of a word


@dataclass(frozen=True)
class Endpoint:
    """Who was asked, for messages.

    Attributes:
        llm: Name of the model at the server.
        url: Base URL.
        api_key_env: Name of the environment variable that holds the key.
        api_key: The key, which must never be shown.
        timeout_s: See `OpenAICompatible`.
        max_retries: See `OpenAICompatible`.
    """

    llm: str
    url: str
    api_key_env: str
    api_key: str
    timeout_s: float
    max_retries: int

    def without_key(self, text: str) -> str:
        """A text with the key taken out, should a server have echoed it."""
        return text.replace(self.api_key, "***") if len(self.api_key) >= _SHORTEST_SECRET else text

    def __repr__(self) -> str:
        return f"Endpoint(llm={self.llm!r}, url={self.url!r})"


def explain(openai: Any, err: Exception, at: Endpoint) -> ProposerError | CompletionError:
    """The error to raise for an error of the SDK.

    Args:
        openai: The SDK's module.
        err: What it raised.
        at: Who was asked.
    """
    if isinstance(err, openai.APIConnectionError):  # time-outs are among them
        return _explain_connection(openai, err, at)
    said = at.without_key(server_message(err))
    never = _never_works(openai, err, at, said)
    if never is not None:
        return ProposerError(never)
    if isinstance(err, openai.RateLimitError):
        wait = err.response.headers.get("retry-after")
        asked = f", which asks to wait {wait} s" if wait else ""
        return CompletionError(
            f"{at.url} still limits the rate after {at.max_retries} retries{asked} ({said}); ask for fewer answers at once"
        )
    if isinstance(err, openai.InternalServerError):
        return CompletionError(f"{at.url} failed with status {err.status_code} after {at.max_retries} retries ({said})")
    if isinstance(err, openai.APIStatusError):
        return CompletionError(f"{at.url} refused the prompt ({said})")
    return nonsense(at)


def _never_works(openai: Any, err: Exception, at: Endpoint, said: str) -> str | None:
    """The message, if asking again cannot help."""
    code = getattr(err, "code", None)
    if isinstance(err, openai.AuthenticationError):  # what the server says may hold part of the key
        return f"{at.url} refused the key; put a valid one into the environment variable {at.api_key_env}"
    if isinstance(err, openai.PermissionDeniedError):
        return f"{at.url} denies access to {at.llm} ({said}); check what the key may use"
    if isinstance(err, openai.NotFoundError) or code == "model_not_found":
        return (
            f"{at.url} knows no model {at.llm!r} ({said}); check the model's name, and that the base URL ends as the "
            "server wants it, usually in /v1"
        )
    if code == "insufficient_quota":
        return f"{at.url} says that the account's quota is used up ({said}); top it up or use another key"
    return None


def nonsense(at: Endpoint) -> CompletionError:
    """The error for an answer that is no chat completion."""
    return CompletionError(f"{at.url} answered with something that is no chat completion; is it the right base URL?")


def server_message(err: Exception) -> str:
    """What the server said, on one line."""
    body = getattr(err, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    text = " ".join(str(message or getattr(err, "message", "") or err).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


def _explain_connection(openai: Any, err: Exception, at: Endpoint) -> ProposerError | CompletionError:
    if type(err.__cause__).__name__ in _UNREACHABLE:
        reason = at.without_key(str(err.__cause__))
        return ProposerError(f"{at.url} cannot be reached ({reason}); start the server or correct the base URL")
    if isinstance(err, openai.APITimeoutError):
        return CompletionError(f"{at.url} did not answer within {at.timeout_s:g} s, tried {at.max_retries + 1} times")
    return CompletionError(f"the connection to {at.url} broke before the answer came")
