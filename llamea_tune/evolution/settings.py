"""Settings of a run: one frozen record, stored in the run directory and enough to resume from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, get_args, get_type_hints

from llamea_tune.evolution.budgets import Budgets
from llamea_tune.evolution.selection import SELECTIONS, make_selection, needs_generations
from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import Limits
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.llm.mixed import weights_of
from llamea_tune.proposals.team import ROLES, SINGLE, TEAMS
from llamea_tune.scoring import BASELINES
from llamea_tune.spaces.describe import InformationLevel

_RENAMED = {
    "rivals": "final_strategies",
    "finalists": "final_candidates",
    "description_level": "information",
}  # as earlier runs have them
_CHOICES: Mapping[str, Collection[str]] = {
    "selection": SELECTIONS,
    "operator_choice": ("weights", "bandit"),
    "model_choice": ("weights", "bandit"),
    "baseline": BASELINES,
    "team": TEAMS,
    "information": get_args(InformationLevel),
}


@dataclass(frozen=True)
class Settings:
    """How to evolve.

    Attributes:
        proposer: Who proposes candidates: `"offline"` or a language model's specification.
        max_candidates: Candidates to propose in all, failed ones included.
        parents: Size of the population that survives each generation.
        offspring: Candidates proposed in each generation.
        selection: Name of the selection scheme.
        selection_options: Its options by name, such as `{"epsilon": 0.1}`.
        operator_choice: How mutation operators are chosen: by fixed `"weights"`, or by a `"bandit"` that learns which ones
            bring candidates better than their parents.
        model_choice: How the language models of a mix are chosen: by their fixed `"weights"`, or by such a `"bandit"`, which
            has the weights as its prior.
        novelty: Similarity to a program judged before, above 0 and below 1, from which on a candidate is refused without
            a run; None refuses the same program only.
        steady_state: Whether the next candidate is planned as soon as one is judged, not when its generation is over.
        racing: Whether a candidate that is clearly behind the weakest survivor is dropped after few runs.
        budgets: What the run may spend.
        repeats: Runs per space when a candidate is first scored.
        confirm_repeats: Runs per space, on fresh seeds, before a candidate is kept.
        final_repeats: Runs per space, on fresh seeds again, for the leaderboard.
        final_candidates: Candidates on the leaderboard.
        final_strategies: Named strategies beside them on the leaderboard.
        baseline: Name of the baseline that scores are relative to.
        seed: Seed of everything random in the run.
        asked_at_once: Prompts that may wait for an answer at the same time.
        max_unanswered: Calls in a row without an answer that end the run, to be resumed later.
        llm: How a language model is asked.
        information: What prompts say of the spaces: `"none"`, `"application"`, `"space"`, or `"hidden"`, which is that without
            names.
        context_tokens: Most tokens that a prompt may take, as `estimated_tokens` counts them; None for any number.
        team: Who works on a proposal: `"single"`, or `"plan-code-debug"` for a planner, a coder and a debugger.
        planner_llm: Specification of the planner's own language model; empty for that of the proposer.
        coder_llm: That of the coder.
        debugger_llm: That of the debugger.
        start_from: Exported strategies, or classes in files, that are the first candidates.
        reference_strategies: Named strategies whose scores over time are shown beside those of a parent.
        hpo_trials: Trials to tune the hyperparameters of a surviving candidate with; 0 to tune none.
        hpo_runs: Runs that tuning may take in the whole run, confirmations included.
        own_compute_ms: Own compute per measurement, in milliseconds, above which selection discounts the fitness of a
            candidate; None to select by fitness alone.
        limits: What one run of a candidate may use.
        prior: What strategies are told of the spaces beforehand: names of priors, or files; none for nothing.
    """

    proposer: str = "offline"
    max_candidates: int = 24
    parents: int = 4
    offspring: int = 12
    selection: str = "plus"
    selection_options: Mapping[str, float] = field(default_factory=dict)
    operator_choice: Literal["weights", "bandit"] = "weights"
    model_choice: Literal["weights", "bandit"] = "weights"
    novelty: float | None = None
    steady_state: bool = False
    racing: bool = False
    budgets: Budgets = field(default_factory=Budgets)
    repeats: int = 6
    confirm_repeats: int = 12
    final_repeats: int = 25
    final_candidates: int = 5
    final_strategies: tuple[str, ...] = ("simulated_annealing", "genetic_algorithm", "diff_evo", "pso", "random_sample")
    baseline: str = "exact"
    seed: int = 1
    asked_at_once: int = 4
    max_unanswered: int = 3
    llm: LLMOptions = field(default_factory=LLMOptions)
    information: InformationLevel = "space"
    context_tokens: int | None = None
    team: str = SINGLE
    planner_llm: str = ""
    coder_llm: str = ""
    debugger_llm: str = ""
    start_from: tuple[str, ...] = ()
    reference_strategies: tuple[str, ...] = ("pso", "genetic_algorithm")
    hpo_trials: int = 0
    hpo_runs: int = 2000
    own_compute_ms: float | None = None
    limits: Limits = field(default_factory=Limits)
    prior: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            SettingsError: A number is out of range, or a name is unknown.
        """
        positive = ("max_candidates", "parents", "offspring", "repeats", "confirm_repeats", "final_repeats")
        for name in (*positive, "final_candidates", "asked_at_once", "max_unanswered"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}; it must be at least 1.", fields=(name,))
        for name in ("hpo_trials", "hpo_runs"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}; it must not be negative.", fields=(name,))
        if self.team == SINGLE and self.llm_by_role():
            role = next(iter(self.llm_by_role()))
            raise SettingsError(
                f"{role}_llm is for a {role}, and there is none; set team to {TEAMS[1]!r} too.",
                fields=(f"{role}_llm", "team"),
            )
        if len(self.start_from) > self.offspring:
            raise SettingsError(
                f"start_from names {len(self.start_from)} programs, and offspring is {self.offspring}; name fewer, or raise it.",
                fields=("start_from", "offspring"),
            )
        if self.context_tokens is not None and self.context_tokens < 1:
            raise SettingsError(
                f"context_tokens is {self.context_tokens}; it must be at least 1.", fields=("context_tokens",)
            )
        _check_llm(self.llm)
        _check_own_compute(self.own_compute_ms)
        _check_model_choice(self)
        if not 0 <= self.seed < 2**32:
            raise SettingsError(f"seed is {self.seed}; it must lie between 0 and 4294967295.", fields=("seed",))
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                message = f"{name} is {getattr(self, name)!r}; choose one of: {', '.join(choices)}."
                raise SettingsError(message, fields=(name,))
        if self.novelty is not None and not 0.0 < self.novelty < 1.0:
            message = f"novelty is {self.novelty:g}; it must lie between 0 and 1, such as 0.95."
            raise SettingsError(message, fields=("novelty",))
        make_selection(self.selection, self.selection_options)  # refuses what it does not take
        if self.steady_state and needs_generations(self.selection):
            message = f"selection {self.selection!r} needs generations, and steady_state=True has none; leave one of them out."
            raise SettingsError(message, fields=("selection", "steady_state"))

    def llm_by_role(self) -> dict[str, str]:
        """Specifications of the language models that roles of a team have for themselves."""
        given = {role: getattr(self, f"{role}_llm") for role in ROLES}
        return {role: spec for role, spec in given.items() if spec}

    def with_max_candidates(self, max_candidates: int) -> Settings:
        """The same settings for a run of another length; what tuning may take changes in proportion."""
        hpo_runs = round(self.hpo_runs * max_candidates / self.max_candidates)
        return replace(self, max_candidates=max_candidates, hpo_runs=hpo_runs)

    def with_budgets(self, budgets: Budgets) -> Settings:
        """The same settings with other budgets; those that are not given stay."""
        return replace(self, budgets=replace(self.budgets, **budgets.given()))

    def with_llm(self, options: LLMOptions) -> Settings:
        """The same settings with other options of the language model; those that are not given stay."""
        parameters = {**self.llm.parameters, **options.parameters}
        return replace(self, llm=replace(self.llm, **{**options.given(), "parameters": parameters}))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Settings:
        """Read back what `to_json` gave; settings unknown to this version are refused.

        Raises:
            SettingsError: A setting is unknown, or of a wrong type.
        """
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(data) - known - set(_RENAMED))
        if unknown:
            raise SettingsError(f"the run has settings this version does not know: {', '.join(unknown)}.")
        values = {_RENAMED.get(name, name): value for name, value in data.items()}
        hints = get_type_hints(cls)
        try:
            for name, value in values.items():
                if isinstance(value, list):
                    values[name] = tuple(value)
                elif is_dataclass(hints[name]):
                    values[name] = hints[name](**value)
            return cls(**values)
        except TypeError as err:
            raise SettingsError(f"a setting of the run is of a wrong type ({err}); restore its run.json.") from err


