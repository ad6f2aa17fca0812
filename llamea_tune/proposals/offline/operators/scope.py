"""Scopes: around which configs the next candidates lie."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

WALK = Component(name="walk", call="self._neighbours(current)", weight=3.0)

ELITE = Component(
    name="elite",
    phrase="looks around every elite config at once",
    call="self._near_elite(current)",
    weight=1.0,
    effort=1,
    needs=("elite",),
    methods='''
def _near_elite(self, current: tuple) -> list[tuple]:
    """Unmeasured neighbours of the current config and of all elite configs."""
    centres = dict.fromkeys([current, *self._elite()])
    near = [n for centre in centres for n in self._neighbours(centre)]
    return list(dict.fromkeys(near))
''',
)

WIDE = Component(
    name="wide",
    phrase="looks around every elite config and at random ones",
    call="self._near_and_far(current)",
    weight=3.0,
    effort=1,
    needs=("elite", "unmeasured"),
    imports=("import random",),
    hyperparameters=(Hyperparameter("n_far", 60, 5, 150, "Random configs among the candidates.", log=True),),
    methods='''
def _near_and_far(self, current: tuple) -> list[tuple]:
    """Unmeasured neighbours of the current and the elite configs, and random ones."""
    centres = dict.fromkeys([current, *self._elite()])
    near = [n for centre in centres for n in self._neighbours(centre)]
    far = random.choices(self.space.list, k=self.n_far)
    return self._unmeasured([*near, *far])
''',
)

SCOPES = (WALK, ELITE, WIDE)
