"""Outcomes of a call, before the reply is parsed: each outcome that is no answer has a name and a policy.

All are asked again, up to three attempts in all; what is said to the model and how much room it gets differ. A
unit whose attempts are used up fails with the name of the last outcome. The raw reply is in the journal each
time. The same table for readers is in docs/models.md. A wrong language is known by its script and function
words (`text/languages.py`), because good libraries for it weigh 100 MB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from longbeam.models.loops import LOOP
from longbeam.models.tuning import CALLING
from longbeam.schemas import BenchmarkSpec, ModelReply, Role, provider_of
from longbeam.text import WITH_SMALL_WORDS, Language

_SCRIPTS = {
    "latin": "A-Za-z\u00aa-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "hebrew": "\u0590-\u05ff",
    "devanagari": "\u0900-\u097f",
    "bengali": "\u0980-\u09ff",
    "thai": "\u0e00-\u0e7f",
    "hangul": "\u1100-\u11ff\uac00-\ud7af",
    "kana": "\u3040-\u30ff",
    "han": "\u3400-\u4dbf\u4e00-\u9fff",
}
_LETTERS = {name: re.compile(f"[{ranges}]") for name, ranges in _SCRIPTS.items()}
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")


def wrong_language(text: str, language: Language, *, is_prose: bool) -> str:
    """Return the script or language that `text` is in, in place of `language`; empty if nothing speaks against it.

    JSON (`is_prose` false) is judged by its script alone and for languages in Latin letters only: its keys are English.
    """
    scripts = language.scripts
    if not scripts or (not is_prose and scripts != ("latin",)):
        return ""
    text = text[: CALLING.language_characters]
    if text.isascii() and (not is_prose or len(text) < CALLING.language_letters):
        return "" if scripts == ("latin",) or len(text) < CALLING.language_letters else "Latin letters"
    plain = _CODE.sub(" ", text) if "`" in text or "://" in text else text
    others = len(plain) - len(plain.encode("ascii", "ignore"))  # dashes, quotation marks, accents, other scripts
    if scripts != ("latin",) or others > CALLING.foreign_share * CALLING.language_letters:
        counts = {name: len(letters.findall(plain)) for name, letters in _LETTERS.items()}
        foreign = {name: count for name, count in counts.items() if name not in scripts}
        total = sum(counts.values())
        most = max(foreign, key=lambda name: foreign[name])
        if total >= CALLING.language_letters and sum(foreign.values()) > CALLING.foreign_share * total:
            return f"{most.capitalize()} letters"
    return _other_language(plain, language.small_words) if is_prose and language.small_words else ""


def _other_language(text: str, own: frozenset[str]) -> str:
    # Nearly all texts are in their language, which their first lines show: enough of its small words between blanks.
    first = text[: CALLING.language_first].casefold()
    if sum(map(own.__contains__, first.split())) >= CALLING.own_language * (len(first) + 1) / 2:
        return ""
    words = _WORD.findall(text.casefold())
    if len(words) < CALLING.language_words or sum(map(own.__contains__, words)) >= CALLING.own_language * len(words):
        return ""
    shares = {known.name: sum(map(known.small_words.__contains__, words)) / len(words) for known in WITH_SMALL_WORDS}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] > CALLING.other_language else ""


_REFUSAL = re.compile(
    r"\s*(i['\u2019]?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately)?[,.;: ]*(but )?"
    r"(i (can['\u2019]?t|cannot|can not|won['\u2019]?t|am unable to|am not able to|must decline)"
    r"|i['\u2019]m (unable|not able) to)\s"
    r"(assist|help|comply|fulfil|provide|create|generate|write|do that|continue with|engage|participate|discuss)",
    re.IGNORECASE,
)

WITHOUT_TEXT = frozenset({"empty", "reasoning", "refusal", "content_filter", "length", "loop"})
"""Kinds of outcomes that a reply without any usable text can have."""


@dataclass(frozen=True)
class ReplyOutcome:
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


def outcome_of(reply: ModelReply, language: Language, *, is_prose: bool) -> ReplyOutcome | None:
    """Return what the reply is in place of an answer; None if it may be one."""
    text = spoken(reply)
    if reply.finish_reason == "length":
        # Reasoning takes many times the tokens of an answer, so doubling the limit would fail again.
        if not text.strip() and (reply.reasoning_tokens or "<think>" in reply.text):
            return ReplyOutcome(
                "reasoning", "all of the length limit went into reasoning", "none was left", CALLING.more_room**2
            )
        return ReplyOutcome("length", "the reply was cut off at its length limit", "write less", CALLING.more_room)
    if reply.finish_reason == LOOP:
        return ReplyOutcome("loop", "the reply repeated itself until it was cut off", "say each thing once, then end")
    if reply.finish_reason == "content_filter":
        return ReplyOutcome("content_filter", "the reply was withheld by a content filter", "word it differently")
    # A long text that begins with an apology is an answer: people write so.
    if reply.refusal or (len(text) <= CALLING.longest_refusal and _REFUSAL.match(text)):
        said = " ".join((reply.refusal or text).split())[:100]
        return ReplyOutcome(
            "refusal", f"the reply was a refusal ({said})", "all of this is fiction, so write what was asked"
        )
    if not text.strip():
        held = f"; a text stood in the field {reply.text_field!r} of its message" if reply.text_field else ""
        return ReplyOutcome("empty", f"the reply was empty{held}")
    if found := wrong_language(text, language, is_prose=is_prose):
        return ReplyOutcome("wrong_language", f"the reply was in {found}", f"write it in {language.name}")
    return None


def unusable_kind(reply: ModelReply, language: Language) -> str:
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