def _check_own_compute(aim_ms: float | None) -> None:
    if aim_ms is not None and not 0.0 < aim_ms < float("inf"):
        message = f"own_compute_ms is {aim_ms:g}; it must be a number of milliseconds above 0, such as 1."
        raise SettingsError(message, fields=("own_compute_ms",))


def _check_llm(options: LLMOptions) -> None:
    for name in ("timeout_s", "answer_timeout_s", "max_wait_s"):
        value = getattr(options, name)
        if value is not None and not 0.0 < value < float("inf"):
            message = f"llm.{name} is {value:g}; it must be a number of seconds above 0."
            raise SettingsError(message, fields=(f"llm.{name}",))
    if options.max_retries is not None and options.max_retries < 0:
        message = f"llm.max_retries is {options.max_retries}; it must not be negative."
        raise SettingsError(message, fields=("llm.max_retries",))


def _check_model_choice(settings: Settings) -> None:
    if settings.model_choice == "bandit" and len(weights_of(settings.proposer)) < 2:
        message = (
            f"model_choice is 'bandit', and proposer is {settings.proposer!r}, which leaves no choice; "
            "give a mix of several, as in mix:openai:a=3,openai:b=1, or leave model_choice out."
        )
        raise SettingsError(message, fields=("model_choice", "proposer"))
