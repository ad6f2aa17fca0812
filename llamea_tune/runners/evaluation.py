"""Kernel Tuner's cost function, lean.

`CostFunc.eval_all` logs, times and copies so much that it takes most of a simulated run. While `lean_evaluation` is on,
cost functions over a channel answer the same calls with the same costs, in the same order and with the same stop rule,
by looking configs up. What is no config of the space as it stands goes through Kernel Tuner's own code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any

from llamea_tune.kernel_tuner_internals import FAILED_COST, CostFunc
from llamea_tune.runners.channel_runner import ChannelRunner, raise_if_done
from llamea_tune.spaces.space import FailureKind


@contextmanager
def lean_evaluation() -> Iterator[None]:
    """Let cost functions over a channel take the short way."""
    full = CostFunc.eval_all

    def eval_all(self: Any, xs: Sequence[Any], check_restrictions: bool = True) -> Any:
        if isinstance(self.runner, ChannelRunner):
            answer = evaluate if self.runner.compute is None else _timed
            return answer(self, self.runner, xs, check_restrictions)
        return full(self, xs, check_restrictions)

    CostFunc.eval_all = eval_all
    CostFunc.n_workers = 1  # a candidate may ask; left there, since one at a time is right for every other runner too
    try:
        yield
    finally:
        CostFunc.eval_all = full


def _timed(cost_func: Any, runner: ChannelRunner, xs: Sequence[Any], check_restrictions: bool) -> list[float]:
    assert runner.compute is not None
    runner.compute.pause()
    try:
        return evaluate(cost_func, runner, xs, check_restrictions)
    finally:
        runner.compute.resume()


def evaluate(cost_func: Any, runner: ChannelRunner, xs: Sequence[Any], check_restrictions: bool) -> list[float]:
    """Costs of a batch of positions.

    Kernel Tuner snaps positions to values first; a config of the space is its own nearest.

    Raises:
        StopCriterionReached: The budget is gone, before the batch or with it.
        TypeError: A position is none.
    """
    channel = runner.channel
    raise_if_done(channel)
    lookup = cost_func.searchspace.get_list_dict()
    scaled = cost_func.snap and cost_func.scaling
    costs = []
    for x in xs:
        config = runner.grid(cost_func.tuning_options.eps).snap(x) if scaled else tuple(x)
        try:
            index = lookup.get(config)
        except TypeError:  # a value that cannot be hashed, such as an array of one element
            index = None
        if index is None:
            index = _find_nearest(cost_func, x, check_restrictions)
        if index is None:
            channel.count_invalid()
            costs.append(FAILED_COST)
            continue
        reply = channel.request(index)
        config, result = runner.record(index, reply)
        cost_func.results.append(result)
        cost_func.unique_results.setdefault(config, result)
        costs.append(reply.cost if reply.failure is FailureKind.NONE else FAILED_COST)
        if reply.done:
            break
    raise_if_done(channel)
    cost_func.budget_spent_fraction = channel.spent_fraction
    return costs


def _find_nearest(cost_func: Any, x: Any, check_restrictions: bool) -> int | None:
    """Number of the config that Kernel Tuner makes of a position that is no config of the space, None if it makes none.

    Raises:
        TypeError: The position has no order; the strategy asks in a way that no request of its can ever be right.
    """
    if isinstance(x, Mapping | Set | str):
        names = ", ".join(cost_func.searchspace.param_names)
        raise TypeError(f"func takes a tuple of values, in the order {names}; it was given {x!r:.200}")
    config, is_legal = cost_func._normalize_and_validate_config(x, check_restrictions=check_restrictions)
    index: int | None = cost_func.searchspace.get_list_dict().get(tuple(config)) if is_legal else None
    return index
