"""What the library of search operators is made of."""

from __future__ import annotations

from dataclasses import dataclass

from llamea_tune.candidate import HyperparameterRange


@dataclass(frozen=True)
class Hyperparameter:
    """An argument of the optimizer's `__init__`.

    Attributes:
        name: Its name, unique in the library.
        default: Its default; an int here makes it an int there.
        low: Smallest sensible value.
        high: Largest sensible value, inclusive.
        doc: What it is, for the optimizer's docstring.
        log: Whether to vary it on a logarithmic scale.
    """

    name: str
    default: int | float
    low: float
    high: float
    doc: str
    log: bool = False

    @property
    def range(self) -> HyperparameterRange:
        """Where it may lie."""
        kind = "int" if isinstance(self.default, int) else "float"
        return HyperparameterRange(kind, self.low, self.high, self.log)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Part:
    """A piece of an optimizer's source.

    Attributes:
        methods: Source of the methods that it brings, as they stand in a class but without indentation; every line
            is at most 84 characters, and what is spread over lines ends in a comma, so that formatters agree on it.
        hyperparameters: What those methods read from `self` besides the search's own state.
        imports: Import statements that the methods need.
        state: Statements that prepare the search's own state when it starts.
        needs: Names of the shared parts that the methods call.
    """

    methods: str = ""
    hyperparameters: tuple[Hyperparameter, ...] = ()
    imports: tuple[str, ...] = ()
    state: str = ""
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Component(Part):
    """A search operator: one choice for one slot of a design.

    Attributes:
        name: How designs call it; unique in its slot.
        phrase: What it adds to the description.
        call: What the search's main loop says to use it, where components of one slot differ in that.
        moved: Statement to run when the walk moves from `current` to `candidate`, or empty.
        learned: Statement to run after each step, with `improved` at hand, or empty.
        weight: How often random designs take it, relative to the others of its slot.
        effort: Own compute, from 0 for nothing to 3 for milliseconds per measurement.
    """

    name: str = ""
    phrase: str = ""
    call: str = ""
    moved: str = ""
    learned: str = ""
    weight: float = 1.0
    effort: int = 0
