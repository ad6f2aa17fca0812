"""Several language models as one."""

import pytest

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm import make_llm
from llamea_tune.llm.mixed import read_weights


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("openai:a=3,openai:b=1", [("openai:a", 3.0), ("openai:b", 1.0)]),
        ("openai:a, handoff:folder=0.5", [("openai:a", 1.0), ("handoff:folder", 0.5)]),
        ("openai:m@http://host/v1?x=y=2,", [("openai:m@http://host/v1?x=y", 2.0)]),
    ],
)
def test_weights_are_read(text, read):
    assert read_weights(text) == read


@pytest.mark.parametrize("text", ["", "a=0", "a=-1", "a=nan", "a=many", "=2", "mix:openai:a=1"])
def test_what_is_no_weight_is_refused(text):
    with pytest.raises(ProposerError, match="as in mix:openai:a=3,openai:b=1"):
        read_weights(text)


def test_options_are_those_of_each(tmp_path):
    llm = make_llm(f"mix:handoff:{tmp_path / 'a'}=1,handoff:{tmp_path / 'b'}=2", timeout_s=0.5)
    assert llm.name == "mix:handoff=1,handoff=2"
    assert (tmp_path / "b").is_dir()
