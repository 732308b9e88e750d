"""Bodies of requests: unknown fields are refused, and half characters are replaced.

A browser can send half of a surrogate pair, for instance when a text is cut inside an emoji. No file can hold it.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

_HALF = re.compile("[\ud800-\udfff]")


class Body(BaseModel):
    """Body of a POST."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        return whole_text(given)


def whole_text(value: Any) -> Any:
    """Return a JSON value in which U+FFFD stands for each half of a surrogate pair."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [whole_text(part) for part in value]
    if isinstance(value, dict):
        return {whole_text(key): whole_text(part) for key, part in value.items()}
    return value
