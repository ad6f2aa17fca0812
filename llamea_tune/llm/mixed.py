"""Several language models as one: each prompt is answered by one of them, drawn by weight, named, or chosen by role."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import Completion, LanguageModel, OnWaiting, Prompt

KIND = "mix"


class Mixed:
    """Has the one answer that a prompt names, or draws who answers, with probabilities in proportion to weights.

    The draw depends on the prompt's seed alone, which is that of the candidate: whoever answered also answers what follows
    for the same candidate, and a resumed run asks the same model.
    """

    def __init__(self, llms: Sequence[tuple[LanguageModel, float]], specs: Sequence[str] = ()) -> None:
        """Mix these.

        Args:
            llms: Language models with their weights, above 0.
            specs: What prompts call each of them; by default its name.
        """
        self._llms = [llm for llm, _ in llms]
        self._weights = [weight for _, weight in llms]
        self._by_spec = dict(zip(specs or [llm.name for llm in self._llms], self._llms, strict=True))

    @property
    def name(self) -> str:
        """All names with their weights; completions name who answered."""
        pairs = zip(self._llms, self._weights, strict=True)
        return f"{KIND}:" + ",".join(f"{llm.name}={weight:g}" for llm, weight in pairs)

    def complete(self, prompt: Prompt) -> Completion:
        """Have the one that is named or drawn answer; raises what that raises.

        Raises:
            ProposerError: The prompt names one that is not in the mix.
        """
        if not prompt.llm:
            (llm,) = random.Random(prompt.seed).choices(self._llms, self._weights)
            return llm.complete(prompt)
        if prompt.llm not in self._by_spec:
            raise ProposerError(f"{prompt.llm!r} is to answer {prompt.key}, and is not in {self.name}")
        return self._by_spec[prompt.llm].complete(prompt)

    def close(self) -> None:
        """Stop waiting for answers."""
        close_all(self._llms)


class ByRole:
    """Has each role of a team answered by a language model of its own, where it has one."""

    def __init__(self, default: LanguageModel, by_role: Mapping[str, LanguageModel]) -> None:
        """Choose by role.

        Args:
            default: Answers for the roles that have none of their own.
            by_role: The others, by role.
        """
        self._default = default
        self._by_role = dict(by_role)

    @property
    def name(self) -> str:
        """All names, with their roles; completions name who answered."""
        told = ", ".join(f"{role} {llm.name}" for role, llm in self._by_role.items())
        return f"{self._default.name} ({told})" if told else self._default.name

    def complete(self, prompt: Prompt) -> Completion:
        """Have the one of the prompt's role answer; raises what that raises.

        Whom the prompt names is one of the default's mix, and not of a mix that a role has for itself.
        """
        own = self._by_role.get(prompt.role)
        return self._default.complete(prompt) if own is None else own.complete(replace(prompt, llm=""))

    def close(self) -> None:
        """Stop waiting for answers."""
        close_all([self._default, *self._by_role.values()])


def close_all(llms: Iterable[LanguageModel]) -> None:
    """Stop waiting for answers of all that can be told so."""
    for llm in llms:
        close = getattr(llm, "close", None)
        if close is not None:
            close()


def from_spec(
    argument: str,
    *,
    on_waiting: OnWaiting | None = None,
    timeout_s: float | None = None,
    answer_timeout_s: float | None = None,
    max_retries: int | None = None,
    max_wait_s: float | None = None,
    api_key_env: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Mixed:
    """Make it from the part of a spec behind `mix:`, such as `"openai:a=3,openai:b=1"`; options are those of each."""
    from llamea_tune.llm.registry import make_llm  # which knows this kind too

    options = {
        **{"timeout_s": timeout_s, "answer_timeout_s": answer_timeout_s, "max_retries": max_retries},
        **{"max_wait_s": max_wait_s, "api_key_env": api_key_env, "parameters": parameters},
    }
    weights = read_weights(argument)
    llms = [(make_llm(spec, on_waiting, **options), weight) for spec, weight in weights]
    return Mixed(llms, [spec for spec, _ in weights])


def weights_of(spec: str) -> dict[str, float]:
    """The specs of the language models behind a spec with their weights; of what is no mix, the spec itself with 1.

    Raises:
        ProposerError: It is a mix that makes no sense.
    """
    kind, _, argument = spec.partition(":")
    if kind != KIND:
        return {spec: 1.0}
    weights: dict[str, float] = {}
    for part, weight in read_weights(argument):
        weights[part] = weights.get(part, 0.0) + weight
    return weights


def read_weights(text: str) -> list[tuple[str, float]]:
    """The specs and weights of such a text; who has no weight has 1.

    Raises:
        ProposerError: There is none, one is a mix itself, or a weight is no number above 0.
    """
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        spec, equals, number = part.rpartition("=")
        spec, number = (spec, number) if equals else (part, "1")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not 0.0 < weight < math.inf or not spec or spec.partition(":")[0] == KIND:
            raise ProposerError(
                f"{part!r} in {KIND}:{text} is no language model with a weight above 0; write it as in mix:openai:a=3,openai:b=1"
            )
        found.append((spec, weight))
    if not found:
        raise ProposerError("mix needs language models with weights, as in mix:openai:a=3,openai:b=1")
    return found
