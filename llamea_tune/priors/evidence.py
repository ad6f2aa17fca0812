"""Sources that were read, and the prior that they make together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from llamea_tune.exceptions import LlameaTuneError, PriorError, PriorWarning
from llamea_tune.priors.agreement import weigh
from llamea_tune.priors.combine import combine, of_size
from llamea_tune.priors.configs import Configs
from llamea_tune.priors.makers import maker
from llamea_tune.priors.matching import Matched, match
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.wording import counted

_MOST_NAMES = 5


@dataclass
class Evidence:
    """What sources gave.

    Attributes:
        recordings: Measurements made elsewhere; they are weighed against each other.
        priors: What makes a prior by itself: each a function of the configs.
    """

    recordings: list[RecordedSpace] = field(default_factory=list)
    priors: list[Callable[[Configs], Prior]] = field(default_factory=list)

    def prior(self, configs: Configs) -> Prior | None:
        """The prior that all of it makes; what does not fit the configs is left out, with a warning."""
        made = [prior for make in self.priors if (prior := _made(make, configs)) is not None]
        recorded = from_recordings(self.recordings, configs)
        return combine([*([recorded] if recorded else []), *made])


def from_recordings(recordings: Iterable[RecordedSpace], configs: Configs) -> Prior | None:
    """The prior that recordings make; those of another kernel are left out, with a warning.

    Of the same measurements, such as a cache and the T4 file made from it, only one counts: two would seem to agree.
    """
    fitting: list[tuple[RecordedSpace, Matched]] = []
    different: dict[bytes, RecordedSpace] = {}
    for recording in recordings:
        different.setdefault(np.sort(recording.costs).tobytes(), recording)
    for recording in different.values():
        try:
            fitting.append((recording, match(recording, configs)))
        except PriorError as err:
            leave_out(err)
    if not fitting:
        return None
    ours = maker(configs.device_name)
    known = int(np.any([matched.recorded for _, matched in fitting], axis=0).sum())
    kernels = sorted({name for recording, _ in fitting if (name := recording.kernel_name or configs.kernel_name)})
    names = [device_label(recording) for recording, _ in fitting]
    shown = ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES))
    told = (
        f"{counted(len(fitting), 'recording')} of {' and '.join(kernels) or 'this kernel'}: {shown}; "
        f"{known:,} of {len(configs):,} configs known"
    )
    near = [bool(ours) and maker(recording.device_name) == ours for recording, _ in fitting]
    return weigh([matched for _, matched in fitting], told, near)


def device_label(recording: RecordedSpace) -> str:
    """How people are told of where a recording was made: by its device, or by its own name where that is unknown."""
    return recording.device_name or recording.name.rpartition("/")[2]


def leave_out(err: LlameaTuneError) -> None:
    """Tell that a source is left out."""
    warnings.warn(f"left out of the prior: {err}", PriorWarning, stacklevel=3)


def _made(make: Callable[[Configs], Prior], configs: Configs) -> Prior | None:
    try:
        return of_size(make(configs), len(configs))
    except LlameaTuneError as err:
        leave_out(err)
        return None
