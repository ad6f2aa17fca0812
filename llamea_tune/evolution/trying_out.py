"""Try a program out on something small, while whoever wrote it can still mend it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from llamea_tune.execution import Limits, LocalExecutor, Run, SandboxedCandidate
from llamea_tune.proposals.team import TryOut
from llamea_tune.runners.meter import RunBudget
from llamea_tune.spaces import Space

_MEASUREMENTS = 25
_LONGEST_S = 20.0
_SEED = 0


def try_out_on(spaces: Sequence[Space], *, allow_weak_sandbox: bool) -> TryOut:
    """What runs a program once in the sandbox, for 25 measurements on the smallest of the spaces.

    Of a live space its sample is taken, so that nothing is measured. Processes are started for each program anew: it is
    called from threads that come and go, and what they start ends with them.

    Args:
        spaces: The training spaces.
        allow_weak_sandbox: Whether to run programs where the sandbox is below its stated minimum.
    """
    space = min((space.known for space in spaces), key=lambda space: space.size)
    limits = Limits(wall_s=_LONGEST_S, cpu_s=_LONGEST_S)

    def try_out(code: str, class_name: str) -> str:
        run = Run(SandboxedCandidate(code, class_name), 0, _SEED, RunBudget(max_fevals=_MEASUREMENTS))
        with (
            LocalExecutor([space], jobs=1, limits=limits, allow_weak=allow_weak_sandbox) as executor,
            closing(executor.each([run])) as results,
        ):
            return "".join(result.reason for _, result in results if not result.state.scorable)

    return try_out
