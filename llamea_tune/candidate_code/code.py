"""A candidate's source, read without running it."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from llamea_tune.candidate_code.contract import MARKS_OF_A_STRATEGY, MAX_CODE_BYTES
from llamea_tune.candidate_code.literals import PlainValue, literal, plain_value
from llamea_tune.candidate_code.syntax import UNPARSABLE, parse_source
from llamea_tune.candidate_code.violations import find_violations
from llamea_tune.exceptions import CandidateCodeError

_BASE = "OptAlg"
_RENAMED = "_TheOptimizer"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Argument:
    """An argument of a candidate's `__init__`: one of its hyperparameters.

    Attributes:
        name: Its name.
        line: The line where it stands.
        default: The expression of its default, None where it has none.
        text: The source text of that expression.
    """

    name: str
    line: int
    default: ast.expr | None
    text: str

    @property
    def value(self) -> PlainValue | None:
        """Its default where that is a number, boolean or string, which can be tuned; None for anything else."""
        return None if self.default is None else plain_value(self.default)


@dataclass(frozen=True, eq=False)
class CandidateCode:
    """A candidate's source, parsed once. Whatever it lacks is empty, and one of its `violations()`.

    Attributes:
        source: The text, with plain line ends.
        tree: The module.
        wanted: Name of the class that was asked for; None for the one that derives from `OptAlg`.
    """

    source: str
    tree: ast.Module
    wanted: str | None = None

    @classmethod
    def read(cls, source: str, class_name: str | None = None) -> CandidateCode:
        """Read source.

        Args:
            source: The source.
            class_name: The class that is meant; needed only where several derive from `OptAlg`.

        Raises:
            CandidateCodeError: It is no Python; the message says where.
        """
        source = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"
        if len(source.encode(errors="replace")) > MAX_CODE_BYTES:
            raise CandidateCodeError(f"the code is longer than {MAX_CODE_BYTES:,} bytes")
        return cls(source, _parse(source), class_name)

    def violations(self, given: Collection[str] = ()) -> tuple[str, ...]:
        """Everything by which the code breaks the contract of candidates, a sentence each, with the line.

        Args:
            given: Arguments that will be given a value, so that they need no default.
        """
        return find_violations(self, given)

    def checked(self, given: Collection[str] = ()) -> CandidateCode:
        """The code itself, if it keeps the contract; see `violations`.

        Raises:
            CandidateCodeError: It does not; the message names all violations.
        """
        if problems := self.violations(given):
            raise CandidateCodeError("; ".join(problems))
        return self

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """The classes at the top level, by name."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    @cached_property
    def origins(self) -> Mapping[str, str]:
        """Full names of what is imported at the top level, by the name that it is given here."""
        found: dict[str, str] = {}
        for node in _run_on_loading(self.tree):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            if isinstance(node, ast.Import | ast.ImportFrom):
                found |= {bound_name(alias): prefix + alias.name for alias in node.names}
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that the module binds at its top level."""
        nodes = list(_run_on_loading(self.tree))
        stored = (node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        defined = (node.name for node in nodes if isinstance(node, _DEFINITIONS))
        return frozenset({*self.origins, *stored, *defined})

    @property
    def is_strategy_file(self) -> bool:
        """Whether it is a whole exported file: a candidate's code with Kernel Tuner's `_options` and `tune` behind it."""
        return self.names >= MARKS_OF_A_STRATEGY

    @cached_property
    def _family(self) -> tuple[list[ast.ClassDef], set[str]]:
        """Classes that derive from `OptAlg`, if only through another one here; and the names that some derive from."""
        names = {_BASE, *(name for name, origin in self.origins.items() if _last_part(origin) == _BASE)}
        members: list[ast.ClassDef] = []
        extended: set[str] = set()
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and (bases := names & {*map(_name_of, node.bases)}):
                members.append(node)
                names.add(node.name)
                extended |= bases
            elif isinstance(node, ast.Assign) and _name_of(node.value) in names:
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return members, extended

    @property
    def leaves(self) -> list[ast.ClassDef]:
        """Classes that derive from `OptAlg`, and that no class here derives from."""
        members, extended = self._family
        return [node for node in members if node.name not in extended]

    @cached_property
    def optimizer(self) -> ast.ClassDef | None:
        """The class to run; None where there is none, or where it is not clear which."""
        if self.wanted is not None:
            return next((node for node in reversed(self._family[0]) if node.name == self.wanted), None)
        return self.leaves[0] if len(self.leaves) == 1 else None

    @property
    def class_name(self) -> str:
        """Name of the class to run, empty where there is none."""
        return self.optimizer.name if self.optimizer else ""

    @property
    def doc(self) -> str:
        """The docstring of the class, or else of the module; possibly empty."""
        return (self.optimizer and ast.get_docstring(self.optimizer)) or ast.get_docstring(self.tree) or ""

    def method(self, name: str) -> ast.FunctionDef | None:
        """A method of the class to run, or of the nearest of its base classes here."""
        waiting = [self.optimizer] if self.optimizer else []
        seen: list[ast.ClassDef] = []
        while waiting:
            node = waiting.pop(0)
            for entry in reversed(node.body):
                if isinstance(entry, ast.FunctionDef) and entry.name == name:
                    return entry
            seen.append(node)
            bases = (self.classes.get(_name_of(base)) for base in node.bases)
            waiting = [*(base for base in bases if base and base not in seen), *waiting]
        return None

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of `__init__` that are given by name, in order."""
        init = self.method("__init__")
        if init is None:
            return ()
        args = init.args
        positional = [*args.posonlyargs, *args.args]
        missing: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
        pairs = [
            *list(zip(positional, [*missing, *args.defaults], strict=True))[1:],
            *zip(args.kwonlyargs, args.kw_defaults, strict=True),
        ]
        text = self.source.encode()
        return tuple(
            Argument(node.arg, node.lineno, default, text[slice(*self._span(default))].decode() if default else "")
            for node, default in pairs
        )

    @cached_property
    def _line_starts(self) -> list[int]:
        """Where the lines begin, in bytes, as `ast` counts columns."""
        return [0, *accumulate(map(len, self.source.encode().splitlines(keepends=True)))]

    def _span(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression begins and ends, in bytes."""
        assert node.end_lineno is not None and node.end_col_offset is not None  # all that is parsed has them
        starts = self._line_starts
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    @property
    def defaults(self) -> dict[str, PlainValue | None]:
        """Defaults of the arguments; None for one that is no number, boolean or string, and so is not tuned."""
        return {argument.name: argument.value for argument in self.arguments}

    def with_defaults(self, values: Mapping[str, PlainValue]) -> CandidateCode:
        """The code with other defaults of the arguments of `__init__`.

        Raises:
            CandidateCodeError: There is no such argument, or a value cannot be written down.
        """
        nodes = {argument.name: argument.default for argument in self.arguments}
        text = self.source.encode()
        edits = []
        for name, value in values.items():
            node = nodes.get(name)
            if node is None:
                takes = ", ".join(nodes) or "none"
                raise CandidateCodeError(f"{self.class_name} takes no hyperparameter {name!r}; it takes: {takes}")
            edits.append((*self._span(node), literal(value).encode()))
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return CandidateCode.read(text.decode(), self.wanted)

    @cached_property
    def fingerprint(self) -> str:
        """What two programs share that differ in layout, comments, docstrings and the name of their class only."""
        tree = _parse(self.source)
        name = self.leaves[0].name if len(self.leaves) == 1 else None
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, *_DEFINITIONS)) and ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            if name and isinstance(node, ast.ClassDef) and node.name == name:
                node.name = _RENAMED
            if name and isinstance(node, ast.Name) and node.id == name:
                node.id = _RENAMED
        try:
            return ast.dump(tree)
        except RecursionError:
            raise CandidateCodeError("the code is nested too deeply") from None


def fingerprint(source: str) -> str:
    """The fingerprint of source; the source itself where it is no Python."""
    try:
        return CandidateCode.read(source).fingerprint
    except CandidateCodeError:
        return source


def bound_name(alias: ast.alias) -> str:
    """The name that one part of an import statement binds."""
    return alias.asname or alias.name.partition(".")[0]


def _parse(source: str) -> ast.Module:
    try:
        return parse_source(source)
    except UNPARSABLE as err:
        if isinstance(err, SyntaxError) and err.lineno:
            line = "".join(source.splitlines()[err.lineno - 1 : err.lineno]).strip()
            reason = f"the code is no valid Python: {err.msg} in line {err.lineno}: {line[:80]}"
        else:
            reason = f"the code cannot be parsed: {err or type(err).__name__}"
        raise CandidateCodeError(reason) from None


def _run_on_loading(tree: ast.Module) -> Iterator[ast.AST]:
    """What is run when the module is loaded: everything but the insides of functions and classes."""
    waiting = deque[ast.AST](tree.body)
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, _DEFINITIONS):
            waiting.extend(ast.iter_child_nodes(node))


def _name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]
