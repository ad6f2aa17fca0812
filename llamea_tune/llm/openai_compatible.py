"""Any server that speaks OpenAI's chat completions: OpenAI itself, other providers, local servers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from llamea_tune.exceptions import ProposerError, SettingsError
from llamea_tune.llm.language_model import Completion, CompletionError, OnWaiting, Prompt
from llamea_tune.llm.openai_answers import model_names, read_answer
from llamea_tune.llm.openai_errors import Endpoint, ServerError, explain
from llamea_tune.llm.openai_request import Refused, chat_request, find_refused
from llamea_tune.llm.server_calls import ServerCalls
from llamea_tune.llm.waiting import Patience

_OPENAI = "https://api.openai.com/v1"
_OURS = ("model", "messages", "stream")
_TOO_BUSY_TO_REFUSE = (408, 409, 425, 429, 502, 503, 504)


class OpenAICompatible:
    """Asks a model behind a server, waits for the server where that may help, and learns what it does not take."""

    def __init__(
        self,
        llm: str,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        *,
        timeout_s: float = 300.0,
        answer_timeout_s: float = 1200.0,
        max_retries: int = 5,
        max_wait_s: float = 600.0,
        parameters: Mapping[str, Any] | None = None,
        on_waiting: OnWaiting | None = None,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        """Prepare to ask.

        Args:
            llm: Name of the model at the server.
            base_url: The server, such as `http://localhost:11434/v1`; None for `$OPENAI_BASE_URL`, or OpenAI's own.
            api_key_env: Environment variable that holds the key. It may be unset where a base URL is given.
            timeout_s: Seconds to wait for a server that sends nothing, per try.
            answer_timeout_s: Seconds that a whole answer may take, however steadily it drips.
            max_retries: Tries after the first, for rate limits, failing servers, broken connections and silence.
            max_wait_s: Longest wait before a try, whatever the server asks for.
            parameters: Further parameters of the request, such as `{"max_completion_tokens": 8000}`. Those that the
                server refuses are dropped.
            on_waiting: Told of each wait before it begins, from any thread.
            wait: Waits for that many seconds, or shorter and returns true; None really waits, until `close`.

        Raises:
            MissingDependencyError: The SDK is not installed.
            ProposerError: The key is missing or can be none, or the URL is none.
            SettingsError: A parameter is one that is set here.
        """
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        if base_url is not None:
            _check_url(base_url)
        self._name = f"openai:{llm}" + (f"@{base_url}" if base_url else "")
        self._at = Endpoint(llm, base_url or _OPENAI, api_key_env, _key(api_key_env, needed=base_url is None))
        self._parameters = dict(parameters or {})
        for name in _OURS:
            if name in self._parameters:
                raise SettingsError(f"{name!r} cannot be a further parameter of requests; leave it out")
        self._refused: Refused = {}
        self._lock = threading.Lock()
        closed = threading.Event()
        self._patience = Patience(max_retries, max_wait_s, wait or closed.wait, on_waiting)
        self._calls = ServerCalls(
            self._at.url, self._at.api_key, timeout_s=timeout_s, answer_timeout_s=answer_timeout_s, closed=closed
        )

    @property
    def name(self) -> str:
        """Such as `"openai:gpt-4o"`, or `"openai:qwen2.5-coder@http://localhost:11434/v1"`."""
        return self._name

    def close(self) -> None:
        """Break off all calls and waits: each ends with `Unanswered`, as do all later ones."""
        self._calls.close()

    def complete(self, prompt: Prompt) -> Completion:
        """Ask the model.

        Raises:
            ProposerError: The key or the model's name is wrong, or something else that cannot get better.
            CompletionError: This prompt got no usable answer.
            Unanswered: No answer came, however often the server was asked; or `close` was called.
        """
        started = time.monotonic()

        def timed(completion: Completion) -> Completion:
            return replace(completion, seconds=time.monotonic() - started)

        try:
            return timed(self._patience.persist(prompt.key, lambda: self._ask(prompt)))
        except CompletionError as err:
            err.completion = timed(err.completion or Completion("", self.name))
            raise

    def check(self) -> tuple[bool, str]:
        """Find out whether the server answers and knows the model. It asks for the list of models, which costs nothing.

        Returns:
            Whether the model is on the list, and what was found, for people. Some servers have no list, or answer to
            names that are not on it.

        Raises:
            ProposerError: The key is wrong.
            CompletionError: The server answers with something else.
            Unanswered: The server is out of reach, or does not work at the moment.
        """
        known = self._patience.persist("models", self._models)
        if known is None:
            return False, f"{self._at.url} answers, but has no list of models to look {self._at.llm} up in"
        if self._at.llm in known:
            return True, f"{self._at.url} answers and has {self._at.llm}"
        some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        return False, f"{self._at.url} answers, but its list of models has no {self._at.llm}; it has: {some or 'none'}"

    def _models(self) -> list[str] | None:
        names = model_names(self._at, self._calls.models())
        if not isinstance(names, ServerError):
            return names
        if names.status in (404, 405):
            return None
        raise explain(self._at, names) from None

    def _ask(self, prompt: Prompt) -> Completion:
        """Send the request, again without what the server refuses."""
        while True:
            refused = self._refused
            request = chat_request(self._at.llm, prompt, self._parameters, refused)
            reply = self._calls.completion(request)
            answer = read_answer(self._at, self.name, reply)
            if isinstance(answer, Completion):
                return answer
            problem = explain(self._at, answer)
            if isinstance(problem, ProposerError) or answer.status in _TOO_BUSY_TO_REFUSE:
                raise problem
            found = find_refused(answer.text, request, refused)
            if not found:
                raise problem
            with self._lock:
                self._refused = {**self._refused, **found}


def _key(variable: str, *, needed: bool) -> str:
    key = os.environ.get(variable, "").strip()
    if not key and needed:
        message = (
            f"no API key: set the environment variable {variable}, or give the base URL of a server that needs "
            "none, as in openai:MODEL@http://localhost:11434/v1"
        )
        raise ProposerError(message)
    if not (key.isascii() and key.isprintable()):
        raise ProposerError(f"the environment variable {variable} holds characters that no key has; set it anew")
    return key


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is none, or half an address
        is_url = False
    if not is_url:
        raise ProposerError(f"base URL {url!r} is none; give one such as http://localhost:11434/v1")
    if parts.username or parts.password or parts.query:
        message = (
            f"the base URL of {parts.hostname} holds a password or a query, which would be logged; "
            "put the key into an environment variable and name it with api_key_env"
        )
        raise ProposerError(message)


def from_spec(
    argument: str,
    *,
    base_url: str | None = None,
    timeout_s: float = 300.0,
    answer_timeout_s: float = 1200.0,
    max_retries: int = 5,
    max_wait_s: float = 600.0,
    api_key_env: str = "OPENAI_API_KEY",
    parameters: Mapping[str, Any] | None = None,
    on_waiting: OnWaiting | None = None,
) -> OpenAICompatible:
    """Make it from the part of a spec behind `openai:`, either `MODEL` or `MODEL@URL`."""
    llm, at, url = argument.partition("@http")
    if not llm:
        raise ProposerError("openai needs the name of a model, as in openai:gpt-4o or openai:MODEL@http://HOST:PORT/v1")
    return OpenAICompatible(
        llm,
        "http" + url if at else base_url,
        api_key_env,
        timeout_s=timeout_s,
        answer_timeout_s=answer_timeout_s,
        max_retries=max_retries,
        max_wait_s=max_wait_s,
        parameters=parameters,
        on_waiting=on_waiting,
    )
