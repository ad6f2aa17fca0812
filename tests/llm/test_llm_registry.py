"""Specs and entry points."""

from __future__ import annotations

import subprocess
import sys

import pytest

from llamea_tune.exceptions import ProposerError, SettingsError
from llamea_tune.llm import LLMS, Completion, Prompt, make_llm

ECHO = """
from llamea_tune.llm import Completion

class Echo:
    name = "echo"

    def __init__(self, suffix):
        self.suffix = suffix

    def complete(self, prompt):
        return Completion(prompt.user + self.suffix, self.name)

def from_spec(argument, *, loud=False):
    return Echo(argument + "!" * loud)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package with an entry point, as pip would lay it out."""

    def install(package: str, entry: str, source: str = ECHO) -> None:
        (tmp_path / f"{package}.py").write_text(source)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[llamea_tune.llm]\n{entry}\n")

    monkeypatch.syspath_prepend(str(tmp_path))
    return install


def test_the_built_in_ones():
    assert {"openai", "handoff", "replay"} <= set(LLMS)


def test_another_package_brings_one(install):
    install("echo_llm_a", "echo = echo_llm_a:from_spec")
    assert make_llm("echo:?").complete(Prompt("k", "s", "hi")) == Completion("hi?", "echo")
    assert make_llm("echo:?", loud=True).complete(Prompt("k", "s", "hi")).text == "hi?!"
    with pytest.raises(SettingsError, match="echo takes no option 'quiet'; it takes loud"):
        make_llm("echo:", quiet=True)


def test_a_taken_name_is_refused(install):
    install("echo_llm_b", "openai = echo_llm_b:from_spec")
    with pytest.raises(ProposerError, match=r"'openai' is registered twice.*echo_llm_b"):
        make_llm("handoff:x")


def test_a_broken_package_is_named(install):
    install("echo_llm_c", "broken = echo_llm_c:missing")
    with pytest.raises(ProposerError, match="'broken' cannot be loaded from echo_llm_c:missing"):
        make_llm("broken:x")


def test_an_unknown_kind_is_refused():
    with pytest.raises(ProposerError, match="'gpt-4o' is not known; choose one of handoff, mix, openai, replay"):
        make_llm("gpt-4o")


def test_options_that_are_none_stand_for_defaults(tmp_path):
    assert make_llm(f"handoff:{tmp_path}", timeout_s=None, base_url=None).name == "handoff"


def test_naming_models_loads_no_http_client():
    check = "import sys, llamea_tune.llm as m; m.make_llm('handoff:' + sys.argv[1]); print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check, "."], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
