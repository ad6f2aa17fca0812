"""The shapes that models and servers give their answers: whatever the shape, it is the same optimizer."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.proposals.reply import parse_reply
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE

DESCRIPTION = "Random sample, then greedy steps."
RANGES = {"n_initial": {"type": "int", "low": 2, "high": 50, "log": True}}
IMPORTS = "import math\nfrom random import choice\n\nfrom kernel_tuner.strategies.wrapper import OptAlg\n"
HELPERS = '''\
LIMIT = 40


@staticmethod
def identity(config):
    return config


def nearest(searchspace, config, method):
    """Valid neighbours, at most LIMIT of them."""
    return [identity(near) for near in searchspace.get_neighbors(config, method)][:LIMIT]
'''
CLASS = '''\
class Greedy(OptAlg):
    """Takes the first better neighbour.

    Example:

    ```python
    Greedy(n_initial=3)
    ```

    Or plainly:

    ```
    Greedy()
    ```
    """

    def __init__(self, n_initial=10):
        super().__init__()
        self.n_initial = n_initial

    def __call__(self, func, searchspace):
        best, cost = None, math.inf
        for config in searchspace.get_random_sample(min(self.n_initial, searchspace.size)):
            cost, best = min((cost, best), (func(config), config))
        while near := nearest(searchspace, best, "Hamming"):
            best = choice(near)
            func(best)
'''
WHOLE = f"{IMPORTS}\n\n{HELPERS}\n\n{CLASS}"
THOUGHT = """I could write this, which is a draft:
```python
class Draft(OptAlg):
    def __call__(self, func, searchspace):
        pass
```
Description: a mere draft

but a walk is better."""


def fenced(content: str, language: str = "", marks: str = "```") -> str:
    return f"{marks}{language}\n{content.rstrip()}\n{marks}\n"


def blocks(*parts: str, language: str = "python") -> str:
    return "\n".join(fenced(part, language) for part in parts)


def answer(code: str) -> str:
    return f"Description: {DESCRIPTION}\n\n{code}\n{fenced(json.dumps(RANGES), 'json')}"


def as_object(**fields: object) -> str:
    return json.dumps({"description": DESCRIPTION, "code": WHOLE, "ranges": RANGES} | fields, indent=1)


TIDY = answer(blocks(WHOLE))
CODE_SHAPES = {
    "one block": blocks(WHOLE),
    "imports, helpers and class in blocks of their own": f"{blocks(IMPORTS)}Then:\n{blocks(HELPERS)}Now:\n{blocks(CLASS)}",
    "helpers before the class and its imports": blocks(HELPERS, f"{IMPORTS}\n\n{CLASS}"),
    "helpers without a language": blocks(IMPORTS, HELPERS, language="") + blocks(CLASS),
    "an example of before": blocks("near = [1]\nbest = near[0]\nalg = Old()", WHOLE),
    "an earlier version of the helpers": blocks(HELPERS.replace("[:LIMIT]", ""), WHOLE),
    "usage behind": blocks(WHOLE, "alg = Greedy()\nbest = tune(alg)"),
    "never told apart from the ranges": "```python\n" + WHOLE,
    "tildes": blocks(WHOLE).replace("```python\nimport", "~~~python\nimport").removesuffix("```\n") + "~~~\n",
}
THINKING = {
    "tags": "<think>\n{}\n</think>\n",
    "tags of another name": "<reasoning>{}</reasoning>",
    "tags with a namespace": "<seed:think>{}</seed:think>",
    "no opening tag": "{}\n</think>\n",
    "brackets": "[THINK]{}[/THINK]",
    "brackets, not opened": "{}[/THINK]",
    "harmony": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "harmony that a server stripped of its marks": "analysis{}assistantfinal",
    "begin and end of thought": "<|begin_of_thought|>{}<|end_of_thought|>\n<|begin_of_solution|>",
    "start thinking": "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>",
    "triangles": "◁think▷{}◁/think▷",
    "numbered tokens": "<unused94>thought\n{}<unused95>",
    "a terminal's": "Thinking...\n{}\n...done thinking.\n\n",
    "aloud": "Thinking: {}\n\n",
}
WRAPPERS = {
    "Markdown": lambda text: fenced(text, "markdown"),
    "Markdown, four ticks": lambda text: fenced(text, "markdown", "````"),
    "text": lambda text: fenced(text, "text"),
    "text, four ticks": lambda text: fenced(text, "text", "````"),
    "no language": fenced,
    "no language, four ticks": lambda text: fenced(text, marks="````"),
    "tildes": lambda text: fenced(text, "md", "~~~~"),
    "a word before": lambda text: f"Here is the answer:\n\n{fenced(text, 'markdown')}\nIt is complete.",
    "never closed": lambda text: f"```markdown\n{text}",
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "an end token": lambda text: text + "<|im_end|>",
}
OBJECTS = {
    "bare": as_object(),
    "one line": json.dumps({"python": WHOLE, "description": DESCRIPTION, "hyperparameters": RANGES}),
    "in a fence": fenced(as_object(), "json"),
    "in a fence without language": fenced(as_object()),
    "with prose": f"Here it is:\n\n{as_object()}\n\nIt is complete.",
    "code in a fence of its own": as_object(code=blocks(WHOLE)),
    "nested": json.dumps(
        {"thoughts": THOUGHT, "answer": {"implementation": WHOLE, "description": DESCRIPTION, "ranges": RANGES}}
    ),
    "in a list": json.dumps([{"name": "Greedy", "description": DESCRIPTION, "source": WHOLE}]),
    "imports apart": as_object(code=CLASS, imports=IMPORTS, helpers=HELPERS),
    "line ends within strings": as_object().replace("\\n", "\n"),
    "a trailing comma": as_object().removesuffix("\n}") + ",\n}",
    "ranges apart": f"{as_object(ranges=None)}\n\n{fenced(json.dumps(RANGES), 'json')}",
}


def same_as_tidy(text: str) -> None:
    reply, tidy = parse_reply(text), parse_reply(TIDY)
    assert ast_of(reply.code) == ast_of(tidy.code)
    assert reply.class_name == "Greedy"
    assert "draft" not in reply.description


def ast_of(code: str) -> list[str]:
    """The statements of some code, in whatever order; each as it is written."""
    import ast

    return sorted(ast.unparse(node) for node in ast.parse(code).body)


def test_the_tidy_answer_is_what_was_meant():
    reply = parse_reply(TIDY)
    assert (reply.code, reply.description) == (WHOLE, DESCRIPTION)
    assert reply.ranges == {"n_initial": HyperparameterRange("int", 2, 50, log=True)}


@pytest.mark.parametrize("code", CODE_SHAPES.values(), ids=CODE_SHAPES)
def test_code_in_blocks(code):
    same_as_tidy(answer(code))
    assert parse_reply(answer(code)).description == DESCRIPTION
    assert parse_reply(answer(code)).ranges == parse_reply(TIDY).ranges


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_whole_answer_in_a_fence(wrap):
    assert parse_reply(wrap(TIDY)) == parse_reply(TIDY)
    bare = TIDY.replace("```python\n", "", 1).replace("```\n\n```json", "```json")
    assert parse_reply(wrap(bare)).code.strip() == WHOLE.strip()


@pytest.mark.parametrize("marks", THINKING.values(), ids=THINKING)
def test_thinking_does_not_leak(marks):
    thinking = marks.format(THOUGHT)
    assert parse_reply(thinking + TIDY) == parse_reply(TIDY)
    if not thinking.startswith("Thinking: "):  # of which nobody can tell where it ends
        assert parse_reply(thinking + blocks(WHOLE)).description == "Takes the first better neighbour."


@pytest.mark.parametrize("marks", THINKING.values(), ids=THINKING)
def test_an_answer_without_a_description_is_described_by_its_docstring(marks):
    thinking = marks.format("Let me see. A walk it is.\nNow write it.")
    assert parse_reply(f"{thinking}\n{blocks(WHOLE)}").description == "Takes the first better neighbour."


@pytest.mark.parametrize("opening", ["<think>", "[THINK]", "<|channel|>analysis<|message|>", "◁think▷"])
def test_thinking_that_never_ends_holds_no_answer(opening):
    with pytest.raises(Exception, match="the answer is empty"):
        parse_reply(opening + THOUGHT)


@pytest.mark.parametrize("text", OBJECTS.values(), ids=OBJECTS)
def test_an_answer_as_an_object(text):
    same_as_tidy(text)
    assert parse_reply(text).description == DESCRIPTION
    if "low" in text:
        assert parse_reply(text).ranges == parse_reply(TIDY).ranges


def test_a_string_that_is_never_closed_ends_with_its_block():
    broken = blocks('class Broken(OptAlg):\n    """Never closed.')
    assert parse_reply(broken + answer(blocks(EXAMPLE_CODE))).code == EXAMPLE_CODE


