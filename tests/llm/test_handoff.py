"""Prompts as files, answered by another thread or another process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm import Prompt, Unanswered, make_llm
from llamea_tune.llm.handoff import Handoff
from llamea_tune.testing.proposer_contract import LanguageModelContract

PROMPT = Prompt("g000-00-initial", "You are terse.", "Say hello.", 0.3)

ANSWERER = """
import sys, time
from pathlib import Path
folder, wanted = Path(sys.argv[1]), int(sys.argv[2])
seen = set()
while len(seen) < wanted:
    for prompt in sorted(folder.glob("*.prompt.md")):
        if prompt in seen:
            continue
        seen.add(prompt)
        text = prompt.read_text(encoding="utf-8")
        assert text.startswith("> Write the answer") and text.endswith("end of prompt\\n"), text
        reply = prompt.with_name(prompt.name.replace(".prompt.", ".reply."))
        reply.with_suffix(".part").write_text("answer to " + prompt.name, encoding="utf-8")
        reply.with_suffix(".part").replace(reply)
    time.sleep(0.01)
"""


def wait_for(path: Path) -> Path:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.005)
    return path


class TestContract(LanguageModelContract):
    @pytest.fixture
    def llm(self, tmp_path):
        stop = threading.Event()

        def answer() -> None:
            while not stop.wait(0.01):
                for prompt in tmp_path.glob("*.prompt.md"):
                    reply = Path(str(prompt).replace(".prompt.", ".reply."))
                    if not reply.exists():
                        reply.write_text("an answer")

        thread = threading.Thread(target=answer)
        thread.start()
        yield Handoff(tmp_path, poll_s=0.02)
        stop.set()
        thread.join()


def test_another_process_answers_several_prompts_that_wait_at_once(tmp_path):
    prompts = [Prompt(f"g000-0{n}-initial", "sys", "x" * 300_000 + " end of prompt") for n in range(4)]
    answerer = subprocess.Popen([sys.executable, "-c", ANSWERER, str(tmp_path), "4"])
    llm = Handoff(tmp_path, poll_s=0.02, timeout_s=30)
    with ThreadPoolExecutor(4) as pool:
        completions = list(pool.map(llm.complete, prompts))
    assert [c.text for c in completions] == [f"answer to g000-0{n}-initial.prompt.md" for n in range(4)]
    assert answerer.wait(10) == 0
    assert not [path.name for path in tmp_path.iterdir() if "part" in path.name]


def test_the_prompt_file_holds_everything(tmp_path):
    (tmp_path / "g000-00-initial.reply.md").write_text("hi")
    Handoff(tmp_path, poll_s=0.01).complete(PROMPT)
    text = (tmp_path / "g000-00-initial.prompt.md").read_text()
    assert "`g000-00-initial.reply.md`" in text.splitlines()[0]
    assert "You are terse." in text
    assert "Say hello." in text


def test_a_reply_written_bit_by_bit_is_read_whole(tmp_path):
    llm = Handoff(tmp_path, poll_s=0.2, timeout_s=20)

    def write_slowly() -> None:
        wait_for(tmp_path / "g000-00-initial.prompt.md")
        with (tmp_path / "g000-00-initial.reply.md").open("w") as file:
            for number in range(12):
                file.write(f"part {number}\n")
                file.flush()
                time.sleep(0.05)

    writer = threading.Thread(target=write_slowly)
    writer.start()
    text = llm.complete(PROMPT).text
    writer.join()
    assert text.splitlines() == [f"part {number}" for number in range(12)]


def test_a_blank_reply_is_not_taken(tmp_path):
    reply = tmp_path / "g000-00-initial.reply.md"
    reply.write_text(" \n")
    os.utime(reply, (1, 1))
    with pytest.raises(Unanswered, match=r"no reply in .*g000-00-initial\.reply\.md within 0\.1 s"):
        Handoff(tmp_path, poll_s=0.02, timeout_s=0.1).complete(PROMPT)


def test_a_reply_from_before_is_used_at_once(tmp_path):
    reply = tmp_path / "g000-00-initial.reply.md"
    reply.write_text("\ufeffhi there")
    os.utime(reply, (1, 1))
    started = time.monotonic()
    assert Handoff(tmp_path, poll_s=30.0).complete(PROMPT).text == "hi there"
    assert time.monotonic() - started < 5


def test_resume_keeps_prompt_and_reply(tmp_path):
    (tmp_path / "g000-00-initial.reply.md").write_text("hi")
    first = Handoff(tmp_path, poll_s=0.01).complete(PROMPT)
    before = (tmp_path / "g000-00-initial.prompt.md").stat().st_mtime_ns
    assert Handoff(tmp_path, poll_s=0.01).complete(PROMPT).text == first.text
    assert (tmp_path / "g000-00-initial.prompt.md").stat().st_mtime_ns == before


def test_a_reply_to_another_prompt_is_refused(tmp_path):
    (tmp_path / "g000-00-initial.reply.md").write_text("hi")
    llm = Handoff(tmp_path, poll_s=0.01)
    llm.complete(PROMPT)
    with pytest.raises(ProposerError, match=r"answers another prompt.*empty folder"):
        llm.complete(Prompt(PROMPT.key, PROMPT.system, "Say goodbye."))


def test_a_prompt_that_differs_in_measured_times_only_is_the_same(tmp_path):
    (tmp_path / "k.reply.md").write_text("hi")
    llm = Handoff(tmp_path, poll_s=0.01)
    llm.complete(Prompt("k", "s", "own compute: 0.51 ms per measurement"))
    assert llm.complete(Prompt("k", "s", "own compute: 1.2e+02 ms per measurement")).text == "hi"


def test_an_unanswered_prompt_is_replaced_by_a_new_one(tmp_path):
    llm = Handoff(tmp_path, poll_s=0.01, timeout_s=0.05)
    for text in ("Say hello.", "Say goodbye."):
        with pytest.raises(Unanswered):
            llm.complete(Prompt("k", "s", text))
    assert "Say goodbye." in (tmp_path / "k.prompt.md").read_text()


@pytest.mark.parametrize("key", ["../up", "a/b", "", ".hidden", "a b"])
def test_keys_that_cannot_name_a_file(tmp_path, key):
    with pytest.raises(ProposerError, match="cannot name a file"):
        Handoff(tmp_path / "in").complete(Prompt(key, "s", "u"))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ProposerError, match="cannot be made"):
        make_llm(f"handoff:{tmp_path / 'file'}")


def test_no_folder_named():
    with pytest.raises(ProposerError, match="handoff:FOLDER"):
        make_llm("handoff")


def test_close_ends_all_waiting(tmp_path):
    llm = Handoff(tmp_path, poll_s=30.0)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(llm.complete, Prompt(key, "s", "u")) for key in ("a", "b")]
        wait_for(tmp_path / "a.prompt.md")
        llm.close()
        for future in waiting:
            with pytest.raises(Unanswered, match="stopped waiting"):
                future.result(timeout=10)


def test_ctrl_c_ends_the_wait(tmp_path):
    script = (
        "import sys\nfrom llamea_tune.llm import Prompt, make_llm\n"
        "make_llm('handoff:' + sys.argv[1], poll_s=60.0).complete(Prompt('k', 's', 'u'))\n"
    )
    waiting = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stderr=subprocess.PIPE, text=True)
    wait_for(tmp_path / "k.prompt.md")
    time.sleep(0.1)
    waiting.send_signal(signal.SIGINT)
    _, stderr = waiting.communicate(timeout=10)
    assert waiting.returncode != 0
    assert "KeyboardInterrupt" in stderr
