"""Settings of the loopback server (`SETTING=VALUE` at its start, POST /admin/settings while it runs), its counts
and token usage.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from longbeam.errors import UserError
from longbeam.keys import UnitKey
from longbeam.models import Tokenizer
from longbeam.schemas import Record

FAULTS = ("rate_limited", "failing", "hanging", "malformed", "truncated", "cut_off", "stalling", "looping", "endless")
"""Settings that are shares of requests; together at most 1."""


class ServerSettings(Record):
    """Settings of the loopback server."""

    latency_ms: float = Field(default=0.0, ge=0)
    """From a request's arrival to its reply."""
    jitter_ms: float = Field(default=0.0, ge=0)
    """Added to the latency: evenly spread from nothing to this."""
    max_in_flight: int | None = Field(default=None, ge=1)
    """Requests served at once; those beyond get 429. None: no limit."""
    retry_after_s: float = Field(default=0.0, ge=0)
    """Sent as Retry-After with every 429; 0 sends none."""
    rate_limited: float = Field(default=0.0, ge=0, le=1)
    """Share that gets 429."""
    failing: float = Field(default=0.0, ge=0, le=1)
    """Share that gets 500."""
    hanging: float = Field(default=0.0, ge=0, le=1)
    """Share that is never answered."""
    malformed: float = Field(default=0.0, ge=0, le=1)
    """Share whose reply should be JSON and is not; prose is left as it is."""
    truncated: float = Field(default=0.0, ge=0, le=1)
    """Share whose reply stops in its middle, with finish_reason `length`."""
    cut_off: float = Field(default=0.0, ge=0, le=1)
    """Share whose connection ends in the middle of the reply's body."""
    stalling: float = Field(default=0.0, ge=0, le=1)
    """Share whose stream stops in its middle, with the connection open."""
    looping: float = Field(default=0.0, ge=0, le=1)
    """Share whose reply repeats its last sentence until its length limit, 4,000 tokens if it has none."""
    endless: float = Field(default=0.0, ge=0, le=1)
    """Share whose reply never ends."""
    poison: tuple[str, ...] = ()
    """Patterns of unit keys (`c000/dialogue/p0.s1/*`) that are refused, however often they are asked."""
    poison_as: Literal["filter", "plain", "unprocessable", "too_long", "too_large"] = "filter"
    """Form of that refusal: 400 of a content filter, 400 without a code, 422, 400 about the context, 413."""
    reply_factor: float = Field(default=1.0, gt=0)
    """Factor of the length that the assistant's replies are asked to have."""
    detector_factor: float = Field(default=1.0, ge=0)
    """Factor of the share of detectors' verdicts that are yes."""
    structured: Literal["json_schema", "json_object", "none"] = "json_schema"
    """The most that `response_format` may ask for; more gets 400."""
    streaming: Literal["yes", "no", "only", "ignored"] = "yes"
    """Whether `stream` is taken: refused with 400, demanded (400 without it), or answered with a whole reply."""
    piece_characters: int = Field(default=64, ge=1)
    """Characters in an event of a stream."""
    piece_ms: float = Field(default=0.0, ge=0)
    """Between two events of a stream; 0 sends them together."""
    counts_streams: bool = True
    """Whether `stream_options` is taken, so that streams end with the usage; otherwise it gets 400."""
    thinks: Literal["no", "tag", "field", "text"] = "no"
    """Whether replies begin with thoughts: between <think> tags, as `reasoning_content`, or as text before the JSON."""
    refuses: tuple[str, ...] = ()
    """Members of a request that get 400, such as min_p."""
    batch_s: float = Field(default=0.0, ge=0)
    """Time that a batch takes."""
    batches: bool = True
    """Whether there are routes for files and batches; without them they get 404."""
    unanswered: float = Field(default=0.0, ge=0, le=1)
    """Share of a batch's requests that expire."""
    key: str = ""
    """The one key that is let in; empty lets in all."""
    fixed_reply_tokens: int = Field(default=0, ge=0)
    """Answer requests without extras with about this many tokens; 0 refuses them with 400."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        shares = {name: getattr(self, name) for name in FAULTS}
        if sum(shares.values()) > 1:
            raise ValueError(f"{', '.join(f'{n}={v:g}' for n, v in shares.items() if v)}: shares of more than 1 in all")
        return self


def parse_settings(words: Sequence[str]) -> ServerSettings:
    """Return the settings of `latency_ms=50 failing=0.05 poison=PATTERN,PATTERN`.

    Raises UserError for a word that is none of them, with what was allowed.
    """
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"{word!r} is no SETTING=VALUE; settings are {', '.join(ServerSettings.model_fields)}")
        values[name] = value.split(",") if name in {"poison", "refuses"} else value
    return changed(ServerSettings(), values)


def changed(settings: ServerSettings, values: dict[str, Any]) -> ServerSettings:
    """Return the settings with some of them replaced. Raises UserError for what is not allowed."""
    if unknown := sorted(set(values) - set(ServerSettings.model_fields)):
        raise UserError(f"setting {unknown[0]!r} is unknown; settings are {', '.join(ServerSettings.model_fields)}")
    try:
        return ServerSettings.model_validate({**settings.model_dump(), **values})
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        where = ".".join(str(p) for p in first["loc"])
        raise UserError(f"setting {where + ': ' if where else ''}{first['msg']}; found {first['input']!r}") from exc


@dataclass
class Counts:
    """Counts since the server's start or the last reset; `in_flight` outlives a reset."""

    received: int = 0
    """Requests to the chat route."""
    answered: int = 0
    """Replies written in full to a connection that was still there."""
    abandoned: int = 0
    """Requests whose client went away before the reply."""
    asked_again: set[str] = field(default_factory=set)
    """Calls that were asked although they had been answered: a client with a journal has none, unless it was killed."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests answered with an error, by status."""
    in_flight: int = 0
    most_in_flight: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    first_at: float | None = None
    last_at: float | None = None
    asked: Counter[str] = field(default_factory=Counter)
    """Number of requests of each call, by its key; requests beyond `max_in_flight` do not count."""
    answered_calls: dict[str, str] = field(default_factory=dict)
    """Key of each answered call to `unit_key#generation`, in the order of the first answers."""
    latencies_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds from arrival to reply, as drawn, of the answered requests of each unit key without its place."""

    def begin(self) -> None:
        """A request came."""
        self.received += 1
        self.first_at = self.first_at or time.monotonic()

    def enter(self) -> None:
        """A request is being served."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def ask(self, key: str) -> int:
        """A call was asked; returns how often it was asked before."""
        before = self.asked[key]
        self.asked[key] += 1
        if key in self.answered_calls:
            self.asked_again.add(key)
        return before

    def answer(self, key: str, unit_key: str, generation: int, latency_s: float) -> None:
        """A call was answered, after a latency that was drawn for it."""
        self.answered += 1
        self.last_at = time.monotonic()
        self.answered_calls.setdefault(key, f"{unit_key}#{generation}")
        self.latencies_s[str(UnitKey.parse(unit_key).without_place)] += latency_s

    def as_json(self) -> dict[str, Any]:
        """The numbers, without the list of calls."""
        span = self.last_at - self.first_at if self.last_at is not None and self.first_at is not None else None
        return {
            "received": self.received,
            "answered": self.answered,
            "abandoned": self.abandoned,
            "asked_again": len(self.asked_again),
            "refused": dict(sorted(self.refused.items())),
            "calls": len(self.asked),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "span_s": span,
            "cpu_s": time.process_time(),
        }


