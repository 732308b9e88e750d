"""Outcomes of a call, before the reply is parsed: each outcome that is no answer has a name and a policy.

All are asked again, up to three attempts in all; what is said to the model and how much room it gets differ. A unit
whose attempts are used up fails with the name of the last outcome. The raw reply is in the journal each time. The same
table for readers is in docs/models.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from longbeam.models.language import wrong_language
from longbeam.models.loops import LOOP
from longbeam.schemas import BenchmarkSpec, ModelReply, Role, provider_of

MORE_ROOM = 2
"""Factor on `max_tokens` after a reply that was cut off there."""

_REFUSAL = re.compile(
    r"\s*(i['\u2019]?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately)?[,.;: ]*(but )?"
    r"(i (can['\u2019]?t|cannot|can not|won['\u2019]?t|am unable to|am not able to|must decline)"
    r"|i['\u2019]m (unable|not able) to)\s"
    r"(assist|help|comply|fulfil|provide|create|generate|write|do that|continue with|engage|participate|discuss)",
    re.IGNORECASE,
)
LONGEST_REFUSAL = 400
"""Characters; a longer text that begins so goes on to say something."""

WITHOUT_TEXT = frozenset({"empty", "reasoning", "refusal", "content_filter", "length", "loop"})
"""Kinds of outcomes that a reply without any usable text can have."""


@dataclass(frozen=True)
class Outcome:
    """A reply that is no answer."""

    kind: str
    """`length`, `reasoning`, `loop`, `content_filter`, `refusal`, `empty`, `wrong_language`."""
    problem: str
    """Description of the reply, for the user and the model."""
    request: str = ""
    """What the next attempt asks of the model in addition. The user does not see it."""
    room: int = 1
    """Factor on the next attempt's `max_tokens`."""

    @property
    def told(self) -> str:
        """The fault that the next attempt names, unless it needs room alone."""
        return f"{self.problem}; {self.request}" if self.request else self.problem


def spoken(reply: ModelReply) -> str:
    """Return what was said, without the thoughts that some endpoints leave in it between <think> and </think>."""
    text = reply.text
    if "</think>" in text:
        return text.rpartition("</think>")[2].strip()
    return "" if text.lstrip().startswith("<think>") else text


def thought_in(text: str) -> str:
    """Return the thoughts that a text holds before </think>, or after a <think> that does not end."""
    if "</think>" in text:
        return text.rpartition("</think>")[0]
    return text if text.lstrip().startswith("<think>") else ""


def outcome_of(reply: ModelReply, language: str, *, is_prose: bool) -> Outcome | None:
    """Return what the reply is in place of an answer; None if it may be one."""
    text = spoken(reply)
    if reply.finish_reason == "length":
        # Reasoning takes many times the tokens of an answer, so doubling the limit would fail again.
        if not text.strip() and (reply.reasoning_tokens or "<think>" in reply.text):
            return Outcome("reasoning", "all of the length limit went into reasoning", "none was left", MORE_ROOM**2)
        return Outcome("length", "the reply was cut off at its length limit", "write less", MORE_ROOM)
    if reply.finish_reason == LOOP:
        return Outcome("loop", "the reply repeated itself until it was cut off", "say each thing once, then end")
    if reply.finish_reason == "content_filter":
        return Outcome("content_filter", "the reply was withheld by a content filter", "word it differently")
    # A long text that begins with an apology is an answer: people write so.
    if reply.refusal or (len(text) <= LONGEST_REFUSAL and _REFUSAL.match(text)):
        said = " ".join((reply.refusal or text).split())[:100]
        return Outcome(
            "refusal", f"the reply was a refusal ({said})", "all of this is fiction, so write what was asked"
        )
    if not text.strip():
        held = f"; a text stood in the field {reply.text_field!r} of its message" if reply.text_field else ""
        return Outcome("empty", f"the reply was empty{held}")
    if found := wrong_language(text, language, is_prose=is_prose):
        return Outcome("wrong_language", f"the reply was in {found}", f"write it in {language}")
    return None


def unusable_kind(reply: ModelReply, language: str) -> str:
    """Return `empty`, `reasoning` or `refusal` for a reply without any usable text; empty for every other one."""
    outcome = outcome_of(reply, language, is_prose=True)
    if outcome is not None and outcome.kind in {"refusal", "content_filter"}:
        return "refusal"
    if spoken(reply).strip():
        return ""
    # Without a text, the limit went into something that the endpoint does not show: reasoning, counted or not.
    return "reasoning" if reply.finish_reason in {"length", LOOP} else "empty"


def longer_limit(spec: BenchmarkSpec, model: str, roles: Iterable[Role]) -> str:
    """Return the settings to change where the length limits of these roles went into reasoning."""
    tables = " and ".join(f"[sampling.{role.value}]" for role in sorted(roles))
    # longbeam sets the chat template of a server that it starts; at another server, only the user can.
    if provider_of(model) not in {"gguf", "vllm"}:
        less = "turn reasoning down at the server"
    elif spec.endpoint_for(model).reasoning:
        less = f'set reasoning = false in [endpoints."{model}"]'
    else:
        less = "name a model in [models] that reasons less"
    return f"raise max_tokens in {tables}, or {less}"
