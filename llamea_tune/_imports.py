"""Optional dependencies: one clear error, at use rather than at import."""

from importlib import import_module
from types import ModuleType

from llamea_tune.exceptions import MissingDependencyError


def require(module: str, extra: str) -> ModuleType:
    """Import an optional package, or say which extra brings it.

    Args:
        module: Name of the module to import.
        extra: The extra of llamea-tune that installs it.

    Raises:
        MissingDependencyError: The package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as err:
        message = f"{module} is not installed ({err}); install it with: pip install 'llamea-tune[{extra}]'"
        raise MissingDependencyError(message) from err
