"""The configs that a prior is wanted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from kernel_tuner.searchspace import Searchspace
from numpy.typing import NDArray

from llamea_tune.exceptions import PriorError
from llamea_tune.spaces.space import ParamValue, Space

_MOST_VALUES = 1 << 16


@dataclass(frozen=True, eq=False)
class Configs:
    """The configs of a search space, and what they are of, as far as that is known. No measurement is among it.

    Attributes:
        tune_params: Values of each tunable parameter, in order.
        value_indices: Shape `(n, n_params)`: index of each config's values.
        kernel_name: Name of the kernel, possibly empty.
        device_name: Name of the device that they are to be measured on, possibly empty.
        objective: Name of the objective.
        higher_is_better: Whether it is maximised; None for what recordings say of it.
    """

    tune_params: Mapping[str, tuple[ParamValue, ...]]
    value_indices: NDArray[np.uint16]
    kernel_name: str = ""
    device_name: str = ""
    objective: str = "time"
    higher_is_better: bool | None = None

    def __len__(self) -> int:
        return len(self.value_indices)

    @classmethod
    def of_space(cls, space: Space) -> Configs:
        """Those of a space."""
        return cls(
            space.tune_params,
            space.value_indices,
            space.kernel_name,
            space.device_name,
            space.objective,
            space.higher_is_better,
        )

    @classmethod
    def of_searchspace(
        cls,
        searchspace: Searchspace,
        *,
        kernel_name: str = "",
        device_name: str = "",
        objective: str = "time",
        higher_is_better: bool | None = None,
    ) -> Configs:
        """Those of Kernel Tuner's `Searchspace`, in the order of its `list`.

        Raises:
            PriorError: A parameter has more values than their places are kept for.
        """
        names = list(searchspace.param_names)
        tune_params = {name: tuple(searchspace.tune_params[name]) for name in names}
        for name, values in tune_params.items():
            if len(values) > _MOST_VALUES:
                raise PriorError(
                    f"{name!r} has {len(values):,} values, and at most {_MOST_VALUES:,} work; tune it by fewer"
                )
        indices = np.empty((len(searchspace.list), len(names)), dtype=np.uint16)
        for number, column in enumerate(zip(*searchspace.list, strict=True)):
            place = {value: index for index, value in enumerate(tune_params[names[number]])}
            indices[:, number] = [place[value] for value in column]
        return cls(tune_params, indices, kernel_name, device_name, objective, higher_is_better)
