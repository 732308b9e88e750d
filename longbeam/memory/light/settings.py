"""LIGHT's hyper-parameters, and the faults of its released code, each of which can be asked for.

`variant = released` sets all of them to what mohammadtavakoli78/BEAM@b2a3ee8 does; any may then be set back by name,
so that the effect of one fault can be measured alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from longbeam.memory.index import Retriever
from longbeam.schemas.base import Record

Component = Literal["nothing", "retrieval", "scratchpad", "working", "filter"]

RELEASED: Mapping[str, object] = {
    "z": 100,
    "copies": "released",
    "fill": "oldest",
    "ids": "released",
    "failures": "absent",
    "pad_trigger": 28_000,
    "pad_limit": 14_000,
    "compression": "fails",
    "pad_budget": "none",
    "dates": False,
    "index_chars_per_token": 3.7,
    "answer_chars_per_token": 3.5,
}
"""What the released code does where it differs from the paper, or fails."""


class LightSettings(Record):
    """What is kept, how much of it is read, and which faults of the released code are repeated."""

    variant: Literal["paper", "released"] = "paper"
    without: Component = "nothing"
    """Component left out: LIGHT's ablation. Without the filter, the whole scratchpad is read."""

    # Episodic memory.
    retriever: Retriever | None = None
    """None: dense where an embedding model was named, else bm25."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)
    k: int = Field(default=5, ge=1)
    """Exchanges retrieved; the paper's best average is at 15."""
    key: Literal["extracted", "exchange"] = "extracted"
    """What is indexed: key-value pairs with a summary, as in the paper, or the exchange itself, which costs no call."""

    # Working memory.
    z: int = Field(default=10, ge=1)
    """Last exchanges that may be read; the paper names no number."""

    # Scratchpad.
    pad_trigger: int = Field(default=30_000, ge=1)
    """Tokens from which the scratchpad is compressed."""
    pad_limit: int = Field(default=15_000, ge=1)
    """Tokens that it is compressed to."""
    filter: Literal["chunks", "once", "none"] = "chunks"
    """One yes/no call a chunk, as in the paper; one call for all chunks; or everything is read."""
    percentile: float = Field(default=80, gt=0, lt=100)
    """Distances between neighbouring sentences above it end a chunk."""
    buffer: int = Field(default=1, ge=0)
    """Sentences on either side that are embedded with one."""

    # Reading.
    budget: int | None = Field(default=None, ge=1)
    """Tokens of context; None: the evaluation's. The released code has 14,000."""
    recent_share: float = Field(default=0.15, ge=0, le=1)
    """Of the budget, kept for working memory while there is some."""
    pad_share: float = Field(default=0.25, ge=0, le=1)
    """The same for the scratchpad."""

    # What an extractor sees.
    reply_limit: int = Field(default=24_000, ge=1)
    """Tokens from which a reply is cut to its first `reply_kept_chars` characters."""
    reply_kept_chars: int = Field(default=70_000, ge=1)
    history_limit: int = Field(default=25_000, ge=1)
    """Tokens of an exchange with what was said before it; the end of what was said before is kept."""

    # Faults of the released code.
    copies: Literal["once", "released"] = "once"
    """Working memory holds an exchange once, or once for each message of its turn."""
    fill: Literal["newest", "oldest"] = "newest"
    """Which end of working memory is read while there is room."""
    ids: Literal["unique", "released"] = "unique"
    """Released: ids sort as text and name no plan, so notes are out of order and a hit brings its namesakes."""
    failures: Literal["exchange", "absent"] = "exchange"
    """An exchange whose extraction failed is indexed by itself, or cannot be found."""
    compression: Literal["works", "fails"] = "works"
    """Fails: it raises, and every question after it has an error for an answer; here the context is empty then."""
    pad_budget: Literal["shared", "none"] = "shared"
    """None: the scratchpad is read whole, above the budget."""
    dates: bool = True
    """Whether the reader and the notes are told when something was said."""
    index_chars_per_token: float | None = Field(default=None, gt=0)
    """Tokens are estimated from characters when texts are prepared; None: counted."""
    answer_chars_per_token: float | None = Field(default=None, gt=0)
    """The same when a context is filled."""

    @model_validator(mode="before")
    @classmethod
    def _released(cls, values: Any) -> Any:  # Any: what was given, not validated yet
        is_released = isinstance(values, Mapping) and values.get("variant") == "released"
        return {**RELEASED, **values} if is_released else values

    @model_validator(mode="after")
    def _pad_shrinks(self) -> LightSettings:
        if self.pad_limit >= self.pad_trigger:
            raise ValueError(f"pad_limit = {self.pad_limit} must be below pad_trigger = {self.pad_trigger}")
        if self.recent_share + self.pad_share > 1:
            raise ValueError("recent_share and pad_share are more than the whole budget")
        return self

    def has(self, component: Component) -> bool:
        """Whether a component takes part."""
        return self.without != component
