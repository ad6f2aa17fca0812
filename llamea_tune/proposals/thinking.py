"""What a model thought on the way to its answer, in the marks that models and servers put around it."""

from __future__ import annotations

import re

_NAME = r"(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
_MARKS = (  # beginning and end
    (rf"<(?:\w+:)?{_NAME}>", rf"</(?:\w+:)?{_NAME}>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (rf"<\|(?:begin_of_|start_)?{_NAME}\|>", rf"<\|(?:end_of_|end_|/){_NAME}\|>"),
    ("◁think▷", "◁/think▷"),
    ("<unused94>", "<unused95>"),
)
_MARK = re.compile(
    f"(?P<begin>{'|'.join(begin for begin, _ in _MARKS)})|(?P<end>{'|'.join(end for _, end in _MARKS)})", re.IGNORECASE
)
_TERMINAL = re.compile(r"\A\s*thinking\.\.\.$.*?^\.\.\.done thinking\.?$", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_UP_TO_FINAL = re.compile(
    r"\A.*<\|channel\|>\s*final\b[^\n]*?<\|message\|>|\A\s*analysis.*?assistant\s*final", re.DOTALL
)
_ANALYSIS = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)\b.*\Z", re.DOTALL)
_TOKEN = re.compile("<[|\uff5c][\\w\u2581/]+[|\uff5c]>")
_ALOUD = re.compile(
    r"[\W_]*(?:(?:thinking|thoughts?|thought process|reasoning|analysis|chain of thought|scratchpad)\b[^.!?:]{0,20}"
    r"(?:[:…]|\.\.\.|\W*$)|(?:let me think|let's think|the user|okay,|ok,|hmm|wait,)(?!\w))",
    re.IGNORECASE,
)


def without_thinking(text: str) -> str:
    """An answer less what was thought on the way to it, and less a server's own marks.

    Thinking may lack its opening mark, which is part of some models' prompts; thinking that never ended is all there is.
    """
    text = _UP_TO_FINAL.sub("", text)
    text = _ANALYSIS.sub("", text)
    text = _TERMINAL.sub("", text)
    return _TOKEN.sub("", _unmarked(text))


def _unmarked(text: str) -> str:
    kept, after, begun = "", 0, -1
    for mark in _MARK.finditer(text):
        if mark["begin"] and begun < 0:
            begun = mark.start()
        elif mark["end"]:
            kept = kept + text[after:begun] if begun >= 0 else ""
            after, begun = mark.end(), -1
    if begun >= 0 and not (kept + text[after:begun]).strip():
        return ""
    return kept + text[after:]


def is_thinking_aloud(line: str) -> bool:
    """Whether unmarked thinking begins with this line of prose, such as `Thinking: ...`; where it ends, nobody can tell."""
    return _ALOUD.match(line) is not None
