"""One prior of several that know different things."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.exceptions import PriorError
from llamea_tune.spaces.prior import Prior


def combine(priors: Sequence[Prior]) -> Prior | None:
    """Combine priors over the same configs, each config's by inverse variances, as independent evidence.

    Args:
        priors: Any number of them.

    Returns:
        What they say together; the only one as it is; None for none.
    """
    if len(priors) < 2:
        return next(iter(priors), None)
    means = np.array([prior.mean for prior in priors])
    precisions = np.array([prior.sd for prior in priors]) ** -2.0
    total = np.nansum(precisions, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # where none of them knows anything
        mean = np.nansum(means * precisions, axis=0) / total
        sd = np.where(total > 0.0, total**-0.5, np.nan)
    return Prior(mean, sd, "; ".join(prior.told for prior in priors))


def of_size(prior: Prior, size: int) -> Prior:
    """The prior, which is over as many configs as a space has.

    Raises:
        PriorError: It is not.
    """
    if len(prior.mean) != size:
        raise PriorError(f"the arrays have {len(prior.mean):,} numbers for {size:,} configs; give one for each")
    return prior
