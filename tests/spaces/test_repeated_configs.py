"""A config that is recorded more than once: repeats are harmless, and of different entries the last counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llamea_tune.exceptions import SpaceFileWarning
from llamea_tune.spaces import FailureKind, RecordedSpace, cache_to_t4, load_space, param_configs

REPEATED = "16,True,a,0.5"


@pytest.fixture(params=["cache", "t4"])
def with_repeat(
    request: pytest.FixtureRequest, cache: dict[str, Any], write: Callable[..., Path]
) -> Callable[..., Path]:
    """Writes a file in which one config is recorded again at the end, with changes."""

    def make(**changes: Any) -> Path:
        again = json.dumps({REPEATED: cache["cache"][REPEATED] | changes})[1:-1]
        path = write(f"{json.dumps(cache)[:-2]}, {again}}}}}")
        if request.param == "t4":
            cache_to_t4(path, path.with_name("t4.json"))
        return path.with_name("t4.json") if request.param == "t4" else path

    return make


def content(space: RecordedSpace) -> list[Any]:
    return [
        param_configs(space.tune_params, space.value_indices),
        *(array.tolist() for array in (np.nan_to_num(space.costs), space.failures, space.stage_times_ms)),
    ]


def test_identical_repeats_are_harmless(
    with_repeat: Callable[..., Path], cache: dict[str, Any], write: Callable[..., Path], recwarn: Any
) -> None:
    space = load_space(with_repeat())
    assert content(space) == content(load_space(write(cache)))
    assert not recwarn.list


@pytest.mark.filterwarnings("ignore::llamea_tune.exceptions.SpaceFileWarning")
def test_the_last_counts_where_the_first_was(
    with_repeat: Callable[..., Path], cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    path = with_repeat(time=5.0, compile_time=7.0)
    cache["cache"][REPEATED] |= {"time": 5.0, "compile_time": 7.0}
    expected = load_space(write(cache, "saxpy/expected.json"))
    for _cold_then_warm in range(2):
        with pytest.warns(SpaceFileWarning) as warned:
            space = load_space(path)
        assert content(space) == content(expected)
        assert [str(warning.message) for warning in warned] == [
            f"{path} records 1 config more than once, differently; the last counts, as in Kernel Tuner"
        ]


@pytest.mark.filterwarnings("ignore::llamea_tune.exceptions.SpaceFileWarning")
def test_a_failure_may_be_the_last(with_repeat: Callable[..., Path]) -> None:
    space = load_space(with_repeat(time="RuntimeFailedConfig"))
    (index,) = (i for i in range(space.size) if space.param_config(i) == (16, True, "a", 0.5))
    assert space.failures[index] == FailureKind.RUNTIME
    assert space.size == 12
