"""Recombination: candidates made from several of the best configs known."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

_RATE = Hyperparameter("recombination_rate", 0.3, 0.05, 0.95, "Share of the steps that recombine elite configs.")
_CHILDREN = Hyperparameter("children", 8, 1, 40, "Configs made at a time.", log=True)

NONE = Component(name="none", weight=3.0)

UNIFORM_CROSSOVER = Component(
    name="uniform_crossover",
    phrase="crosses elite configs",
    weight=1.0,
    needs=("elite", "repair", "unmeasured"),
    imports=("import random",),
    hyperparameters=(
        _RATE,
        _CHILDREN,
        Hyperparameter("mutation_rate", 0.1, 0.01, 0.4, "Chance that a child's value is drawn anew.", log=True),
    ),
    methods='''
def _children(self) -> list[tuple]:
    """Now and then, mix the values of pairs of elite configs, with an occasional new one."""
    if random.random() >= self.recombination_rate:
        return []
    elite = self._elite()
    children = []
    for _ in range(self.children):
        mother, father = random.choice(elite), random.choice(elite)
        child = [random.choice(pair) for pair in zip(mother, father, strict=True)]
        for i, values in enumerate(self.space.params_values):
            if random.random() < self.mutation_rate:
                child[i] = random.choice(values)
        children.append(self._repair(child, mother))
    return self._unmeasured(children)
''',
)

DIFFERENTIAL = Component(
    name="differential",
    phrase="adds differences between elite configs",
    weight=1.0,
    needs=("elite", "repair", "unmeasured", "positions"),
    imports=("import random",),
    hyperparameters=(
        _RATE,
        _CHILDREN,
        Hyperparameter("difference_factor", 0.8, 0.2, 1.5, "How far along a difference a child goes."),
    ),
    methods='''
def _children(self) -> list[tuple]:
    """Now and then, shift elite configs by differences between two others, in positions of values."""
    if random.random() >= self.recombination_rate:
        return []
    elite = self._elite()
    children = []
    for _ in range(self.children):
        base, one, other = (random.choice(elite) for _ in range(3))
        child = list(base)
        for i, values in enumerate(self.space.params_values):
            position = self.positions[i]
            step = self.difference_factor * (position[one[i]] - position[other[i]])
            shifted = round(position[base[i]] + step)
            child[i] = values[min(max(shifted, 0), len(values) - 1)]
        children.append(self._repair(child, base))
    return self._unmeasured(children)
''',
)

PATH_RELINKING = Component(
    name="path_relinking",
    phrase="walks the paths between elite configs",
    weight=1.0,
    needs=("elite", "unmeasured"),
    imports=("import random",),
    hyperparameters=(_RATE,),
    methods='''
def _children(self) -> list[tuple]:
    """Now and then, collect the configs on the way from one elite config to another."""
    if random.random() >= self.recombination_rate:
        return []
    elite = self._elite()
    config, goal = random.choice(elite), random.choice(elite)
    path = []
    for i in random.sample(range(len(config)), len(config)):
        config = (*config[:i], goal[i], *config[i + 1 :])
        path.append(config)
    return self._unmeasured(path)
''',
)

MARGINALS = Component(
    name="marginals",
    phrase="samples values by how often elite configs have them",
    weight=1.0,
    needs=("elite", "repair", "unmeasured"),
    imports=("import random",),
    hyperparameters=(
        _RATE,
        _CHILDREN,
        Hyperparameter("smoothing", 0.3, 0.02, 2.0, "Count that every value starts from.", log=True),
    ),
    methods='''
def _children(self) -> list[tuple]:
    """Now and then, sample values by their frequency among the elite configs."""
    if random.random() >= self.recombination_rate:
        return []
    elite = self._elite()
    columns = []
    for i, values in enumerate(self.space.params_values):
        held = [config[i] for config in elite]
        weights = [self.smoothing + held.count(value) for value in values]
        columns.append(random.choices(values, weights, k=self.children))
    children = zip(*columns, strict=True)
    return self._unmeasured(self._repair(c, random.choice(elite)) for c in children)
''',
)

RECOMBINATIONS = (NONE, UNIFORM_CROSSOVER, DIFFERENTIAL, PATH_RELINKING, MARGINALS)
