"""Advice: what a language model expected of a kernel before anything was measured, kept as a file, as a prior."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import AdviceError
from llamea_tune.priors.opinion import EffectRule, NamedConfig, Opinion, TuneParams
from llamea_tune.spaces.expressions import check_restriction
from llamea_tune.spaces.find import PLAIN_FOLDERS, plain_stem
from llamea_tune.spaces.prior import Prior
from llamea_tune.wording import counted

KEY = "llamea_tune_advice"
VERSION = 1

NAMED_SD = 0.35
OTHER_SD = 0.5
SHRINKAGE = 0.5

_FOLDER = "advice"
_LARGEST_FILE = 1 << 22


@dataclass(frozen=True)
class Advice:
    """What a language model expected of a kernel.

    Attributes:
        kernel: Name of the kernel function.
        device: Name of the device it was told of; empty if none.
        problem_size: The problem size it was told of; None if none.
        tune_params: The parameters and values it was shown.
        opinion: What it said.
        llm: Who answered, such as `"openai:gpt-4o"`.
        prompt_hash: SHA-256 of the prompt.
        date: When, as `YYYY-MM-DD`.
        hidden: What was kept from it: of `"names"`, `"source"`, `"device"`.
        about: What it was told that the kernel does, where it was told in words.
        notes: What of the answer could not be used, a sentence each.
    """

    kernel: str
    device: str
    problem_size: object
    tune_params: TuneParams
    opinion: Opinion
    llm: str
    prompt_hash: str
    date: str
    hidden: tuple[str, ...] = ()
    about: str = ""
    notes: tuple[str, ...] = field(default=())

    def prior_over(self, tune_params: TuneParams, value_indices: NDArray[np.integer]) -> Prior:
        """What the advice expects of each config of a space, which need not be the very space that it was given for.

        A named config has the logarithm of the cost that was named, but no less than those named before it. For any
        other, the logarithms of all factors that apply to it are added, taken relative to their median over the space,
        and shrunk. None of these is expected to be better than the last that was named, which would else have been
        named itself. Where nothing was said, nothing is known.

        The numbers are choices, not fits. The logarithms of costs in recorded spaces have standard deviations from 0.1 to
        0.9, about 0.4 in the middle (`benchmarks/practice.py` prints them): so little is known of a config of which nothing
        is known. Effects take little off that, and a space may be wider than most, hence 0.5 (`OTHER_SD`). Named configs
        were thought of one by one, but a guess stays a guess that one or two measurements may overrule: 0.35 (`NAMED_SD`).
        Effects that are guessed one by one and added up exaggerate, hence half of their sum (`SHRINKAGE`).

        Args:
            tune_params: Values of each tunable parameter, in order.
            value_indices: Shape `(size, n_params)`: index of each config's values.
        """
        mean = self.opinion.log_effect(tune_params, value_indices)
        known = ~np.isnan(mean)
        if known.any():
            mean = SHRINKAGE * (mean - np.median(mean[known]))
        sd = np.where(known, OTHER_SD, np.nan)
        named = self.opinion.named(tune_params, value_indices)
        if named:
            numbers, costs = map(list, zip(*named, strict=True))
            mean = np.maximum(mean, np.log(costs[-1]))
            mean[numbers] = np.log(costs)
            sd[numbers] = NAMED_SD
        where = f" on {self.device}" if self.device else ""
        told = f"advice on {self.kernel}{where} by {self.llm}: {counted(len(named), 'config')} named"
        return Prior(mean, sd, f"{told}, expectations of {counted(len(self.opinion.effects), 'parameter')}")

    def to_json(self) -> dict[str, Any]:
        """The file's content."""
        return {
            KEY: VERSION,
            "kernel": self.kernel,
            "device": self.device,
            "problem_size": self.problem_size,
            "llm": self.llm,
            "date": self.date,
            "prompt_sha256": self.prompt_hash,
            "hidden": list(self.hidden),
            "about": self.about,
            "tune_params": {name: list(values) for name, values in self.tune_params.items()},
            "summary": self.opinion.summary,
            "configs": [{"config": dict(named.config), "cost": named.cost} for named in self.opinion.configs],
            "effects": {
                name: [[value, factor] for value, factor in effects.items()]
                for name, effects in self.opinion.effects.items()
            },
            "rules": [{"when": rule.when, "factor": rule.factor} for rule in self.opinion.rules],
            "notes": list(self.notes),
        }


def advice_path(path: Path, label: str | None = None) -> Path:
    """Where advice on a kernel is kept: `advice/` in the kernel's folder, a file for each device.

    Args:
        path: A recording, which may lie in a folder `caches/`, or the kernel's T1 file.
        label: Short name of the device; by default the recording's.
    """
    folder = path.absolute().parent
    folder = folder.parent if folder.name in PLAIN_FOLDERS else folder
    return folder / _FOLDER / f"{label or plain_stem(path)}.json"


def is_advice(document: object) -> bool:
    """Whether a JSON document is advice."""
    return isinstance(document, dict) and KEY in document


def read_advice(path: str | Path) -> Advice:
    """Read advice from its file.

    Raises:
        AdviceError: It cannot be read, or is no advice.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise AdviceError(f"{path} is far too large for advice; name another file")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise AdviceError(f"{path} cannot be read: {err.strerror or err}; name another file") from err
    except (ValueError, RecursionError) as err:
        raise AdviceError(f"{path} is not JSON ({err}); ask for advice again") from err
    if not is_advice(document):
        raise AdviceError(f"{path} is no advice: it has no {KEY!r}; name a file that llamea-tune advise wrote")
    if document[KEY] != VERSION:
        raise AdviceError(f"{path} is advice of version {document[KEY]!r}, and {VERSION} is known; update llamea-tune")
    try:
        return _from_json(document)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
        raise AdviceError(f"{path} holds no usable advice ({type(err).__name__}: {err}); ask for it again") from err


def _from_json(document: Mapping[str, Any]) -> Advice:
    tune_params = {str(name): tuple(values) for name, values in document["tune_params"].items()}
    rules = tuple(EffectRule(str(rule["when"]), _positive(rule["factor"])) for rule in document.get("rules", []))
    for rule in rules:
        check_restriction(rule.when, tune_params)
    opinion = Opinion(
        tuple(NamedConfig(dict(named["config"]), _positive(named["cost"])) for named in document["configs"]),
        {
            str(name): {_finite(value): _positive(factor) for value, factor in effects}
            for name, effects in document.get("effects", {}).items()
        },
        rules,
        str(document.get("summary", "")),
    )
    return Advice(
        str(document["kernel"]),
        str(document.get("device", "")),
        document.get("problem_size"),
        tune_params,
        opinion,
        str(document.get("llm", "")),
        str(document.get("prompt_sha256", "")),
        str(document.get("date", "")),
        tuple(map(str, document.get("hidden", []))),
        str(document.get("about", "")),
        tuple(map(str, document.get("notes", []))),
    )


def _finite(value: Any) -> Any:
    """A parameter's value, which is compared with others as a float if it is a number."""
    if isinstance(value, int | float) and not math.isfinite(value):
        raise ValueError(f"{value!r} is no value of a parameter")
    return value


def _positive(number: Any) -> float:
    value = float(number)
    if not 0.0 < value < float("inf"):
        raise ValueError(f"{number!r} is no number above 0")
    return value
