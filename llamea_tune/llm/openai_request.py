"""The request for a chat completion, in the form that a server takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from llamea_tune.llm.language_model import Prompt

SYSTEM_ROLE = "system role"

Refused = Mapping[str, str | None]
"""What a server was found not to take: names of parameters, and `SYSTEM_ROLE`; with the name that it wants instead."""

_SPELLINGS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_OTHER_LIMIT_NAMES = r"|max(imum)?[ _-]?(new|output)?[ _-]?tokens"
_SYSTEM_ROLE_REFUSED = re.compile(
    r"\bsystem\b\W{0,3}(role|message|prompt|instruction)|\brole\b.{0,60}\bsystem\b|developer instruction"
    r"|roles must alternate|only user\W.{0,20}\bassistant\b|messages\W+0\W+role|'user'.{0,12}'assistant'",
    re.I,
)


def chat_request(llm: str, prompt: Prompt, parameters: Mapping[str, Any], refused: Refused) -> dict[str, Any]:
    """What to send.

    Args:
        llm: Name of the model at the server.
        prompt: The prompt; its temperature gives way to one among the parameters.
        parameters: Further parameters.
        refused: What not to send.
    """
    if SYSTEM_ROLE in refused:
        messages = [{"role": "user", "content": f"{prompt.system}\n\n{prompt.user}".lstrip()}]
    else:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    request: dict[str, Any] = {"model": llm, "messages": messages}
    for name, value in {"temperature": prompt.temperature, **parameters}.items():
        wanted = _wanted(name, refused)
        if wanted is not None:
            request[wanted] = value
    return request


def find_refused(said: str, request: Mapping[str, Any], refused: Refused) -> dict[str, str | None]:
    """What of a request a server's error complains about; nothing where it is about something else.

    Args:
        said: All that the error says.
        request: What was sent.
        refused: What was refused before.
    """
    found = {name: found for name in request.keys() - {"model", "messages"} if (found := _pattern(name).search(said))}
    if found:
        first = min(found, key=lambda name: (found[name].start(), name))
        other = _SPELLINGS.get(first)
        named = other is not None and other not in refused and other not in request and re.search(rf"\b{other}\b", said)
        return {first: other if named else None}
    if len(request["messages"]) > 1 and _SYSTEM_ROLE_REFUSED.search(said):
        return {SYSTEM_ROLE: None}
    return {}


def _wanted(name: str, refused: Refused) -> str | None:
    while name in refused:
        other = refused[name]
        if other is None:
            return None
        name = other
    return name


def _pattern(name: str) -> re.Pattern[str]:
    """A parameter's name however it is written: max_tokens, maxTokens, max tokens."""
    spelt = "[ _.-]?".join(map(re.escape, name.split("_")))
    return re.compile(
        rf"(?<![A-Za-z0-9_])({spelt}{_OTHER_LIMIT_NAMES if name in _SPELLINGS else ''})(?![A-Za-z0-9_])", re.I
    )
