"""Text about a space, for prompts and people. It never gives the optimum, nor any config with its cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np

from llamea_tune.exceptions import SettingsError
from llamea_tune.spaces.features import LandscapeFeatures
from llamea_tune.spaces.hidden_names import hidden_expression, hidden_names, hidden_value
from llamea_tune.spaces.space import Space
from llamea_tune.wording import counted

InformationLevel = Literal["none", "application", "space", "hidden"]

_MOST_VALUES = 40
_MOST_PAIRS = 5
_WEAK = 0.01


def describe(
    space: Space,
    level: InformationLevel = "space",
    *,
    anonymous: bool = False,
    budget_s: float | None = None,
    features: LandscapeFeatures | None = None,
) -> str:
    """Describe a space.

    Args:
        space: The space.
        level: `"none"` says only how many parameters and configs there are; `"application"` what is tuned, where and
            for what; `"space"` adds values, restrictions, failures, times, and what else is given; `"hidden"` is that without
            names.
        anonymous: Whether to hide all names: of the kernel, the device, the parameters and their string values; at the level
            `"hidden"` they are hidden in any case.
        budget_s: Seconds that one run may spend.
        features: Features of its landscape, where they are to be told.

    Raises:
        SettingsError: There is no such level.
    """
    if level not in get_args(InformationLevel):
        raise SettingsError(f"the information level {level!r} is none of {', '.join(get_args(InformationLevel))}")
    if level == "none":
        parameters = counted(len(space.tune_params), "tunable parameter")
        kind = "recorded" if space.partial else "permitted"
        return f"A discrete, constrained search space: {parameters}, {counted(space.size, f'{kind} configuration')}.\n"
    anonymous = anonymous or level == "hidden"
    names = hidden_names(space.tune_params) if anonymous else {name: name for name in space.param_names}
    lines = _application(space, names, anonymous)
    if level in ("space", "hidden"):
        lines += _parameters(space, names, anonymous)
        lines += _restrictions(space, anonymous)
        lines += _measuring(space, budget_s)
        if features is not None:
            lines += _landscape(features, names)
    return "\n".join(lines) + "\n"


def _application(space: Space, names: Mapping[str, str], anonymous: bool) -> list[str]:
    better = "higher is better, so its negative is minimised" if space.higher_is_better else "lower is better"
    lines = [f"- Objective: {space.objective} ({better})."]
    if not anonymous:
        device = f" on {space.device_name}" if space.device_name else ""
        size = f", problem size {_problem_size(space.problem_size)}" if space.problem_size else ""
        lines.insert(0, f"- Kernel: {space.kernel_name or 'unknown'}{device}{size}.")
    return [*lines, f"- {counted(len(names), 'tunable parameter')}: {', '.join(names.values())}."]


def _problem_size(problem_size: object) -> str:
    return " x ".join(map(str, problem_size)) if isinstance(problem_size, (list, tuple)) else str(problem_size)


def _parameters(space: Space, names: Mapping[str, str], anonymous: bool) -> list[str]:
    lines = ["- Values, in the order that neighbourhoods use:"]
    for name, values in space.tune_params.items():
        shown = [repr(hidden_value(values, value) if anonymous else value) for value in values]
        if len(shown) > _MOST_VALUES:
            shown = [*shown[:5], "...", *shown[-3:]]
        note = " (fixed)" if len(values) == 1 else f" ({len(values)} values)" if "..." in shown else ""
        lines.append(f"  - {names[name]}: {', '.join(shown)}{note}")
    return lines


def _restrictions(space: Space, anonymous: bool) -> list[str]:
    combinations = math.prod(len(values) for values in space.tune_params.values())
    number = "1 configuration is" if space.size == 1 else f"{space.size:,} configurations are"
    of = "1 combination" if combinations == 1 else f"{_rounded(combinations)} combinations"
    lines = [f"- {number} {'recorded' if space.partial else 'permitted'}, of {of} of values."]
    if space.partial:
        permitted = f"{_rounded(space.n_permitted)} are permitted" if space.n_permitted else "it was never finished"
        lines.append(f"- This is a partial recording: {permitted}. What was not recorded is no part of the space.")
    if space.restrictions:
        lines.append("- Restrictions, all of which a configuration has to meet:")
        lines += [
            f"  - {hidden_expression(text, space.tune_params) if anonymous else text}" for text in space.restrictions
        ]
    elif space.size < combinations and not space.n_permitted:
        lines.append("- The restrictions are not known as expressions; `Searchspace` knows what is permitted.")
    return lines


def _rounded(count: int) -> str:
    return f"{count:,}" if count < 10**9 else f"about {count:.0e}"


def _measuring(space: Space, budget_s: float | None) -> list[str]:
    known = space.known
    failing = 1.0 - float(known.valid.mean())
    kind = "recorded" if space.partial else "permitted"
    lines = [f"- {_percent(failing)} of the {kind} configurations fail when they are compiled or run."]
    if failing == 0.0:
        lines = [f"- No {kind} configuration fails."]
    if known.has_times:
        low, middle, high = np.percentile(known.evaluation_times_s, (5, 50, 95))
        lines.append(
            f"- Measuring one configuration takes {_seconds(middle)} (90 % of them {_seconds(low)} to {_seconds(high)})."
        )
    if budget_s is not None:
        evaluations = max(1, min(space.size, round(budget_s / float(known.evaluation_times_s.mean()))))
        share = _percent(evaluations / space.size)
        lines.append(
            f"- Budget of one run: {_seconds(budget_s)}, enough for about {counted(evaluations, 'measurement')} "
            f"({share} of the space) of configurations drawn at random."
        )
    return lines


def _landscape(features: LandscapeFeatures, names: Mapping[str, str]) -> list[str]:
    by_importance = sorted(features.importance.items(), key=lambda item: -item[1])
    matter = [f"{names[name]} {_percent(share)}" for name, share in by_importance if share >= _WEAK]
    pairs = [
        f"{names[one]} with {names[other]} {_percent(share)}"
        for one, other, share in features.interactions[:_MOST_PAIRS]
        if share >= _WEAK
    ]
    smooth = [f"{names[name]} {value:.2f}" for name, value in features.smoothness.items()]
    lines = [
        "- Landscape:",
        f"  - Share of the variance in which each parameter has a part: {', '.join(matter) or 'none stands out'}.",
        f"  - Pairs that act together: {', '.join(pairs) or 'none stands out'}.",
        f"  - Correlation over one step along each parameter: {', '.join(smooth) or 'no parameter varies'}.",
    ]
    for kind, found in features.neighbourhoods.items():
        lines.append(
            f"  - {kind} neighbourhood: {found.mean_neighbours:.1f} valid neighbours on average; {found.local_minima:,} "
            f"local minima ({_percent(found.local_minima_fraction)}), {_percent(found.minima_gap)} of the way from the "
            f"optimum to the median, {_percent(found.minima_depth)} deep; a descent that restarts ends near the optimum "
            f"in {_percent(found.proportion_of_centrality)} of its visits to minima."
        )
    distance = features.fitness_distance_correlation
    meaning = (
        "closer is better" if distance > 0.3 else "distance misleads" if distance < -0.1 else "distance says little"
    )
    lines += [
        f"  - Correlation of cost and distance to the optimum: {distance:.2f} ({meaning}).",
        f"  - {_percent(features.neutrality)} of neighbours differ by less than 1 %.",
    ]
    return lines


def _seconds(duration: float) -> str:
    return f"{duration:,.0f} s" if duration >= 100.0 else f"{duration:.2g} s"


def _percent(fraction: float) -> str:
    return f"{100.0 * fraction:.2g} %" if fraction < 0.995 else f"{100.0 * fraction:.0f} %"
