"""A proposer that asks a language model."""

from __future__ import annotations

from collections.abc import Mapping

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.candidate_code import CandidateCode, fingerprint
from llamea_tune.llm.language_model import Completion, CompletionError, LanguageModel, Prompt, unusable_completion
from llamea_tune.proposals.context import PromptTooLongError
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.prompt import render_prompt, render_retry
from llamea_tune.proposals.proposal import Exchange, Proposal, ProposalError, ProposalTask, RefusedPromptError
from llamea_tune.proposals.reply import Reply, parse_reply


class LLMProposer:
    """Writes the prompt, reads the answer, and asks once more, saying what is wrong, if that cannot be used."""

    def __init__(self, llm: LanguageModel) -> None:
        """Propose what `llm` answers."""
        self._llm = llm

    @property
    def name(self) -> str:
        """The language model's name."""
        return self._llm.name

    @property
    def llm(self) -> LanguageModel:
        """The language model."""
        return self._llm

    def close(self) -> None:
        """Stop waiting for answers, where the language model can be told so. Call it when a run is interrupted."""
        close = getattr(self._llm, "close", None)
        if close is not None:
            close()

    def propose(self, task: ProposalTask) -> Proposal:
        """Ask for one optimizer.

        Raises:
            ProposalError: Neither the first nor the second answer could be used.
            RefusedPromptError: The first prompt got nothing that is an answer, or is too long because of its parents.
            Unanswered: No answer came; whoever asks may try again.
            ProposerError: The language model cannot work at all, or not even a prompt without parents fits into its context.
        """
        exchanges: list[Exchange] = []
        try:
            prompt = self.first_prompt(task, exchanges)
            completion = self.ask(prompt, exchanges)
            try:
                reply = _read(completion, task)
                if fingerprint(reply.code) in task.seen:
                    raise ProposalError("it is the same program as one tried before, up to comments and layout")
                if task.novelty is not None and (alike := task.novelty.refuses(reply.code)) is not None:
                    raise ProposalError(f"it is too much like what was tried before: {alike}")
                self.try_out(reply)
            except ProposalError as err:
                completion = self.ask(self.second_prompt(task, prompt, completion.text, str(err)), exchanges)
                reply = _read(completion, task)
        except ProposalError as err:
            err.exchanges = tuple(exchanges)
            raise
        except PromptTooLongError as err:
            if not exchanges and not task.parents:
                raise  # nor does any other prompt fit
            kind = ProposalError if exchanges else RefusedPromptError
            reason = f"no answer: its prompt takes {err.needed:,} tokens at the least, where {err.left:,} are left"
            raise kind(reason, tuple(exchanges)) from err
        return Proposal(
            class_name=reply.class_name,
            code=reply.code,
            description=reply.description,
            proposer=", ".join(dict.fromkeys(exchange.completion.llm for exchange in exchanges)),
            ranges=reply.ranges,
            refused_ranges=reply.refused_ranges,
            exchanges=tuple(exchanges),
        )

    def first_prompt(self, task: ProposalTask, exchanges: list[Exchange]) -> Prompt:  # noqa: ARG002 (of those that derive)
        """The prompt for a program; what else is asked on the way to it is added to the exchanges."""
        return render_prompt(task)

    def second_prompt(self, task: ProposalTask, prompt: Prompt, answer: str, problem: str) -> Prompt:
        """The prompt that follows an answer which cannot be used."""
        return render_retry(prompt, answer, problem, task.briefing.context_tokens)

    def try_out(self, reply: Reply) -> None:
        """Look whether a program works at all, before it is proposed.

        Raises:
            ProposalError: It does not; the message says why.
        """

    def ask(self, prompt: Prompt, exchanges: list[Exchange]) -> Completion:
        """Ask, and note the exchange; where there was no usable answer, with what there was of one, so that it replays."""
        try:
            completion = self._llm.complete(prompt)
        except CompletionError as err:
            kind = ProposalError if exchanges else RefusedPromptError
            exchanges.append(Exchange(prompt, unusable_completion(err, self._llm.name)))
            raise kind(f"no answer: {err}") from err
        exchanges.append(Exchange(prompt, completion))
        return completion


def _read(completion: Completion, task: ProposalTask) -> Reply:
    """Read the answer to a task, check that it changes something, and let the parents' ranges stand where none is new."""
    parents = [parent.candidate for parent in task.parents]
    parent_code = parents[0].code if OPERATORS[task.operator].edits else None
    reply = _parse(completion, parent_code)
    program = fingerprint(reply.code)
    for parent in parents:
        if program == fingerprint(parent.code):
            raise ProposalError(f"no change: it is the same program as its parent {parent.class_name}")
    if parent_code is None:
        return reply
    return reply._replace(ranges=_inherited(reply, parents[0].ranges))


def _parse(completion: Completion, parent_code: str | None) -> Reply:
    try:
        return parse_reply(completion.text, parent_code)
    except ProposalError as err:
        if not completion.cut_off:
            raise
        raise ProposalError(f"it was cut off at the limit of tokens before its end, so be briefer ({err})") from err


def _inherited(reply: Reply, of_parent: Mapping[str, HyperparameterRange]) -> Mapping[str, HyperparameterRange]:
    names = CandidateCode.read(reply.code).defaults
    return {name: of for name, of in of_parent.items() if name in names} | dict(reply.ranges)
