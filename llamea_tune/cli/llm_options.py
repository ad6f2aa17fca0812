"""Options of how a language model is asked, which several commands share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from llamea_tune.llm.asking_options import LLMOptions

PlannerLLM = Annotated[
    str, typer.Option(help="Language model of the planner, where it is not the proposer's.", show_default=False)
]
CoderLLM = Annotated[
    str, typer.Option(help="Language model of the coder, where it is not the proposer's.", show_default=False)
]
DebuggerLLM = Annotated[
    str, typer.Option(help="Language model of the debugger, where it is not the proposer's.", show_default=False)
]
Timeout = Annotated[
    float | None,
    typer.Option("--llm-timeout", help="Seconds to wait for a language model that sends nothing.", show_default=False),
]
AnswerTimeout = Annotated[
    float | None,
    typer.Option("--llm-answer-timeout", help="Seconds that one whole answer of it may take.", show_default=False),
]
MaxRetries = Annotated[
    int | None,
    typer.Option("--llm-max-retries", help="Tries after the first, for what may get better.", show_default=False),
]
MaxWait = Annotated[
    float | None,
    typer.Option(
        "--llm-max-wait", help="Longest wait before a try in seconds, whatever the server asks for.", show_default=False
    ),
]
KeyEnv = Annotated[
    str | None,
    typer.Option("--llm-api-key-env", help="Environment variable that holds the key.", show_default=False),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--llm-parameter",
        metavar="NAME=VALUE",
        help="Further parameter of each request, its value JSON or else text; may be repeated.",
        show_default=False,
    ),
]


def llm_options(
    timeout: float | None,
    answer_timeout: float | None,
    max_retries: int | None,
    max_wait: float | None,
    api_key_env: str | None,
    parameters: list[str] | None,
) -> LLMOptions:
    """The options as a record.

    Raises:
        SettingsError: A parameter is not of the form NAME=VALUE.
    """
    from llamea_tune.llm.asking_options import LLMOptions

    named = dict(map(_parameter, parameters or []))
    return LLMOptions(timeout, answer_timeout, max_retries, max_wait, api_key_env, named)


def _parameter(text: str) -> tuple[str, Any]:
    from llamea_tune.exceptions import SettingsError

    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise SettingsError(f"--llm-parameter is {text!r}; give a name and a value, such as max_tokens=8000.")
    try:
        read = json.loads(value)
        json.dumps(read, allow_nan=False)  # Python reads NaN and infinity as numbers, but JSON has none
    except ValueError:
        return name.strip(), value
    return name.strip(), read
