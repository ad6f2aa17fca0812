"""A `Searchspace` with quick neighbours.

Kernel Tuner finds a config's neighbours by comparing it with the whole space, and turns all of them into configs to
pick one. Here they are looked up, and remembered from run to run. All answers, their order and the use of random
numbers stay Kernel Tuner's: what `get_random_neighbor` does still depends on what the same run has looked up before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from random import choice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.kernel_tuner_internals import Searchspace, check_attributes, supported_neighbor_methods

MAX_REMEMBERED = 1_000_000

Ints = NDArray[np.int64]


class FastSearchspace(Searchspace):  # type: ignore[misc]
    """See the module. Build it with `build_searchspace(..., kind=FastSearchspace)`, and begin every run on it anew."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As `Searchspace`."""
        super().__init__(*args, **kwargs)
        check_attributes(self, "_Searchspace__neighbor_cache", "_Searchspace__neighbor_partial_cache")
        indices = self.get_list_param_indices_numpy()
        self._columns = [np.ascontiguousarray(column) for column in indices.T]
        self._present = [np.unique(column).tolist() for column in self._columns]
        self._remembered: dict[tuple[str, Any], Ints] = {}
        self._n_remembered = 0
        self.begin_run()

    def begin_run(self, *, cold: bool = False) -> None:
        """Forget what the run before has looked up, as if the space had just been built.

        Args:
            cold: Whether to do all the work that Kernel Tuner does, so that a run takes as long as a user's.
        """
        self._cold = cold
        self.neighbors_index: dict[str, Any] = {}
        self._Searchspace__neighbor_cache: dict[str, Any] = {method: {} for method in supported_neighbor_methods}
        self._Searchspace__neighbor_partial_cache: dict[str, Any] = {
            method: defaultdict(list) for method in supported_neighbor_methods
        }
        self._partial: dict[str, Any] = {method: defaultdict(dict) for method in supported_neighbor_methods}

    def get_param_configs_at_indices(self, indices: Any) -> list[Any]:
        """The configs of these numbers."""
        if isinstance(indices, np.ndarray):
            indices = indices.tolist()
        return list(map(self.list.__getitem__, indices))

    def get_neighbors_indices_no_cache(
        self, param_config: Any, neighbor_method: str | None = None, build_full_cache: bool = False
    ) -> Any:
        """Numbers of the neighbours of a config, in ascending order."""
        method = neighbor_method or self.neighbor_method
        if self._cold or build_full_cache or self.neighbors_index or method not in _LOOKUPS:
            return super().get_neighbors_indices_no_cache(param_config, neighbor_method, build_full_cache)
        known = self._remembered.get((method, param_config))
        if known is None:
            known = _LOOKUPS[method](self, param_config)
            if self._n_remembered < MAX_REMEMBERED:
                self._remembered[method, param_config] = known
                self._n_remembered += len(known)
        return known.copy()  # the caller may change its own

    def get_random_neighbor(
        self, param_config: Any, neighbor_method: str | None = None, use_partial_cache: bool = True
    ) -> Any:
        """A random neighbour of a config, or None."""
        if self._cold or not (neighbor_method or self.neighbor_method):
            return super().get_random_neighbor(param_config, neighbor_method, use_partial_cache)
        if use_partial_cache and not self.are_neighbors_indices_cached(param_config, neighbor_method):
            neighbor = self.pop_random_partial_neighbor(param_config, neighbor_method)
            if neighbor is not None:
                return neighbor
        neighbors = self.get_neighbors_indices(param_config, neighbor_method)
        return self.list[choice(neighbors)] if len(neighbors) > 0 else None

    def get_partial_neighbors_indices(self, param_config: Any, neighbor_method: str | None = None) -> list[Any]:
        """The neighbours of a config that are known without having looked it up."""
        if self._cold:
            known: list[Any] = super().get_partial_neighbors_indices(param_config, neighbor_method)
            return known
        partial = self._partial[neighbor_method or self.neighbor_method]
        return self.get_param_configs_at_indices(list(partial.get(self.get_param_config_index(param_config), ())))

    def pop_random_partial_neighbor(
        self, param_config: Any, neighbor_method: str | None = None, threshold: int = 2
    ) -> Any:
        """Take out a random one of these neighbours, if there are at least `threshold`."""
        if self._cold:
            return super().pop_random_partial_neighbor(param_config, neighbor_method, threshold)
        partial = self._partial[neighbor_method or self.neighbor_method]
        known = partial.get(self.get_param_config_index(param_config), {})
        if len(known) < threshold:
            return None
        taken = list(known)[choice(range(len(known)))]
        del known[taken]
        return self.list[taken]

    def _Searchspace__add_to_neighbor_partial_cache(  # noqa: N802
        self, param_config: Any, neighbor_indices: Any, neighbor_method: str, full_neighbors: bool = False
    ) -> None:
        """Note a config and its neighbours as each other's; a dict keeps their order and finds them quickly."""
        if self._cold:
            super()._Searchspace__add_to_neighbor_partial_cache(
                param_config, neighbor_indices, neighbor_method, full_neighbors
            )
            return
        index = self.get_param_config_index(param_config)
        if index is None:
            return
        neighbors = dict.fromkeys(np.asarray(neighbor_indices).tolist())
        partial = self._partial[neighbor_method]
        if full_neighbors:
            partial[index] = neighbors
        else:
            partial[index].update(neighbors)
        for neighbor in neighbors:
            partial[neighbor].setdefault(index)

    def _hamming(self, param_config: Any) -> Ints:
        self.get_param_indices(param_config)  # refuses unknown values
        get = self.get_list_dict().get
        found = []
        for place, values in enumerate(self.params_values):
            head, own, tail = param_config[:place], param_config[place], param_config[place + 1 :]
            found += [get((*head, value, *tail)) for value in values if value != own]
        return np.array(sorted(index for index in found if index is not None), dtype=np.int64)

    def _hamming_adjacent(self, param_config: Any) -> Ints:
        own = self.get_param_indices(param_config)
        hamming = self._hamming(param_config)
        offsets = self.get_list_param_indices_numpy()[hamming].astype(np.int64) - np.array(own)
        nearest = np.zeros(len(hamming), dtype=bool)
        for offset in offsets.T:
            above, below = offset[offset > 0], offset[offset < 0]
            nearest |= (offset == above.min(initial=np.iinfo(np.int64).max)) | (
                offset == below.max(initial=np.iinfo(np.int64).min)
            )
        return hamming[nearest]

    def _strictly_adjacent(self, param_config: Any) -> Ints:
        own = self.get_param_indices(param_config)
        return self._within([(i - 1, i + 1) for i in own], param_config)

    def _adjacent(self, param_config: Any) -> Ints:
        """Within the nearest values on both sides that occur anywhere in the space."""
        bounds = []
        for i, present in zip(self.get_param_indices(param_config), self._present, strict=True):
            below, above = bisect_left(present, i) - 1, bisect_right(present, i)
            bounds.append(
                (present[below] if below >= 0 else i, present[above] if above < len(present) else i),
            )
        return self._within(bounds, param_config)

    def _within(self, bounds: list[tuple[int, int]], param_config: Any) -> Ints:
        """Numbers of all configs but this one whose value indices are within bounds."""
        found: Ints | None = None
        for column, (low, high) in zip(self._columns, bounds, strict=True):
            values = column if found is None else column[found]
            inside = ((values >= low) & (values <= high)).nonzero()[0]
            found = inside if found is None else found[inside]
        index = self.get_param_config_index(param_config)
        assert found is not None
        return found if index is None else found[found != index]


_LOOKUPS = {
    "Hamming": FastSearchspace._hamming,
    "Hamming-adjacent": FastSearchspace._hamming_adjacent,
    "strictly-adjacent": FastSearchspace._strictly_adjacent,
    "adjacent": FastSearchspace._adjacent,
}
