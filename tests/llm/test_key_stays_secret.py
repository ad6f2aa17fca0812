"""From the server to the run log, the key shows nowhere, even where the server echoes it."""

from __future__ import annotations

import json
import logging

import pytest
from chat_server import fails, says

from llamea_tune.llm.exchanges import exchange_to_json
from llamea_tune.proposals import LLMProposer, ProposalError, make_proposer
from llamea_tune.testing.proposer_contract import OTHER_EXAMPLE_CODE, example_task


def test_whole_path(server, key, caplog):
    server.plan = [
        fails(429, f"{key} is too fast", headers={"Retry-After": "0.01"}),
        says(f"I see {key} but no code"),
        says(f"Description: Made for {key}.\n```python\n{OTHER_EXAMPLE_CODE}# {key}\n```"),
        fails(400, f"{key} asked for too much"),
    ]
    proposer = make_proposer(f"openai:tiny@{server.url}", max_retries=1)
    assert isinstance(proposer, LLMProposer)
    with caplog.at_level(logging.DEBUG):
        proposal = proposer.propose(example_task("mutate"))
        with pytest.raises(ProposalError) as raised:
            proposer.propose(example_task("initial"))
    assert proposal.class_name == "SpreadSample"
    exchanges = [*proposal.exchanges, *raised.value.exchanges]
    assert len(exchanges) == 3
    logged = json.dumps([exchange_to_json(e.prompt, e.completion) for e in exchanges])
    for text in (logged, str(raised.value), repr(proposal), proposer.name, caplog.text, json.dumps(server.requests)):
        assert key not in text
