"""RUN: static check, the trusted host, and the guest: the only place that executes candidate code."""
