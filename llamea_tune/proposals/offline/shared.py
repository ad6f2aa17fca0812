"""Methods that several search operators share, written into an optimizer only when one of its operators calls them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from llamea_tune.proposals.offline.component import Hyperparameter, Part

_UNMEASURED = Part(
    imports=("from collections.abc import Iterable",),
    methods='''
def _unmeasured(self, configs: Iterable[tuple]) -> list[tuple]:
    """Keep the valid configs that have not been measured, each once."""
    valid = self.space.is_param_config_valid
    return [c for c in dict.fromkeys(configs) if c not in self.costs and valid(c)]
''',
)

_NEAR = Part(
    imports=("import random",),
    state="self.neighbour_numbers = {}",
    methods='''
def _near(self, config: tuple, kind: str) -> list[tuple]:
    """Draw up to a hundred neighbours of a kind; each config's are looked up once."""
    key = (config, kind)
    if key not in self.neighbour_numbers:
        found = self.space.get_neighbors_indices_no_cache(config, kind)
        self.neighbour_numbers[key] = list(found)
    numbers = self.neighbour_numbers[key]
    drawn = random.sample(numbers, min(len(numbers), 100))
    return self.space.get_param_configs_at_indices(drawn)
''',
)

_RANDOM_CONFIG = Part(
    imports=("import random",),
    methods='''
def _random_config(self) -> tuple:
    """Draw a config that has not been measured; the caller knows that there is one."""
    for _ in range(20):
        config = random.choice(self.space.list)
        if config not in self.costs:
            return config
    return random.choice([c for c in self.space.list if c not in self.costs])
''',
)

_ELITE = Part(
    imports=("import heapq",),
    hyperparameters=(Hyperparameter("elite_size", 6, 2, 30, "Best configs that count as the elite.", log=True),),
    methods='''
def _elite(self) -> list[tuple]:
    """Return the best configs known."""
    return heapq.nsmallest(self.elite_size, self.costs, key=self.costs.get)
''',
)

_REPAIR = Part(
    imports=("import random", "from collections.abc import Sequence"),
    methods='''
def _repair(self, child: Sequence, anchor: tuple) -> tuple:
    """Give a child the anchor's values, one by one, until it is a valid config."""
    repaired = list(child)
    for i in random.sample(range(len(anchor)), len(anchor)):
        if self.space.is_param_config_valid(tuple(repaired)):
            break
        repaired[i] = anchor[i]
    return tuple(repaired)
''',
)

_POSITIONS = Part(
    state="""
all_values = searchspace.params_values
self.positions = [{v: i for i, v in enumerate(values)} for values in all_values]
""",
)

_ENCODE = Part(
    imports=("from collections.abc import Iterable", "import numpy as np"),
    state="""
positions = searchspace.get_list_param_indices_numpy()
self.points = positions / np.maximum(positions.max(axis=0), 1)
""",
    methods='''
def _encode(self, configs: Iterable[tuple]) -> np.ndarray:
    """Turn configs into rows of value positions, each parameter scaled to 0 to 1."""
    return self.points[[self.space.get_param_config_index(c) for c in configs]]
''',
)

_ONE_HOT = Part(
    imports=("from collections.abc import Iterable", "import numpy as np"),
    state="""
sizes = [len(values) for values in searchspace.params_values]
offsets = np.cumsum([0, *sizes[:-1]])
self.n_columns = sum(sizes)
self.columns = searchspace.get_list_param_indices_numpy() + offsets
""",
    methods='''
def _one_hot(self, configs: Iterable[tuple]) -> np.ndarray:
    """Turn configs into rows with a 1 in the column of each of their values."""
    columns = self.columns[[self.space.get_param_config_index(c) for c in configs]]
    rows = np.zeros((len(columns), self.n_columns))
    np.put_along_axis(rows, columns, 1, axis=1)
    return rows
''',
)

_COST_RANKS = Part(
    imports=("import numpy as np", "from scipy.stats import rankdata"),
    methods='''
def _cost_ranks(self) -> np.ndarray:
    """Rank the costs known, in order of measurement: near 0 for the best, 1 at most."""
    return rankdata(list(self.costs.values())) / len(self.costs)
''',
)

SHARED_PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "unmeasured": _UNMEASURED,
        "near": _NEAR,
        "random_config": _RANDOM_CONFIG,
        "elite": _ELITE,
        "repair": _REPAIR,
        "positions": _POSITIONS,
        "encode": _ENCODE,
        "one_hot": _ONE_HOT,
        "cost_ranks": _COST_RANKS,
    }
)
