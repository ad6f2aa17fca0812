"""Writes the source of an optimizer from its design, in the layout that `ruff format` gives."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from textwrap import fill, indent

from llamea_tune.proposals.offline.component import Part
from llamea_tune.proposals.offline.design import Design, hyperparameters_of, parts_of
from llamea_tune.proposals.offline.prose import class_name, details, summary

_WIDTH = 88
_IMPORTS = (
    "import sys",
    "from kernel_tuner.searchspace import Searchspace",
    "from kernel_tuner.strategies.common import CostFunc",
    "from kernel_tuner.strategies.wrapper import OptAlg",
)
_EVALUATE = '''
def _evaluate(self, config: tuple) -> float:
    """Measure a config and remember its cost; failures cost infinity."""
    cost = self.func(config)
    self.costs[config] = cost if cost < sys.float_info.max else math.inf
    if self.best is None or self.costs[config] < self.costs[self.best]:
        self.best = config
    return self.costs[config]
'''


def write(design: Design) -> str:
    """Write the module that holds the optimizer's class."""
    components = design.components
    parts = parts_of(list(components.values()))
    call = _call(design, parts)
    blocks = [_docstring(design), _init(design), call, _EVALUATE.strip("\n")]
    blocks += [part.methods.strip("\n") for part in parts if part.methods]
    imports = {*_IMPORTS, "import math", *(line for part in parts for line in part.imports)}
    if "random." in call:
        imports.add("import random")
    body = indent("\n\n".join(blocks), "    ")
    return "\n".join(
        [
            f'"""{summary(design)}"""',
            "",
            *_import_block(imports),
            "",
            "",
            f"class {class_name(design)}(OptAlg):",
            body,
            "",
        ]
    )


def _docstring(design: Design) -> str:
    lines = [f'"""{summary(design)}', "", fill(details(design), _WIDTH - 4), "", "Design:"]
    lines += [f"    {slot}: {name}" for slot, name in design.choices.items()]
    lines += ["", "Args:"]
    lines += [
        fill(f"{h.name}: {h.doc}", _WIDTH - 4, initial_indent=" " * 4, subsequent_indent=" " * 8)
        for h in hyperparameters_of(design)
    ]
    return "\n".join([*lines, '"""'])


def _init(design: Design) -> str:
    arguments = [f"{name}: {type(value).__name__} = {value!r}" for name, value in design.hyperparameters.items()]
    lines = ["def __init__(", "    self,", *(f"    {argument}," for argument in arguments), ") -> None:"]
    lines += ["    super().__init__()", *(f"    self.{name} = {name}" for name in design.hyperparameters)]
    return "\n".join(lines)


def _call(design: Design, parts: Iterable[Part]) -> str:
    """Write the main loop."""
    components = design.components
    recombines = design.choices["recombination"] != "none"
    moved = [c.moved for c in components.values() if c.moved]
    learned = [c.learned for c in components.values() if c.learned]
    lines = [
        "def __call__(self, func: CostFunc, searchspace: Searchspace) -> tuple[tuple, float]:",
        '    """Search until the budget is spent or every config is known."""',
        "    self.func, self.space = func, searchspace",
        "    self.costs, self.best = {}, None",
        *(f"    {line}" for part in parts for line in part.state.strip("\n").splitlines()),
        "    for config in self._initial_sample():",
        "        self._evaluate(config)",
        "        if func.budget_spent_fraction >= self.sample_share:",
        "            break",
        "    current, record, stagnation = self.best, self.costs[self.best], 0",
        "    while func.budget_spent_fraction < 1 and len(self.costs) < searchspace.size:",
        f"        pool = {'self._children() or ' if recombines else ''}{components['scope'].call}",
        "        if not pool or stagnation >= self.patience:",
        "            current = self._restart()",
        "            record, stagnation = self.costs[current], 0",
        "            continue",
        *([f"        {components['memory'].call}"] if components["memory"].call else []),
        *(f"        {line}" for line in _step(design)),
        *(["        improved = cost < self.costs[current]"] if learned else []),
        *(f"        {line}" for line in learned),
        f"        if {components['acceptance'].call}:",
        *(f"            {line}" for line in moved),
        "            current = candidate",
        "        stagnation += 1",
        "        if cost < record:",
        "            record, stagnation = cost, 0",
        "    return self.best, self.costs[self.best]",
    ]
    return "\n".join(lines)


def _step(design: Design) -> list[str]:
    """Write how a candidate is taken from the pool and measured."""
    ranked = design.choices["screening"] != "none"
    if design.choices["step"] == "first":
        choice = "self._ranked(pool)[0]" if ranked else "random.choice(pool)"
        return [f"candidate = {choice}", "cost = self._evaluate(candidate)"]
    tried = "self._ranked(pool)[: self.breadth]" if ranked else "random.sample(pool, min(self.breadth, len(pool)))"
    return [f"tried = {tried}", "candidate = min(tried, key=self._evaluate)", "cost = self.costs[candidate]"]


def _import_block(statements: set[str]) -> Iterator[str]:
    """Merge and sort imports: the standard library first, in each group whole modules before names from modules."""
    names: dict[str, set[str]] = {}
    modules = []
    for statement in statements:
        if statement.startswith("import "):
            modules.append(statement)
        else:
            module, imported = statement.removeprefix("from ").split(" import ")
            names.setdefault(module, set()).update(imported.split(", "))
    merged = [f"from {module} import {', '.join(sorted(imported))}" for module, imported in sorted(names.items())]
    lines = [*sorted(modules), *merged]
    yield from filter(_is_standard, lines)
    yield ""
    yield from (line for line in lines if not _is_standard(line))


def _is_standard(statement: str) -> bool:
    return statement.split()[1].partition(".")[0] in sys.stdlib_module_names
