"""The wheel holds all that a user needs, and works away from the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_wheel_works_by_itself(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    assert "llamea_tune/_bundled/searchspaces/gemm/caches/H200.json.gz" in names
    assert "llamea_tune/_bundled/strategies_generated/llm_gen_best.py" in names
    assert "llamea_tune/proposals/prompts/system.md" in names
    assert "llamea_tune/py.typed" in names
    assert not any(name.startswith(("tests/", "docs/", "searchspaces/")) for name in names)
    script = (
        "import llamea_tune; from kernel_tuner.interface import strategy_map; from llamea_tune.spaces import bundled_spaces\n"
        "print(llamea_tune.__file__, len(bundled_spaces()), callable(strategy_map['llm_gen_best'].tune))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    place, spaces, usable = done.stdout.split()
    assert place.startswith(str(tmp_path))
    assert int(spaces) >= 8
    assert usable == "True"
