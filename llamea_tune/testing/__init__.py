"""Contract suites for plugins, shipped with the package."""
