"""Recordings count more where they are of the maker of the device that is tuned for."""

from dataclasses import replace

import numpy as np
import pytest
from test_matching import ELSEWHERE, HERE, agreement

from llamea_tune.priors import Configs
from llamea_tune.priors.evidence import from_recordings
from llamea_tune.priors.makers import maker

OURS = replace(ELSEWHERE[0], device_name="NVIDIA A100-PCIE-40GB")
THEIRS = replace(ELSEWHERE[1], device_name="MI250X", costs=np.random.default_rng(0).permutation(ELSEWHERE[1].costs))
"""One that tells of the space, and one that does not; neither agrees with the other."""

CONFIGS = Configs.of_space(HERE)


@pytest.mark.parametrize(
    ("device_name", "expected"),
    [
        ("NVIDIA A100-PCIE-40GB", "NVIDIA"),
        ("RTX_2080_Ti", "NVIDIA"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA"),
        ("A4000", "NVIDIA"),
        ("Tesla K20", "NVIDIA"),
        ("RTX4090", "NVIDIA"),
        ("GB200", "NVIDIA"),
        ("Orin", "NVIDIA"),
        ("MI250X", "AMD"),
        ("AMD Instinct MI300X", "AMD"),
        ("W7800", "AMD"),
        ("Radeon RX 7900 XTX", "AMD"),
        ("gfx90a", "AMD"),
        ("AMD EPYC 7742", "AMD"),
        ("Intel(R) Xeon(R) Processor @ 2.60GHz", "Intel"),
        ("Intel Arc A770", "Intel"),
        ("A770", "Intel"),
        ("Core i7-12700", "Intel"),
        ("Ampere Altra", "Arm"),
        ("ARMv8 Processor rev 1 (v8l)", "Arm"),
        ("Apple M2", "Apple"),
        ("Simulation", ""),
        ("synthetic", ""),
        ("", ""),
    ],
)
def test_the_maker_is_told_by_the_name(device_name, expected):
    assert maker(device_name) == expected


def test_a_recording_of_the_same_maker_counts_more():
    unknown = from_recordings([OURS, THEIRS], CONFIGS).mean
    known = from_recordings([OURS, THEIRS], replace(CONFIGS, device_name="NVIDIA RTX A4000")).mean
    assert agreement(known, HERE.valid) > 0.95 > agreement(unknown, HERE.valid) + 0.1


@pytest.mark.parametrize("device_name", ["NVIDIA RTX A4000", "Intel Arc A770", "never heard of"])
def test_makers_that_do_not_tell_recordings_apart_change_nothing(device_name):
    recordings = [replace(each, device_name=f"RTX {n}000") for n, each in enumerate(ELSEWHERE, 2)]
    one, other = (from_recordings(recordings, replace(CONFIGS, device_name=name)) for name in ("", device_name))
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.sd, other.sd)


def test_it_is_as_far_off_as_it_says():
    prior = from_recordings([OURS, THEIRS], replace(CONFIGS, device_name="NVIDIA RTX A4000"))
    off = ((prior.mean - np.log(HERE.costs / np.nanmedian(HERE.costs))) / prior.sd)[HERE.valid]
    assert 0.1 < np.sqrt(np.mean(off**2)) < 1.5
