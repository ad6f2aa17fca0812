"""What one recording session measures: which configs, in which order, and where it writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llamea_tune.exceptions import SettingsError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.spaces.space import ParamConfig

WHOLE = (1, 1)


@dataclass(frozen=True)
class Plan:
    """A session's share of a recording.

    The order is shuffled, so that the drift of a machine does not follow the parameters, and so that an interrupted
    recording is a random sample.

    Attributes:
        kernel: What is measured.
        folder: Where the files go.
        label: Short name of the device; the files' names begin with it.
        sample: How many configs to record; None for all.
        part: `(i, n)`: the i-th of n shares, from 1.
        seed: Of the order.
    """

    kernel: KernelFolder
    folder: Path
    label: str
    sample: int | None
    part: tuple[int, int]
    seed: int

    def __post_init__(self) -> None:
        number, count = self.part
        if not 1 <= number <= count:
            raise SettingsError(f"there is no part {number} of {count}; give one from 1/{count} to {count}/{count}")
        if self.sample is not None and self.sample < 1:
            raise SettingsError(f"a sample of {self.sample} configs cannot be recorded; give 1 or more")

    @property
    def cache(self) -> Path:
        """The finished cache."""
        return self.folder / f"{self.label}.json.gz"

    @property
    def provenance(self) -> Path:
        """What the finished cache was recorded with."""
        return self.folder / f"{self.label}.provenance.json"

    def journal(self, part: tuple[int, int] | None = None) -> Path:
        """The journal of a part, this one by default."""
        number, count = part or self.part
        name = f"{self.label}.journal" if (number, count) == WHOLE else f"{self.label}.part{number}of{count}.journal"
        return self.folder / name

    def about(self, part: tuple[int, int] | None = None) -> Path:
        """Machine and noise of a part."""
        journal = self.journal(part)
        return journal.with_name(f"{journal.name}.about")

    def parts(self) -> list[tuple[int, int]]:
        """All parts that together make the recording."""
        return [(number, self.part[1]) for number in range(1, self.part[1] + 1)]

    def wanted(self) -> list[ParamConfig]:
        """All configs of the recording, in the order of measuring."""
        configs = self.kernel.param_configs
        order = np.random.default_rng(self.seed).permutation(len(configs))
        return [configs[i] for i in order[: self.sample]]

    def share(self) -> list[ParamConfig]:
        """This part's configs, in the order of measuring."""
        number, count = self.part
        return self.wanted()[number - 1 :: count]


def parse_part(text: str) -> tuple[int, int]:
    """Read a part as people write it: `2/4`.

    Raises:
        SettingsError: It is written otherwise.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not found:
        raise SettingsError(f"{text!r} is no part; write it as 2/4 for the second of four")
    return int(found[1]), int(found[2])


def in_space_order(kernel: KernelFolder, configs: Sequence[ParamConfig]) -> list[ParamConfig]:
    """Configs in the order of the space."""
    chosen = set(configs)
    return [config for config in kernel.param_configs if config in chosen]
