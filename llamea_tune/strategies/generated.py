"""A generated strategy in Kernel Tuner's strategy map, loaded from its file on first use."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from llamea_tune.exceptions import StrategyError


class GeneratedStrategy:
    """What `tune_kernel(strategy=...)` finds under the name of a generated strategy.

    Attributes:
        name: Name of the strategy.
        path: Its module.
        bundled: Whether it came with the package rather than from the user's folder.
    """

    def __init__(self, name: str, path: Path, *, bundled: bool) -> None:
        self.name = name
        self.path = path
        self.bundled = bundled
        self._module: ModuleType | None = None

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        """Search, as Kernel Tuner asks for it.

        Raises:
            StrategyError: The file cannot be loaded.
            ValueError: A strategy option is unknown.
        """
        return self.load().tune(searchspace, runner, tuning_options)

    @property
    def _options(self) -> dict[str, tuple[str, Any]]:
        """Description and default by option, as in Kernel Tuner's own strategy modules."""
        options: dict[str, tuple[str, Any]] = self.load()._options
        return options

    def load(self) -> ModuleType:
        """The strategy's module.

        Raises:
            StrategyError: The file cannot be loaded, or is no strategy.
        """
        if self._module is None:
            self._module = _load(self.name, self.path)
        return self._module

    def __repr__(self) -> str:
        return f"<generated strategy {self.name!r} from {str(self.path)!r}>"


def _load(name: str, path: Path) -> ModuleType:
    module_name = f"llamea_tune_generated_{name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickle look a class's module up there
    try:
        spec.loader.exec_module(module)
    except Exception as err:
        del sys.modules[module_name]
        message = (
            f"The strategy file {path} cannot be loaded ({type(err).__name__}: {err}); export it again or remove it."
        )
        raise StrategyError(message) from err
    if not callable(getattr(module, "tune", None)) or not isinstance(getattr(module, "_options", None), dict):
        del sys.modules[module_name]
        raise StrategyError(f"The strategy file {path} lacks tune() or _options; export it again or remove it.")
    return module
