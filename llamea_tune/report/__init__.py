"""SHOW: tables and plots."""
