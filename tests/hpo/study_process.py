"""A study in a process of its own, for tests to kill: `python study_process.py DIRECTORY JOBS`; a line after every trial."""

from __future__ import annotations

import sys
from pathlib import Path

from llamea_tune.hpo import StudyResult, StudySettings, TrialDone, make_subject, tune
from llamea_tune.scoring.contender import Contender
from llamea_tune.testing.spaces import synthetic_space

TRIALS = 14


def make_study(directory: Path, jobs: int = 1, *, talk: bool = False) -> StudyResult:
    """Make or finish the study."""

    def say(event: TrialDone) -> None:
        if talk:
            print(event.done, flush=True)

    return tune(
        make_subject(Contender("genetic_algorithm", "genetic_algorithm")),
        [synthetic_space(3, name="only/cpu")],
        StudySettings(trials=TRIALS, repeats=8),
        directory,
        jobs=jobs,
        observe=say,
    )


if __name__ == "__main__":
    make_study(Path(sys.argv[1]), int(sys.argv[2]), talk=True)
