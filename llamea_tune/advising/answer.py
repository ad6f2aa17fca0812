"""Read an adviser's answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llamea_tune.advising.brief import KernelBrief
from llamea_tune.priors.opinion import EffectRule, NamedConfig, Opinion, TuneParams
from llamea_tune.proposals.blocks import clean, split
from llamea_tune.proposals.ranges import read_json_object
from llamea_tune.spaces import ParamValue
from llamea_tune.spaces.expressions import check_restriction

FEWEST_CONFIGS = 3

_JSON = ("", "json", "jsonc", "json5")
_LISTS = ("configs", "configurations")
_CONFIGS = ("config", "configuration", "parameters", "params", "values")
_COSTS = ("cost", "expected_cost", "relative_cost", "expected_relative_cost", "expected")
_CONDITIONS = ("when", "if", "condition")
_MOST_CONFIGS = 100
_MOST_RULES = 20
_SMALLEST, _LARGEST = 1e-3, 1e3
_MOST_TOLD = 5


class AnswerError(Exception):
    """An answer is of no use; the message says why, fit to be sent back."""


@dataclass(frozen=True)
class ReadAnswer:
    """What an answer holds.

    Attributes:
        opinion: What can be used of it.
        notes: What cannot, a sentence each.
    """

    opinion: Opinion
    notes: tuple[str, ...]


def parse_answer(text: str, brief: KernelBrief) -> ReadAnswer:
    """Read an answer.

    Values that a parameter does not have become the nearest that it has; what is not permitted is left out.

    Args:
        text: The answer.
        brief: What the adviser was told.

    Raises:
        AnswerError: It holds no JSON object, or hardly any config that is permitted.
    """
    document = _document(clean(text))
    configs, notes = _configs(_first(document, _LISTS), brief)
    needed = min(FEWEST_CONFIGS, brief.most_configs)
    if len(configs) < needed:
        reasons = "; ".join(notes[:_MOST_TOLD]) or 'the list "configs" is missing or empty'
        raise AnswerError(f"{len(configs)} of its configurations can be used, at least {needed} are needed: {reasons}")
    effects, unknown = _effects(document.get("effects"), brief.tune_params)
    rules, refused = _rules(document.get("rules"), brief.tune_params)
    summary = document.get("summary")
    opinion = Opinion(
        tuple(configs),
        effects,
        tuple(rules),
        " ".join(summary.split()) if isinstance(summary, str) else "",
    )
    return ReadAnswer(opinion, (*notes, *unknown, *refused))


def _document(text: str) -> Mapping[str, Any]:
    """The JSON object with the configs: of the last block that holds one, or else what stands between braces."""
    blocks = [content for language, content in split(text).blocks if language in _JSON]
    around = text[text.find("{") : text.rfind("}") + 1]
    listed = text[text.find("[") : text.rfind("]") + 1]
    for content in (*reversed(blocks), around):
        document = read_json_object(content)
        if document is not None and isinstance(_first(document, _LISTS), list):
            return document
    for content in (*reversed(blocks), listed):
        document = read_json_object(f'{{"configs": {content}}}')
        if document is not None and isinstance(document["configs"], list):
            return document
    raise AnswerError('it holds no JSON object with a list "configs"')


def _configs(entries: Any, brief: KernelBrief) -> tuple[list[NamedConfig], list[str]]:
    configs: dict[tuple[ParamValue, ...], NamedConfig] = {}
    notes: list[str] = []
    dearest = 0.0  # of those before, for one whose cost is missing
    for number, entry in enumerate(entries[:_MOST_CONFIGS] if isinstance(entries, list) else [], start=1):
        try:
            config = _config(entry, brief)
        except AnswerError as err:
            notes.append(f"configuration {number} {err}")
            continue
        cost = _number(_first(entry, _COSTS)) if isinstance(entry, Mapping) else None
        dearest = max(dearest, cost or 0.0)
        configs.setdefault(tuple(config.values()), NamedConfig(config, cost or dearest or 1.0))
    return list(configs.values()), notes


def _config(entry: Any, brief: KernelBrief) -> dict[str, ParamValue]:
    given = _first(entry, _CONFIGS) if isinstance(entry, Mapping) else entry
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == len(brief.tune_params):
        given = dict(zip(brief.tune_params, given, strict=True))
    given = given if isinstance(given, Mapping) else entry
    if not isinstance(given, Mapping):
        raise AnswerError("is no object with a value for each parameter")
    by_name = {str(name).strip().lower(): value for name, value in given.items()}
    config = {}
    for name, values in brief.tune_params.items():
        if len(values) == 1:
            config[name] = values[0]
        elif name.lower() not in by_name:
            raise AnswerError(f"has no value for {name}")
        else:
            value = _nearest(by_name[name.lower()], values)
            if value is None:
                raise AnswerError(f"has {by_name[name.lower()]!r} for {name}, which is none of its values"[:200])
            config[name] = value
    if broken := brief.broken_restriction(tuple(config.values())):
        raise AnswerError(f"does not meet {broken}")
    return config


def _effects(declared: Any, tune_params: TuneParams) -> tuple[dict[str, dict[ParamValue, float]], list[str]]:
    effects: dict[str, dict[ParamValue, float]] = {}
    notes: list[str] = []
    by_name = {name.lower(): name for name in tune_params}
    for key, factors in declared.items() if isinstance(declared, Mapping) else ():
        name = by_name.get(str(key).strip().lower())
        if name is None:
            notes.append(f"an effect is of {key!r:.100}, which is no parameter")
            continue
        known = {}
        for told, factor in _pairs(factors):
            value, number = _exact(told, tune_params[name]), _number(factor)
            if value is None or number is None:
                notes.append(
                    f"the effect of {name} = {told!r:.100} is {factor!r:.100}: no such value, or no factor above 0"
                )
            else:
                known[value] = number
        if known:
            effects[name] = known
    return effects, notes


def _pairs(factors: Any) -> Iterator[tuple[Any, Any]]:
    """Values with their factors, as an object, as a list of pairs, or as a list of objects."""
    if isinstance(factors, Mapping):
        yield from factors.items()
    for entry in factors if isinstance(factors, list) else ():
        if isinstance(entry, Mapping):
            yield entry.get("value"), entry.get("factor")
        elif isinstance(entry, list) and len(entry) == 2:
            yield entry[0], entry[1]


def _rules(declared: Any, tune_params: TuneParams) -> tuple[list[EffectRule], list[str]]:
    rules: list[EffectRule] = []
    notes: list[str] = []
    for entry in declared[:_MOST_RULES] if isinstance(declared, list) else ():
        when = _first(entry, _CONDITIONS) if isinstance(entry, Mapping) else None
        factor = _number(entry.get("factor")) if isinstance(entry, Mapping) else None
        if not isinstance(when, str) or factor is None:
            notes.append(f"the rule {entry!r:.200} has no condition, or no factor above 0")
            continue
        when = when.replace("&&", " and ").replace("||", " or ").strip()
        try:
            check_restriction(when, tune_params)
        except ValueError as err:
            notes.append(f"the rule {err}"[:300])
        else:
            rules.append(EffectRule(when, factor))
    return rules, notes


def _first(entry: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((entry[name] for name in names if name in entry), None)


def _number(told: Any) -> float | None:
    """A cost or factor above 0, also as a text such as `"0.4x"`; kept within a thousandth and a thousand."""
    if isinstance(told, bool):
        return None
    try:
        number = float(told.strip("x~ \n") if isinstance(told, str) else told)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(number, _SMALLEST), _LARGEST) if 0.0 < number < math.inf else None


def _exact(told: Any, values: tuple[ParamValue, ...]) -> ParamValue | None:
    """The value that is meant, however it is written: JSON has texts only for keys."""
    written = str(told).strip().lower()
    for value in values:
        if written == str(value).lower():
            return value
    number = _plain_number(told)
    return None if number is None else next((v for v in values if not isinstance(v, str) and v == number), None)


def _nearest(told: Any, values: tuple[ParamValue, ...]) -> ParamValue | None:
    """The value that is meant; for a number between a parameter's numbers the nearest of them, by ratio."""
    exact = _exact(told, values)
    number = _plain_number(told)
    if exact is not None or number is None or not all(isinstance(v, int | float) and v > 0 for v in values):
        return exact
    numbers = [float(value) for value in values]
    if not min(numbers) <= number <= max(numbers):
        return None
    return values[min(range(len(values)), key=lambda i: abs(math.log(numbers[i] / number)))]


def _plain_number(told: Any) -> float | None:
    try:
        number = float(told)
    except (ValueError, TypeError, OverflowError):
        return None
    return number if math.isfinite(number) else None
