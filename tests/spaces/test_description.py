"""The text about a space tells what its level allows, and nothing that gives the optimum away."""

from __future__ import annotations

import dataclasses
import re

import pytest

from llamea_tune.exceptions import SettingsError
from llamea_tune.spaces import RecordedSpace, describe, landscape_features
from llamea_tune.testing.synthetic_spaces import synthetic_space


@pytest.fixture
def space() -> RecordedSpace:
    restrictions = (
        "block_size_x * block_size_y <= 1024",
        "method != 'row' or unroll",
        'tile != 3 or method == "block"',
    )
    return dataclasses.replace(synthetic_space(4), restrictions=restrictions, device_name="Test GPU")


def test_none_tells_only_sizes(space: RecordedSpace) -> None:
    text = describe(space, "none", budget_s=5.0, features=landscape_features(space))
    assert text == (
        f"A discrete, constrained search space: 6 tunable parameters, {space.size:,} permitted configurations.\n"
    )


def test_one_of_a_kind(space: RecordedSpace) -> None:
    one = synthetic_space(1, tune_params={"a": (7,)}, kept=1.0, failing=0.0)
    assert "1 tunable parameter, 1 permitted configuration." in describe(one, "none")
    text = describe(one, budget_s=1.0)
    assert "- 1 tunable parameter: a." in text
    assert "- 1 configuration is permitted, of 1 combination of values." in text
    assert "about 1 measurement (" in text


def test_a_partial_recording_is_called_so(space: RecordedSpace) -> None:
    partial = dataclasses.replace(space, partial=True, n_permitted=1200)
    text = describe(partial)
    assert f"- {space.size:,} configurations are recorded, of 1,440 combinations of values." in text
    assert "This is a partial recording: 1,200 are permitted." in text
    assert "of the recorded configurations fail" in text
    assert "are permitted, of" not in text
    assert f"{space.size:,} recorded configurations" in describe(partial, "none")
    assert "it was never finished" in describe(dataclasses.replace(partial, n_permitted=None))


def test_application_tells_what_is_tuned_but_no_values(space: RecordedSpace) -> None:
    text = describe(space, "application", budget_s=5.0, features=landscape_features(space))
    assert "Kernel: synthetic on Test GPU, problem size 1024 x 1024." in text
    assert "Objective: time (lower is better)." in text
    assert "block_size_x, block_size_y, tile, scale, unroll, method" in text
    assert "Values" not in text
    assert "Restrictions" not in text
    assert "Landscape" not in text


def test_space_tells_everything(space: RecordedSpace) -> None:
    text = describe(space, budget_s=20.0, features=landscape_features(space))
    assert "  - block_size_x: 16, 32, 64, 128, 256\n" in text
    assert "  - unroll: False, True\n" in text
    assert "  - method: 'row', 'column', 'block'\n" in text
    assert f"- {space.size:,} configurations are permitted, of 1,440 combinations" in text
    for restriction in space.restrictions:
        assert f"  - {restriction}\n" in text
    assert "of the permitted configurations fail" in text
    assert re.search(r"Measuring one configuration takes 0\.3\d s", text)
    evaluations = round(20.0 / space.evaluation_times_s.mean())
    assert f"20 s, enough for about {evaluations} measurements" in text
    assert "Landscape" in text
    assert "Hamming-adjacent neighbourhood" in text


def test_maximised_objectives_are_explained() -> None:
    text = describe(synthetic_space(4, higher_is_better=True), "application")
    assert "GFLOP/s (higher is better, so its negative is minimised)" in text


def test_names_can_be_hidden(space: RecordedSpace) -> None:
    text = describe(space, anonymous=True, features=landscape_features(space))
    for name in (*space.param_names, "synthetic", "Test GPU", "row", "column", "'block'"):
        assert name not in re.sub(r"low", "", text)
    assert "p1 * p2 <= 1024" in text
    assert "p6 != 'v1' or p5" in text
    assert 'p3 != 3 or p6 == "v3"' in text


def test_unknown_restrictions_long_value_lists_and_missing_times() -> None:
    space = synthetic_space(1, tune_params={"a": tuple(range(100)), "b": (7,)}, kept=0.5, failing=0.0)
    space = dataclasses.replace(space, has_times=False, problem_size=None)
    text = describe(space)
    assert "  - a: 0, 1, 2, 3, 4, ..., 97, 98, 99 (100 values)\n" in text
    assert "  - b: 7 (fixed)\n" in text
    assert "The restrictions are not known" in text
    assert "No permitted configuration fails." in text
    assert "Measuring" not in text
    assert "problem size" not in text


def test_nothing_gives_the_optimum_away(space: RecordedSpace) -> None:
    text = describe(space, budget_s=100.0, features=landscape_features(space))
    for cost in space.costs[space.valid]:
        assert f"{cost:.4f}" not in text
    best = int(space.costs[space.valid].argmin())
    config = space.param_config(int(space.valid.nonzero()[0][best]))
    assert ", ".join(map(repr, config)) not in text
    worse = space.costs.copy()
    valid = space.valid.nonzero()[0]
    one, other = valid[best], valid[best - 1]
    worse[one], worse[other] = space.costs[other], space.costs[one]
    swapped = dataclasses.replace(space, costs=worse)
    assert describe(swapped, budget_s=100.0) == describe(space, budget_s=100.0)


def test_an_unknown_level_is_refused(space: RecordedSpace) -> None:
    with pytest.raises(SettingsError, match="'everything' is none of none, application, space"):
        describe(space, "everything")  # type: ignore[arg-type]
