"""Any server that speaks OpenAI's chat completions: OpenAI itself, other providers, local servers."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from llamea_tune._imports import require
from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.openai_errors import Endpoint, explain, nonsense, server_message
from llamea_tune.llm.protocol import Completion, CompletionError, Prompt
from llamea_tune.llm.usage import Price, Usage, UsageMeter, usage_of

_NO_KEY = "none"  # local servers ask for no key, but the SDK wants one


class OpenAICompatible:
    """Asks a model through the official SDK, which retries with exponential backoff and honours `Retry-After`."""

    def __init__(
        self,
        llm: str,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        *,
        timeout_s: float = 300.0,
        max_retries: int = 5,
        parameters: Mapping[str, Any] | None = None,
        price: Price | None = None,
    ) -> None:
        """Prepare to ask.

        Args:
            llm: Name of the model at the server.
            base_url: The server, such as `http://localhost:11434/v1`; None for `$OPENAI_BASE_URL`, or OpenAI's own.
            api_key_env: Environment variable that holds the key. It may be unset where a base URL is given.
            timeout_s: Seconds to wait for a server that sends nothing, per try.
            max_retries: Tries after the first, for rate limits, failing servers, broken connections and time-outs.
            parameters: Further parameters of the request, such as `{"max_completion_tokens": 8000}`. Those that the
                server refuses are dropped.
            price: What the model costs.

        Raises:
            MissingDependencyError: The SDK is not installed.
            ProposerError: The key is missing, or the URL is none.
        """
        self._openai = require("openai", "llm")
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        if base_url is not None:
            _check_url(base_url)
        api_key = os.environ.get(api_key_env, "").strip()
        if not api_key and base_url is None:
            message = (
                f"no API key: set the environment variable {api_key_env}, or give the base URL of a server that needs "
                "none, as in openai:MODEL@http://localhost:11434/v1"
            )
            raise ProposerError(message)
        self._name = f"openai:{llm}" + (f"@{base_url}" if base_url else "")
        self._client = self._openai.OpenAI(
            api_key=api_key or _NO_KEY, base_url=base_url, timeout=timeout_s, max_retries=max_retries
        )
        url = base_url or "api.openai.com"
        self._at = Endpoint(llm, url, api_key_env, api_key, timeout_s, max_retries)
        self._parameters = dict(parameters or {})
        self._refused: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._meter = UsageMeter()
        self._price = price

    @property
    def name(self) -> str:
        """Such as `"openai:gpt-4o"`, or `"openai:qwen2.5-coder@http://localhost:11434/v1"`."""
        return self._name

    @property
    def usage(self) -> Usage:
        """What all answers so far took, unusable ones included."""
        return self._meter.total

    @property
    def cost(self) -> float | None:
        """What all answers so far cost; None where the price is not known."""
        return None if self._price is None else self._price.cost(self.usage)

    def complete(self, prompt: Prompt) -> Completion:
        """Ask the model.

        Raises:
            ProposerError: The key or the model's name is wrong, or the server is out of reach.
            CompletionError: This prompt got no usable answer.
        """
        started = time.monotonic()
        response = self._ask(prompt)
        usage = getattr(response, "usage", None)
        completion = Completion(
            self._at.without_key(_text(response)),
            self.name,
            _count(getattr(usage, "prompt_tokens", None)),
            _count(getattr(usage, "completion_tokens", None)),
            time.monotonic() - started,
        )
        self._meter.add(usage_of(completion))
        if _message(response) is None:
            raise nonsense(self._at)
        problem = _problem(response, completion.text)
        if problem:
            raise CompletionError(f"{self._at.llm} {self._at.without_key(problem)}")
        return completion

    def check(self) -> tuple[bool, str]:
        """Find out whether the server answers and knows the model. It asks for the list of models, which costs nothing.

        Returns:
            Whether the model is on the list, and what was found, for people. Some servers have no list, or answer to
            names that are not on it.

        Raises:
            ProposerError: The key is wrong, or the server is out of reach.
            CompletionError: The server does not work at the moment.
        """
        try:
            known = sorted(model.id for model in self._client.models.list())
        except self._openai.NotFoundError:
            return False, f"{self._at.url} answers, but has no list of models to look {self._at.llm} up in"
        except (self._openai.OpenAIError, ValueError, AttributeError, TypeError) as err:
            raise explain(self._openai, err, self._at) from None
        if self._at.llm in known:
            return True, f"{self._at.url} answers and has {self._at.llm}"
        some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        return False, f"{self._at.url} answers, but its list of models has no {self._at.llm}; it has: {some or 'none'}"

    def _ask(self, prompt: Prompt) -> Any:
        """Send the request, again without a parameter that the model refuses."""
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        while True:
            with self._lock:
                refused = self._refused
            parameters = {"temperature": prompt.temperature, **self._parameters}
            sent = {name: value for name, value in parameters.items() if name not in refused}
            try:
                return self._client.chat.completions.create(model=self._at.llm, messages=messages, **sent)
            except self._openai.BadRequestError as err:
                name = _refused_parameter(err, sent)
                if name is None:
                    raise explain(self._openai, err, self._at) from None
                with self._lock:
                    self._refused |= {name}
            except (self._openai.OpenAIError, ValueError) as err:  # ValueError: the body is no JSON
                raise explain(self._openai, err, self._at) from None


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ProposerError(f"base URL {url!r} is none; give one such as http://localhost:11434/v1")
    if parts.username or parts.password or parts.query:
        message = (
            f"the base URL of {parts.hostname} holds a password or a query, which would be logged; "
            "put the key into an environment variable and name it with api_key_env"
        )
        raise ProposerError(message)


def _refused_parameter(err: Exception, sent: Mapping[str, Any]) -> str | None:
    """Which of the parameters sent the server refuses, if that is what it complains about."""
    named = getattr(err, "param", None)
    if named in sent:
        return str(named)
    said = server_message(err)
    return next((name for name in sent if re.search(rf"\b{re.escape(name)}\b", said)), None)


def _message(response: Any) -> Any:
    choices = getattr(response, "choices", None)
    return getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None


def _text(response: Any) -> str:
    content = getattr(_message(response), "content", None)
    return content if isinstance(content, str) else ""


def _problem(response: Any, text: str) -> str | None:
    """Why an answer cannot be used, if so."""
    refusal = getattr(_message(response), "refusal", None)
    if refusal:
        return f"refused to answer: {' '.join(str(refusal).split())[:200]}"
    reason = getattr(response.choices[0], "finish_reason", None)
    if reason == "content_filter":
        return "was stopped by the server's content filter"
    if reason == "length":
        return "ran out of tokens before the end of its answer; allow more, or use a model that thinks less"
    return None if text.strip() else "gave an empty answer"


def _count(tokens: object) -> int | None:
    return tokens if isinstance(tokens, int) else None


def from_spec(
    argument: str,
    *,
    base_url: str | None = None,
    api_key_env: str = "OPENAI_API_KEY",
    timeout_s: float = 300.0,
    max_retries: int = 5,
    parameters: Mapping[str, Any] | None = None,
    price: Price | None = None,
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
        max_retries=max_retries,
        parameters=parameters,
        price=price,
    )
