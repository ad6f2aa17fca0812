"""One seed for every run: the same for every contender, so that comparisons are paired."""

from __future__ import annotations

import hashlib


def run_seed(master_seed: int, space: str, repeat: int, stage: str = "train") -> int:
    """Seed of one run, 0 to 2**32 - 1.

    Args:
        master_seed: The caller's seed.
        space: What stands for the space: its content hash, so that its name and its place in a list don't matter.
        repeat: Number of the repeat; more repeats later leave those made as they are.
        stage: What the run is for. Another stage gives fresh seeds, for re-scoring what was selected.
    """
    text = f"{master_seed}/{stage}/{space}/{repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
