"""The text of a standalone strategy module."""

from __future__ import annotations

import textwrap
from string import Template

from llamea_tune.candidate_code import Argument, CandidateCode, literal
from llamea_tune.export.docstrings import argument_descriptions
from llamea_tune.export.imports import with_imports
from llamea_tune.export.request import ExportRequest

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


def tune(searchspace, runner, tuning_options):
$refuse_x0    values = common.get_options(tuning_options.strategy_options, _options)
    hyperparameters = dict(zip(_options, values, strict=True))
    optimizer = $class_name(**hyperparameters)
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


def render_module(request: ExportRequest, code: CandidateCode) -> str:
    """Source of the standalone module: the candidate's code, Kernel Tuner's `_options` and `tune` around it."""
    tune = _TUNE.substitute(
        name=request.name,
        class_name=code.class_name,
        refuse_x0="" if "x0" in code.defaults else _REFUSE_X0,
    )
    body = with_imports(code).strip("\n")
    return f"{_header(request)}\n{body}\n\n\n{_options(code)}{tune}"


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


def _options(code: CandidateCode) -> str:
    if not code.arguments:
        return "_options = {}\n"
    descriptions = argument_descriptions(code)
    rows = (_option(argument, descriptions[argument.name]) for argument in code.arguments)
    return "_options = {\n" + "".join(rows) + "}\n"


def _option(argument: Argument, description: str) -> str:
    """One row of `_options`, on several lines where it is long, so that formatters of any line length leave it alone."""
    plain = description.replace('"', "'").replace("\\", "/")
    description = literal(textwrap.shorten(plain, _LINE_LENGTH - 11, placeholder=" ..."))
    row = f'    "{argument.name}": ({description}, {argument.text}),\n'
    if len(row) <= _LINE_LENGTH:
        return row
    return f'    "{argument.name}": (\n        {description},\n        {argument.text},\n    ),\n'
