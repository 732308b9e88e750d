"""LIGHT's hyper-parameters, and the faults of its released code, which can be switched on one by one.

`variant = released` sets all of them to the behaviour of mohammadtavakoli78/BEAM@b2a3ee8. Any of them may be set back
by name, so that the effect of one fault can be measured alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from longbeam.memory.index import Retriever
from longbeam.schemas import Record

Component = Literal["nothing", "retrieval", "scratchpad", "working", "filter"]

RELEASED: Mapping[str, object] = {
    "k": 5,
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
"""Settings of the released code where it differs from the paper, or fails."""


class LightSettings(Record):
    """Sizes of LIGHT's components, their shares of the context, and faults of the released code."""

    variant: Literal["paper", "released"] = "paper"
    without: Component = "nothing"
    """Component to leave out, for LIGHT's ablation. Without the filter, the whole scratchpad is read."""

    # Episodic memory.
    retriever: Retriever | None = None
    """None: dense if the evaluation names an embedding model, else bm25."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)
    k: int | None = Field(default=None, ge=1)
    """Exchanges retrieved; None: as many as the budget holds. The paper's best average is at 15."""
    key: Literal["extracted", "exchange"] = "extracted"
    """Indexed text: key-value pairs with a summary, as in the paper, or the exchange itself, which costs no call."""

    # Working memory.
    z: int = Field(default=10, ge=1)
    """Last exchanges that may be read; the paper names no number."""

    # Scratchpad.
    pad_trigger: int = Field(default=30_000, ge=1)
    """Tokens above which the scratchpad is compressed."""
    pad_limit: int = Field(default=15_000, ge=1)
    """Tokens after a compression, at most."""
    filter: Literal["chunks", "once", "none"] = "chunks"
    """One yes/no call for each chunk, as in the paper; one call for all chunks; or no filter."""
    percentile: float = Field(default=80, gt=0, lt=100)
    """Percentile of the distances between neighbouring sentences above which a chunk ends."""
    buffer: int = Field(default=1, ge=0)
    """Neighbours on either side that are embedded together with a sentence."""

    # Reading.
    budget: int | None = Field(default=None, ge=1)
    """Tokens of context; None takes the evaluation's budget. The released code has 14,000."""
    recent_share: float = Field(default=0.15, ge=0, le=1)
    """Share of the budget that is reserved for working memory, if it holds anything."""
    pad_share: float = Field(default=0.25, ge=0, le=1)
    """Share of the budget that is reserved for the scratchpad, if it holds anything."""

    # Input of the extractor.
    reply_limit: int = Field(default=24_000, ge=1)
    """Tokens above which a reply is cut to its first `reply_kept_chars` characters."""
    reply_kept_chars: int = Field(default=70_000, ge=1)
    history_limit: int = Field(default=25_000, ge=1)
    """Tokens of an exchange together with the exchanges before it, of which the end is kept."""

    # Faults of the released code.
    copies: Literal["once", "released"] = "once"
    """Copies of an exchange in working memory: one, or one for each message of its turn."""
    fill: Literal["newest", "oldest"] = "newest"
    """End of working memory that is read first while there is room."""
    ids: Literal["unique", "released"] = "unique"
    """Released: ids sort as text and name no plan, so notes are out of order and a hit brings its namesakes."""
    failures: Literal["exchange", "absent"] = "exchange"
    """An exchange whose extraction failed is indexed by its own text, or cannot be found."""
    compression: Literal["works", "fails"] = "works"
    """Fails: the compression raises. Later questions then get an error in the released code, an empty context here."""
    pad_budget: Literal["shared", "none"] = "shared"
    """None: the whole scratchpad is read, beyond the budget."""
    dates: bool = True
    """Whether contexts and notes have the dates of exchanges."""
    index_chars_per_token: float | None = Field(default=None, gt=0)
    """Characters per token, to estimate tokens in preparation; None: tokens are counted."""
    answer_chars_per_token: float | None = Field(default=None, gt=0)
    """Characters per token, to estimate tokens of a context; None: tokens are counted."""

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
        """Return whether a component takes part."""
        return self.without != component
