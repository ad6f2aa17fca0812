"""Write the prompt that asks for advice from the files in `prompts/`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from string import Template

from llamea_tune.advising.brief import KernelBrief
from llamea_tune.llm.language_model import RETRY, Prompt
from llamea_tune.wording import counted

_MOST_CONFIGS = 12
_MOST_VALUES = 64
_LONGEST_ANSWER = 40_000
_TEMPERATURE = 0.3  # advice is asked for once, so it should be what the model holds most likely


def render_prompt(brief: KernelBrief, key: str) -> Prompt:
    """Write the prompt that asks for advice.

    Args:
        brief: What is told.
        key: The prompt's key.
    """
    lower = not brief.higher_is_better
    name, values = max(brief.tune_params.items(), key=lambda entry: len(entry[1]))
    user = _fill(
        "task.md",
        kernel="\n".join(f"- {line}" for line in _kernel(brief)),
        parameters="\n".join(_parameters(brief)),
        restrictions=_restrictions(brief),
        source=_source(brief),
        n=str(min(_MOST_CONFIGS, brief.most_configs)),
        objective=brief.objective,
        cost="0.5 is half of the median's, 1.0 the same, 2.0 twice"
        if lower
        else "its cost is the median's divided by its own, so that 0.5 is twice the median's, 1.0 the same, 2.0 half",
        better="below it is better" if lower else "below it is better, as a cost is the inverse of what is maximised",
        example=", ".join(f"{json.dumps(each)}: {json.dumps(of[0])}" for each, of in brief.tune_params.items()),
        parameter=name,
        values=", ".join(f'"{value}": 1.0' for value in values[:4]),
        rule=_example_rule(brief),
    )
    return Prompt(key, _read("system.md"), user, _TEMPERATURE)


def render_retry(prompt: Prompt, answer: str, problem: str) -> Prompt:
    """Write the prompt that follows an answer of no use.

    Args:
        prompt: What was asked.
        answer: The answer.
        problem: What is wrong with it.
    """
    shown = answer.strip()[:_LONGEST_ANSWER]
    user = _fill("retry.md", prompt=prompt.user, answer=shown, problem=problem.strip().rstrip("."), fence=_fence(shown))
    return Prompt(prompt.key + RETRY, prompt.system, user, prompt.temperature)


def _kernel(brief: KernelBrief) -> Iterator[str]:
    if brief.kernel_name:
        yield f"Name: {brief.kernel_name}"
    if brief.about:
        yield f"What it does: {' '.join(brief.about.split())}"
    if brief.language:
        yield f"Language: {brief.language}"
    yield f"Device: {brief.device or 'not known'}"
    if brief.problem_size is not None:
        yield f"Problem size: {_size(brief.problem_size)}"
    yield from brief.launch
    better = "higher" if brief.higher_is_better else "lower"
    yield f"Measured: {brief.objective}; {better} is better"


def _size(problem_size: object) -> str:
    return " x ".join(map(str, problem_size)) if isinstance(problem_size, list | tuple) else str(problem_size)


def _parameters(brief: KernelBrief) -> Iterator[str]:
    for name, values in brief.tune_params.items():
        shown = [json.dumps(value) for value in values]
        if len(shown) > _MOST_VALUES:
            shown = [*shown[: _MOST_VALUES // 2], "...", *shown[-_MOST_VALUES // 4 :]]
        yield f"- {name}: {', '.join(shown)}" + (" (fixed)" if len(values) == 1 else "")


def _restrictions(brief: KernelBrief) -> str:
    if brief.most_configs < brief.n_combinations:
        permitted = counted(brief.most_configs, "combination")
        return f"Not known as expressions; {permitted} of {brief.n_combinations:,} are permitted."
    return "\n".join(f"- `{text}`" for text in brief.restrictions) or "None."


def _source(brief: KernelBrief) -> str:
    if not brief.source:
        return ""
    fence = _fence(brief.source)
    told = "The parameters are defined as macros or constants before it is compiled."
    return f"# Source\n\n{told}\n\n{fence}\n{brief.source.strip(chr(10))}\n{fence}\n\n"


def _example_rule(brief: KernelBrief) -> str:
    numeric = [name for name, values in brief.tune_params.items() if len(values) > 1 and not isinstance(values[0], str)]
    return f"{' * '.join(numeric[:2])} > 256" if numeric else f"{next(iter(brief.tune_params))} == 'a'"


def _fence(content: str) -> str:
    """A fence longer than any in the content."""
    longest = max((len(marks) for marks in re.findall(r"`{3,}", content)), default=2)
    return "`" * (longest + 1)


def _fill(file: str, **values: str) -> str:
    return Template(_read(file)).substitute(values)


@cache
def _read(name: str) -> str:
    return files("llamea_tune.advising").joinpath("prompts", name).read_text(encoding="utf-8").strip()
