"""What a prompt says of an evaluation."""

from __future__ import annotations

from llamea_tune.candidate import CandidateState, Evaluation, Failure
from llamea_tune.proposals.briefing import Briefing
from llamea_tune.proposals.evidence import tables
from llamea_tune.proposals.states import STATES

_LONGEST_REASON = 800

_COUNTS = {  # the counts that a prompt may tell: never a cost, which would tell of the optimum
    "measured": "measurements paid for",
    "failed": "of them failed",
    "repeated": "requests for configurations measured before",
    "invalid": "requests outside the space",
}


def feedback(evaluation: Evaluation, briefing: Briefing = Briefing()) -> str:  # noqa: B008 (frozen)
    """What is said of an evaluation in short.

    Args:
        evaluation: The evaluation.
        briefing: What prompts call the spaces.
    """
    if evaluation.state is not CandidateState.SCORED:
        reason = " ".join(evaluation.reason.split())
        reason = reason if len(reason) <= _LONGEST_REASON else reason[:_LONGEST_REASON] + "…"
        lines = [f"It has no score: {STATES[evaluation.state]}" + (f": {reason}" if reason else ".")]
        return "\n".join(lines + _where(evaluation.failure or Failure(), briefing))
    lines = [_fitness(evaluation)]
    lines += [f"- score on {briefing.called(space)}: {score:.3f}" for space, score in evaluation.scores.items()]
    if evaluation.behaviour:  # which tells the rest by space
        return "\n".join(lines)
    if evaluation.own_compute_ms is not None:
        lines.append(f"- own compute: {evaluation.own_compute_ms:.2g} ms per measurement")
    counts = [f"{evaluation.notes[name]} {what}" for name, what in _COUNTS.items() if name in evaluation.notes]
    if counts:
        lines.append(f"- in a run, on average: {', '.join(counts)}")
    return "\n".join(lines)


def feedback_forms(evaluation: Evaluation, briefing: Briefing, refused: list[str]) -> tuple[str, ...]:
    """What is said of an evaluation, whole and in short.

    Args:
        evaluation: The evaluation.
        briefing: What prompts call the spaces, and named strategies to set beside.
        refused: Lines on what else was wrong.
    """
    short = "\n".join([feedback(evaluation, briefing), *refused])
    return (f"{short}\n\n{tables(evaluation.behaviour, briefing)}", short) if evaluation.behaviour else (short,)


def _where(failure: Failure, briefing: Briefing) -> list[str]:
    """Where a candidate failed."""
    lines = [f"- the run was on {briefing.called(failure.space)}"] if failure.space else []
    lines += [f"- line {failure.line}"] if failure.line else []
    for space, score in failure.others.items():
        before = "it was not run" if score is None else f"its runs before that scored {score:.3f}"
        lines.append(f"- on {briefing.called(space)} {before}")
    return lines


def _fitness(evaluation: Evaluation) -> str:
    text = "Its fitness is unknown" if evaluation.fitness is None else f"Its fitness is {evaluation.fitness:.3f}"
    if evaluation.interval is not None:
        text += " (95 % interval {:.3f} to {:.3f}".format(*evaluation.interval)
        text += f", {evaluation.repeats} runs per space)"
    return text + "."
