"""The offline proposer: writes optimizers without a language model."""

from __future__ import annotations

import numpy as np

from llamea_tune.candidate import CandidateState
from llamea_tune.exceptions import ProposerError
from llamea_tune.proposals.offline.design import Design, hyperparameters_of, read_design
from llamea_tune.proposals.offline.prose import class_name, description
from llamea_tune.proposals.offline.variation import cross, diversify, fresh, lighten, mutate, simplify
from llamea_tune.proposals.offline.writer import write
from llamea_tune.proposals.proposal import Proposal, ProposalTask

_TOO_SLOW = (CandidateState.TIMED_OUT, CandidateState.KILLED)


class OfflineProposer:
    """Recombines a library of search operators into readable optimizers.

    It keeps nothing between tasks: the design of a parent is read from the parent's code, and all randomness comes
    from the task's seed. So it can be asked from several threads, resumed, and mixed with other proposers; a parent
    whose design can't be read counts as absent.
    """

    def __init__(self, name: str = "offline") -> None:
        self._name = name

    @property
    def name(self) -> str:
        """Who this is, as recorded in provenance."""
        return self._name

    def propose(self, task: ProposalTask) -> Proposal:
        """Propose one optimizer; the same task always gives the same one."""
        design = _design(task, np.random.default_rng(task.seed))
        return Proposal(
            class_name=class_name(design),
            code=write(design),
            description=description(design),
            proposer=self._name,
            ranges={h.name: h.range for h in hyperparameters_of(design)},
        )


def _design(task: ProposalTask, rng: np.random.Generator) -> Design:
    designs = [design for parent in task.parents if (design := read_design(parent.candidate.code))]
    if task.operator == "initial" or not designs:
        return fresh(rng, task.tried)
    first = designs[0]
    match task.operator:
        case "simplify":
            return simplify(first, rng)
        case "diversify":
            return diversify(first, rng, task.tried)
        case "crossover":
            return cross(first, designs[1] if len(designs) > 1 else fresh(rng, task.tried), rng)
        case "repair" if task.parents[0].evaluation.state in _TOO_SLOW:
            return lighten(first, rng)
        case _:
            return mutate(first, rng)


def from_spec(argument: str) -> OfflineProposer:
    """Make it from the part of a spec behind `offline`, which is empty."""
    if argument:
        raise ProposerError(f"the offline proposer takes nothing behind its name; leave out {argument!r}")
    return OfflineProposer()
