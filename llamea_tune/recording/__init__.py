"""Record search spaces: brute-force a kernel on a device into a Kernel Tuner cache."""

from llamea_tune.recording.bench import Bench, DeviceInfo
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.recording.noise import Noise
from llamea_tune.recording.recording_journal import Journal
from llamea_tune.recording.recording_plan import parse_part
from llamea_tune.recording.session import Progress, Recorded, record

__all__ = [
    "Bench",
    "DeviceInfo",
    "Journal",
    "KernelFolder",
    "Noise",
    "Progress",
    "Recorded",
    "parse_part",
    "record",
]
