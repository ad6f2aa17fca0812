"""Where the bundled search spaces and generated strategies lie, in a wheel and in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def bundled_path(kind: str) -> Path:
    """Folder of bundled data: `"searchspaces"` or `"strategies_generated"`."""
    installed = _PACKAGE / "_bundled" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind
