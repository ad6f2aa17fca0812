"""What is tuned: a contender, the defaults of its hyperparameters, and where they may lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llamea_tune.candidate import HyperparameterRange, HyperparameterValue
from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exceptions import CandidateCodeError, StrategyError
from llamea_tune.execution import Contender, NamedStrategy, SandboxedCandidate
from llamea_tune.hpo.search_ranges import candidate_ranges, containing
from llamea_tune.strategies import StrategyInfo, resolve

Values = Mapping[str, HyperparameterValue]


@dataclass(frozen=True)
class TunableContender:
    """Something whose hyperparameters can be tuned.

    Attributes:
        contender: It, with its defaults; options that it already has are held fixed.
        defaults: Default of each hyperparameter that is tuned.
        ranges: Range of each, in the same order; each contains its default.
    """

    contender: Contender
    defaults: Values
    ranges: Mapping[str, HyperparameterRange]


def tunable_candidate(
    sandboxed: SandboxedCandidate, declared: Mapping[str, HyperparameterRange] | None = None
) -> TunableContender:
    """A candidate's code as something to tune.

    Args:
        sandboxed: The code; hyperparameters that it sets are held fixed.
        declared: Ranges that its author or the user declared.

    Raises:
        StrategyError: The code breaks the contract of candidates, or has nothing to tune.
    """
    try:
        defaults = CandidateCode.read(sandboxed.code, sandboxed.class_name).checked().defaults
    except CandidateCodeError as err:
        raise StrategyError(f"{sandboxed.label} cannot be run: {err}.") from err
    unknown = sorted(set(sandboxed.hyperparameters) - set(defaults))
    if unknown:
        takes = ", ".join(defaults) or "none"
        raise StrategyError(
            f"{sandboxed.label} takes no hyperparameter {unknown[0]!r}; its hyperparameters are: {takes}."
        )
    plain = {name: value for name, value in defaults.items() if value is not None}
    free = _without(plain, sandboxed.hyperparameters)
    return _tunable(sandboxed, free, candidate_ranges(free, declared or {}))


def tunable_strategy(
    contender: NamedStrategy, declared: Mapping[str, HyperparameterRange] | None = None
) -> TunableContender:
    """A named strategy as something to tune.

    Args:
        contender: The strategy; options that it sets are held fixed.
        declared: Ranges that the user declared.

    Raises:
        StrategyError: There is no such strategy, or it has nothing to tune.
        MissingDependencyError: The strategy needs a package that is not installed.
    """
    info = resolve(contender.name)
    if info.library is not None:
        message = f"{info.name} is an optimizer of {info.library.title}, which is not tuned here; compare it as it is."
        raise StrategyError(message)
    defaults, descriptions = _plain_defaults(info), {name: text for name, (text, _) in info.options.items()}
    free = _without(defaults, contender.options)
    known = {**_module_choices(info, free), **(declared or {})}
    return _tunable(contender, free, candidate_ranges(free, known, descriptions))


def make_tunable(contender: Contender, declared: Mapping[str, HyperparameterRange] | None = None) -> TunableContender:
    """Any contender as something to tune; see `tunable_candidate` and `tunable_strategy`."""
    if isinstance(contender, NamedStrategy):
        return tunable_strategy(contender, declared)
    return tunable_candidate(contender, declared)


def _tunable(contender: Contender, free: Values, ranges: Mapping[str, HyperparameterRange]) -> TunableContender:
    if not ranges:
        message = f"{contender.label} has no hyperparameters to tune; declare ranges for it, or compare it as it is."
        raise StrategyError(message)
    return TunableContender(contender, {name: free[name] for name in ranges}, ranges)


def _without(defaults: Values, fixed: Mapping[str, object]) -> dict[str, HyperparameterValue]:
    return {name: value for name, value in defaults.items() if name not in fixed}


def _plain_defaults(info: StrategyInfo) -> dict[str, HyperparameterValue]:
    """Defaults of a strategy's options that are plain values; the others cannot be tuned."""
    return {
        name: option.default
        for name, option in info.options.items()
        if isinstance(option.default, bool | int | float | str)
    }


def _module_choices(info: StrategyInfo, defaults: Values) -> dict[str, HyperparameterRange]:
    """Choices of options whose description lists none, but whose module does, as Kernel Tuner's `supported_methods`."""
    from llamea_tune.kernel_tuner_internals import strategy_map

    found = {}
    for name, default in defaults.items():
        choices = getattr(strategy_map[info.name], f"supported_{name}s", None)
        if isinstance(choices, list | tuple) and default in choices and all(isinstance(c, str) for c in choices):
            found[name] = containing(HyperparameterRange("categorical", choices=tuple(choices)), default)
    return found
