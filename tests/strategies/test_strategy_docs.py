"""The code that the pages on strategies show works."""

import re
from pathlib import Path

import pytest

from llamea_tune.exporting import read_record
from llamea_tune.testing.strategy_contract import ExportedStrategyContract

PAGE = Path(__file__).parent.parent.parent / "docs" / "adding-a-strategy.md"


def block_with(text: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    return next(block for block in blocks if text in block)


class TestExampleKeepsTheContract(ExportedStrategyContract):
    @pytest.fixture
    def strategy(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path / "strategies_generated")
        Path("candidate.py").write_text(block_with("class MyStrategy(OptAlg)"))
        exec(block_with("export_strategy("), {})
        assert read_record(tmp_path / "strategies_generated" / "my_strategy.py").proposer == "me"
        namespace = {}
        exec((tmp_path / "strategies_generated" / "my_strategy.py").read_text(), namespace)
        return type("Module", (), {"tune": staticmethod(namespace["tune"]), "_options": namespace["_options"]})


def test_example_of_the_contract_is_a_contract():
    namespace = {}
    exec(block_with("class TestMyStrategy"), namespace)
    assert issubclass(namespace["TestMyStrategy"], ExportedStrategyContract)
