"""The answers of an OpenAI-compatible server: chat completions, or errors in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import Completion, CompletionError
from llamea_tune.llm.openai_errors import Endpoint, ServerError, error_of_status, error_within
from llamea_tune.llm.server_calls import HttpReply
from llamea_tune.llm.server_reason import decode, names_in, reason_in

_FIRST_PART = 10_000  # what is kept of an answer without end, and shown of one that is none
_SHOWN = 120


def read_answer(at: Endpoint, name: str, reply: HttpReply) -> Completion | ServerError:
    """Read a server's answer.

    Args:
        at: Who was asked.
        name: Name of the language model for completions.
        reply: What came.

    Raises:
        CompletionError: It is an answer that cannot be used.
        ProposerError: It is a stream.
    """
    data = decode(reply.body)
    if not 200 <= reply.status < 300:
        return error_of_status(at, reply.status, reply.headers, data)
    if isinstance(data, str) and data.lstrip().startswith("data:"):
        raise ProposerError(f"{at.url} gives the answers of {at.llm} as streams only; use another model or server")
    if not reply.whole:
        start = Completion(_clean(at, reply.body[:_FIRST_PART].decode("utf-8", errors="replace")), name)
        raise CompletionError(f"{at.llm} gave an answer longer than {len(reply.body) / 1e6:g} MB", start)
    fields: Mapping[str, Any] = data if isinstance(data, dict) else {}
    choice = _first_choice(fields)
    message = choice.get("message")
    completion = _completion(at, name, message, choice, fields)
    error = _error(fields, choice)
    if error:
        return error_within(at, error, reply.headers, completion)
    if not isinstance(message, dict):
        raise _nonsense(at, "chat completion", data, completion)
    problem = _problem(at, message, choice, completion)
    if problem:
        raise CompletionError(f"{at.llm} {problem}", completion)
    return completion


def model_names(at: Endpoint, reply: HttpReply) -> list[str] | ServerError:
    """Read a server's list of models.

    Raises:
        CompletionError: It is no such list.
    """
    data = decode(reply.body)
    if not 200 <= reply.status < 300:
        return error_of_status(at, reply.status, reply.headers, data)
    models = data.get("data") if isinstance(data, dict) else data
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise _nonsense(at, "list of models", data)
    return sorted(_clean(at, str(model.get("id"))) for model in models)


def _first_choice(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = fields.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _error(fields: Mapping[str, Any], choice: Mapping[str, Any]) -> Any:
    """The error within an answer, if there is one: some servers send one that says nothing along with a good answer."""
    for error in (fields.get("error"), choice.get("error")):
        if reason_in(error) or names_in(error):
            return error
    return fields if not choice and (fields.get("error") or fields.get("object") == "error") else None


def _completion(
    at: Endpoint, name: str, message: Any, choice: Mapping[str, Any], fields: Mapping[str, Any]
) -> Completion:
    usage = fields.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Completion(
        _clean(at, _text(message.get("content")) if isinstance(message, dict) else ""),
        name,
        _count(counts.get("prompt_tokens")),
        _count(counts.get("completion_tokens")),
        cut_off=choice.get("finish_reason") in ("length", "max_tokens"),
    )


def _text(content: Any) -> str:
    """The text of an answer; of one in parts, those that are text, as others hold the thinking."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(part if isinstance(part, str) else _text_of_part(part) for part in content)


def _text_of_part(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "output_text"):
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _problem(at: Endpoint, message: Mapping[str, Any], choice: Mapping[str, Any], completion: Completion) -> str | None:
    """Why an answer cannot be used, if so."""
    refusal = message.get("refusal")
    if refusal:
        return f"refused to answer: {at.without_traces_of_key(reason_in(refusal))[:200]}"
    if choice.get("finish_reason") == "content_filter":
        return "was stopped by the server's content filter"
    if completion.text.strip():
        return None
    if completion.cut_off:
        return "ran out of tokens before its answer began; allow more, or use a model that thinks less"
    return "gave an empty answer"


def _nonsense(at: Endpoint, what: str, data: Any, completion: Completion | None = None) -> CompletionError:
    said = at.without_traces_of_key(reason_in(data))[:_SHOWN]
    shown = f" ({said})" if said else ""
    message = f"{at.url} answered with something that is no {what}{shown}; is it the right base URL?"
    return CompletionError(message, completion)


def _clean(at: Endpoint, text: str) -> str:
    """A text without the key, and without half characters, which no file can hold."""
    return at.without_key(text.encode("utf-8", errors="replace").decode("utf-8"))


def _count(tokens: object) -> int | None:
    return tokens if type(tokens) is int and tokens >= 0 else None
