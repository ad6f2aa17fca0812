"""What of a candidate's code can be read and judged without running it: what passes, and the reasons for what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.candidate_code import CandidateCode
from llamea_tune.candidate_code.contract import MAX_CODE_BYTES
from llamea_tune.exceptions import CandidateCodeError

IMPORT = "from kernel_tuner.strategies.wrapper import OptAlg\n"
CALL = "    def __call__(self, func, searchspace):\n        pass\n"
MINIMAL = f"{IMPORT}class Small(OptAlg):\n{CALL}"


def with_init(arguments: str) -> str:
    return f"{IMPORT}class Small(OptAlg):\n    def __init__({arguments}):\n        pass\n{CALL}"


def with_line(line: str) -> str:
    return MINIMAL.replace("        pass\n", f"        {line}\n")


def check(code: str, class_name: str | None = None) -> CandidateCode:
    return CandidateCode.read(code, class_name).checked()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("self", {}),
        ("self, a=1, b=-0.5, c=True, d='x'", {"a": 1, "b": -0.5, "c": True, "d": "x"}),
        ("self, *, a=1e-3", {"a": 1e-3}),
        ("self, a=2, *rest, b=3, **more", {"a": 2, "b": 3}),
        ("self, a=2 * 3, b=1e-3 * 5, c=-2**0.5, d=7 // 2 % 2", {"a": 6, "b": 1e-3 * 5, "c": -(2**0.5), "d": 1}),
        ("self, a=None, b=(1, 2), c=[1], d=float('inf'), e='a' * 9", dict.fromkeys("abcde")),
        ("self, a=1 / 0, b=2**10**9, c=10**400, d=(-1) ** 0.5, e=not 0", {**dict.fromkeys("abcd"), "e": True}),
        ("self, key=lambda x, y=1: x + y", {"key": None}),
    ],
)
def test_defaults_are_the_hyperparameters(arguments: str, expected: dict[str, object]) -> None:
    found = check(with_init(arguments)).defaults
    assert found == expected
    assert [type(value) for value in found.values()] == [type(value) for value in expected.values()]


@pytest.mark.parametrize(
    "code",
    [
        MINIMAL,
        MINIMAL.replace("OptAlg\n", "OptAlg as Base\n").replace("(OptAlg)", "(Base)"),
        "import kernel_tuner.strategies.wrapper as w\n" + MINIMAL.replace("(OptAlg)", "(w.OptAlg)"),
        MINIMAL.replace("class Small", "Base = OptAlg\nclass Small").replace("(OptAlg)", "(Base)"),
        "class Helper:\n    pass\n\ndef helper():\n    pass\n\n" + MINIMAL,
        MINIMAL.replace("Small", "Common") + "class Small(Common):\n    pass\n",
        MINIMAL.replace("class Small", "class Mixin:\n" + CALL + "class Small").replace(
            f"Alg):\n{CALL}", "Alg, Mixin): pass"
        ),
        with_line("open = [1]; open.append(2)"),
        with_line("return type(self).__name__, self.__dict__"),
        MINIMAL + "if __name__ == '__main__':\n    Small()\n",
        with_line("import sklearn.gaussian_process.kernels, scipy.stats.qmc"),
        with_line("import numpy as np; np.random.default_rng(); np.random.default_rng(self.seed)"),
        with_line("'__'"),
        MINIMAL.replace("searchspace)", "searchspace, extra=None)"),
        "s = '\\d'\n" + MINIMAL,
        "from __future__ import annotations\nimport sys\n" + MINIMAL,
        f"try:\n    {IMPORT}except ImportError:\n    class OptAlg: pass\n{MINIMAL.removeprefix(IMPORT)}",
        "N = 3\n" + with_init("self, size=N"),
    ],
)
def test_these_are_fine(code: str) -> None:
    assert check(code).class_name == "Small"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("class A(:", "no valid Python: invalid syntax in line 1: class A(:"),
        ("a\0b", "null byte"),
        ("x = 1", "no class derives from OptAlg"),
        (MINIMAL + MINIMAL.replace("Small", "Other"), "several classes derive from OptAlg (Small, Other); give one"),
        (f"{IMPORT}class Small(OptAlg):\n    pass\n", "Small has no __call__(self, func, searchspace)"),
        (
            MINIMAL.replace("(self, func, searchspace)", "(self, func)"),
            "line 3: Small.__call__ must take the arguments",
        ),
        (MINIMAL.replace("searchspace)", "searchspace, more)"), "must take the arguments"),
        (MINIMAL.replace("searchspace)", "searchspace, *, more)"), "must take the arguments"),
        (MINIMAL.removeprefix(IMPORT), "nothing is imported from kernel_tuner"),
        (with_init("self, size"), "line 3: argument 'size' of __init__ has no default"),
        (with_init("self, *, size"), "argument 'size' of __init__ has no default"),
        (with_init("self, size=1, /"), "positional-only"),
        (with_init("self, size=UNKNOWN"), "needs 'UNKNOWN', which the top level lacks; write the value"),
        (with_init("self, max_fevals=3"), "'max_fevals' of __init__ is an option that Kernel Tuner keeps for itself"),
        ("def tune(): pass\n" + MINIMAL, "'tune' has a meaning of its own"),
        ("common = 3\n" + MINIMAL, "'common' has a meaning of its own in the file of a strategy, kernel_tuner.strat"),
        ("return 1\n" + MINIMAL, "line 1: the code cannot be compiled: 'return' outside function"),
        ("import os\n" + MINIMAL, "line 1: import of os is not allowed (candidates have no access to the system)"),
        ("import time\n" + MINIMAL, "the budget is func.budget_spent_fraction"),
        ("from subprocess import run\n" + MINIMAL, "import of subprocess is not allowed"),
        ("from . import x\n" + MINIMAL, "relative imports"),
        (with_line("import pandas as pd"), "import of pandas is not allowed; allowed are numpy, scipy"),
        (with_line("().__class__.__bases__"), "__bases__ is not allowed"),
        (with_line("(lambda: 0).__globals__"), "__globals__ is not allowed"),
        (with_line("getattr(func, '__subclasses__')()"), "__subclasses__ is not allowed"),
        (with_line("open('x')"), "line 4: open is not allowed"),
        (with_line("exec('x')"), "exec is not allowed"),
        (with_line("__import__('os')"), "__import__ is not allowed"),
        (with_line("import random; random.seed(42)"), "seed with a fixed seed is not allowed"),
        (with_line("import random; random.Random(-1)"), "Random with a fixed seed is not allowed"),
        (with_line("import numpy as np; np.random.default_rng(seed=0)"), "default_rng with a fixed seed"),
        ("#" * (MAX_CODE_BYTES + 1), "longer than 200,000 bytes"),
        ("(" * 5000, "no valid Python"),
        ("x = " + "-" * 90_000 + "1", "cannot be parsed"),
    ],
)
def test_a_rejected_candidate_gets_a_reason(code: str, reason: str) -> None:
    with pytest.raises(CandidateCodeError) as caught:
        check(code)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_violations_are_told_at_once_in_the_order_of_lines() -> None:
    code = "import os\n" + with_init("self, size").replace("        pass\n", "        open('x'); open('y')\n")
    violations = CandidateCode.read(code).violations()
    assert [text.split(":")[0] for text in violations] == ["line 1", "line 4", "line 5", "line 7"]
    with pytest.raises(CandidateCodeError) as caught:
        check(code)
    assert str(caught.value) == "; ".join(violations)


def test_a_class_that_is_named_is_the_one_that_counts() -> None:
    two = MINIMAL + MINIMAL.replace("Small", "Other")
    assert check(two, "Other").class_name == "Other"
    for name, reason in (
        ("Third", "no class 'Third'; the classes are: Small, Other, Free"),
        ("Free", "does not derive"),
    ):
        with pytest.raises(CandidateCodeError, match=reason):
            check(f"{two}class Free:\n    pass\n", name)


def test_arguments_come_from_the_nearest_base_class() -> None:
    base = with_init("self, size=3").replace("Small", "Common")
    code = check(f"{base}class Small(Common):\n    pass\n")
    assert code.defaults == {"size": 3}
    assert code.with_defaults({"size": 4}).source == code.source.replace("size=3", "size=4")


def test_defaults_are_written_where_they_stand() -> None:
    code = CandidateCode.read(with_init("self, ä='ü', size=(2 * 3),  # how many\n   *, other: float = 1.0"))
    changed = code.with_defaults({"size": 7, "ä": 'a "b"', "other": -1e-7})
    assert changed.defaults == {"ä": 'a "b"', "size": 7, "other": -1e-7}
    assert "size=(7),  # how many\n   *, other: float = -1e-07" in changed.source
    for values, reason in (
        ({"x": 1}, "no hyperparameter 'x'; it takes: ä, size, other"),
        ({"size": float("inf")}, "inf"),
    ):
        with pytest.raises(CandidateCodeError, match=reason):
            code.with_defaults(values)


@given(st.text())
def test_any_text_is_checked_or_rejected(text: str) -> None:
    with pytest.raises(CandidateCodeError):
        check(text)


@given(
    st.lists(
        st.sampled_from(
            [IMPORT, MINIMAL, "class A(OptAlg):\n", "class A(A):\n", CALL, "import os\n", "x = (1\n", "@A\n"]
        )
    )
)
def test_any_pieces_are_checked_or_rejected(pieces: list[str]) -> None:
    try:
        assert check("".join(pieces)).class_name
    except CandidateCodeError as error:
        assert str(error)
