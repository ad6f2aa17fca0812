"""The prompt of the golden file. To accept a change: python tests/proposals/golden_prompt.py > tests/proposals/golden/mutate.md"""

from __future__ import annotations

from llamea_tune.proposals.prompt import render_prompt
from llamea_tune.testing.proposer_contract import example_task


def golden_text() -> str:
    prompt = render_prompt(example_task("mutate"))
    return f"key: {prompt.key}\ntemperature: {prompt.temperature}\n\n{prompt.system}\n\n{'-' * 40}\n\n{prompt.user}\n"


if __name__ == "__main__":
    print(golden_text(), end="")
