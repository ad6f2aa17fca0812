"""KNOW: what is known of a space's configs before the first measurement of it."""

from llamea_tune.priors.advice import Advice, advice_path, is_advice, read_advice

__all__ = ["Advice", "advice_path", "is_advice", "read_advice"]
