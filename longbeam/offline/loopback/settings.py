"""Settings of the loopback server, given at its start (`SETTING=VALUE`) and while it runs (POST /control).

Every fault is a share of requests, 0 to 1. Which requests meet it is drawn from the call's key and from how often
that call was asked, so that the same run meets the same faults whatever its speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from longbeam.errors import UserError
from longbeam.schemas.base import Record

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
