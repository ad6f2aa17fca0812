"""llamea-tune: better optimization strategies for Kernel Tuner, found by evolution.

Importing it makes every generated strategy work by name: `tune_kernel(..., strategy="llm_gen_best")`.
"""

from llamea_tune.strategies.register import register_generated

__version__ = "0.1.0"

register_generated()
