"""What is known of spaces beforehand, given to them and told to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llamea_tune.cli.console import err, escape

if TYPE_CHECKING:
    from llamea_tune.spaces import Space


def known_beforehand(spaces: Sequence[Space], prior: list[str] | None, seed: int, *, quiet: bool) -> list[Space]:
    """The spaces with their priors; says of each what was found, a line each.

    Raises:
        PriorError: A prior is unknown, or tells nothing of any of the spaces.
    """
    from llamea_tune.priors import with_priors

    known = with_priors(spaces, prior or [], seed=seed)
    if prior and not quiet:
        for space in known:
            told = space.prior.told if space.prior else "nothing is known beforehand"
            err.print(escape(f"{space.name}: {told}"), soft_wrap=True)
    return known
