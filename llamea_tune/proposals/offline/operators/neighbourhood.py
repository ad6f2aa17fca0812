"""Neighbourhoods: the configs that one step can reach."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

HAMMING = Component(
    name="hamming",
    phrase="configs that differ in one parameter",
    weight=4.0,
    needs=("unmeasured",),
    methods='''
def _neighbours(self, config: tuple) -> list[tuple]:
    """Unmeasured configs that differ from this one in a single parameter."""
    return self._unmeasured(
        (*config[:i], value, *config[i + 1 :])
        for i, values in enumerate(self.space.params_values)
        for value in values
    )
''',
)

ADJACENT = Component(
    name="adjacent",
    phrase="adjacent configs",
    weight=0.5,
    effort=1,
    needs=("near", "unmeasured"),
    methods='''
def _neighbours(self, config: tuple) -> list[tuple]:
    """Unmeasured configs whose values all lie next to this one's or equal them."""
    return self._unmeasured(self._near(config, "adjacent"))
''',
)

STRICTLY_ADJACENT = Component(
    name="strictly_adjacent",
    phrase="strictly adjacent configs",
    weight=0.5,
    effort=1,
    needs=("near", "unmeasured"),
    methods='''
def _neighbours(self, config: tuple) -> list[tuple]:
    """Unmeasured configs at most one position away in every parameter's values."""
    return self._unmeasured(self._near(config, "strictly-adjacent"))
''',
)

SHRINKING_STEP = Component(
    name="shrinking_step",
    phrase="single-parameter steps that shorten over time",
    weight=2.0,
    needs=("unmeasured", "positions"),
    hyperparameters=(Hyperparameter("reach", 0.6, 0.2, 1.0, "First step length, as a share of a parameter's values."),),
    methods='''
def _neighbours(self, config: tuple) -> list[tuple]:
    """Unmeasured configs one step away in one parameter; steps shorten over time."""
    share = self.reach * (1 - self.func.budget_spent_fraction)
    neighbours = []
    for i, values in enumerate(self.space.params_values):
        position = self.positions[i][config[i]]
        step = max(1, round(share * len(values)))
        near = values[max(0, position - step) : position + step + 1]
        neighbours += [(*config[:i], value, *config[i + 1 :]) for value in near]
    return self._unmeasured(neighbours)
''',
)

VARIABLE = Component(
    name="variable",
    phrase="a neighbourhood that widens while steps fail",
    weight=4.0,
    needs=("unmeasured",),
    imports=("import random",),
    hyperparameters=(
        Hyperparameter("steps_per_radius", 12, 3, 60, "Failed steps before one more parameter may change.", log=True),
        Hyperparameter("wide_samples", 40, 10, 120, "Configs drawn where several parameters may change.", log=True),
    ),
    state="self.failed_steps = 0",
    learned="self.failed_steps = 0 if improved else self.failed_steps + 1",
    methods='''
def _neighbours(self, config: tuple) -> list[tuple]:
    """Unmeasured configs within a radius that grows with the steps that failed."""
    all_values = self.space.params_values
    radius = min(1 + self.failed_steps // self.steps_per_radius, len(config))
    if radius == 1:
        changes = [(i, v) for i, vs in enumerate(all_values) for v in vs]
        changed = ((*config[:i], value, *config[i + 1 :]) for i, value in changes)
        return self._unmeasured(changed)
    neighbours = []
    for _ in range(self.wide_samples):
        neighbour = list(config)
        for i in random.sample(range(len(config)), radius):
            neighbour[i] = random.choice(all_values[i])
        neighbours.append(tuple(neighbour))
    return self._unmeasured(neighbours)
''',
)

ONE_PARAMETER = Component(
    name="one_parameter",
    phrase="the values of one parameter at a time",
    weight=1.0,
    needs=("unmeasured",),
    imports=("import random",),
    state="self.turns = []",
    methods='''
def _neighbours(self, config: tuple) -> list[tuple]:
    """Unmeasured configs with another value of the parameter whose turn it is."""
    for _ in range(2 * len(config)):
        if not self.turns:
            self.turns = random.sample(range(len(config)), len(config))
        i = self.turns.pop()
        values = self.space.params_values[i]
        moved = ((*config[:i], value, *config[i + 1 :]) for value in values)
        neighbours = self._unmeasured(moved)
        if neighbours:
            return neighbours
    return []
''',
)

ADAPTIVE = Component(
    name="adaptive",
    phrase="whichever kind of neighbour has paid off most",
    weight=2.0,
    effort=1,
    needs=("near", "unmeasured"),
    imports=("import random",),
    hyperparameters=(
        Hyperparameter("credit_memory", 0.9, 0.6, 0.98, "Share of the credit that a kind of neighbour keeps per use."),
    ),
    state="""
kinds = ("Hamming", "Hamming-adjacent", "strictly-adjacent")
self.credit = dict.fromkeys(kinds, 0.5)
self.kind = "Hamming"
""",
    learned="self._give_credit(improved)",
    methods='''
def _neighbours(self, config: tuple) -> list[tuple]:
    """Unmeasured neighbours of a kind drawn by credit; Hamming ones if it has none."""
    weights = [0.05 + credit for credit in self.credit.values()]
    self.kind = random.choices(list(self.credit), weights)[0]
    neighbours = self._unmeasured(self._near(config, self.kind))
    if not neighbours and self.kind != "Hamming":
        self.kind = "Hamming"
        neighbours = self._unmeasured(self._near(config, self.kind))
    return neighbours

def _give_credit(self, improved: bool) -> None:
    """Move the credit of the kind just used towards 1 if it helped, else towards 0."""
    kept = self.credit_memory * self.credit[self.kind]
    self.credit[self.kind] = kept + (1 - self.credit_memory) * improved
''',
)

NEIGHBOURHOODS = (HAMMING, ADJACENT, STRICTLY_ADJACENT, SHRINKING_STEP, VARIABLE, ONE_PARAMETER, ADAPTIVE)
