"""Strategies as people write them: `name`, `name:option=value,...`, or `file.py:Class`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from llamea_tune.exceptions import StrategyError
from llamea_tune.strategies.catalog import PYATF_PREFIX, check_options, resolve


@dataclass(frozen=True)
class NamedStrategy:
    """A strategy of the catalog.

    Attributes:
        label: How tables name it.
        name: Name in Kernel Tuner's strategy map (its own strategies, the generated ones) or `"pyatf:<technique>"`.
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
        text: Such as `"pso"`, `"genetic_algorithm:popsize=30,maxiter=50"`, `"pyatf:torczon"`, or
            `"my_strategy.py:MyStrategy:alpha=0.5"`. Values are Python literals; anything else is a string.

    Raises:
        StrategyError: The strategy or one of its options is unknown, the file or its class is not there, or the class
            needs an argument that is not given.
        MissingDependencyError: Options are given for a strategy that needs a package which is not installed.
    """
    if match := re.fullmatch(r"(?P<path>.+\.py):(?P<cls>\w+)(?::(?P<options>.*))?", text.strip()):
        return _file(Path(match["path"]), match["cls"], _options(match["options"] or "", text))
    prefix = PYATF_PREFIX if text.strip().startswith(PYATF_PREFIX) else ""
    name, _, rest = text.strip().removeprefix(prefix).partition(":")
    info = resolve(prefix + name.strip())
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
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _file(path: Path, class_name: str, options: dict[str, Any]) -> StrategyFile:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError as err:
        raise StrategyError(f"There is no strategy file {path}; check the path.") from err
    except (OSError, SyntaxError, ValueError) as err:
        raise StrategyError(f"The strategy file {path} cannot be read ({err}); it must be Python source.") from err
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if class_name not in classes:
        raise StrategyError(f"{path} has no class {class_name!r}; its classes are: {', '.join(classes) or 'none'}.")
    missing = [name for name in _required_arguments(classes[class_name]) if name not in options]
    if missing:
        values = [*(f"{name}={value}" for name, value in options.items()), *(f"{name}=VALUE" for name in missing)]
        how = f"{path}:{class_name}:{','.join(values)}"
        raise StrategyError(f"{class_name} needs a value for {', '.join(missing)}; give it as in {how}.")
    return StrategyFile(path, class_name, options)


def _required_arguments(cls: ast.ClassDef) -> list[str]:
    """Arguments of a class's own `__init__` that have no default."""
    init = next((node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
    if init is None:
        return []
    positional = [*init.args.posonlyargs, *init.args.args]
    required = positional[1 : len(positional) - len(init.args.defaults)]
    keyword_only = zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
    return [node.arg for node in (*required, *(node for node, default in keyword_only if default is None))]
