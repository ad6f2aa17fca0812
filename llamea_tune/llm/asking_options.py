"""How patiently, and with what, a language model behind a server is asked: what a run keeps of it in `run.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class LLMOptions:
    """Options of language models; None stands for a kind's own default.

    Attributes:
        timeout_s: Seconds to wait for a server that sends nothing, per try.
        answer_timeout_s: Seconds that a whole answer may take, however steadily it drips.
        max_retries: Tries after the first, for what may get better.
        max_wait_s: Longest wait before a try, whatever the server asks for.
        api_key_env: Environment variable that holds the key.
        parameters: Further parameters of each request, such as `{"max_tokens": 8000}`.
    """

    timeout_s: float | None = None
    answer_timeout_s: float | None = None
    max_retries: int | None = None
    max_wait_s: float | None = None
    api_key_env: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def given(self) -> dict[str, Any]:
        """Those that were given, as keyword arguments of `make_llm`."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != {}}