def test_a_base_class_in_a_block_of_its_own():
    child = "class Final(ExampleSearch):\n    def __call__(self, func, searchspace):\n        super().__call__(func, searchspace)\n"
    reply = parse_reply(blocks(EXAMPLE_CODE, child))
    assert reply.class_name == "Final"
    assert ast_of(reply.code) == ast_of(EXAMPLE_CODE + child)
    assert parse_reply(answer(blocks(EXAMPLE_CODE, "alg = ExampleSearch()"))).class_name == "ExampleSearch"


def test_a_version_that_leaves_its_imports_to_the_one_before():
    later = CLASS.replace("Greedy", "Greedier")
    reply = parse_reply(f"{blocks(WHOLE)}\nBetter, with the same imports and helpers:\n{blocks(later)}")
    assert reply.class_name == "Greedier"
    assert ast_of(reply.code) == ast_of(WHOLE.replace("Greedy", "Greedier"))


def test_helpers_stand_behind_the_imports_that_must_come_first():
    main = f"from __future__ import annotations\n\n{IMPORTS}\n\n{CLASS}"
    reply = parse_reply(blocks("def lost():\n    pass\n\n\n" + HELPERS, main))
    assert reply.code == f"from __future__ import annotations\n\n{IMPORTS}\n\n{HELPERS}\n\n{CLASS}"
    compile(reply.code, "<candidate>", "exec")


CODES = st.sampled_from(sorted(set(CODE_SHAPES) - {"helpers without a language"}))  # whose fences could end any other
THOUGHTS = st.sampled_from(["", *sorted(THINKING)])
WRAPS = st.lists(st.sampled_from(sorted(WRAPPERS)), max_size=2, unique=True)


@given(CODES, THOUGHTS, WRAPS, st.booleans(), st.sampled_from(["", "Sure, here you are.\n\n"]))
def test_shapes_combine(code, thought, wraps, indented, greeting):
    text = answer(CODE_SHAPES[code])
    for name in wraps:
        text = WRAPPERS[name](text)
    if indented:
        text = textwrap.indent(text, "  ")
    thinking = THINKING[thought].format(THOUGHT) if thought else ""
    same_as_tidy(thinking + greeting + text)
    assert parse_reply(thinking + greeting + text).ranges == parse_reply(TIDY).ranges
