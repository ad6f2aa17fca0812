"""The static check: what passes, and the reason a proposer gets for what does not."""

from __future__ import annotations

import pytest
from conftest import EVOLVER
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.sandbox import DEFAULT_IMPORTS, RejectedCode, check
from llamea_tune.sandbox.static_check import MAX_CODE_BYTES

IMPORT = "from kernel_tuner.strategies.wrapper import OptAlg\n"
CALL = "    def __call__(self, func, searchspace):\n        pass\n"
MINIMAL = f"{IMPORT}class Small(OptAlg):\n{CALL}"


def with_init(arguments: str) -> str:
    return f"{IMPORT}class Small(OptAlg):\n    def __init__({arguments}):\n        pass\n{CALL}"


def with_line(line: str) -> str:
    return MINIMAL.replace("        pass\n", f"        {line}\n")


def test_a_sound_candidate_passes() -> None:
    checked = check(EVOLVER)
    assert checked.class_name == "Evolver"
    assert checked.imports == ("dataclasses", "kernel_tuner.strategies.wrapper", "numpy", "random")
    assert checked.hyperparameters == {"population": 12, "mutation": 0.3}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("self", {}),
        ("self, a=1, b=-0.5, c=True, d='x'", {"a": 1, "b": -0.5, "c": True, "d": "x"}),
        ("self, *, a=1e-3", {"a": 1e-3}),
        ("self, a=2, /, b=3", {"a": 2, "b": 3}),
    ],
)
def test_defaults_are_the_hyperparameters(arguments: str, expected: dict[str, object]) -> None:
    found = check(with_init(arguments)).hyperparameters
    assert found == expected
    assert [type(value) for value in found.values()] == [type(value) for value in expected.values()]


@pytest.mark.parametrize(
    "code",
    [
        MINIMAL,
        MINIMAL.replace("OptAlg\n", "OptAlg as Base\n").replace("(OptAlg)", "(Base)"),
        "import kernel_tuner.strategies.wrapper as w\n" + MINIMAL.replace("(OptAlg)", "(w.OptAlg)"),
        "class Helper:\n    pass\n\ndef helper():\n    pass\n\n" + MINIMAL,
        with_line("open = [1]; open.append(2)"),
        with_line("return type(self).__name__"),
        with_line("import sklearn.gaussian_process.kernels, scipy.stats.qmc"),
        with_line("import numpy as np; np.random.default_rng(); np.random.default_rng(self.seed)"),
        with_line("'__'"),
        MINIMAL.replace("searchspace)", "searchspace, extra=None)"),
        "s = '\\d'\n" + MINIMAL,
    ],
)
def test_these_are_fine(code: str) -> None:
    assert check(code).class_name == "Small"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("class A(:", "syntax error in line 1: invalid syntax"),
        ("a\0b", "null byte"),
        ("x = 1", "exactly one class that derives from OptAlg; found none"),
        (MINIMAL + MINIMAL.replace("Small", "Other"), "found Small, Other"),
        (MINIMAL + "class Other(Small):\n    pass\n", "found Small, Other"),
        (f"{IMPORT}class Small(OptAlg):\n    pass\n", "Small has no method __call__(self, func, searchspace)"),
        (MINIMAL.replace("(self, func, searchspace)", "(self, func)"), "must take the arguments"),
        (MINIMAL.replace("searchspace)", "searchspace, more)"), "must take the arguments"),
        (with_init("self, size"), "the argument size of __init__ has no default"),
        (with_init("self, *, size"), "the argument size of __init__ has no default"),
        (with_init("self, size=None"), "must have a number, a boolean or a string"),
        (with_init("self, size=2 * 3"), "must have a number, a boolean or a string"),
        (with_init("self, size=[1]"), "must have a number, a boolean or a string"),
        (with_init("self, **options"), "without * or **"),
        ("import os\n" + MINIMAL, "line 1: import of os is not allowed (candidates have no access to the system)"),
        ("import time\n" + MINIMAL, "the budget is func.budget_spent_fraction"),
        ("from subprocess import run\n" + MINIMAL, "import of subprocess is not allowed"),
        ("from . import x\n" + MINIMAL, "relative imports"),
        (with_line("import pandas as pd"), "import of pandas is not allowed; allowed are __future__, abc"),
        (with_line("().__class__.__bases__"), "__bases__ is not allowed"),
        (with_line("(lambda: 0).__globals__"), "__globals__ is not allowed"),
        (with_line("getattr(func, '__subclasses__')()"), "__subclasses__ is not allowed"),
        (with_line("open('x')"), "line 4: open is not allowed"),
        (with_line("exec('x')"), "exec is not allowed"),
        (with_line("__import__('os')"), "__import__ is not allowed"),
        (with_line("import random; random.seed(42)"), "seed with a fixed seed is not allowed"),
        (with_line("import numpy as np; np.random.default_rng(seed=0)"), "default_rng with a fixed seed"),
        ("#" * (MAX_CODE_BYTES + 1), "longer than 200,000 bytes"),
        ("(" * 5000, "syntax error"),
        ("x = " + "-" * 90_000 + "1", "cannot be parsed"),
    ],
)
def test_a_rejected_candidate_gets_a_reason(code: str, reason: str) -> None:
    with pytest.raises(RejectedCode) as caught:
        check(code)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_list_of_imports_is_the_callers() -> None:
    code = "import time\n" + MINIMAL
    assert "time" in check(code, allowed_imports=DEFAULT_IMPORTS | {"time"}).imports
    with pytest.raises(RejectedCode, match="numpy"):
        check("import numpy\n" + MINIMAL, allowed_imports={"kernel_tuner"})


@given(st.text())
def test_any_text_is_checked_or_rejected(text: str) -> None:
    with pytest.raises(RejectedCode):
        check(text)


@given(st.lists(st.sampled_from([IMPORT, MINIMAL, "class A(OptAlg):\n", CALL, "import os\n", "x = (1\n", "@A\n"])))
def test_any_pieces_are_checked_or_rejected(pieces: list[str]) -> None:
    try:
        assert check("".join(pieces)).class_name
    except RejectedCode as error:
        assert str(error)
