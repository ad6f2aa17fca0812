"""A candidate: a proposed optimizer, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exceptions import CandidateCodeError

HyperparameterValue = int | float | bool | str


@dataclass(frozen=True)
class HyperparameterRange:
    """Where a hyperparameter may lie.

    Attributes:
        kind: `"int"`, `"float"` or `"categorical"`.
        low: Smallest value, for numbers.
        high: Largest value, inclusive, for numbers.
        log: Whether to search on a logarithmic scale.
        choices: The values, for categorical ones.
    """

    kind: Literal["int", "float", "categorical"]
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[HyperparameterValue, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            ValueError: `low` is above `high`, or the scale cannot be logarithmic.
        """
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        if self.log and self.kind == "categorical":
            raise ValueError("log is for numbers, not for choices")
        if self.log and (self.low is None or self.low <= 0):
            raise ValueError(f"log needs low above 0, not {self.low}")


@dataclass(frozen=True)
class Candidate:
    """A proposed optimizer.

    Attributes:
        id: Unique in its run, such as `"0007"`.
        class_name: Name of the one class deriving from `OptAlg` in `code`.
        code: Python source.
        description: What the algorithm does, in a sentence or two.
        proposer: Who wrote it, such as `"offline"` or `"openai:gpt-4o"`.
        operator: The mutation operator that asked for it, such as `"initial"` or `"crossover"`.
        generation: 0 for the initial population.
        parents: Ids of the candidates it was made from.
        ranges: Declared ranges of its hyperparameters (the arguments of `__init__`), by name.
        hyperparameters: Tuned values to run it with in place of defaults.
        refused_ranges: A sentence on each range that was declared and makes no sense, fit to be shown to the proposer.
        direction: What the proposer was asked to attend to; empty for nothing.
        llm: Which language model of a mix the plan chose to ask; empty where it chose none.
    """

    id: str
    class_name: str
    code: str
    description: str
    proposer: str
    operator: str
    generation: int
    parents: tuple[str, ...] = ()
    ranges: Mapping[str, HyperparameterRange] = field(default_factory=dict)
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    refused_ranges: tuple[str, ...] = ()
    direction: str = ""
    llm: str = ""

    def with_hyperparameters(self, values: Mapping[str, HyperparameterValue]) -> Candidate:
        """The candidate with other tuned values."""
        return replace(self, hyperparameters=dict(values))

    def with_tuned_defaults(self) -> Candidate:
        """The candidate with its tuned values as the defaults in its code, for those who build on that.

        As it is, where it has none, or where the code cannot be edited.
        """
        if not self.hyperparameters:
            return self
        try:
            code = CandidateCode.read(self.code, self.class_name).with_defaults(self.hyperparameters)
        except CandidateCodeError:
            return self
        return replace(self, code=code.source, hyperparameters={})


class CandidateState(StrEnum):
    """What became of a candidate."""

    SCORED = "scored"
    NO_PROPOSAL = "no_proposal"  # the proposer gave nothing usable
    DUPLICATE = "duplicate"  # the same program as one that was scored before
    NOT_NOVEL = "not_novel"  # too much like a program that was judged before; it was not run
    REJECTED = "rejected"  # its code breaks the contract
    FAILED = "failed"  # it raised an error
    TIMED_OUT = "timed_out"  # it ran past the wall-clock or CPU-time limit
    KILLED = "killed"  # it died, or was ended for memory, forbidden system calls, or a broken protocol


@dataclass(frozen=True)
class Failure:
    """Where a candidate failed, beside the reason.

    Attributes:
        space: The search space that the run was on; empty where there was no run.
        line: The line of the code that the reason names, number and text; empty where it names none.
        others: What the runs on each other space gave until then: their score, None where there was none.
    """

    space: str = ""
    line: str = ""
    others: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Behaviour:
    """How the runs on one search space went: evidence for whoever is to improve a candidate, never a cost or a config.

    Attributes:
        tenths: Score in each tenth of the scored time.
        ranks: Of each run, the rank of its best so far in the middle of each twentieth of the scored time, 0 for the
            best config of the space: what paired differences are computed from.
        measured: Measurements paid for, per run.
        failed: Of them, those that gave no objective value.
        repeated: Requests for configs measured before, per run.
        invalid: Requests for configs outside the space, per run.
        near: Share of the measurements that differed from the best config until then in one parameter at most; None where
            no run made two measurements.
        distance: Mean number of parameters in which a measurement differed from the best config until then.
        travelled: Mean number of parameters that changed from one measurement to the next.
        last_improvement: When the best so far was last improved, as a share of the scored time, from 0 where scoring
            starts to 1 where it ends: mean over runs.
        own_compute_ms: Own compute per measurement that was paid for, in milliseconds; None where it was not measured.
    """

    tenths: tuple[float, ...]
    ranks: tuple[tuple[float, ...], ...]
    measured: float
    failed: float
    repeated: float
    invalid: float
    near: float | None
    distance: float | None
    travelled: float | None
    last_improvement: float
    own_compute_ms: float | None


@dataclass(frozen=True)
class Evaluation:
    """What scoring a candidate gave.

    Attributes:
        state: `SCORED`, or why there is no score.
        reason: A short explanation of any other state, fit to be shown to the proposer.
        fitness: Mean of `scores`, maximised by evolution; None unless scored.
        scores: Score by the name of the search space: 0 is random search, 1 the optimum from the start.
        interval: 95 % bootstrap interval of `fitness`.
        repeats: Runs per search space behind each score.
        own_compute_ms: The candidate's own compute per measurement it paid for, in milliseconds.
        notes: Counts worth knowing, such as invalid or repeated requests.
        failure: Where it failed, where that is known.
        runs: Runs that it took; 0 where nothing was run, or where the log is of an earlier version.
        raced_out: Whether it was dropped after few runs, being clearly behind: fitness and interval are of those runs.
        behaviour: How the runs went by the name of the search space; empty where that was not looked at.
    """

    state: CandidateState
    reason: str = ""
    fitness: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    repeats: int = 0
    own_compute_ms: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    runs: int = 0
    raced_out: bool = False
    behaviour: Mapping[str, Behaviour] = field(default_factory=dict)


@dataclass(frozen=True)
class Scored:
    """A candidate with its evaluation."""

    candidate: Candidate
    evaluation: Evaluation
