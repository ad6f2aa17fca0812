"""Candidates with dataclasses load by path, as Kernel Tuner loads them for T1."""

import pytest
from kernel_tuner.file_utils import import_class_from_file

from llamea_tune.exceptions import ExportError
from llamea_tune.export import export_strategy

FUTURE = "from __future__ import annotations\n\nfrom dataclasses import dataclass\n"
RECORD = "\n\n@dataclass\nclass Step:\n    size: float\n    method: str | None = None\n"
EARLY = "\n\ndef first() -> Walker:\n    return Walker()\n"


def test_loads_without_being_listed_in_modules(walker, request_for, tmp_path):
    code = walker.replace("import random\n", f"{FUTURE}import random\n").replace('"""Walks about."""\n\n', "")
    code += RECORD + "\n\ndef last(step: Step) -> list[Step]:\n    return [step]\n"
    exported = export_strategy(request_for(code), tmp_path)
    assert import_class_from_file(exported.code_path, "Walker")().arguments[0] == 0.5


def test_name_defined_later(walker, request_for, tmp_path):
    code = (
        walker.replace("import random\n", f"{FUTURE}import random\n").replace("\n\nclass", EARLY + "\n\nclass") + RECORD
    )
    with pytest.raises(ExportError, match="defined later"):
        export_strategy(request_for(code), tmp_path)


def test_import_stays_without_dataclasses(walker, request_for, tmp_path):
    code = walker.replace("import random\n", "from __future__ import annotations\n\nimport random\n") + EARLY
    exported = export_strategy(request_for(code), tmp_path)
    assert "from __future__ import annotations" in exported.code_path.read_text()
    assert import_class_from_file(exported.code_path, "Walker")
