"""Read an optimizer out of a model's answer."""

from __future__ import annotations

import logging
import re
import textwrap
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exceptions import CandidateCodeError
from llamea_tune.proposals.anchors import without_anchors
from llamea_tune.proposals.blocks import Answer, clean, split
from llamea_tune.proposals.edits import apply_edits, find_edits, without_edits
from llamea_tune.proposals.json_answer import as_blocks
from llamea_tune.proposals.proposal import ProposalError
from llamea_tune.proposals.ranges import check_ranges, read_json_object
from llamea_tune.proposals.sources import sources
from llamea_tune.proposals.thinking import is_thinking_aloud

_log = logging.getLogger(__name__)

_JSON = ("", "json", "jsonc", "json5")
_DESCRIPTION = re.compile(r"^[\s#>*_\d.)-]*description[\s*_]*[:\u2014-][\s*_]*(?P<text>\S.*)$", re.IGNORECASE)
_LONGEST_DESCRIPTION = 400


class Reply(NamedTuple):
    """What an answer holds.

    Attributes:
        class_name: Name of the class deriving from `OptAlg`.
        code: The whole source.
        description: What the algorithm does, on one line.
        ranges: Declared ranges of its hyperparameters that make sense.
        refused_ranges: A sentence on each other one.
    """

    class_name: str
    code: str
    description: str
    ranges: Mapping[str, HyperparameterRange]
    refused_ranges: tuple[str, ...] = ()


def parse_reply(text: str, parent_code: str | None = None) -> Reply:
    """Read an optimizer out of an answer.

    Args:
        text: The answer.
        parent_code: Source that edits apply to, where the answer may hold edits.

    Raises:
        ProposalError: The answer holds no usable optimizer; the message says why, briefly.
    """
    text = without_anchors(clean(text))
    if not text.strip():
        raise ProposalError("the answer is empty")
    answer = split(as_blocks(without_edits(text)))
    code = _code(text, answer, parent_code)
    ranges, notes = check_ranges(_declared_ranges(answer), code.defaults)
    for note in notes:
        _log.info("%s: %s", code.class_name, note)
    return Reply(code.class_name, code.source, _description(answer, code), ranges, notes)


def _code(text: str, answer: Answer, parent_code: str | None) -> CandidateCode:
    """The code that an answer gives, as edits of its parent or as a whole."""
    problem = ""
    edits = find_edits(text)
    if edits and parent_code is not None:
        try:
            return CandidateCode.read(apply_edits(parent_code, edits)).checked()
        except (ProposalError, CandidateCodeError) as err:
            problem = str(err)
    for source in sources(answer):
        try:
            code = CandidateCode.read(source)
            if violations := code.violations():
                problem = problem or "; ".join(violations)
        except CandidateCodeError as err:
            problem = problem or str(err)
            continue
        if not violations:
            return code
        if code.method("__call__"):
            break  # what stands before it is a draft, or what it is to replace
    what = "only edits, where a whole class was asked for" if edits else "no Python code"
    raise ProposalError(problem or f"the answer holds {what}")


def _declared_ranges(answer: Answer) -> Mapping[str, Any]:
    """The JSON object of ranges: the last block that holds one, or else what stands between braces in the prose."""
    texts = [content for language, content in answer.blocks if language in _JSON]
    if "{" in answer.prose:
        texts.insert(0, answer.prose[answer.prose.index("{") : answer.prose.rfind("}") + 1])
    for text in reversed(texts):
        declared = read_json_object(text)
        if declared is None:
            continue
        if len(declared) == 1:  # {"hyperparameters": {...}}
            (inner,) = declared.values()
            if isinstance(inner, dict) and all(isinstance(entry, dict) for entry in inner.values()):
                declared = inner
        return declared
    return {}


def _description(answer: Answer, code: CandidateCode) -> str:
    """The last line that begins with `Description:`, or the first of prose, of the docstring, or the class's name."""
    lines = [line.strip() for line in answer.prose.split("\n")]
    named = (found["text"] for found in map(_DESCRIPTION.match, reversed(lines)) if found)
    told = takewhile(lambda line: not is_thinking_aloud(line), lines)
    plain = (line for line in told if line and line[0].isalpha() and not line.endswith(":"))
    doc = (line for line in code.doc.split("\n") if line.strip())
    text = next(named, None) or next(plain, None) or next(doc, None) or code.class_name
    text = " ".join(text.strip("*_`# ").split()) or code.class_name
    return textwrap.shorten(text, _LONGEST_DESCRIPTION, placeholder=" …")
