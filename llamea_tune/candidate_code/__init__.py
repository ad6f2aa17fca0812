"""READ: the one reader of candidate code: parsed once; contract, arguments, imports, fingerprint, defaults."""

from llamea_tune.candidate_code.code import Argument, CandidateCode, bound_name, fingerprint
from llamea_tune.candidate_code.contract import prompt_sentences
from llamea_tune.candidate_code.literals import literal
from llamea_tune.candidate_code.syntax import UNPARSABLE, parse_literal, parse_source

__all__ = [
    "Argument",
    "CandidateCode",
    "UNPARSABLE",
    "bound_name",
    "fingerprint",
    "literal",
    "parse_literal",
    "parse_source",
    "prompt_sentences",
]
