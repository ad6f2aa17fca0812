"""Several language models as one."""

import pytest

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm import Completion, Prompt, make_llm
from llamea_tune.llm.mixed import ByRole, Mixed, read_weights, weights_of


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


class Named:
    """Answers with its name."""

    def __init__(self, name):
        self.name = name

    def complete(self, prompt):
        return Completion(prompt.llm, self.name)


def test_whoever_is_named_answers_and_others_are_drawn_as_without_names():
    mix = Mixed([(Named("a"), 1.0), (Named("b"), 1.0)])
    prompts = [Prompt(str(seed), "", "", seed=seed) for seed in range(20)]
    assert {mix.complete(prompt).llm for prompt in prompts} == {"a", "b"}
    named = [Prompt(str(seed), "", "", seed=seed, llm="b") for seed in range(20)]
    assert {mix.complete(prompt).llm for prompt in named} == {"b"}
    with pytest.raises(ProposerError, match="'c' is to answer 7, and is not in mix:a=1,b=1"):
        mix.complete(Prompt("7", "", "", llm="c"))


def test_two_models_of_the_same_name_go_by_what_the_mix_calls_them(tmp_path):
    one, other = (f"handoff:{tmp_path / name}" for name in ("one", "other"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "k.reply.md").write_text("the other one")
    assert make_llm(f"mix:{one}=9,{other}=1").complete(Prompt("k", "", "", llm=other)).text == "the other one"


def test_a_mix_of_a_roles_own_draws_for_itself():
    roles = ByRole(Mixed([(Named("a"), 1.0), (Named("b"), 1.0)]), {"planner": Mixed([(Named("c"), 1.0)])})
    assert roles.complete(Prompt("k", "", "", role="coder", llm="b")).llm == "b"
    assert roles.complete(Prompt("k", "", "", role="planner", llm="b")).llm == "c"


def test_a_model_that_is_named_twice_has_both_weights():
    assert weights_of("mix:openai:a=3,openai:b=1,openai:a=2") == {"openai:a": 5.0, "openai:b": 1.0}
    assert weights_of("openai:a") == {"openai:a": 1.0}
