"""Live progress of a run: generation, candidates, best fitness, time left."""

from __future__ import annotations

import time
from pathlib import Path

from llamea_tune.candidate import CandidateState, Scored
from llamea_tune.cli.console import duration, err, escape
from llamea_tune.cli.costs import costs, option_of
from llamea_tune.cli.live_bar import LiveBar
from llamea_tune.cli.tables import tuning_line
from llamea_tune.evolution.budgets import OF_TOKENS, Spent
from llamea_tune.evolution.events import (
    CandidateConfirmed,
    CandidateJudged,
    CandidateTuned,
    Event,
    FinalStarted,
    GenerationStarted,
    RunsDone,
    RunStarted,
    SearchStopped,
)
from llamea_tune.evolution.lean import worth
from llamea_tune.evolution.settings import Settings
from llamea_tune.llm.language_model import Waiting
from llamea_tune.wording import counted

_SMOOTHING = 0.2  # weight of the newest candidate in the running mean of seconds per candidate


class RunProgress(LiveBar):
    """Shows a run as it goes: a live bar on a terminal, a line per generation elsewhere."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__("starting", 1, "candidates", quiet=quiet)
        self.run: Path | None = None
        self.settings = Settings()
        self._n_spaces = 1
        self._worths: dict[str, tuple[float, float]] = {}  # with the fitness
        self._waits_until: dict[str, float] = {}
        self._unpriced: set[str] = set()
        self._is_uncounted_told = False
        self._last = time.monotonic()
        self._seconds_each: float | None = None

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case RunStarted():
                self._show_start(event)
            case GenerationStarted(generation, generations, asked):
                stage = f"generation {generation + 1}/{generations}"
                self.show(stage=stage, now=f"asking for {counted(asked, 'candidate')}")
                self._last = time.monotonic()
            case RunsDone(label, done, total):
                self.show(now=escape(f"{label}: {done}/{total} runs"))
            case CandidateJudged(scored, n_judged, n_candidates, spent):
                self._note(scored)
                self._show_unpriced(spent)
                self._show_uncounted(spent)
                self._learn_pace()
                left = self._time_left(n_candidates - n_judged)
                self.show(completed=n_judged, left=left, so_far=self._best() + costs(spent), now="")
                if not self.quiet:
                    err.print(_outcome(scored, own_compute=self.settings.own_compute_ms is not None), soft_wrap=True)
            case CandidateConfirmed(scored):
                self._note(scored)
                self.show(so_far=self._best())
            case CandidateTuned(tuning):
                if not self.quiet:
                    err.print(tuning_line(tuning), soft_wrap=True)
            case Waiting():
                self._show_wait(event)
            case SearchStopped(budget, n_judged):
                self.line(f"stopped by {option_of(budget)} after {counted(n_judged, 'candidate')}", in_any_case=True)
            case FinalStarted(contenders):
                now = f"{counted(contenders, 'contender')} on fresh seeds"
                self.show(stage="leaderboard", now=now, left=self._time_left(0))
                self.line(f"making the leaderboard: {now}", in_any_case=True)

    def _show_start(self, start: RunStarted) -> None:
        """Say where the run is kept, and what is known beforehand, where it is not gone on with."""
        self.run, self.settings, self._n_spaces = start.run, start.settings, len(start.spaces)
        self.show(total=start.settings.max_candidates, completed=start.n_judged)
        if not (self.quiet or start.n_judged):
            names = escape(", ".join(start.spaces))
            err.print(f"run directory: [bold]{escape(str(start.run))}[/]   spaces: {names}", soft_wrap=True)
            for line in start.told:
                err.print(escape(line), soft_wrap=True)

    def _show_wait(self, wait: Waiting) -> None:
        """Say what is waited for, once where several prompts wait for the same."""
        now = time.monotonic()
        if not self.quiet and now >= self._waits_until.get(wait.reason, now):
            self._waits_until[wait.reason] = now + wait.seconds
            err.print(f"waiting {duration(max(1.0, wait.seconds))}: {escape(wait.reason)}", soft_wrap=True)

    def _show_unpriced(self, spent: Spent) -> None:
        """Say once of each language model that its price is not known."""
        for llm in spent.unpriced:
            if llm not in self._unpriced and not self.quiet:
                err.print(f"no price is known for {escape(llm)}: its tokens are counted, not its cost", soft_wrap=True)
            self._unpriced.add(llm)

    def _show_uncounted(self, spent: Spent) -> None:
        """Say once that a budget cannot be kept, as a server does not tell how many tokens its answers took."""
        limits = [option_of(name) for name in OF_TOKENS if name in self.settings.budgets.limits()]
        if spent.uncounted and limits and not self._is_uncounted_told and not self.quiet:
            self._is_uncounted_told = True
            err.print(
                f"answers come without their number of tokens: {' and '.join(limits)} cannot be kept", soft_wrap=True
            )

    def _note(self, scored: Scored) -> None:
        fitness, of = scored.evaluation.fitness, worth(scored.evaluation, self.settings.own_compute_ms)
        if fitness is None or of is None:
            self._worths.pop(scored.candidate.id, None)
        else:
            self._worths[scored.candidate.id] = of, fitness

    def _best(self) -> str:
        return f"best {max(self._worths.values())[1]:.3f}" if self._worths else "best -"

    def _learn_pace(self) -> None:
        now = time.monotonic()
        seconds, self._last = now - self._last, now
        known = self._seconds_each
        self._seconds_each = seconds if known is None else known + _SMOOTHING * (seconds - known)

    def _time_left(self, candidates: int) -> str:
        """Candidates to come, their confirmations, and the leaderboard, at the pace of the last candidates."""
        if self._seconds_each is None:
            return "?"
        settings = self.settings
        confirmations = candidates / settings.offspring * settings.parents * settings.confirm_repeats
        if settings.hpo_trials:
            confirmations += settings.hpo_runs * candidates / settings.max_candidates / self._n_spaces
        final_runs = settings.final_candidates * settings.final_repeats
        runs = candidates * settings.repeats + confirmations + final_runs
        return duration(runs * self._seconds_each / settings.repeats)


def _outcome(scored: Scored, *, own_compute: bool) -> str:
    candidate, evaluation = scored.candidate, scored.evaluation
    who = escape(f"{candidate.id} {candidate.operator:<9} {candidate.class_name}")
    if evaluation.state is CandidateState.SCORED and evaluation.fitness is not None:
        dropped = f" [dim]dropped after {counted(evaluation.runs, 'run')}[/]" if evaluation.raced_out else ""
        own_ms = evaluation.own_compute_ms if own_compute else None
        took = "" if own_ms is None else f" at {own_ms:.2g} ms"
        return f"{who}  [bold]{evaluation.fitness:.3f}[/]{took}{dropped}"
    return f"{who}  [yellow]{evaluation.state}[/] [dim]{escape(evaluation.reason)}[/]"
