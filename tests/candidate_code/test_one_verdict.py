"""One verdict on a snippet, whoever asks: at the reply, at judging, before tuning, on export, and for a class in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llamea_tune.candidate import Candidate, CandidateState
from llamea_tune.evolution.judge import Judge
from llamea_tune.exceptions import ExportError, StrategyError
from llamea_tune.execution import make_contender
from llamea_tune.exporting import ExportRequest, export_strategy
from llamea_tune.hpo import tunable_candidate
from llamea_tune.llm import Completion, Prompt
from llamea_tune.proposals import LLMProposer, ProposalError
from llamea_tune.proposals.reply import parse_reply
from llamea_tune.sandbox.sandboxed import SandboxedCandidate
from llamea_tune.scoring import Scorer
from llamea_tune.strategies.generated import GeneratedStrategy
from llamea_tune.testing.local_scorer import local_scorer
from llamea_tune.testing.proposer_contract import example_task
from llamea_tune.testing.synthetic_spaces import synthetic_space

HEAD = "import random\n\nfrom kernel_tuner.strategies.wrapper import OptAlg\n"
WALKER = """

class Walker(OptAlg):
    def __init__(self, share=0.5):
        super().__init__()
        self.share = share

    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1:
            func(random.choice(searchspace.list))
"""
PLAIN = HEAD + WALKER


def with_arguments(text: str) -> str:
    return PLAIN.replace("share=0.5", f"share=0.5, {text}")


def with_head(text: str) -> str:
    return f"{text}\n{PLAIN}"


def with_body(text: str) -> str:
    return PLAIN.replace("        while", f"        {text}\n        while")


FINE = {
    "plain": PLAIN,
    "None": with_arguments("k=None"),
    "constant expressions": with_arguments("k=2 * 3, far=1e-3 * 5, near=-1, pair=(1, 2)"),
    "other expressions": with_arguments("far=float('inf'), sizes=[1, 2], key=lambda config: config"),
    "constant of the module": with_arguments("k=SIZE").replace("\n\nclass", "\nSIZE = 3\n\n\nclass"),
    "more arguments": with_arguments("*rest, k=1, **more"),
    "import sys": with_head("import sys"),
    "annotations": with_head("from __future__ import annotations").replace("share=0.5", "share: Walker = 0.5"),
    "dataclass": with_head("from __future__ import annotations\nfrom dataclasses import dataclass").replace(
        "\n\nclass", "\n\n@dataclass\nclass Step:\n    walker: Walker | None = None\n\n\nclass"
    ),
    "base class plus a leaf": PLAIN.replace("Walker", "Common") + "\n\nclass Walker(Common):\n    pass\n",
    "leaf with its own arguments": PLAIN.replace("Walker", "Common")
    + "\n\nclass Walker(Common):\n    def __init__(self, share=0.1, k=2):\n        super().__init__(share)\n",
    "mixin": PLAIN.replace("Walker(OptAlg)", "Search") + "\n\nclass Walker(Search, OptAlg):\n    pass\n",
    "alias": PLAIN.replace("import OptAlg", "import OptAlg as Base").replace("(OptAlg)", "(Base)"),
    "by its module": PLAIN.replace("from kernel_tuner.strategies.wrapper import OptAlg", "import kernel_tuner").replace(
        "(OptAlg)", "(kernel_tuner.strategies.wrapper.OptAlg)"
    ),
    "through its package": PLAIN.replace(
        "from kernel_tuner.strategies.wrapper import OptAlg", "from kernel_tuner.strategies import wrapper"
    ).replace("(OptAlg)", "(wrapper.OptAlg)"),
    "guarded imports": PLAIN.replace(
        "from kernel_tuner.strategies",
        "try:\n    from kernel_tuner.util import StopCriterionReached\nexcept ImportError:\n    StopCriterionReached = None\n"
        "from kernel_tuner.strategies",
    ),
    "imports below a function, some guarded": "from __future__ import annotations\nimport random\nimport dataclasses\n\n\n"
    "def help():\n    pass\n\n\ntry:\n    import sklearn\n    from kernel_tuner.strategies.wrapper import OptAlg\n"
    f"except ImportError:\n    raise\n{WALKER}",
    "own name of a builtin": with_body("open = [1]; open.append(2)"),
    "main": PLAIN + '\n\nif __name__ == "__main__":\n    Walker()\n',
    "__dict__": with_body("self.__dict__.update(seen=1)"),
    "unseeded generator": with_body("import numpy as np; np.random.default_rng()"),
    "heavy imports": with_head("from scipy.stats import norm").replace(
        "        while", "        norm.cdf(0)\n        while"
    ),
    "line ends": PLAIN.replace("\n", "\r\n"),
}

BROKEN = {
    "no Python": (PLAIN.replace("self, func", "self func"), "no valid Python"),
    "return outside": (PLAIN + "return 1\n", "cannot be compiled"),
    "import time": (with_head("import time"), "import of time is not allowed"),
    "import os": (with_body("from os import path"), "import of os is not allowed"),
    "import torch": (with_head("import torch"), "import of torch is not allowed"),
    "relative import": (with_head("from .common import x"), "relative imports"),
    "default_rng(42)": (with_body("import numpy as np; np.random.default_rng(42)"), "fixed seed"),
    "random.seed": (with_body("random.seed(6 * 7)"), "fixed seed"),
    "open": (with_body("open('x')"), "open is not allowed"),
    "escape": (with_body("func.__class__.__subclasses__()"), "__subclasses__ is not allowed"),
    "no default": (with_arguments("*, k"), "'k' of __init__ has no default"),
    "positional only": (with_arguments("/, k=1"), "positional-only"),
    "kept by Kernel Tuner": (with_arguments("max_fevals=3"), "'max_fevals' of __init__ is an option"),
    "default from the class": (with_arguments("k=SIZE"), "needs 'SIZE'"),
    "no OptAlg": (PLAIN.replace("(OptAlg)", ""), "OptAlg"),
    "nothing imported": (PLAIN.replace("from kernel_tuner.strategies.wrapper import OptAlg\n", ""), "kernel_tuner"),
    "no call": (PLAIN.replace("__call__", "search"), "has no __call__"),
    "other arguments": (PLAIN.replace("func, searchspace)", "func)"), "must take the arguments"),
    "own tune": (PLAIN + "\n\ndef tune():\n    pass\n", "'tune'"),
}


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    """Runs candidates for real, on a small space."""
    space = synthetic_space(0, tune_params={"block": (16, 32, 64), "tile": (1, 2, 4)}, kept=1.0)
    with local_scorer([space], repeats=1, seed=1) as scorer:
        yield scorer


def candidate(code: str) -> Candidate:
    return Candidate("0042", "Walker", code, "Walks about.", "hand", "initial", 0)


def contender_of_file(code: str, folder: Path) -> str:
    path = folder / "mine.py"
    path.write_text(code, newline="")
    return f"{path}:Walker"


@pytest.mark.parametrize("code", FINE.values(), ids=FINE)
def test_what_is_fine_is_fine_everywhere(code: str, scorer: Scorer, tmp_path: Path) -> None:
    reply = parse_reply(f"```python\n{code}```")
    assert reply.class_name == "Walker"
    scored = Judge(scorer, {}).judge(candidate(reply.code))
    assert (scored.evaluation.state, scored.evaluation.reason) == (CandidateState.SCORED, "")
    tunable = tunable_candidate(SandboxedCandidate(code, "Walker", label="walker"))
    assert "share" in tunable.ranges
    assert None not in tunable.defaults.values()
    card = scorer.score(make_contender(contender_of_file(code, tmp_path)))
    assert card.mean == scored.evaluation.fitness
    request = ExportRequest("walk", candidate(code), "2026-01-31", hyperparameters={"share": 0.25})
    exported = export_strategy(request, tmp_path)
    assert GeneratedStrategy("walk", exported.code_path, bundled=False)._options["share"][1] == 0.25
    assert scorer.score(make_contender(f"{exported.code_path}:Walker")).failure is None
    again = export_strategy(ExportRequest("again", candidate(exported.code_path.read_text()), "2026-01-31"), tmp_path)
    assert again.code_path.read_text().count("def tune(") == 1


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_refused_everywhere(code: str, reason: str, scorer: Scorer, tmp_path: Path) -> None:
    with pytest.raises(ProposalError, match=reason):
        parse_reply(f"```python\n{code}```")
    evaluation = Judge(scorer, {}).judge(candidate(code)).evaluation
    assert evaluation.state is CandidateState.REJECTED
    assert reason in evaluation.reason
    with pytest.raises(StrategyError, match=f"cannot be run: .*{reason}|Walker needs a value for k; give it as in"):
        tunable_candidate(SandboxedCandidate(code, "Walker", label="walker"))
    with pytest.raises(StrategyError, match=f"cannot be run: .*{reason}|Walker needs a value for k; give it as in"):
        make_contender(contender_of_file(code, tmp_path))
    with pytest.raises(ExportError, match=reason):
        export_strategy(ExportRequest("walk", candidate(code), "2026-01-31"), tmp_path / "out")


class Script:
    """A language model that answers from a list."""

    name = "script"

    def __init__(self, *answers: str) -> None:
        self.prompts: list[Prompt] = []
        self._answers = list(answers)

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        return Completion(self._answers.pop(0), self.name)


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_goes_back_to_the_model_before_anything_is_run(code: str, reason: str) -> None:
    llm = Script(f"```python\n{code}```", f"```python\n{PLAIN}```")
    assert LLMProposer(llm).propose(example_task("initial")).code == PLAIN
    assert reason in llm.prompts[1].user.rpartition("It cannot be used: ")[2]


def test_a_draft_before_it_does_not_stand_in_for_what_is_broken() -> None:
    answer = f"Instead of\n```python\n{PLAIN}```\nI suggest\n```python\n{with_head('import time')}```"
    with pytest.raises(ProposalError, match="import of time"):
        parse_reply(answer)
