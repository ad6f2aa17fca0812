"""The exported module: the candidate's code as it was, tuned defaults, Kernel Tuner's options, a clean format."""

import difflib
import inspect
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llamea_tune.candidate_code import CandidateCode
from llamea_tune.candidate_code.contract import NAMES_OF_KERNEL_TUNER, RESERVED_NAMES
from llamea_tune.exceptions import ExportError
from llamea_tune.exporting import SpaceReference, export_strategy
from llamea_tune.testing.cache_files import simulate, write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

ANY_CASE = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def defaults(cls):
    return {name: p.default for name, p in inspect.signature(cls).parameters.items()}


def test_candidates_code_stays_as_it_is(walker, request_for, tmp_path):
    text = export_strategy(request_for(walker), tmp_path).code_path.read_text()
    changes = difflib.ndiff(walker.splitlines(), text.splitlines())
    assert [line for line in changes if line.startswith("- ")] == []


@pytest.mark.parametrize("change", [lambda code: code.rstrip(), lambda code: code.replace("\n", "\r\n")])
def test_other_line_ends_give_the_same_file(walker, request_for, tmp_path, change):
    texts = [
        export_strategy(request_for(code), tmp_path, force=True).code_path.read_bytes()
        for code in (walker, change(walker))
    ]
    assert texts[0] == texts[1]


def test_header_says_what_it_is(walker, request_for, tmp_path):
    request = request_for(walker, training=(SpaceReference("convolution/A100", "00"), SpaceReference("gemm/CPU", "01")))
    text = export_strategy(request, tmp_path).code_path.read_text()
    header = [line for line in text.splitlines() if line.startswith("# ")]
    assert header == [
        "# walk: an optimization strategy for Kernel Tuner.",
        "# Walks about.",
        "# Proposed by offline (initial, generation 3) and exported by llamea-tune on 2026-01-31.",
        "# Trained on convolution/A100, gemm/CPU.",
        "# Scores, settings and versions: walk.json, beside this file.",
    ]


def test_options_are_the_arguments_with_their_descriptions(walker, export):
    module = export(walker)
    assert module._options == {
        "step": ("How far to go", 0.5),
        "method": ("Which neighbours to take", "Hamming"),
        "greedy": ("greedy", False),
        "tries": ("How often to try before it gives up, where every neighbour is one that it ...", 3),
    }
    assert "* step: How far to go, default 0.5." in module.tune.__doc__


@ANY_CASE
@given(
    step=st.floats(allow_nan=False, allow_infinity=False),
    method=st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20),
    greedy=st.booleans(),
    tries=st.integers(),
)
def test_tuned_values_become_the_defaults(walker, export, step, method, greedy, tries):
    tuned = {"step": step, "method": method, "greedy": greedy, "tries": tries}
    module = export(walker, hyperparameters=tuned)
    assert defaults(module.Walker) == tuned
    assert {name: default for name, (_, default) in module._options.items()} == tuned


SIGNATURES = {
    "one line": "self, step=0.5, method='Hamming'",
    "trailing comma": "\n        self,\n        step=0.5,\n        method='Hamming',\n    ",
    "hugged": "\n        self, step=0.5, method='Hamming'\n    ",
    "comment": "\n        self,\n        step=0.5,  # how far\n        method='Hamming'  # which\n    ",
    "parentheses": "self, step=(0.5), method=('Hamming')",
    "keyword only": "self, *, step: float = 0.5, method: 'str' = 'Hamming', **more",
    "star": "self, *rest, step=0.5, method='Hamming'",
    "nested": "self, step=min(0.5, (1.0)), method=','.join(['Hamming'])",
}


@pytest.mark.parametrize("signature", SIGNATURES.values(), ids=SIGNATURES)
def test_every_form_of_signature(head, export, signature):
    code = f"{head}\n\nclass Walker(OptAlg):\n    def __init__({signature}):\n        super().__init__()\n\n"
    code += "    def __call__(self, func, searchspace):\n        func(searchspace.list[0])\n"
    for tuned in ({}, {"step": 2.0}, {"method": "adjacent"}, {"method": "ü", "step": -1e-7}):
        module = export(code, hyperparameters=tuned)
        expected = {"step": 0.5, "method": "Hamming"} | tuned
        assert {name: v for name, v in defaults(module.Walker).items() if name in expected} == expected
        assert {name: default for name, (_, default) in module._options.items()} == expected


def test_class_without_hyperparameters(head, export):
    module = export(f"{head}\n\nclass Walker(OptAlg):\n    def __call__(self, func, searchspace):\n        pass\n")
    assert module._options == {}


