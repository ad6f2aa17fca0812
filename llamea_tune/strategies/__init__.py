"""USE: register generated strategies in Kernel Tuner; the catalog of strategies by name."""
