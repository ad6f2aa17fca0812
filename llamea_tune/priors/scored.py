"""Give spaces that are to be scored their priors, none of which knows the space's own measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from llamea_tune.exceptions import PriorError
from llamea_tune.priors.combine import combine, of_size
from llamea_tune.priors.configs import Configs
from llamea_tune.priors.evidence import Evidence, leave_out
from llamea_tune.priors.files import read_files
from llamea_tune.priors.leaks import reason_to_refuse
from llamea_tune.priors.named import NONE, PRIORS
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.space import Space


def with_priors(spaces: Sequence[Space], prior: str | Sequence[str], *, seed: int) -> list[Space]:
    """The spaces with what is known of them beforehand.

    Args:
        spaces: The spaces.
        prior: Names of `PRIORS`, or files, folders and globs; several are combined. Without any, and for `"none"`, the spaces
            keep what they have.
        seed: Seed of those that are random.

    Raises:
        PriorError: A prior is unknown, is not over the space's configs, or there is nothing known of any of the spaces.
    """
    chosen = [spec for spec in _specs(prior) if spec != NONE]
    if not chosen:
        return list(spaces)
    for spec in chosen:
        if spec not in PRIORS and not _is_path(spec):
            names = ", ".join([*sorted(PRIORS), NONE])
            raise PriorError(f"the prior {spec!r} is neither a file nor known; choose one of {names}, or name files")
    known = [replace(space, prior=_prior(space, spaces, chosen, seed)) for space in spaces]
    if all(space.prior is None for space in known):
        raise PriorError(
            f"prior {', '.join(chosen)} tells nothing of any of the spaces; name recordings of the same kernels "
            "on other devices, or leave it out",
            fields=("prior",),
        )
    return known


def resolved(prior: str | Sequence[str]) -> tuple[str, ...]:
    """The same without `"none"` and with absolute paths, so that they are found again from another folder."""
    return tuple(
        str(Path(spec).absolute()) if spec not in PRIORS and _is_path(spec) else spec
        for spec in _specs(prior)
        if spec != NONE
    )


def _specs(prior: str | Sequence[str]) -> Sequence[str]:
    return [prior] if isinstance(prior, str) else prior


def _is_path(spec: str) -> bool:
    return bool(spec) and (Path(spec).exists() or any(mark in spec for mark in "*?["))


def _prior(space: Space, spaces: Sequence[Space], chosen: Sequence[str], seed: int) -> Prior | None:
    made = [PRIORS.load(spec)(space, spaces, seed) for spec in chosen if spec in PRIORS]
    configs, evidence = Configs.of_space(space), Evidence()
    for spec in chosen:
        if spec not in PRIORS:
            read = read_files(spec, configs)
            evidence.priors += read.priors
            for recording in read.recordings:
                refused = reason_to_refuse(space, recording)
                if refused is None:
                    evidence.recordings.append(recording)
                else:
                    leave_out(PriorError(refused))
    made.append(evidence.prior(configs))
    return combine([of_size(prior, space.size) for prior in made if prior is not None])
