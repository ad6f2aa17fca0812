"""SELECT: the loop, its settings, the population and the run log."""
