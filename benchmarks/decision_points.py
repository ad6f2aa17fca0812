"""Decision points of a recorded run: what was known when a language model was asked, and what it was asked to start from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from llamea_tune.candidate import Candidate
from llamea_tune.evolution.history import History
from llamea_tune.evolution.plan import PlannedCandidate
from llamea_tune.llm.exchanges import read_exchanges
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.proposal import ProposalTask
from llamea_tune.proposals.reply import parse_reply

_KEY = re.compile(r"g(?P<generation>\d+)-(?P<position>\d+)-(?P<operator>\w+)")
_PARENT = re.compile(r"^## Parent.*?^(?P<fence>`{3,})python\n(?P<code>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_PREFERRED = ("mutate", "crossover", "simplify", "diversify", "repair")


@dataclass(frozen=True)
class Recorded:
    """A candidate of a recorded run, and the key of its prompt."""

    key: str
    candidate: Candidate


def recorded_candidates(path: Path) -> list[Recorded]:
    """The candidates of a run, oldest first, from its prompts and their answers alone."""
    exchanges = sorted(read_exchanges(path), key=lambda exchange: exchange[0].key)
    found: list[Recorded] = []
    for prompt, completion in exchanges:
        matched = _KEY.fullmatch(prompt.key)
        if matched is None:
            continue  # a second try
        operator = OPERATORS[matched["operator"]]
        parents = [_of_code(code, found) for code in _parent_codes(prompt.user)]
        reply = parse_reply(completion.text, parents[0].code if operator.edits else None)
        made = Candidate(
            id=f"{len(found):04d}",
            class_name=reply.class_name,
            code=reply.code,
            description=reply.description,
            proposer=completion.llm,
            operator=operator.name,
            generation=int(matched["generation"]),
            parents=tuple(parent.id for parent in parents),
            ranges=reply.ranges,
        )
        found.append(Recorded(prompt.key, made))
    return found


def _parent_codes(user: str) -> list[str]:
    _, _, after = user.partition("\n# What to start from\n")
    return [found["code"].strip() for found in _PARENT.finditer(after.rpartition("\n# Your task\n")[0])]


def _of_code(code: str, found: Sequence[Recorded]) -> Candidate:
    return next(entry.candidate for entry in found if entry.candidate.code.strip() == code)


def chosen(recorded: Sequence[Recorded], most: int) -> list[Recorded]:
    """The decision points to look at: those with parents, by operator, changes of one parent before all others."""
    later = [entry for entry in recorded if entry.candidate.parents]
    later.sort(key=lambda entry: (_PREFERRED.index(entry.candidate.operator), entry.candidate.id))
    return sorted(later[:most], key=lambda entry: entry.candidate.id)


def planned(
    recorded: Sequence[Recorded], generation: int, history: History, spaces: Sequence[str]
) -> list[PlannedCandidate]:
    """A whole generation as it was planned, with parents as they are judged now.

    Args:
        recorded: All candidates of the run.
        generation: The generation.
        history: What is known of those before it.
        spaces: Descriptions of the spaces.
    """
    tried = tuple(entry.candidate.description for entry in history.all())
    return [
        PlannedCandidate(
            entry.candidate.id,
            generation,
            ProposalTask(
                entry.key,
                entry.candidate.operator,
                tuple(history[parent] for parent in entry.candidate.parents),
                tuple(spaces),
                tried,
                number,
            ),
        )
        for number, entry in enumerate(recorded)
        if entry.candidate.generation == generation
    ]