@pytest.mark.parametrize("line_length", [88, 120])
@pytest.mark.parametrize("tuned", [{}, {"step": 1e-05, "method": "ü"}], ids=["as it is", "tuned"])
def test_format_stays_clean(head, walker, request_for, tmp_path, line_length, tuned):
    folder = tmp_path / "out"
    imports = head.replace("wrapper import OptAlg\n", "wrapper import OptAlg\nfrom scipy.stats import norm\n")
    imports = imports.replace("from kernel", "from kernel_tuner.strategies.common import CostFunc\nfrom kernel", 1)
    code = walker.replace(head, imports).replace("self, func,", "self, func: CostFunc,")
    code += "\n    def chance(self, x):\n        # a tail\n        return norm.sf(x)\n"
    source = tmp_path / "candidate.py"
    source.write_text(code)
    run = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={line_length}", "--diff"]
    assert subprocess.run([*run, str(source)], check=False).returncode == 0
    exported = export_strategy(request_for(code, "a_rather_long_name_for_a_strategy", hyperparameters=tuned), folder)
    outcome = subprocess.run([*run, str(exported.code_path)], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout
    lint = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=E,F,I,W", "--ignore=E501", str(folder)]
    outcome = subprocess.run(lint, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout


def init(arguments: str) -> str:
    call = "    def __call__(self, func, searchspace):\n        pass\n"
    return f"class Walker(OptAlg):\n    def __init__(self, {arguments}):\n        pass\n\n{call}"


REFUSED = {
    "reserved name": ("walk", "max_fevals=3", {}, "max_fevals.*rename"),
    "reserved limit": ("walk", "time_limit=3", {}, "time_limit.*rename"),
    "no default": ("walk", "step", {}, "has no default"),
    "no default, keyword": ("walk", "*, step", {}, "has no default"),
    "positional only": ("walk", "step=1, /", {}, "positional-only"),
    "default from elsewhere": ("walk", "step=UNKNOWN", {}, "UNKNOWN"),
    "unknown tuned value": ("walk", "step=1", {"stop": 1}, "'stop'.*step"),
    "tuned value that is no number": ("walk", "step=1", {"step": float("nan")}, "nan"),
    "tuned value of another type": ("walk", "step=1", {"step": [1]}, "number, a boolean or a string"),
    "no identifier": ("my-walk", "step=1", {}, "my-walk"),
    "keyword": ("class", "step=1", {}, "class"),
    "path": ("../walk", "step=1", {}, "walk"),
    "private": ("_walk", "step=1", {}, "_walk"),
    "Kernel Tuner's own strategy": ("genetic_algorithm", "step=1", {}, "Kernel Tuner"),
    "Kernel Tuner's own module": ("wrapper", "step=1", {}, "Kernel Tuner"),
}


@pytest.mark.parametrize(("name", "arguments", "tuned", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_exported(head, request_for, tmp_path, name, arguments, tuned, message):
    request = request_for(f"{head}\n\n{init(arguments)}", name, hyperparameters=tuned)
    with pytest.raises(ExportError, match=message):
        export_strategy(request, tmp_path / "out")
    assert not (tmp_path / "out").exists()


BAD_CODE = {
    "syntax": ("class Walker(OptAlg:\n", "no valid Python"),
    "no class": ("class Runner(OptAlg):\n    pass\n", "no class 'Walker'"),
    "own tune": (f"def tune():\n    pass\n\n\n{init('step=1')}", "'tune'.*rename"),
    "own options": (f"_options = 3\n{init('step=1')}", "'_options'.*rename"),
    "other common": (f"common = 3\n{init('step=1')}", "'common'.*rename"),
}


@pytest.mark.parametrize(("code", "message"), BAD_CODE.values(), ids=BAD_CODE)
def test_code_that_cannot_be_exported(head, request_for, tmp_path, code, message):
    with pytest.raises(ExportError, match=message):
        export_strategy(request_for(head + code), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_code_without_optalg(request_for, tmp_path):
    with pytest.raises(ExportError, match=r"kernel_tuner\.strategies"):
        export_strategy(request_for("class Walker:\n    pass\n"), tmp_path)


def test_imports_of_the_candidate_are_not_repeated(head, walker, request_for, tmp_path):
    more = "from kernel_tuner.strategies import common\nfrom kernel_tuner.util import StopCriterionReached\n"
    text = export_strategy(request_for(walker.replace(head, head + more)), tmp_path).code_path.read_text()
    assert text.count("import common") == 1
    assert text.count("import StopCriterionReached") == 1


def test_class_that_takes_x0_gets_it(head, export, tmp_path):
    code = f"{head}\n\nclass Walker(OptAlg):\n    def __init__(self, x0=None):\n        self.x0 = x0\n\n"
    code += "    def __call__(self, func, searchspace):\n        func(tuple(self.x0))\n"
    space = synthetic_space(1)
    start = space.param_config(7)
    results = simulate(
        export(code), space, write_cache(space, tmp_path / "c.json"), {"x0": list(start), "max_fevals": 2}
    )
    assert [tuple(result[name] for name in space.param_names) for result in results] == [start]


ENDLESS = {
    "swallows the end": """
        while True:
            try:
                func(random.choice(searchspace.list))
            except Exception:
                pass
""",
    "swallows the end in a loop on the budget": """
        while func.budget_spent_fraction < 1:
            try:
                func(random.choice(searchspace.list))
            except Exception:
                pass
""",
    "only repeats": """
        while func.budget_spent_fraction < 1:
            func(searchspace.list[0])
""",
    "asks for nothing that is permitted": """
        func(searchspace.list[0])
        while func.budget_spent_fraction < 1:
            func(("nothing",) * 6)
""",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS)
def test_endless_searches_end(head, export, tmp_path, body):
    code = f"{head}\n\nclass Walker(OptAlg):\n    def __call__(self, func, searchspace):{body}"
    space = synthetic_space(1)
    results = simulate(export(code), space, write_cache(space, tmp_path / "c.json"), {"max_fevals": 5})
    assert 1 <= len(results) <= 5


def test_batches_with_repeats(head, export, tmp_path):
    code = f"{head}\n\nclass Walker(OptAlg):\n    def __call__(self, func, searchspace):\n"
    code += "        a, b = searchspace.list[:2]\n        costs = func.eval_all([a, b, a, list(b)])\n"
    code += "        assert costs[:2] == costs[2:] == [func(a), func(b)]\n        func(searchspace.list[2])\n"
    space = synthetic_space(1)
    results = simulate(export(code), space, write_cache(space, tmp_path / "c.json"))
    assert len(results) == 3


def test_candidates_leave_the_names_to_export_that_it_adds(walker, request_for, tmp_path):
    text = export_strategy(request_for(walker), tmp_path).code_path.read_text()
    added = CandidateCode.read(text).names - CandidateCode.read(walker).names
    assert added == RESERVED_NAMES | NAMES_OF_KERNEL_TUNER.keys()
