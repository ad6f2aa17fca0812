"""Hide from an adviser what a kernel is called, or where it runs, to learn how much of the advice rests on that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from llamea_tune.advising.brief import KernelBrief
from llamea_tune.priors.opinion import EffectRule, NamedConfig, Opinion, TuneParams
from llamea_tune.spaces import ParamValue
from llamea_tune.spaces.hidden_names import hidden_expression, hidden_names, hidden_value, renamed_expression


@dataclass(frozen=True)
class Hiding:
    """What is kept from the adviser.

    Attributes:
        names: Names of the kernel, its parameters and their values, and with them all that is written in these names.
        source: The source code.
        device: The device.
    """

    names: bool = False
    source: bool = False
    device: bool = False

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of what is hidden."""
        return tuple(name for name, is_hidden in vars(self).items() if is_hidden)

    def hide(self, brief: KernelBrief) -> KernelBrief:
        """The brief without it."""
        if self.source or self.names:
            brief = replace(brief, source="")
        if self.device:
            brief = replace(brief, device="")
        return _without_names(brief) if self.names else brief

    def unhide(self, opinion: Opinion, tune_params: TuneParams) -> Opinion:
        """The opinion in the kernel's own names.

        Args:
            opinion: On the hidden brief.
            tune_params: The parameters as they are called.
        """
        return _with_names(opinion, tune_params) if self.names else opinion


def _without_names(brief: KernelBrief) -> KernelBrief:
    names, columns = hidden_names(brief.tune_params), list(brief.tune_params.values())
    permitted = brief.permitted and frozenset(
        tuple(hidden_value(values, value) for values, value in zip(columns, config, strict=True))
        for config in brief.permitted
    )
    return replace(
        brief,
        kernel_name="",
        about="",
        language="",
        launch=(),
        tune_params={
            names[name]: tuple(hidden_value(values, value) for value in values)
            for name, values in brief.tune_params.items()
        },
        restrictions=tuple(hidden_expression(text, brief.tune_params) for text in brief.restrictions),
        permitted=permitted,
    )


def _with_names(opinion: Opinion, tune_params: TuneParams) -> Opinion:
    names = {hidden: name for name, hidden in hidden_names(tune_params).items()}

    def own(name: str, value: ParamValue) -> ParamValue:
        values = tune_params[name]
        return next((known for known in values if hidden_value(values, known) == value), value)

    return replace(
        opinion,
        configs=tuple(
            NamedConfig({names[key]: own(names[key], value) for key, value in entry.config.items()}, entry.cost)
            for entry in opinion.configs
        ),
        effects={
            names[key]: {own(names[key], value): factor for value, factor in effects.items()}
            for key, effects in opinion.effects.items()
        },
        rules=tuple(_renamed(rule, names, tune_params) for rule in opinion.rules),
    )


def _renamed(rule: EffectRule, names: Mapping[str, str], tune_params: TuneParams) -> EffectRule:
    """The rule in own names; a hidden text is a value of the first parameter named in the rule that has as many texts."""
    texts = {
        str(hidden_value(values, value)): value
        for hidden, name in reversed(list(names.items()))
        for values in (tune_params[name],)
        for value in values
        if isinstance(value, str) and hidden in rule.when
    }
    return replace(rule, when=renamed_expression(rule.when, names, texts))
