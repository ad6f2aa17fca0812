"""EXPORT: a standalone strategy file and its provenance record."""
