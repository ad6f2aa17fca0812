"""Ask for advice, and once more if the answer is of no use."""

from __future__ import annotations

from llamea_tune.advising.answer import AnswerError, ReadAnswer, parse_answer
from llamea_tune.advising.prompt import render_retry
from llamea_tune.advising.request import AdviceRequest
from llamea_tune.exceptions import AdviceError
from llamea_tune.llm.exchanges import prompt_hash
from llamea_tune.llm.language_model import Completion, CompletionError, LanguageModel, Prompt, Unanswered
from llamea_tune.priors.advice import Advice


def ask_for_advice(llm: LanguageModel, request: AdviceRequest, *, date: str) -> Advice:
    """Ask a language model for advice on a kernel.

    Args:
        llm: The language model.
        request: What is asked.
        date: The day, as `YYYY-MM-DD`.

    Raises:
        AdviceError: No answer came, or neither the first nor the second could be used.
        ProposerError: The language model cannot work at all.
    """
    told, prompt = request.told, request.prompt
    completion = _complete(llm, prompt)
    try:
        answer = _read(completion, request)
    except AnswerError as first:
        completion = _complete(llm, render_retry(prompt, completion.text, str(first)))
        try:
            answer = _read(completion, request)
        except AnswerError as err:
            raise AdviceError(
                f"{completion.llm} gave no usable advice on {request.brief.name} in two answers: {err}; "
                "ask another language model"
            ) from err
    return Advice(
        kernel=request.brief.kernel_name,
        device=told.device,
        problem_size=told.problem_size,
        tune_params=request.brief.tune_params,
        opinion=request.hiding.unhide(answer.opinion, request.brief.tune_params),
        llm=completion.llm,
        prompt_hash=prompt_hash(prompt),
        date=date,
        hidden=request.hiding.hidden,
        about=told.about,
        notes=answer.notes,
    )


def _complete(llm: LanguageModel, prompt: Prompt) -> Completion:
    try:
        return llm.complete(prompt)
    except (CompletionError, Unanswered) as err:
        raise AdviceError(f"no advice: {err}") from err


def _read(completion: Completion, request: AdviceRequest) -> ReadAnswer:
    try:
        return parse_answer(completion.text, request.told)
    except AnswerError as err:
        if not completion.cut_off:
            raise
        raise AnswerError(f"it was cut off at the limit of tokens before its end, so be briefer ({err})") from err
