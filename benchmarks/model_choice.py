"""What a bandit over the models of a mix gains beside fixed weights, with two simulated models of which one is worse.

Searches are simulated as in `evolution.py`. Both models answer as the one there does, but what the worse one makes of parents is
worth less by a handicap, or fails. In the first generation, where there are no parents, they are alike.

    python benchmarks/model_choice.py RUN [--seeds 200] [--max-candidates 48] [--json FILE]
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from evolution import BASE, Pool, Simulation, interval, read_arguments, read_pool

from llamea_tune.evolution.plan import PlannedCandidate
from llamea_tune.evolution.settings import Settings
from llamea_tune.llm.mixed import weights_of

BETTER, WORSE = "better", "worse"
MIX = replace(BASE, proposer=f"mix:{BETTER}=1,{WORSE}=1")
CHOICES: Mapping[str, Settings] = {
    "weights": MIX,
    "bandit": replace(MIX, model_choice="bandit"),
    "weights, steady state": replace(MIX, steady_state=True),
    "bandit, steady state": replace(MIX, steady_state=True, model_choice="bandit"),
    "the better one alone": replace(BASE, proposer=BETTER),
}
HANDICAPS = {"by 0.02": 0.02, "by 0.05": 0.05, "all fail": float("inf")}


class Shared(Simulation):
    """A search that two models share; `asked` is who answered for each child of a parent, in order."""

    def __init__(self, pool: Pool, settings: Settings, seed: int, handicap: float) -> None:
        super().__init__(pool, settings, seed)
        self.handicap = handicap
        self.asked: list[str] = []

    def answer(self, entry: PlannedCandidate) -> float:
        """What the answer of the model that is asked is worth."""
        worth = super().answer(entry)
        if not entry.task.parents:
            return worth
        self.asked.append(entry.task.llm or self._drawn(entry.task.seed))
        return worth - (self.handicap if self.asked[-1] == WORSE else 0.0)

    def _drawn(self, seed: int) -> str:
        """Whom `llamea_tune.llm.mixed` draws."""
        weights = weights_of(self.settings.proposer)
        return random.Random(seed).choices(list(weights), list(weights.values()))[0]


def compare(pool: Pool, seeds: int, max_candidates: int) -> list[dict[str, Any]]:
    """Every choice at equal calls, paired by seed with the weights."""
    rows: list[dict[str, Any]] = []
    for told, handicap in HANDICAPS.items():
        reference: np.ndarray | None = None
        for choice, settings in CHOICES.items():
            chosen = replace(settings, max_candidates=max_candidates)
            made = [Shared(pool, chosen, seed, handicap) for seed in range(seeds)]
            worth = np.array([simulation.search() for simulation in made])
            reference = worth if reference is None else reference
            better = float(np.mean([llm == BETTER for simulation in made for llm in simulation.asked]))
            beside = interval(worth - reference)
            rows.append({"worse": told, "choice": choice, "worth": interval(worth), "beside": beside, "better": better})
            mean, low, high = beside
            print(
                f"{told:10} {choice:23} {worth.mean():.3f}  {mean:+.3f} [{low:+.3f}, {high:+.3f}]  {better:4.0%} of the better one",
                flush=True,
            )
    return rows


def main() -> None:
    """Print the table."""
    arguments = read_arguments(__doc__)
    rows = compare(read_pool(arguments.run), arguments.seeds, arguments.max_candidates)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
