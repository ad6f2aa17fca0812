"""ADVISE: ask a language model what it expects of a kernel, before anything is measured."""
