"""How long a server is waited for, and that waiting ends when it is told to."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from chat_server import PROMPT, ChatServer, Planned, chat_server, fails, model, says
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.llm import Prompt, Unanswered
from llamea_tune.llm.language_model import Waiting
from llamea_tune.llm.openai_compatible import OpenAICompatible
from llamea_tune.llm.waiting import asked_wait_s

LOADING = fails(503, "Loading model")


def waits_for(server: ChatServer, *plan: Planned, **options) -> list[float]:
    """Seconds waited before an answer came."""
    server.plan = [*plan, says("at last")]
    waits: list[float] = []
    assert model(server, wait=waits.append, **options).complete(PROMPT).text == "at last"
    assert len(server.requests) == len(plan) + 1 == len(waits) + 1
    return waits


def test_pauses_grow_and_outlast_a_minute(server):
    waits = waits_for(server, *[fails(500, "oops")] * 5, max_retries=5)
    for number, wait in enumerate(waits):
        assert 2.0 * 2**number <= wait <= 2.5 * 2**number
    assert sum(waits) > 60


def test_pauses_have_a_limit(server):
    waits = waits_for(server, *[fails(500, "oops")] * 9, max_retries=9, max_wait_s=50.0)
    assert waits[-4:] == [50.0] * 4


def test_several_prompts_do_not_wait_alike(server):
    server.plan = [fails(500, "oops")]
    waits: list[float] = []
    llm = model(server, wait=waits.append, max_retries=1)
    for key in ("a", "b", "a"):
        with pytest.raises(Unanswered):
            llm.complete(Prompt(key, "s", "u"))
    assert waits[0] == waits[2] != waits[1]


def test_a_server_that_asks_for_no_wait_again_and_again_is_given_time_all_the_same(server):
    waits = waits_for(server, *[fails(429, "slow down", headers={"Retry-After": "0"})] * 5, max_retries=5)
    assert waits[0] == 0.0
    assert waits[1:] == sorted(waits[1:])
    assert sum(waits) > 60


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "300"}, 300.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "-5"}, 0.0),
        ({"Retry-After": "86400"}, 600.0),
        ({"Retry-After-Ms": "1500"}, 1.5),
        ({"Retry-After-Ms": "soon", "Retry-After": "7"}, 7.0),
        ({"Retry-After": format_datetime(datetime(2001, 1, 1, tzinfo=UTC), usegmt=True)}, 0.0),
    ],
)
def test_the_servers_own_wait_is_honoured_up_to_a_limit(server, headers, seconds):
    assert waits_for(server, fails(429, "slow down", headers=headers)) == [seconds]
    server.requests.clear()
    assert waits_for(server, fails(503, "busy", headers=headers)) == [seconds]


def test_a_date_to_wait_for_is_honoured(server):
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 80 < waits_for(server, fails(429, "slow down", headers={"Retry-After": until}))[0] <= 100


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4,9} \d\d:\d\d:\d\d( [-+]\d{4})?"))
def test_any_header_is_seconds_or_nothing(value):
    for name in ("retry-after", "retry-after-ms"):
        seconds = asked_wait_s({name: value})
        assert seconds is None or seconds >= 0


def test_it_really_waits(server):
    server.plan = [fails(429, "slow down", headers={"Retry-After": "0.4"}), says("at last")]
    assert model(server, wait=None).complete(PROMPT).text == "at last"
    assert 0.4 <= server.times[1] - server.times[0] < 3.0


def test_each_wait_is_told_before_it_begins(server):
    told: list[Waiting] = []
    seen: list[int] = []
    server.plan = [fails(429, "slow down", headers={"Retry-After": "3"}), LOADING, says("at last")]
    model(server, on_waiting=told.append, wait=lambda _: seen.append(len(told))).complete(PROMPT)
    assert told == [
        Waiting("k", f"{server.url} limits the rate (slow down)", 3.0),
        Waiting("k", f"{server.url} is loading the model (Loading model)", 10.0),
    ]
    assert seen == [1, 2]


@pytest.mark.parametrize(
    "loading",
    [
        LOADING,
        fails(503, "The model is warming up"),
        fails(404, "model tiny is loading"),
        fails(500, "Server is not ready"),
        fails(429, "Model is currently loading"),
    ],
)
def test_loading_is_waited_for_longer_than_an_error(server, loading):
    waits = waits_for(server, *[loading] * 30, max_retries=2)
    assert waits == [10.0] * 30


def test_loading_is_not_waited_for_without_end(server):
    server.plan = [LOADING]
    waits: list[float] = []
    with pytest.raises(Unanswered, match=r"is loading the model .Loading model., tried \d\d times"):
        model(server, max_retries=2, wait=waits.append).complete(PROMPT)
    assert 360 <= sum(waits) <= 380


@pytest.mark.parametrize("loading", [LOADING, fails(500, "oops")])
def test_who_does_not_want_to_wait_need_not(server, loading):
    server.plan = [loading]
    with pytest.raises(Unanswered, match="tried once"):
        model(server, max_retries=0).complete(PROMPT)
    assert len(server.requests) == 1


def test_a_server_that_is_out_of_reach_is_waited_for():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    waits: list[float] = []
    llm = OpenAICompatible("tiny", url, max_retries=5, wait=waits.append)
    with pytest.raises(
        Unanswered, match=r"cannot be reached .*tried 6 times; start the server or correct the base URL"
    ):
        llm.complete(PROMPT)
    assert sum(waits) > 60


def test_a_server_that_starts_meanwhile_is_found():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ExitStack() as running:

        def wait(seconds: float) -> bool:
            running.enter_context(chat_server(port))
            return False

        assert OpenAICompatible("tiny", f"http://127.0.0.1:{port}/v1", wait=wait).complete(PROMPT).text == "hello"


@pytest.mark.parametrize("cut", ["before", "within"])
def test_a_broken_connection_is_made_anew(server, cut):
    broken = Planned(body=b'{"choices": [', cut=cut)
    assert len(waits_for(server, broken, broken)) == 2


@pytest.mark.parametrize("cut", ["before", "within"])
def test_a_connection_that_always_breaks(server, cut):
    server.plan = [Planned(body=b'{"choices": [', cut=cut)]
    with pytest.raises(Unanswered, match=r"the connection to .* broke before the answer came, tried 3 times"):
        model(server).complete(PROMPT)


def test_silence(server):
    server.plan = [Planned(delay_s=30.0)]
    started = time.monotonic()
    with pytest.raises(Unanswered, match=r"sent nothing for 0\.2 s, tried 2 times"):
        model(server, timeout_s=0.2, max_retries=1).complete(PROMPT)
    assert time.monotonic() - started < 3
    assert len(server.requests) == 2


def test_a_whole_answer_has_a_time_limit(server):
    server.plan = [Planned(drip_s=0.05)]
    started = time.monotonic()
    with pytest.raises(Unanswered, match=r"did not end its answer within 0\.4 s"):
        model(server, answer_timeout_s=0.4).complete(PROMPT)
    assert 0.4 <= time.monotonic() - started < 3
    assert server.hung_up.wait(5)
    assert len(server.requests) == 1


def in_the_middle(server: ChatServer, llm: OpenAICompatible, n: int, then: Callable[[], None]) -> list[str]:
    """Let `n` prompts be asked, and what comes of them once `then` was called."""
    with ThreadPoolExecutor(n) as pool:
        pending = [pool.submit(llm.complete, Prompt(str(number), "s", "u")) for number in range(n)]
        while len(server.requests) < n:
            time.sleep(0.01)
        time.sleep(0.2)
        then()
        return [str(future.exception(timeout=5)) for future in pending if type(future.exception()) is Unanswered]


@pytest.mark.parametrize(
    "planned", [Planned(delay_s=30.0), Planned(drip_s=0.05), fails(429, "x", headers={"Retry-After": "60"}), LOADING]
)
def test_close_ends_all_calls_and_waits_at_once(server, planned):
    server.plan = [planned]
    llm = model(server, wait=None)
    closed = []

    def close() -> None:
        closed.append(time.monotonic())
        llm.close()

    said = in_the_middle(server, llm, 4, close)
    assert time.monotonic() - closed[0] < 1.0
    assert len(said) == 4
    assert all("no longer waited for" in message for message in said)
    if planned.drip_s:
        assert server.hung_up.wait(5)
    with pytest.raises(Unanswered):
        llm.complete(PROMPT)
    assert len(server.requests) == 4


@pytest.mark.parametrize("planned", [Planned(delay_s=30.0), Planned(drip_s=0.05), LOADING])
def test_ctrl_c_ends_the_process_within_a_second(server, planned):
    server.plan = [planned]
    script = (
        "import sys, threading\nfrom llamea_tune.llm import Prompt, make_llm\nllm = make_llm(sys.argv[1])\n"
        "threading.Thread(target=llm.complete, args=[Prompt('a', 's', 'u')]).start()\n"
        "try:\n    llm.complete(Prompt('b', 's', 'u'))\nfinally:\n    llm.close()\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", script, f"openai:tiny@{server.url}"], stderr=subprocess.DEVNULL)
    while len(server.requests) < 2:
        assert asking.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)
    started = time.monotonic()
    asking.send_signal(signal.SIGINT)
    assert asking.wait(10) == -signal.SIGINT
    assert time.monotonic() - started < 2.0  # a second is promised; the machine may be busy


def ask_in_child(url: str) -> None:
    assert OpenAICompatible("tiny", url).complete(PROMPT).text == "hello"


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_can_ask_too(server):
    ask_in_child(server.url)
    child = multiprocessing.get_context("fork").Process(target=ask_in_child, args=[server.url], daemon=True)
    child.start()
    child.join(10)
    assert child.exitcode == 0


def test_a_failing_call_does_not_disturb_another(server):
    server.plan = [Planned(delay_s=0.5, body=says("slow").body), fails(400, "no")]
    llm = model(server)
    answers: list[str] = []
    slow = threading.Thread(target=lambda: answers.append(llm.complete(PROMPT).text))
    slow.start()
    while not server.requests:
        time.sleep(0.01)
    with pytest.raises(Exception, match="refused the prompt"):
        llm.complete(PROMPT)
    slow.join()
    assert answers == ["slow"]
