"""Optimizers of other libraries as strategies, each named `library:optimizer`; one file a library.

Kernel Tuner knows none of them: they run on its cost function, as a strategy of its own would.
"""

from llamea_tune.strategies.outside.library import LIBRARIES, Library, find_outside, library_of

__all__ = ["LIBRARIES", "Library", "find_outside", "library_of"]
