"""The offline recombiner: optimizers written from a library of search operators, without a language model."""

from llamea_tune.proposals.offline.proposer import OfflineProposer

__all__ = ["OfflineProposer"]
