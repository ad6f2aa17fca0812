"""Restarts: where the walk goes on when it is stuck."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

_PATIENCE = Hyperparameter("patience", 6, 3, 100, "Steps without a better cost before the walk restarts.", log=True)

RANDOM = Component(
    name="random",
    phrase="restarts from a random config",
    weight=2.0,
    needs=("random_config",),
    hyperparameters=(_PATIENCE,),
    methods='''
def _restart(self) -> tuple:
    """Start anew from a random config."""
    config = self._random_config()
    self._evaluate(config)
    return config
''',
)

PERTURBATION = Component(
    name="perturbation",
    phrase="perturbs the best config",
    weight=2.0,
    needs=("random_config", "unmeasured"),
    imports=("import random",),
    hyperparameters=(
        _PATIENCE,
        Hyperparameter("kick_size", 3, 1, 8, "Parameters that a kick changes."),
    ),
    methods='''
def _restart(self) -> tuple:
    """Kick the best config: change several parameters at once."""
    values = self.space.params_values
    size = min(self.kick_size, len(values))
    kicked = []
    for _ in range(50):
        config = list(self.best)
        for i in random.sample(range(len(values)), size):
            config[i] = random.choice(values[i])
        kicked.append(tuple(config))
    config = next(iter(self._unmeasured(kicked)), None) or self._random_config()
    self._evaluate(config)
    return config
''',
)

ELITE = Component(
    name="elite",
    phrase="returns to an elite config",
    weight=2.0,
    needs=("elite", "random_config"),
    imports=("import random",),
    hyperparameters=(_PATIENCE,),
    methods='''
def _restart(self) -> tuple:
    """Go on from an elite config with unmeasured neighbours, else from a random one."""
    for config in random.sample(elite := self._elite(), len(elite)):
        if self._neighbours(config):
            return config
    config = self._random_config()
    self._evaluate(config)
    return config
''',
)

RESTARTS = (RANDOM, PERTURBATION, ELITE)
