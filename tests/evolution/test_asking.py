"""What is asked for is given as it comes; what gets no answer is asked for again, up to a point."""

import threading
import time
from dataclasses import replace

import pytest

from llamea_tune.evolution.asking import Asking
from llamea_tune.evolution.ledger import NotAsked
from llamea_tune.evolution.plan import PlannedCandidate
from llamea_tune.evolution.reasons import commonest
from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import Unanswered
from llamea_tune.proposals import Proposal, ProposalError, ProposalTask, RefusedPromptError

PLANNED = [PlannedCandidate(f"{number:04d}", 0, ProposalTask(str(number), "initial", (), ())) for number in range(6)]
DONE = Proposal("A", "class A: ...", "", "script")
NO_SERVER = Unanswered("http://server is down")


class Script:
    """A proposer that works through a list of outcomes for each task; the last one repeats. Functions are called."""

    name = "script"

    def __init__(self, *default, **of_tasks):
        self._outcomes = {str(n): list(of_tasks.get(f"t{n}", default)) for n in range(len(PLANNED))}
        self.asked = []

    def propose(self, task):
        self.asked.append(task.key)
        outcomes = self._outcomes[task.key]
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        if callable(outcome):
            outcome = outcome()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def ask(proposer, planned=PLANNED, at_once=1, answered=False):
    asking = Asking(proposer, at_once, 3, answered=answered)
    try:
        return list(asking.each(planned))
    finally:
        asking.close()


def slowly():
    time.sleep(0.2)
    return DONE


def test_what_is_answered_first_comes_first():
    given = [entry.id for entry, _ in ask(Script(DONE, t0=[slowly]), at_once=2)]
    assert given == ["0001", "0002", "0003", "0004", "0005", "0000"]


def test_what_is_given_comes_first_and_nobody_is_asked_for_it():
    own = Proposal("Own", "class Own: ...", "", "mine")
    proposer = Script(DONE)
    took = ask(proposer, [*PLANNED[:1], replace(PLANNED[1], given=own), *PLANNED[2:3]], answered=True)
    assert [(entry.id, outcome.proposer) for entry, outcome in took] == [
        ("0001", "mine"),
        ("0000", "script"),
        ("0002", "script"),
    ]
    assert proposer.asked == ["0", "2"]


def test_more_may_be_asked_for_while_others_are_awaited():
    asking = Asking(Script(DONE, t0=[slowly]), 2, 3, answered=True)
    asking.ask(PLANNED[:2])
    assert asking.take()[0].id == "0001"
    asking.ask(PLANNED[2:3])
    assert [asking.take()[0].id for _ in range(2)] == ["0002", "0000"]
    assert asking.take() is None
    asking.close()


def test_what_is_not_to_be_asked_for_is_not_waited_for():
    given = ask(Script(DONE, t1=[NotAsked()], t5=[NotAsked()]))
    assert [entry.id for entry, _ in given] == ["0000", "0002", "0003", "0004"]


def test_no_answer_is_waited_for_longer_than_there_is_time():
    release = threading.Event()
    asking = Asking(Script(release.wait), 1, 3, answered=True, seconds_left=lambda: 0.1)
    asking.ask(PLANNED[:1])
    assert asking.take() is None
    release.set()
    asking.close()


def test_no_more_are_asked_at_once_than_may_be():
    running, most, lock = set(), [], threading.Lock()

    def count():
        with lock:
            running.add(threading.get_ident())
            most.append(len(running))
        time.sleep(0.05)
        with lock:
            running.remove(threading.get_ident())
        return DONE

    ask(Script(count), at_once=2)
    assert max(most) == 2


def test_who_got_no_answer_is_asked_for_again():
    proposer = Script(DONE, t1=[NO_SERVER, NO_SERVER, DONE], t4=[NO_SERVER, DONE])
    assert [outcome for _, outcome in ask(proposer)] == [DONE] * 6
    assert len(proposer.asked) == 9


def test_answers_in_between_count_anew():
    flaky = {f"t{number}": [NO_SERVER, NO_SERVER, DONE] for number in range(6)}
    assert len(ask(Script(**flaky), planned=PLANNED[:1])) == 1
    with pytest.raises(ProposerError, match="3 calls in a row got no answer: http://server is down"):
        ask(Script(**flaky))


def test_a_refused_prompt_is_given_once_another_is_answered():
    refused = RefusedPromptError("no answer: too long")
    assert [outcome for _, outcome in ask(Script(DONE, t0=[refused], t1=[refused]))] == [refused, refused, *[DONE] * 4]
    assert ask(Script(refused), answered=True) == [(entry, refused) for entry in PLANNED]


@pytest.mark.parametrize("n_planned", [1, 2, 6])
def test_the_same_refusal_of_everything_gives_no_candidate(n_planned):
    numbers = iter(range(100, 200))
    proposer = Script(lambda: RefusedPromptError(f"no answer: {next(numbers)} tokens are too many"))
    with pytest.raises(ProposerError, match=r"every prompt so far ended alike, no answer: 10\d tokens are too many"):
        ask(proposer, PLANNED[:n_planned])


def test_refusals_for_several_reasons_are_candidates():
    reasons = ["too long", "violent", "empty", "too long", "empty", "violent"]
    refusals = {f"t{number}": [RefusedPromptError(reason)] for number, reason in enumerate(reasons)}
    assert [str(outcome) for _, outcome in ask(Script(**refusals))] == reasons


def test_an_unusable_answer_is_an_answer():
    unusable = ProposalError("no Python code")
    assert ask(Script(unusable)) == [(entry, unusable) for entry in PLANNED]


def test_an_error_ends_it_while_another_call_hangs():
    release = threading.Event()
    started = time.monotonic()
    with pytest.raises(ProposerError, match="no key"):
        ask(Script(DONE, t0=[release.wait], t3=[ProposerError("no key")]), at_once=2)
    assert time.monotonic() - started < 5
    release.set()


def test_after_the_end_nothing_more_is_asked():
    proposer = Script(slowly)
    asking = Asking(proposer, 2, 3, answered=True)
    asking.ask(PLANNED)
    asking.take()
    asking.close()
    time.sleep(0.5)
    assert len(proposer.asked) <= 4
    assert not any(thread.name == "propose" and thread.is_alive() for thread in threading.enumerate())


def test_the_commonest_reason_overlooks_numbers():
    reasons = ["no code", "ran for 61 s", "no answer", "ran for 60.2 s", "no answer: request a1b2"]
    assert commonest(reasons) == ("ran for 61 s", 2)
