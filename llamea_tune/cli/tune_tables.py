"""What `llamea-tune tune` shows: the study, the hyperparameters, how much of the gain survived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table

from llamea_tune.candidate import HyperparameterRange, HyperparameterValue
from llamea_tune.cli.console import escape, out
from llamea_tune.hpo.rescoring import Rescored
from llamea_tune.hpo.study import StudyResult
from llamea_tune.hpo.trial import TrialOutcome, TrialRecord
from llamea_tune.hpo.tunable import TunableContender
from llamea_tune.wording import counted


def study_summary(result: StudyResult) -> str:
    """One line on what the study did."""
    counts = {outcome: result.count(outcome) for outcome in TrialOutcome}
    parts = [f"{n} {outcome}" for outcome, n in counts.items() if n and outcome is not TrialOutcome.COMPLETE]
    told = f" ({', '.join(parts)})" if parts else ""
    saved = f"; without pruning {result.runs_unpruned:,}" if result.runs < result.runs_unpruned else ""
    trials, each = counted(len(result.trials), "trial"), counted(result.runs_per_trial, "run")
    return f"{trials}{told} of up to {each} each: {counted(result.runs, 'run')}{saved}"


def hyperparameter_table(tunable: TunableContender, best: TrialRecord | None, shares: Mapping[str, float]) -> Table:
    """One row for each hyperparameter: default, best value, range, importance."""
    table = Table(title="hyperparameters", box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    table.add_column("name", no_wrap=True)
    for heading in ("default", "best", "range", "importance"):
        table.add_column(heading, justify="right")
    values = best.values if best else tunable.defaults
    names = sorted(tunable.ranges, key=lambda name: -shares.get(name, 0.0))
    for name in names:
        default, value = tunable.defaults[name], values[name]
        share = f"{shares[name]:.0%}" if name in shares else "-"
        style = None if value == default else "bold"
        cells = (_shown(default), _shown(value), _range(tunable.ranges[name]), share)
        table.add_row(escape(name), *(escape(cell) for cell in cells), style=style)
    return table


def gain_table(result: StudyResult, rescored: Rescored) -> Table:
    """Defaults and best hyperparameters, in the study and on fresh seeds."""
    table = Table(title="did the gain survive?", box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    n_runs = counted(rescored.repeats, "run")
    table.caption = f"fresh: {n_runs} per space on seeds that nothing was chosen on; score: of all of them"
    table.caption_justify = "left"
    table.add_column("")
    for heading in ("in the study", "fresh", "score", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    default = result.default.value if result.default and not result.default.reason else None
    best = rescored.best.value
    rows = (
        ("default", default, rescored.default_mean, rescored.default.mean, rescored.default.interval),
        ("tuned", best, rescored.tuned_mean, rescored.tuned.mean, rescored.tuned.interval),
    )
    for label, in_study, fresh, score, interval in rows:
        table.add_row(label, _number(in_study), _number(fresh), _number(score), _interval(interval))
    gain = rescored.gain
    if gain is not None and rescored.tuned_mean is not None and rescored.default_mean is not None:
        fresh_gain = _number(rescored.tuned_mean - rescored.default_mean)
        told = f"{_interval(gain.interval)}, p={gain.p_value:.3f}"
        table.add_row("gain", _number(rescored.promised), fresh_gain, _number(gain.difference), told, style="bold")
    return table


def verdict(result: StudyResult, rescored: Rescored | None) -> str:
    """What came of it, in one sentence."""
    if result.best is None:
        reasons = {trial.reason for trial in result.trials if trial.reason}
        return f"no hyperparameters got through all runs: {'; '.join(sorted(reasons)[:3])}"
    if rescored is None:
        return "the defaults are the best that was found"
    for card, who in ((rescored.tuned, "best hyperparameters"), (rescored.default, "defaults")):
        if card.mean is None:
            return f"the {who} failed on fresh seeds: {card.reason}"
    return _verdict_on_gain(rescored)


def _verdict_on_gain(rescored: Rescored) -> str:
    if not rescored.better:
        if rescored.gain is not None and rescored.gain.difference > 0.0:
            return "what survived on fresh seeds may be luck: keep the defaults, or use more --final-repeats"
        return "nothing of the gain survived on fresh seeds: keep the defaults"
    if rescored.survived is None:
        return "the best hyperparameters are better on fresh seeds, too"
    return f"{rescored.survived:.0%} of the gain in the study survived on fresh seeds"


def show(
    tunable: TunableContender, result: StudyResult, rescored: Rescored | None, shares: Mapping[str, float]
) -> None:
    """Print everything."""
    out.print(study_summary(result), soft_wrap=True)
    out.print(hyperparameter_table(tunable, rescored.best if rescored else result.best, shares))
    if rescored is not None:
        out.print(gain_table(result, rescored))
    out.print(f"[bold]{escape(verdict(result, rescored))}[/]", soft_wrap=True)


def as_data(
    tunable: TunableContender, result: StudyResult, rescored: Rescored | None, shares: Mapping[str, float]
) -> dict[str, Any]:
    """Everything as plain data."""
    best = rescored.best if rescored else result.best
    found: dict[str, Any] = {
        "strategy": tunable.contender.label,
        "ranges": {name: asdict(entry) for name, entry in tunable.ranges.items()},
        "defaults": dict(tunable.defaults),
        "best": dict(best.values) if best else None,
        "trials": [{**asdict(trial), "values": dict(trial.values)} for trial in result.trials],
        "runs_per_trial": result.runs_per_trial,
        "runs": result.runs,
        "runs_unpruned": result.runs_unpruned,
        "importances": dict(shares),
        "verdict": verdict(result, rescored),
        "rescored": None,
    }
    if rescored is not None:
        found["rescored"] = {
            "repeats": rescored.repeats,
            "default": {"score": rescored.default.mean, "interval": rescored.default.interval},
            "tuned": {"score": rescored.tuned.mean, "interval": rescored.tuned.interval},
            "gain": None if rescored.gain is None else asdict(rescored.gain),
            "promised": rescored.promised,
            "survived": rescored.survived,
            "better": rescored.better,
        }
    return found


def _shown(value: HyperparameterValue) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _range(entry: HyperparameterRange) -> str:
    if entry.kind == "categorical":
        return ", ".join(str(choice) for choice in entry.choices)
    return f"{entry.low:.4g} to {entry.high:.4g}{' (log)' if entry.log else ''}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "-" if bounds is None else f"{bounds[0]:+.3f} to {bounds[1]:+.3f}"
