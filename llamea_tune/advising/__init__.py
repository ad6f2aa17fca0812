"""ADVISE: ask a language model what it expects of a kernel, before anything is measured."""

from llamea_tune.advising.ask import ask_for_advice
from llamea_tune.advising.hiding import Hiding
from llamea_tune.advising.request import AdviceRequest, advice_request

__all__ = ["AdviceRequest", "Hiding", "advice_request", "ask_for_advice"]
