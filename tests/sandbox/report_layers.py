"""Prints which layers hold and what a candidate that reads a file gets; started by tests with fewer rights."""

from __future__ import annotations

import json
import os

from llamea_tune.sandbox import Sandbox, SandboxedCandidate, layers
from llamea_tune.testing.synthetic_spaces import synthetic_space

READER = """
from kernel_tuner.strategies.wrapper import OptAlg

class Reader(OptAlg):
    def __call__(self, func, searchspace):
        import numpy, sqlite3, os
        open(numpy.__file__).close()
        for config in searchspace.get_random_sample(3): func(config)
        for path in ("/etc/passwd", os.path.expanduser("~/.bashrc")):
            try:
                open(path)
            except OSError:
                continue
            raise ValueError(path)
"""


def main() -> None:
    status = layers()
    with Sandbox([synthetic_space(1)]) as sandbox:
        result = sandbox.run(SandboxedCandidate(READER, "Reader"), 0, 1)
    report = {
        "uid": os.getuid(),
        "layers": {layer.name: layer.active for layer in status},
        "details": {layer.name: layer.detail for layer in status},
        "state": result.state.value,
        "reason": result.reason,
        "paid": len(result.trace),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
