"""What users of Kernel Tuner give as `strategy_options={"prior": ...}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from kernel_tuner.searchspace import Searchspace

from llamea_tune.exceptions import LlameaTuneError, PriorError
from llamea_tune.priors.configs import Configs
from llamea_tune.priors.evidence import Evidence, leave_out
from llamea_tune.priors.files import read_files
from llamea_tune.priors.results import recording_of_results
from llamea_tune.spaces.prior import Prior

_SMALLEST_SD = 1e-3


def prior_for_searchspace(
    prior: Any,
    searchspace: Searchspace,
    *,
    objective: str = "time",
    higher_is_better: bool | None = None,
    kernel_name: str = "",
    device_name: str = "",
) -> Prior | None:
    """Make a prior over a search space of Kernel Tuner's, of whatever a user has.

    Nothing that is wrong with a source stops a tuning run: it is left out, with a `PriorWarning` of one sentence.

    Args:
        prior: A path (file, folder or glob), results of an earlier `tune_kernel`, a `Prior`, the two arrays `(mean, sd)` over
            `searchspace.list`, or a list of such sources.
        searchspace: The search space.
        objective: Name of the objective.
        higher_is_better: Whether it is maximised; None for what Kernel Tuner knows of it.
        kernel_name: Name of the kernel, where it is known; sources that name another one are left out.
        device_name: Name of the device that is tuned for, where it is known; recordings of its maker's devices count more.

    Returns:
        The prior, over `searchspace.list` in its order; None where nothing is known.
    """
    try:
        configs = Configs.of_searchspace(
            searchspace,
            kernel_name=kernel_name,
            device_name=device_name,
            objective=objective,
            higher_is_better=higher_is_better,
        )
    except PriorError as err:
        leave_out(err)
        return None
    evidence = Evidence()
    for source in _sources(prior):
        try:
            _take(source, configs, evidence)
        except LlameaTuneError as err:
            leave_out(err)
    return evidence.prior(configs)


def _sources(prior: Any) -> list[Any]:
    """The sources in what a user gave, which is one or a list of them."""
    if prior is None:
        return []
    several = isinstance(prior, Sequence) and not isinstance(prior, str | bytes)
    if not several or _are_results(prior) or _are_arrays(prior) or _are_numbers(prior):
        return [prior]
    return [source for part in prior for source in _sources(part)]


def _are_results(source: Any) -> bool:
    return bool(len(source)) and all(isinstance(part, Mapping) for part in source)


def _are_arrays(source: Any) -> bool:
    return len(source) == 2 and all(
        isinstance(part, np.ndarray) or (isinstance(part, Sequence) and _are_numbers(part)) for part in source
    )


def _are_numbers(source: Any) -> bool:
    return bool(len(source)) and all(isinstance(part, Real) for part in source)


def _take(source: Any, configs: Configs, evidence: Evidence) -> None:
    if isinstance(source, str | Path):
        read = read_files(source, configs)
        evidence.recordings += read.recordings
        evidence.priors += read.priors
    elif isinstance(source, Prior):
        evidence.priors.append(lambda _: source)
    elif isinstance(source, Sequence) and _are_results(source):
        evidence.recordings.append(recording_of_results(source, configs))
    elif isinstance(source, Sequence) and _are_arrays(source):
        evidence.priors.append(lambda _: _from_arrays(*source))
    else:
        shown = " ".join(repr(source).split())[:80]
        raise PriorError(f"{shown} is no source; give paths, results of tune_kernel, or the two arrays (mean, sd)")


def _from_arrays(mean: Any, sd: Any) -> Prior:
    """A prior of what a user computed: where either array has no number, nothing is known.

    Raises:
        PriorError: They are no arrays of numbers, of one length.
    """
    try:
        mean, sd = np.array(mean, dtype=np.float64), np.array(sd, dtype=np.float64)
    except (TypeError, ValueError) as err:
        raise PriorError(f"the arrays hold no numbers ({err}); give one number for each config") from err
    if mean.ndim != 1 or mean.shape != sd.shape:
        raise PriorError(f"the arrays have the shapes {mean.shape} and {sd.shape}; give one number for each config")
    unknown = ~(np.isfinite(mean) & np.isfinite(sd))
    mean[unknown] = sd[unknown] = np.nan
    return Prior(mean, np.maximum(sd, _SMALLEST_SD), f"{int((~unknown).sum()):,} configs known from arrays")
