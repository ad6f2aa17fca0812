"""Mends Kernel Tuner's index matrix where parameters are boolean.

`Searchspace.get_list_param_indices_numpy` takes a short way where all values are small whole numbers. It counts booleans
as such and then indexes arrays with them, so that all configs get the same value, neighbours are no neighbours, and
strategies fail. Every search space of this package is a `Searchspace`, and so is what strategies hold in a user's own
tuning; hence the method itself is mended, once, when `llamea_tune` is imported. Exported files, which work without this
package, do the same for the search space that they are given.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from kernel_tuner.searchspace import Searchspace

from llamea_tune.kernel_tuner_internals import check_attributes


def mend_value_indices() -> None:
    """Let every `Searchspace` take its index matrix from the values themselves; called again, it changes nothing."""
    kernel_tuners_own = Searchspace.get_list_param_indices_numpy
    if hasattr(kernel_tuners_own, "__wrapped__"):
        return

    @wraps(kernel_tuners_own)
    def get_list_param_indices_numpy(self: Any) -> Any:
        check_attributes(self, "_Searchspace__list_param_indices")
        if self._Searchspace__list_param_indices is not None:
            return kernel_tuners_own(self)
        values = self.tune_params
        # One more value, equal to nothing, keeps Kernel Tuner from its short way.
        if any(isinstance(value, bool) for own in values.values() for value in own):
            self.tune_params = {name: [*own, object()] for name, own in values.items()}
        try:
            return kernel_tuners_own(self)
        finally:
            self.tune_params = values

    Searchspace.get_list_param_indices_numpy = get_list_param_indices_numpy
