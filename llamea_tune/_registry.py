"""What there is of a kind, by name: the built-in ones and those of other packages, found and loaded alike."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from llamea_tune.exceptions import LlameaTuneError, SettingsError

T = TypeVar("T")


class Registry(Collection[str], Generic[T]):
    """The names of one kind; what they stand for is imported when it is asked for.

    Another package adds one by an entry point, in its `pyproject.toml`, of the registry's group.
    """

    def __init__(self, group: str, kind: str, error: type[LlameaTuneError], built_in: Mapping[str, str]) -> None:
        """Name the group of entry points, what they are (for messages), and `"module:attribute"` of the built-in ones."""
        self.group = group
        self.kind = kind
        self.error = error
        self._built_in = {name: EntryPoint(name, value, group) for name, value in built_in.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __contains__(self, name: object) -> bool:
        return name in self._entries()

    def added(self) -> list[str]:
        """The names that other packages bring."""
        return [name for name in self if name not in self._built_in]

    def load(self, name: str) -> T:
        """What a name stands for.

        Raises:
            LlameaTuneError: It is not known, registered twice, or cannot be imported.
        """
        entries = self._entries()
        if name not in entries:
            raise self.error(f"{self.kind} {name!r} is not known; choose one of {', '.join(sorted(entries))}")
        try:
            found: T = entries[name].load()
        except (ImportError, AttributeError) as err:
            message = f"{self.kind} {name!r} cannot be loaded from {entries[name].value} ({err}); reinstall its package"
            raise self.error(message) from err
        return found

    def make(self, spec: str, options: Mapping[str, object], **offered: object) -> Any:
        """Call what a spec such as `"name:argument"` names, where that is a function that makes things.

        What is behind the colon is handed to it first, then the options; one that is None stands for its default. What
        is offered is no option, and handed to those that take it.

        Raises:
            LlameaTuneError: As by `load`.
            SettingsError: It takes no such option.
        """
        name, _, argument = spec.partition(":")
        factory: Any = self.load(name)
        given = {option: value for option, value in options.items() if value is not None}
        parameters = list(inspect.signature(factory).parameters)[1:]
        taken = [parameter for parameter in parameters if parameter not in offered]
        for option in given:
            if option not in taken:
                raise SettingsError(f"{name} takes no option {option!r}; it takes {', '.join(taken) or 'none'}")
        return factory(argument, **given, **{key: value for key, value in offered.items() if key in parameters})

    def _entries(self) -> dict[str, EntryPoint]:
        found = dict(self._built_in)
        for entry in _installed(self.group, tuple(sys.path)):
            other = found.setdefault(entry.name, entry)
            if other.value != entry.value:
                raise self.error(
                    f"{self.kind} {entry.name!r} is registered twice, by {other.value} and by {entry.value}; "
                    "uninstall one of the two packages"
                )
        return found


@lru_cache
def _installed(group: str, _sys_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Kept, as looking through all that is installed takes milliseconds, and files are asked about by the thousand."""
    return tuple(entry_points(group=group))
