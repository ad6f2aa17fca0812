"""The text of a standalone strategy module."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from string import Template

from llamea_tune.exceptions import ExportError
from llamea_tune.export.annotations import evaluate_dataclass_annotations
from llamea_tune.export.code import Argument, StrategyCode, module_names, parse_strategy_code
from llamea_tune.export.edits import SourceEdits
from llamea_tune.export.imports import delay_heavy_imports
from llamea_tune.export.literals import literal
from llamea_tune.export.request import ExportRequest
from llamea_tune.export.signature import default_texts, replace_defaults

_LINE_LENGTH = 88

_TUNE = Template('''

class _SearchEnded(BaseException):
    """Ends a search that goes on after its budget is spent."""


class _CostFunc(common.CostFunc):
    """Kernel Tuner's cost function, with free repeats and an end to endless searches.

    Kernel Tuner's live runner counts every request as an evaluation, known configs too.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._costs = {}
        self._spent = False
        self._useless = 0

    def eval_all(self, xs, check_restrictions=True):
        if self._spent:
            raise _SearchEnded("the search went on after its budget was spent")
        new = {tuple(x): x for x in xs if tuple(x) not in self._costs}
        measured = len(self.unique_results)
        try:
            if new:
                costs = super().eval_all(list(new.values()), check_restrictions)
                self._costs.update(zip(new, costs, strict=True))
            budget = self.tuning_options.budget
            budget.raise_exception_if_done()
            self.budget_spent_fraction = budget.get_fraction_consumed()
            self._useless += 1
            if len(self.unique_results) > measured:
                self._useless = 0
            if self._useless > max(10_000, 100 * measured):
                raise StopCriterionReached("nothing new was asked for in a long time")
        except StopCriterionReached:
            self._spent = True
            self.budget_spent_fraction = 1.0
            raise
        return [self._costs[tuple(x)] for x in xs]


def _index_by_value(searchspace):
    """Keep Kernel Tuner from indexing arrays with booleans when it numbers values."""
    params = searchspace.tune_params
    if any(isinstance(value, bool) for values in params.values() for value in values):
        more = {name: [*values, object()] for name, values in params.items()}
        searchspace.tune_params = more
        searchspace.get_list_param_indices_numpy()
        searchspace.tune_params = params


def tune(searchspace, runner, tuning_options):
$refuse_x0    values = common.get_options(tuning_options.strategy_options, _options)
    hyperparameters = dict(zip(_options, values, strict=True))
    optimizer = $class_name(**hyperparameters)
    _index_by_value(searchspace)
    kwargs = getattr(optimizer, "costfunc_kwargs", {"scaling": False, "snap": False})
    cost_func = _CostFunc(searchspace, tuning_options, runner, **kwargs)
    if kwargs.get("scaling"):
        cost_func.get_bounds_x0_eps()
    try:
        optimizer(cost_func, searchspace)
    except (StopCriterionReached, _SearchEnded) as stop:
        if tuning_options.verbose:
            print(stop)
    return cost_func.results


tune.__doc__ = common.get_strategy_docstring(
    "$name",
    _options,
)
''')

_REFUSE_X0 = """    if "x0" in tuning_options.strategy_options:
        raise ValueError("A starting point (x0) is not supported by this strategy.")
"""


def render_module(request: ExportRequest) -> str:
    """Source of the standalone module: the candidate's code, Kernel Tuner's `_options` and `tune` around it.

    Raises:
        ExportError: No standalone strategy can be made of the candidate.
    """
    code = parse_strategy_code(request.candidate)
    edits = SourceEdits(code.source)
    defaults = default_texts(code, request.hyperparameters, edits)
    replace_defaults(code, defaults, edits)
    delay_heavy_imports(code.tree, edits)
    evaluate_dataclass_annotations(code.tree, edits)
    _add_imports(code, edits)
    tune = _TUNE.substitute(
        name=request.name,
        class_name=request.candidate.class_name,
        refuse_x0="" if "x0" in defaults else _REFUSE_X0,
    )
    body = edits.apply().strip("\n")
    return f"{_header(request)}\n{body}\n\n\n{_options(code, defaults)}{tune}"


def _header(request: ExportRequest) -> str:
    candidate = request.candidate
    trained = ", ".join(space.name for space in request.training) or "no recorded search space"
    paragraphs = [
        f"{request.name}: an optimization strategy for Kernel Tuner.",
        " ".join(candidate.description.split()),
        f"Proposed by {candidate.proposer} ({candidate.operator}, generation {candidate.generation}) and exported by"
        f" llamea-tune on {request.date}.",
        f"Trained on {trained}.",
        f"Scores, settings and versions: {request.name}.json, beside this file.",
    ]
    lines = [line for text in paragraphs if text for line in textwrap.wrap(text, _LINE_LENGTH - 2)]
    return "".join(f"# {line}\n" for line in lines)


def _options(code: StrategyCode, defaults: Mapping[str, str]) -> str:
    if not code.arguments:
        return "_options = {}\n"
    rows = (_option(argument, defaults[argument.name]) for argument in code.arguments)
    return "_options = {\n" + "".join(rows) + "}\n"


def _option(argument: Argument, default: str) -> str:
    """One row of `_options`, on several lines where it is long, so that formatters of any line length leave it alone."""
    plain = argument.description.replace('"', "'").replace("\\", "/")
    description = literal(textwrap.shorten(plain, _LINE_LENGTH - 11, placeholder=" ..."))
    row = f'    "{argument.name}": ({description}, {default}),\n'
    if len(row) <= _LINE_LENGTH:
        return row
    return f'    "{argument.name}": (\n        {description},\n        {default},\n    ),\n'


def _add_imports(code: StrategyCode, edits: SourceEdits) -> None:
    """Import what `tune` needs, beside the candidate's own import from Kernel Tuner's strategies."""
    anchors = [node for node in code.tree.body if _imports_strategies(node)]
    if not anchors:
        raise ExportError(
            "The code imports nothing from kernel_tuner.strategies at its top level; import OptAlg there."
        )
    if _needs(code, "kernel_tuner.strategies", "common"):
        edits.insert(edits.line_start(anchors[0].lineno), "from kernel_tuner.strategies import common\n")
    if _needs(code, "kernel_tuner.util", "StopCriterionReached"):
        stop = "from kernel_tuner.util import StopCriterionReached\n"
        edits.insert(edits.line_start((anchors[-1].end_lineno or 0) + 1), stop)


def _needs(code: StrategyCode, module: str, name: str) -> bool:
    """Whether a name still has to be imported; it must not mean anything else."""
    for node in code.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == module and (name, None) in _aliases(node):
            return False
    if name in module_names(code.tree):
        raise ExportError(f"The code gives {name!r} another meaning than {module}.{name} has; rename it.")
    return True


def _aliases(node: ast.ImportFrom) -> set[tuple[str, str | None]]:
    return {(alias.name, alias.asname) for alias in node.names}


def _imports_strategies(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("kernel_tuner.strategies")
    return isinstance(node, ast.Import) and any(
        alias.name.startswith("kernel_tuner.strategies") for alias in node.names
    )
