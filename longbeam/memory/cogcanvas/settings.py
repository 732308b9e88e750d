"""CogCanvas's parameters, its three named configurations, and the faults of its released code.

The paper's text, its LoCoMo runner and its controlled runners disagree; `config` chooses between them. `variant =
released` repeats the behaviour of tao-hpu/cog-canvas@c7e0295. Any setting may be given by name beside either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from longbeam.memory.index import Retriever
from longbeam.schemas import Record

Component = Literal["nothing", "gleaning", "graph", "reranking", "minimal"]

CONFIGS: Mapping[str, Mapping[str, object]] = {
    "paper": {"k": None, "hops": 3, "coarse": 20},
    "locomo": {"k": 15, "hops": 3, "coarse": 30, "max_tokens": 5_000},
    "controlled": {"k": 15, "hops": 1, "gleaning": False, "reranker": "none"},
}
"""Settings of the named configurations that differ from the defaults."""
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
"""Settings of the released code where it differs from the paper, or fails."""


class CogCanvasSettings(Record):
    """Settings of extraction, links, search and reading, and faults of the released code."""

    config: Literal["paper", "locomo", "controlled"] = "paper"
    """Source of the settings that are not given by name."""
    variant: Literal["mended", "released"] = "mended"
    representation: Literal["artifacts", "chunks", "union"] = "artifacts"
    """Stored units: artifacts, verbatim exchanges, or both."""
    without: Component = "nothing"
    """Component to leave out, as in the paper's Table 5; `minimal` keeps only the graph of the three."""

    # Extraction.
    extract: Literal["exchange", "batch"] = "exchange"
    """One call for each exchange, or one for all exchanges of a compression event, as in the released runner."""
    compress_every: int = Field(default=40, ge=1)
    """Exchanges between two compression events."""
    keep: int = Field(default=5, ge=0)
    """Last exchanges, which are read verbatim."""
    known: int = Field(default=10, ge=0)
    """Artifacts of earlier compressions that the extractor sees, so that it does not repeat them."""
    gleaning: bool = True
    """Whether the extractor is asked again for artifacts that it missed."""
    most_artifacts: int | None = Field(default=3, ge=1)
    """Artifacts of an exchange up to which uncited times become artifacts, too; None: no limit."""
    output_tokens: int | None = Field(default=None, ge=1)
    """Longest reply: the released code cuts a longer one, and cannot parse half a JSON object."""
    citations: Literal["checked", "trusted"] = "checked"
    """Checked: a citation that no message has is corrected from the source, or its artifact is dropped."""
    dates: Literal["calendar", "released"] = "calendar"
    """Released: months of 30 days, years of 365, no time to come, the day of a batch's last exchange for all of it."""

    # Links.
    rules: Literal["paper", "released"] = "paper"
    theta_ref: float = Field(default=0.5, ge=0, le=1)
    theta_causal: float = Field(default=0.45, ge=0, le=1)
    neighbours: int | None = Field(default=16, ge=1)
    """Nearest artifacts that a rule without a window looks at; None: all of them, which takes quadratic time."""

    # Retrieval.
    retriever: Retriever | None = None
    """None: hybrid if the evaluation names an embedding model, else bm25."""
    weight_dense: float = Field(default=0.7, ge=0, le=1)
    k: int | None = Field(default=None, ge=1)
    """Artifacts found; None: 15 for questions of cause or sequence, 12 for those of time, else 10."""
    coarse: int = Field(default=20, ge=1)
    """Candidates for the reranker, before those that the graph adds."""
    hops: int = Field(default=3, ge=0)
    decay: float = Field(default=0.8, gt=0, le=1)
    """Factor of a score for every hop."""
    expansion: Literal["capped", "released"] = "capped"
    """Released: any number of neighbours, ranked after all artifacts found, with a compounded decay."""
    routed: bool = False
    """Whether questions of low complexity, without a cue of cause, sequence or time and with one name at most, read
    verbatim exchanges and all others artifacts, as 4.7.2 of the paper proposes and does not build; with
    `representation=union`."""
    queries: int = Field(default=0, ge=0)
    """Further queries that the reader names for a question before it sees anything; the released code's query
    expansion asks for 3. They are asked for by `search_step`, which rules answer with none."""
    rounds: int = Field(default=1, ge=1)
    """Retrieval rounds of a question: after each but the last the reader may name a further query. The released code
    has up to 3."""
    most_expanded: int = Field(default=20, ge=0)
    """Neighbours that the graph adds, at most."""
    reranker: str = "lexical"
    """`lexical`, `none`, `st:NAME` (a cross-encoder of sentence-transformers) or the name of an entry point."""

    # Reading.
    form: Literal["compact", "markdown", "json"] = "compact"
    order: Literal["time", "rank"] = "time"
    """Order in the context; artifacts of lowest rank are left out first in both orders."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Largest context, if that is less than the evaluation's budget; the paper's appendix has 2,000."""
    skips: bool = True
    """Whether artifacts that do not fit are skipped; the released code stops at the first."""
    recent_share: float = Field(default=0.15, ge=0, le=1)
    """Share of the budget that is reserved for the last exchanges."""
    chars_per_token: float | None = Field(default=None, gt=0)
    """Characters per token, to estimate tokens, plus ten for each artifact; None: tokens are counted."""
    prompt: Literal["reasoning", "plain"] = "reasoning"
    """Prompt that answers; plain is the one of all other systems."""
    may_abstain: bool = True
    """Whether the reader may answer that nothing is known; the released prompt forbids it."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, values: Any) -> Any:  # Any: what was given, not validated yet
        if not isinstance(values, Mapping):
            return values
        released = RELEASED if values.get("variant") == "released" else {}
        return {**CONFIGS.get(str(values.get("config", "paper")), {}), **released, **values}

    @model_validator(mode="after")
    def _routes_between_two(self) -> CogCanvasSettings:
        if self.routed and self.representation != "union":
            raise ValueError("routed = true chooses between artifacts and exchanges: set representation=union as well")
        return self

    def has(self, component: Literal["gleaning", "graph", "reranking"]) -> bool:
        """Return whether a component takes part."""
        if component != "graph" and self.without == "minimal":
            return False
        if component == "gleaning" and not self.gleaning:
            return False
        return self.without != component
