"""KNOW: what is known of a space's configs before the first measurement, from sources to a `Prior`.

Sources are recordings of the same kernel elsewhere, results in memory, advice files, the defaults of a T1 description,
and arrays.
"""

from llamea_tune.priors.combine import combine
from llamea_tune.priors.configs import Configs
from llamea_tune.priors.named import PRIORS, NamedPrior
from llamea_tune.priors.option import prior_for_searchspace
from llamea_tune.priors.scored import resolved, with_priors

__all__ = ["PRIORS", "Configs", "NamedPrior", "combine", "prior_for_searchspace", "resolved", "with_priors"]
