"""DESCRIBE: load search spaces, hold them as arrays, say what they are like."""

from llamea_tune.spaces.convert import cache_to_t4, t4_to_cache
from llamea_tune.spaces.describe import InformationLevel, describe
from llamea_tune.spaces.features import LandscapeFeatures, NeighbourhoodFeatures, landscape_features
from llamea_tune.spaces.find import find_space_files, find_t1
from llamea_tune.spaces.load import Reading, bundled_spaces, load_space, load_spaces
from llamea_tune.spaces.searchspace import build_searchspace, param_configs
from llamea_tune.spaces.space import FailureKind, ParamConfig, ParamValue, RecordedSpace, Space

__all__ = [
    "FailureKind",
    "InformationLevel",
    "LandscapeFeatures",
    "NeighbourhoodFeatures",
    "ParamConfig",
    "ParamValue",
    "Reading",
    "RecordedSpace",
    "Space",
    "build_searchspace",
    "bundled_spaces",
    "cache_to_t4",
    "describe",
    "find_space_files",
    "find_t1",
    "landscape_features",
    "load_space",
    "load_spaces",
    "param_configs",
    "t4_to_cache",
]
