"""A study in a process of its own, for tests to kill: `python study_process.py DIRECTORY JOBS`; a line after every trial."""

from __future__ import annotations

import sys
from pathlib import Path

from llamea_tune.execution import LocalExecutor, NamedStrategy
from llamea_tune.hpo import StudyResult, StudySettings, TrialDone, make_tunable, tune
from llamea_tune.testing.synthetic_spaces import synthetic_space

TRIALS = 14


def make_study(directory: Path, jobs: int = 1, *, talk: bool = False) -> StudyResult:
    """Make or finish the study."""

    def say(event: TrialDone) -> None:
        if talk:
            print(event.done, flush=True)

    tunable = make_tunable(NamedStrategy("genetic_algorithm", "genetic_algorithm"))
    with LocalExecutor([synthetic_space(3, name="only/cpu")], jobs=jobs) as executor:
        return tune(tunable, executor, StudySettings(trials=TRIALS, repeats=8), directory, observe=say)


if __name__ == "__main__":
    make_study(Path(sys.argv[1]), int(sys.argv[2]), talk=True)
