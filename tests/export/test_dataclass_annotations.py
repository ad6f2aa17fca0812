"""Candidates with dataclasses load by path, as Kernel Tuner loads them for T1."""

from kernel_tuner.file_utils import import_class_from_file

from llamea_tune.exporting import export_strategy
from llamea_tune.exporting.reopen import reopen_strategy

FUTURE = "from __future__ import annotations\n\nfrom dataclasses import dataclass\n"
RECORD = "\n\n@dataclass\nclass Step:\n    size: float\n    method: str | None = None\n"
EARLY = "\n\ndef first() -> Walker:\n    return Walker()\n"


def test_loads_without_being_listed_in_modules(walker, request_for, tmp_path):
    code = walker.replace("import random\n", f"{FUTURE}import random\n").replace('"""Walks about."""\n\n', "")
    code += RECORD + "\n\ndef last(step: Step) -> list[Step]:\n    return [step]\n"
    exported = export_strategy(request_for(code), tmp_path)
    assert import_class_from_file(exported.code_path, "Walker")().arguments[0] == 0.5


def test_names_that_are_defined_later(walker, request_for, tmp_path):
    code = walker.replace("import random\n", f"{FUTURE}import random\n").replace('"""Walks about."""\n\n', "")
    code = code.replace("\n\nclass", EARLY + "\n\nclass", 1) + RECORD.replace("None = None", "Walker | None = None")
    exported = export_strategy(request_for(code), tmp_path)
    assert import_class_from_file(exported.code_path, "Walker")().arguments[0] == 0.5
    again = export_strategy(reopen_strategy(exported.code_path), tmp_path / "again")
    assert again.code_path.read_bytes() == exported.code_path.read_bytes()


def test_nothing_is_added_without_dataclasses(walker, request_for, tmp_path):
    code = walker.replace("import random\n", "from __future__ import annotations\n\nimport random\n") + EARLY
    exported = export_strategy(request_for(code), tmp_path)
    assert "_sys" not in exported.code_path.read_text()
    assert import_class_from_file(exported.code_path, "Walker")
