"""From what an endpoint answers in place of a reply to one error with a kind, a reason and what to do; without our
key.

The kinds, and what becomes of each, are listed in docs/models.md. Texts are masked after their JSON has been
decoded: a key is found with each of its characters escaped or not, and in base64, in which a proxy may repeat
the header.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from pydantic_core import from_json

from longbeam.errors import ProviderError
from longbeam.terminal import both_ends, followed_by, printable

MASK = "***"


class Redactor:
    """Masks one key in texts."""

    def __init__(self, key: str) -> None:
        """`key` may be empty: then nothing is masked."""
        self._plain = tuple(dict.fromkeys((key, quote(key, safe=""), *_in_base64(key)))) if key else ()
        self._escaped = re.compile("".join(map(_escaped, key)), re.IGNORECASE) if key else None

    def __call__(self, text: str) -> str:
        """Return the text with the key masked, wherever it stands."""
        for form in self._plain:
            if form in text:
                text = text.replace(form, MASK)
        if self._escaped is not None and "\\" in text:
            text = self._escaped.sub(MASK, text)
        return text


def _escaped(character: str) -> str:
    code = f"{ord(character):04x}"
    return rf"(?:{re.escape(character)}|\\+u{code}|\\+{re.escape(character)})"


def _in_base64(key: str) -> tuple[str, ...]:
    """Return the characters that base64 of any text with the key in it has: one form for each of three alignments."""
    forms = []
    for before in range(3):
        raw = b"\0" * before + key.encode()
        encoded = base64.b64encode(raw).decode().rstrip("=")
        # The first characters hold bits of what stands before the key, the last one those of what follows.
        first = (before * 8 + 5) // 6
        whole = encoded[first : len(raw) * 8 // 6]
        forms += [whole, whole.replace("+", "-").replace("/", "_")]
    return tuple(form for form in forms if len(form) >= 8)


LONGEST_REASON = 300
"""Characters of an endpoint's own words that are kept."""
PASSING = frozenset({"rate_limit", "server_error", "timeout", "connection", "not_an_api"})
Redacted = Callable[[str], str]
"""Masks the endpoint's key in a text."""

_BY_STATUS = {
    401: "authentication",
    402: "quota",
    403: "authentication",
    404: "not_found",
    405: "not_found",
    408: "timeout",
    410: "not_found",
    413: "context_length",
    420: "rate_limit",
    429: "rate_limit",
    504: "timeout",
    529: "rate_limit",
}
_LATER = frozenset({409, 421, 423, 424, 425, 449, 460, 499})
"""Statuses below 500 that pass: a lock, another server's failure, a connection that was used too early or closed."""
_BY_CODE = {
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "quota",
    "invalid_api_key": "authentication",
    "model_not_found": "not_found",
    "context_length_exceeded": "context_length",
    "exceed_context_size_error": "context_length",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "rate_limit_exceeded": "rate_limit",
}
_REMEDIES = {
    "authentication": "Put the right key into the variable that `key_env` names",
    "quota": "Top up the account, or name another model",
    "not_found": "Name a model that it serves, and see that base_url ends as in /v1",
    "context_length": "Name a model with a longer context for this role",
}
_TOO_LONG_PROMPT = (
    r"context.{0,3}(length|size|window|limit)|maximum context|max_model_len|longer than the (maximum )?model",
    r"too many (input |prompt )?tokens|(prompt|input|request|messages?)( text)? (is|are|was) too (long|large)",
    r"reduce the length of the (messages|prompt|input)|range of input length|exceeds? .{0,40}context",
    # Gemini and Vertex name the input token count, xAI the maximum prompt length, Moonshot a model token limit.
    r"token count .{0,40}(exceed|only supports)|(maximum|max\.?) (prompt|input|sequence)( token)?s? (length|count)",
    r"exceeds? .{0,20}(maximum|max)\w* (number of |input |prompt )?(tokens?|length)",
    r"exceed(s|ed)?( the)?( model('s)?)? (max )?token (limit|length)",
    # TGI counts `inputs` tokens + `max_new_tokens`, or `inputs` alone.
    r"`?inputs`? (tokens \+|must have less than)",
    # vLLM and others, where the prompt leaves no room for a reply: the limit that they work out is 0 or less.
    r"max_(completion_|new_)?tokens`?'? must be (at least 1|greater than (or equal to )?[01]|positive|> ?0)\b",
    r"max_(completion_|new_)?tokens.{0,60}(>=|greater than or equal to) ?1\b",
)
"""Words by which endpoints say that a prompt, alone or with the reply asked for, does not fit the model's context."""
_CONTEXT = re.compile("|".join(_TOO_LONG_PROMPT), re.I)
_FILTERED = re.compile(
    r"content.?(management.?policy|policy.?violation|filter)|responsible.?ai.?policy|data.inspection", re.I
)
"""Words by which endpoints say that a filter refused a prompt, where a gateway hides their code."""
_KEY_LIKE = re.compile(r"\b(sk|pk|rk|key|gsk|hf|xai)[-_][A-Za-z0-9_*.-]{6,}")
_HTML = re.compile(rb"^\s*(<!doctype|<html|<head|<body|<\?xml)", re.I)


