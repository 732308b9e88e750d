"""CogCanvas's parameters, its three named configurations, and the faults of its released code.

The paper's text, its LoCoMo runner and its controlled runners disagree; `config` names whose figures hold. `variant =
released` repeats what tao-hpu/cog-canvas@c7e0295 does. Any setting may be set back by name beside either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from longbeam.memory.index import Retriever
from longbeam.schemas.base import Record

Component = Literal["nothing", "gleaning", "graph", "reranking", "minimal"]

CONFIGS: Mapping[str, Mapping[str, object]] = {
    "paper": {"k": None, "hops": 3, "coarse": 20},
    "locomo": {"k": 15, "hops": 3, "coarse": 30, "max_tokens": 5_000},
    "controlled": {"k": 15, "hops": 1, "gleaning": False, "reranker": "none"},
}
"""Where they differ from the defaults."""
RELEASED: Mapping[str, object] = {
    "extract": "batch",
    "output_tokens": 1_000,
    "citations": "trusted",
    "most_artifacts": None,
    "dates": "released",
    "rules": "released",
    "neighbours": None,
    "expansion": "released",
    "order": "rank",
    "skips": False,
    "chars_per_token": 4.0,
    "may_abstain": False,
}
"""What the released code does where it differs from the paper, or fails."""


class CogCanvasSettings(Record):
    """What is extracted, linked, found and read, and which faults of the released code are repeated."""

    config: Literal["paper", "locomo", "controlled"] = "paper"
    """Whose figures hold where none is given."""
    variant: Literal["mended", "released"] = "mended"
    representation: Literal["artifacts", "chunks", "union"] = "artifacts"
    """What is stored: artifacts, exchanges as they were said, or both."""
    without: Component = "nothing"
    """Component left out: the ablation of the paper's Table 5. `minimal` leaves the graph alone of the three."""

    # Extraction.
    extract: Literal["exchange", "batch"] = "exchange"
    """One call an exchange; or one for all that a compression event folds, as the released runner has it."""
    compress_every: int = Field(default=40, ge=1)
    """Exchanges between two compression events."""
    keep: int = Field(default=5, ge=0)
    """Exchanges read as they were said: what a compression leaves of the conversation."""
    known: int = Field(default=10, ge=0)
    """Artifacts of earlier compressions that an extractor is shown, so that it does not repeat them."""
    gleaning: bool = True
    """Whether it is asked again for what it missed."""
    most_artifacts: int | None = Field(default=3, ge=1)
    """Of an exchange, up to which times that no artifact cites become artifacts; None: however many."""
    output_tokens: int | None = Field(default=None, ge=1)
    """A longer reply is lost: the released code cuts it there, and cannot read half a JSON."""
    citations: Literal["checked", "trusted"] = "checked"
    """Checked: a citation that was not said is put right from the source, or its artifact is dropped."""
    dates: Literal["calendar", "released"] = "calendar"
    """Released: months of 30 days, years of 365, no time to come, the day of a batch's last exchange for all of it."""

    # Links.
    rules: Literal["paper", "released"] = "paper"
    theta_ref: float = Field(default=0.5, ge=0, le=1)
    theta_causal: float = Field(default=0.45, ge=0, le=1)
    neighbours: int | None = Field(default=16, ge=1)
    """Nearest artifacts that a rule without a window looks at; None: all of them, quadratic in their number."""

    # Retrieval.
    retriever: Retriever | None = None
    """None: hybrid where an embedding model was named, else bm25."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)
    k: int | None = Field(default=None, ge=1)
    """Artifacts found; None: 15 for questions of cause or sequence, 12 for those of time, else 10."""
    coarse: int = Field(default=20, ge=1)
    """Candidates that the reranker is given, before those that the graph adds."""
    hops: int = Field(default=3, ge=0)
    decay: float = Field(default=0.8, gt=0, le=1)
    """Of a score, with every hop."""
    expansion: Literal["capped", "released"] = "capped"
    """Released: any number of neighbours, after all that was found, their decay compounded with every hop."""
    most_expanded: int = Field(default=20, ge=0)
    """Neighbours that the graph adds."""
    reranker: str = "lexical"
    """`lexical`, `none`, `st:NAME` (a cross-encoder of sentence-transformers) or the name of an entry point."""

    # Reading.
    form: Literal["compact", "markdown", "json"] = "compact"
    order: Literal["time", "rank"] = "time"
    """Order in the context; what was found last is left out first in both."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Of what is read, where that is less than the evaluation's budget; the paper's appendix has 2,000."""
    skips: bool = True
    """Whether what does not fit is passed over; the released code stops there."""
    recent_share: float = Field(default=0.15, ge=0, le=1)
    """Of the budget, kept for the last exchanges."""
    chars_per_token: float | None = Field(default=None, gt=0)
    """Tokens are estimated from characters, ten more an artifact; None: counted."""
    prompt: Literal["reasoning", "plain"] = "reasoning"
    """Which prompt answers; plain is that of every other system."""
    may_abstain: bool = True
    """Whether the reader may say that nothing is there; the released prompt forbids it."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, values: Any) -> Any:  # Any: what was given, not validated yet
        if not isinstance(values, Mapping):
            return values
        released = RELEASED if values.get("variant") == "released" else {}
        return {**CONFIGS.get(str(values.get("config", "paper")), {}), **released, **values}

    def has(self, component: Literal["gleaning", "graph", "reranking"]) -> bool:
        """Whether a component takes part."""
        if component != "graph" and self.without == "minimal":
            return False
        if component == "gleaning" and not self.gleaning:
            return False
        return self.without != component
