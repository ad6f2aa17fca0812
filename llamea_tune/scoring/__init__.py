"""SCORE: schedule runs, and turn their traces into scores with intervals."""