BLOCK = 16
"""Tokens of a block of the cache, as in vLLM."""
MESSAGE_OVERHEAD = 4
"""Tokens that a chat template puts around a message."""
MOST_PREFIXES = 20_000
MOST_COUNTS = 200_000


@dataclass(frozen=True)
class PromptUsage:
    """Tokens of one request; `cached` of them stood in the cache."""

    prompt: int
    cached: int


@dataclass
class UsageMeter:
    """Counts the tokens of requests, and how many of them begin like an earlier request."""

    tokenizer: Tokenizer
    _counts: OrderedDict[int, int] = field(default_factory=OrderedDict)
    _prefixes: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def measure(self, messages: Sequence[dict[str, str]]) -> PromptUsage:
        """Return the tokens of a request's messages, and remember its beginnings."""
        prompt, known, chain, still_known = 0, 0, 0, True
        for message in messages:
            content = str(message.get("content") or "")
            prompt += self.count(content) + MESSAGE_OVERHEAD
            chain = hash((chain, message.get("role"), content))
            still_known = still_known and chain in self._prefixes
            if still_known:
                known = prompt
            self._prefixes[chain] = None
            self._prefixes.move_to_end(chain)
        while len(self._prefixes) > MOST_PREFIXES:
            self._prefixes.popitem(last=False)
        return PromptUsage(prompt=prompt, cached=known // BLOCK * BLOCK)

    def count(self, text: str) -> int:
        """Return how many tokens a text is."""
        key = hash(text)
        if key not in self._counts:
            self._counts[key] = self.tokenizer.count(text)
            if len(self._counts) > MOST_COUNTS:
                self._counts.popitem(last=False)
        return self._counts[key]
