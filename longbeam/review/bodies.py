"""Bodies of requests: unknown fields are refused, and half characters are replaced.

A browser can send half of a surrogate pair, for instance when a text is cut inside an emoji. No file can hold it.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from longbeam.terminal import whole_text


class Body(BaseModel):
    """Body of a POST."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        return whole_text(given)
