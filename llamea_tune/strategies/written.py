"""Strategies as people write them: `name`, `library:name`, either with `:option=value,...`, or `file.py:Class`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from llamea_tune.exceptions import CandidateCodeError, StrategyError
from llamea_tune.strategies.catalog import check_options, resolve
from llamea_tune.strategies.outside import LIBRARIES


@dataclass(frozen=True)
class NamedStrategy:
    """A strategy of the catalog.

    Attributes:
        label: How tables name it.
        name: Name in Kernel Tuner's strategy map (its own strategies, the generated ones) or `"library:optimizer"`.
        options: Its `strategy_options`.
    """

    label: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def with_hyperparameters(self, values: Mapping[str, Any]) -> NamedStrategy:
        """The strategy with some options set, beside those that are."""
        return replace(self, options={**self.options, **values})


class StrategyFile(NamedTuple):
    """A class deriving from `OptAlg` in a file, to be run in the sandbox, with arguments for its `__init__`."""

    path: Path
    class_name: str
    options: dict[str, Any]


def parse_strategy(text: str) -> NamedStrategy | StrategyFile:
    """Understand a strategy as written on a command line.

    Args:
        text: Such as `"pso"`, `"genetic_algorithm:popsize=30,maxiter=50"`, `"optuna:tpe"`, or
            `"my_strategy.py:MyStrategy:alpha=0.5"`. Values are Python literals; anything else is a string.

    Raises:
        StrategyError: The strategy or one of its options is unknown, the file is not there, its class is none to run, or
            needs an argument that is not given.
        MissingDependencyError: Options are given for a strategy that needs a package which is not installed, or only such a
            package knows whether there is such a strategy.
    """
    if match := re.fullmatch(r"(?P<path>.+\.py):(?P<cls>\w+)(?::(?P<options>.*))?", text.strip()):
        return _file(Path(match["path"]), match["cls"], _options(match["options"] or "", text))
    name, _, rest = text.strip().partition(":")
    if name in LIBRARIES:
        optimizer, _, rest = rest.partition(":")
        name = f"{name}:{optimizer}"
    info = resolve(name.strip())
    options = _options(rest, text)
    check_options(info, options)
    return NamedStrategy(text, info.name, options)


def _options(text: str, whole: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for part in _parts(text) if text.strip() else []:
        name, equals, value = part.partition("=")
        if not equals or not name.strip().isidentifier():
            raise StrategyError(f"{part.strip()!r} in {whole!r} is no option; write name=value.")
        options[name.strip()] = _value(value.strip())
    return options


def _parts(text: str) -> list[str]:
    """What stands between the commas that are outside of all brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[(") - (character in ")]")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    from llamea_tune.candidate_code import parse_literal

    try:
        return parse_literal(text)
    except (ValueError, SyntaxError):
        return text


def _file(path: Path, class_name: str, options: dict[str, Any]) -> StrategyFile:
    from llamea_tune.candidate_code import CandidateCode

    try:
        code = CandidateCode.read(path.read_text(encoding="utf-8"), class_name)
        missing = [entry.name for entry in code.arguments if entry.default is None and entry.name not in options]
        code.checked(given={*options, *missing})
    except FileNotFoundError as err:
        raise StrategyError(f"There is no strategy file {path}; check the path.") from err
    except (OSError, UnicodeDecodeError) as err:
        raise StrategyError(f"The strategy file {path} cannot be read ({err}); it must be Python source.") from err
    except CandidateCodeError as err:
        raise StrategyError(f"The class {class_name} of {path} cannot be run: {err}.") from err
    if missing:
        values = [*(f"{name}={value}" for name, value in options.items()), *(f"{name}=VALUE" for name in missing)]
        how = f"{path}:{class_name}:{','.join(values)}"
        raise StrategyError(f"{class_name} needs a value for {', '.join(missing)}; give it as in {how}.")
    return StrategyFile(path, class_name, options)