class TooLarge(Exception):
    """An answer exceeds its limit; the message says which part of it and which limit."""


@dataclass(frozen=True)
class HttpAnswer:
    """The response to a request."""

    status: int
    body: bytes
    """Empty for an event stream."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name in small letters."""
    is_stream: bool = False
    """Whether the body was received event by event."""


def is_web_page(body: bytes) -> bool:
    """Whether a body is HTML: the address is that of a page, or a proxy speaks in the endpoint's place."""
    return _HTML.match(body) is not None


def error_of_status(where: str, answer: HttpAnswer, redacted: Redacted) -> ProviderError:
    """Return the error of an answer with a status of 400 or more."""
    code, words = _said(answer.body)
    said = _tidy(redacted(words))
    kind = _kind_of(answer.status, code, said)
    text = followed_by(f"{where}: HTTP {answer.status}: {both_ends(said, LONGEST_REASON)}", _advice(kind, said))
    rest_s = retry_after_s(answer.headers)
    return ProviderError(text, kind=kind, is_retryable=kind in PASSING, retry_after_s=rest_s, said=said)


def error_in_reply(where: str, error: Any, redacted: Redacted) -> ProviderError:  # Any: whatever stood in the body
    """Return the error of a 200 whose body holds an error in place of a reply; gateways do that."""
    details = error if isinstance(error, dict) else {"message": error}
    code = details.get("code")
    said = _tidy(redacted(_words(details.get("message") or error)))
    named = re.fullmatch(r"([1-9]\d\d)(\.0)?", _words(code), re.ASCII)
    status = int(named[1]) if named else 0
    kind = _kind_of(status, _words(code or details.get("type") or ""), said) if status or code else "not_an_api"
    kind = "not_an_api" if kind == "bad_request" and not status else kind
    text = f"{where}: HTTP 200 with an error: {both_ends(said, LONGEST_REASON)}"
    return ProviderError(text, kind=kind, is_retryable=kind in PASSING, said=said)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `retry-after-ms` or `Retry-After` ask for, which may be a number or an HTTP date.

    A date is taken against the answer's own `Date`, so that no clock of ours has a say. None if there is none, or
    it cannot be read.
    """
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
            return float(value)
        sent = headers.get("date")
        now = parsedate_to_datetime(sent) if sent else dt.datetime.now(dt.UTC)
        return max(0.0, (parsedate_to_datetime(value) - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _said(body: bytes) -> tuple[str, str]:
    """The endpoint's code for the error, and its words."""
    if is_web_page(body):
        return "", "a web page (HTML) in place of an answer"
    try:
        data = from_json(body)
    except ValueError:
        return "", body.decode("utf-8", "replace").strip() or "no reason given"
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return "", _words(error)
    message = error.get("message") or error.get("detail") or error
    return _words(error.get("code") or error.get("type") or ""), _words(message)


def _words(value: Any) -> str:  # Any: a JSON tree
    try:
        return str(value)
    except RecursionError:
        return "words nested too deeply to be read"


def _tidy(text: str) -> str:
    """One line that can be stored and printed, without anything that looks like a key; of a long text, both ends."""
    ends = both_ends(text, 20 * LONGEST_REASON).encode("utf-8", "replace").decode()
    return printable(_KEY_LIKE.sub("***", " ".join(ends.split())))


def _kind_of(status: int, code: str, said: str) -> str:
    if code in _BY_CODE:
        return _BY_CODE[code]
    if status in {400, 422, 500} and _CONTEXT.search(said):
        return "context_length"
    if status in {400, 403, 422} and _FILTERED.search(said):
        return "content_filter"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return "server_error" if status >= 500 or status in _LATER else "bad_request"


def _advice(kind: str, said: str) -> str:
    if kind == "bad_request" and re.search(r"max_completion_tokens|'?temperature'?.{0,60}support", said):
        return "If it is a reasoning model, set `reasoning = true` in its endpoint table"
    return _REMEDIES.get(kind, "")
