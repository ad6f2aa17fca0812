"""Python literals as a formatter would write them."""

from __future__ import annotations

import math

from llamea_tune.candidate import HyperparameterValue
from llamea_tune.exceptions import ExportError


def literal(value: HyperparameterValue) -> str:
    """Source text of a value, strings in double quotes where that needs no escapes.

    Raises:
        ExportError: It is no finite number, boolean or string.
    """
    if isinstance(value, bool):
        return repr(bool(value))
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ExportError(f"The hyperparameter value {value} cannot be exported; give finite numbers.")
        return repr(float(value))
    if isinstance(value, str):
        text = repr(str(value))
        return text if '"' in text else f'"{text[1:-1]}"'
    raise ExportError(f"The hyperparameter value {value!r} cannot be exported; give a number, a boolean or a string.")
