"""What holds processes, files or connections, and is a context manager that lets go of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Derive from it what is to be used in a `with` statement, or closed by hand."""

    @abstractmethod
    def close(self) -> None:
        """Let go of all that is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
