"""Priors that go by a name in `--prior`: each says how to make one for a space that is to be scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from llamea_tune._registry import Registry
from llamea_tune.exceptions import PriorError
from llamea_tune.priors.advice import advice_path
from llamea_tune.priors.configs import Configs
from llamea_tune.priors.evidence import Evidence, from_recordings, leave_out
from llamea_tune.priors.files import read_files
from llamea_tune.priors.leaks import reason_to_refuse, same_device
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.space import RecordedSpace, Space

NamedPrior = Callable[[Space, Sequence[Space], int], Prior | None]
"""Makes the prior of a space, given all spaces that were named with it and a seed; None where nothing is known.

It must not use the space's own measurements.
"""

PRIORS: Registry[NamedPrior] = Registry(
    "llamea_tune.priors",
    "prior",
    PriorError,
    {
        "others": "llamea_tune.priors.named:others",
        "advice": "llamea_tune.priors.named:advice",
        "shuffled": "llamea_tune.priors.named:shuffled",
        "inverted": "llamea_tune.priors.named:inverted",
    },
)
NONE = "none"


def others(space: Space, spaces: Sequence[Space], seed: int) -> Prior | None:  # noqa: ARG001
    """Recordings of the same kernel on all other devices among the spaces: one device is left out, the space's own."""
    return from_recordings(_other_devices(space, spaces), Configs.of_space(space))


def _other_devices(space: Space, spaces: Sequence[Space]) -> list[RecordedSpace]:
    found = []
    for other in spaces:
        if other is space or other.kernel_name != space.kernel_name or same_device(other, space):
            continue
        if not space.kernel_name and set(other.tune_params) != set(space.tune_params):
            continue
        refused = reason_to_refuse(space, other.known)
        if refused is None:
            found.append(other.known)
        else:
            leave_out(PriorError(refused))
    return found


def shuffled(space: Space, spaces: Sequence[Space], seed: int) -> Prior | None:
    """What `others` gives, dealt out to the configs at random: for studies of what a worthless prior does."""
    prior = others(space, spaces, seed)
    if prior is None:
        return None
    order = np.random.default_rng([seed, len(prior.mean)]).permutation(len(prior.mean))
    return Prior(prior.mean[order], prior.sd[order], f"{prior.told}; shuffled")


def inverted(space: Space, spaces: Sequence[Space], seed: int) -> Prior | None:
    """What `others` gives, upside down: for studies of what a misleading prior does."""
    prior = others(space, spaces, seed)
    return None if prior is None else replace(prior, mean=-prior.mean, told=f"{prior.told}; inverted")


def advice(space: Space, spaces: Sequence[Space], seed: int) -> Prior | None:  # noqa: ARG001
    """The advice on the kernel that lies in `advice/` in its folder: the file for the space's device, else all there."""
    own = advice_path(Path(space.source))
    configs = Configs.of_space(space)
    read = [read_files(path, configs) for path in ([own] if own.is_file() else sorted(own.parent.glob("*.json")))]
    return Evidence(priors=[prior for each in read for prior in each.priors]).prior(configs)
