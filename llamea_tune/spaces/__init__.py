"""DESCRIBE: load search spaces, hold them as arrays, say what they are like."""

from llamea_tune.spaces.find import find_space_files, find_t1
from llamea_tune.spaces.load import bundled_spaces, load_space, load_spaces
from llamea_tune.spaces.searchspace import build_searchspace, param_configs
from llamea_tune.spaces.space import FailureKind, ParamConfig, ParamValue, Space

__all__ = [
    "FailureKind",
    "ParamConfig",
    "ParamValue",
    "Space",
    "build_searchspace",
    "bundled_spaces",
    "find_space_files",
    "find_t1",
    "load_space",
    "load_spaces",
    "param_configs",
]
