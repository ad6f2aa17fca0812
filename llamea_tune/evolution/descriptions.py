"""What prompts say of the training spaces, and what they call them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from llamea_tune.scoring import Scorer
from llamea_tune.spaces import LandscapeFeatures, RecordedSpace, Space, describe, landscape_features
from llamea_tune.spaces.describe import InformationLevel

_NAMED = ("application", "space")  # levels of information at which spaces go by their names
_WITH_LANDSCAPE = ("space", "hidden")


def space_names(information: InformationLevel, spaces: Sequence[str]) -> dict[str, str]:
    """What prompts call spaces whose names are not to be told."""
    if information in _NAMED:
        return {}
    return {name: f"space {number}" for number, name in enumerate(spaces, start=1)}


def descriptions(scorer: Scorer, information: InformationLevel) -> list[str]:
    """What prompts say of each space that a scorer scores on.

    Args:
        scorer: The scorer.
        information: How much they say.
    """
    names = space_names(information, [space.name for space in scorer.spaces])
    return [
        f"## {names.get(space.name, space.name)}\n\n"
        + describe(
            space,
            information,
            budget_s=scale.budget.time_limit_us / 1e6,
            features=_landscape(space) if information in _WITH_LANDSCAPE else None,
        )
        for space, scale in zip(scorer.spaces, scorer.scales, strict=True)
    ]


@singledispatch
def _landscape(_: Space) -> LandscapeFeatures | None:
    """What is told of a landscape: nothing where only a sample of it is known."""
    return None


@_landscape.register
def _known_landscape(space: RecordedSpace) -> LandscapeFeatures:
    return landscape_features(space)
