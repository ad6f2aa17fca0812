"""TUNE: hyperparameters of a strategy, by Optuna."""
