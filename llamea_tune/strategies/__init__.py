"""USE: register generated strategies in Kernel Tuner; the catalog of strategies by name."""

from llamea_tune.strategies.catalog import Origin, StrategyInfo, StrategyOption, catalog, resolve
from llamea_tune.strategies.generated import GeneratedStrategy
from llamea_tune.strategies.register import register_file, register_folder, user_folder
from llamea_tune.strategies.written import NamedStrategy, StrategyFile, parse_strategy

__all__ = [
    "GeneratedStrategy",
    "NamedStrategy",
    "Origin",
    "StrategyFile",
    "StrategyInfo",
    "StrategyOption",
    "catalog",
    "parse_strategy",
    "register_file",
    "register_folder",
    "resolve",
    "user_folder",
]
