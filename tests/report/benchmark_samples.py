"""What the shared benchmark compares, and how."""

from llamea_tune.scoring.benchmarking import BenchmarkSettings

NAMES = ("random_sample", "simulated_annealing", "genetic_algorithm:popsize=10")
SETTINGS = BenchmarkSettings(repeats=6, seed=3, baseline="published")
