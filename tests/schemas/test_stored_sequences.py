"""A record's field that may be a stored sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import pytest
from pydantic import ValidationError

from longbeam.schemas import MayBeStored, Record
from longbeam.store import SpilledSequence


class Part(Record):
    name: str


class Whole(Record):
    parts: Annotated[Sequence[Part], MayBeStored()] = ()


PARTS = [Part(name="a"), Part(name="b")]


def test_a_stored_sequence_is_kept_and_written_as_a_list() -> None:
    stored = Whole(parts=SpilledSequence(PARTS))
    assert isinstance(stored.parts, SpilledSequence)
    assert stored.canonical_json() == b'{"parts":[{"name":"a"},{"name":"b"}]}'
    assert stored == Whole(parts=tuple(PARTS))
    assert Whole.model_validate_json(stored.canonical_json()).parts == tuple(PARTS)


def test_a_list_becomes_a_tuple_and_is_validated() -> None:
    assert Whole.model_validate({"parts": [{"name": "a"}]}).parts == (PARTS[0],)
    with pytest.raises(ValidationError, match=r"parts\.0\.name"):
        Whole.model_validate({"parts": [{"name": 1}]})
    with pytest.raises(ValidationError, match="parts"):
        Whole.model_validate({"parts": "ab"})
