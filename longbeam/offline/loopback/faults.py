"""Faults of requests and their effect on replies: pure functions of a call and its number of attempts."""

from __future__ import annotations

import random
from fnmatch import fnmatchcase

from longbeam.offline.loopback.requests import Refusal
from longbeam.offline.loopback.settings import FAULTS, ServerSettings


def draw_fault(settings: ServerSettings, key: str, attempt: int) -> str | None:
    """Return the name of the fault that a call's nth request meets, one of FAULTS, or None."""
    drawn = random.Random(f"{key}/{attempt}/fault").random()
    for name in FAULTS:
        drawn -= getattr(settings, name)
        if drawn < 0:
            return name
    return None


def latency_s(settings: ServerSettings, key: str, attempt: int) -> float:
    """Return the seconds from a request's arrival to its reply."""
    jitter = settings.jitter_ms and settings.jitter_ms * random.Random(f"{key}/{attempt}/latency").random()
    return (settings.latency_ms + jitter) / 1000


_REFUSALS = {
    "filter": (400, "content_policy_violation", "the request of {unit} is poisoned"),
    "plain": (400, None, "the request of {unit} is poisoned"),
    "unprocessable": (422, "invalid_request_error", "the request of {unit} is poisoned"),
    "too_long": (400, "context_length_exceeded", "the request of {unit} is poisoned: longer than the maximum context"),
    "too_large": (413, None, "the request of {unit} is poisoned: it is too large"),
}
"""Status, code and words of the forms of `poison_as`."""


def refuse_poisoned(settings: ServerSettings, unit_key: str) -> None:
    """Raise Refusal if a request of this unit is refused for ever."""
    if any(fnmatchcase(unit_key, pattern) for pattern in settings.poison):
        status, code, words = _REFUSALS[settings.poison_as]
        raise Refusal(status, code, words.format(unit=unit_key))


def break_json(text: str, draw: str) -> str:
    """Return JSON text with one of the faults that models make, chosen by `draw`; it no longer parses."""
    damaged = (
        text.replace('"', "", 1),
        text.replace(":", "", 1),
        text[:-1],
        f"Here it is: {text[: len(text) // 2]} ...",
    )
    return random.Random(f"{draw}/malformed").choice(damaged)
