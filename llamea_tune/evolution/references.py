"""How named strategies do on the training spaces: run once, kept in the run directory, shown beside candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from llamea_tune.candidate import Behaviour
from llamea_tune.evolution.records import behaviour_from_json
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.execution import make_contender
from llamea_tune.scoring import Scorer

FILE = "references.json"

References = Mapping[str, Mapping[str, Behaviour]]


def references(run: RunDirectory, settings: Settings, scorer: Scorer) -> References:
    """The behaviour of each reference strategy that ran to the end on all spaces, on the seeds that candidates get.

    Args:
        run: The run directory; what is kept there is not run again.
        settings: Which strategies, and how many repeats.
        scorer: Scores on the training spaces.

    Raises:
        RunDirectoryError: What is kept cannot be read.
    """
    if not run.has(FILE):
        cards = {
            name: scorer.score(make_contender(name), repeats=settings.repeats) for name in settings.reference_strategies
        }
        kept = {
            name: {space: asdict(of) for space, of in card.behaviour.items()}
            for name, card in cards.items()
            if card.behaviour
        }
        run.write_json(FILE, kept)
    try:
        return {label: behaviour_from_json(on) for label, on in run.read_json(FILE).items()}
    except (AttributeError, KeyError, TypeError) as err:
        message = f"{run.path / FILE} holds no references ({err}); remove it, and they are made anew."
        raise RunDirectoryError(message) from err
