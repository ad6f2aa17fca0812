"""How far a measurement can be trusted: a sample is measured again, and compiled again alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from llamea_tune.recording.ahead import CompileAhead
from llamea_tune.recording.bench import Bench
from llamea_tune.recording.recording_file import Entry, config_key
from llamea_tune.spaces.space import ParamConfig

REPEATS = 2
COMPILED_ALONE = 8


@dataclass(frozen=True)
class Noise:
    """What measuring a sample of configs again gave.

    Attributes:
        spreads: For each config of the sample: (longest - shortest) / shortest of its measured times.
        compile_ratios: For some: time to compile alone, over the compile time recorded.
    """

    spreads: tuple[float, ...] = ()
    compile_ratios: tuple[float, ...] = ()

    def __add__(self, other: Noise) -> Noise:
        return Noise(self.spreads + other.spreads, self.compile_ratios + other.compile_ratios)

    @property
    def median_spread(self) -> float:
        """Median of the relative spreads; NaN without a sample."""
        return float(np.median(self.spreads)) if self.spreads else float("nan")

    def describe(self) -> dict[str, Any]:
        """The statement of noise for a provenance file."""
        if not self.spreads:
            return {"statement": "No config was measured again, so the noise is not known."}
        tail = float(np.quantile(self.spreads, 0.95))
        described: dict[str, Any] = {
            "configs": len(self.spreads),
            "measurements_each": 1 + REPEATS,
            "median_relative_spread": round(self.median_spread, 5),
            "p95_relative_spread": round(tail, 5),
            "statement": (
                f"{len(self.spreads)} configs were measured {1 + REPEATS} times at different moments: the longest time "
                f"of a config exceeds the shortest by {self.median_spread:.2%} at the median and by {tail:.2%} at the "
                "95th percentile."
            ),
        }
        if self.compile_ratios:
            ratio = float(np.median(self.compile_ratios))
            described["compile_alone_over_recorded"] = round(ratio, 3)
            described["statement"] += f" Compiled alone, a config takes {ratio:.2f} times its recorded compile time."
        return described


def measure_noise(
    bench: Bench,
    ahead: CompileAhead | None,
    measured: Mapping[str, Entry],
    configs: Sequence[ParamConfig],
    n_configs: int,
    rng: np.random.Generator,
) -> Noise:
    """Measure a sample again.

    Args:
        bench: Where.
        ahead: Compiles ahead; None where only the backend can compile.
        measured: What was recorded, by `config_key`.
        configs: The configs to draw from.
        n_configs: Size of the sample.
        rng: Draws it.
    """
    valid = [config for config in configs if "time" in measured.get(config_key(config), {})]
    if not valid or not n_configs:
        return Noise()
    drawn = rng.choice(len(valid), size=min(n_configs, len(valid)), replace=False)
    sample = [valid[i] for i in drawn]
    again = sample * REPEATS
    times: dict[str, list[float]] = {config_key(config): [measured[config_key(config)]["time"]] for config in sample}
    for config, artefact in ahead.compile(again) if ahead else ((config, None) for config in again):
        entry = bench.measure(config, artefact)
        if "time" in entry:
            times[config_key(config)].append(entry["time"])
    ratios = []
    for config in sample[:COMPILED_ALONE]:
        recorded, alone = measured[config_key(config)]["compile_time"], bench.measure(config)["compile_time"]
        if recorded and alone:
            ratios.append(alone / recorded)
    return Noise(tuple((max(t) - min(t)) / min(t) for t in times.values() if len(t) > 1), tuple(ratios))


def noise_as_json(noise: Noise) -> dict[str, Any]:
    """Plain values, for a file beside a journal."""
    return {name: list(values) for name, values in asdict(noise).items()}


def noise_from_json(values: Mapping[str, Any]) -> Noise:
    """The reverse of `noise_as_json`."""
    return Noise(tuple(values["spreads"]), tuple(values["compile_ratios"]))
