"""Waits for a server are on the screen."""

import threading

from llamea_tune.cli.progress import RunProgress
from llamea_tune.llm.language_model import Waiting

LOADING = "http://server is loading the model"


def test_a_wait_for_the_same_is_shown_once_whoever_waits(capsys):
    with RunProgress() as progress:
        waits = [Waiting(str(number), LOADING, 60.0) for number in range(4)]
        threads = [threading.Thread(target=progress, args=(wait,)) for wait in waits]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        progress(Waiting("4", "http://server limits the rate", 0.2))
    shown = [line for line in capsys.readouterr().err.splitlines() if line.startswith("waiting ")]
    assert shown == [f"waiting 1 min 00 s: {LOADING}", "waiting 1 s: http://server limits the rate"]


def test_a_wait_is_shown_again_when_it_is_over(capsys):
    progress = RunProgress()
    for _ in range(2):
        progress(Waiting("0", LOADING, 0.0))
    assert capsys.readouterr().err.count(LOADING) == 2


def test_quiet_shows_none(capsys):
    RunProgress(quiet=True)(Waiting("0", LOADING, 60.0))
    assert capsys.readouterr().err == ""
