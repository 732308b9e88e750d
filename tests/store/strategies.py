"""Hypothesis strategies made from the records' own fields: a field that is added is tested at once."""

from __future__ import annotations

import datetime as dt
import types
import typing
from collections.abc import Sequence
from enum import Enum
from typing import Any

from annotated_types import Ge, Lt, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from longbeam.schemas import ConversationHead, Message, Probe, Timeline

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
"""With line ends, quotes, NUL and characters outside the BMP; no lone surrogates, which records refuse."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)


def records_of(record: type[BaseModel], **fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Records of this class with any values its fields allow."""
    if record is Timeline:
        days = st.lists(st.dates(), min_size=2, max_size=2, unique=True).map(sorted)
        return days.map(lambda pair: Timeline(start=pair[0], end=pair[1]))
    fields = {name: fixed.get(name) or _values_of(field) for name, field in record.model_fields.items()}
    return st.fixed_dictionaries(fields).map(record.model_validate)


def _values_of(field: FieldInfo) -> st.SearchStrategy[Any]:
    limits = {type(limit): limit for limit in field.metadata}
    low = limits[Ge].ge if Ge in limits else 0
    high = limits[Lt].lt - 1 if Lt in limits else 2**31 - 1
    least = limits[MinLen].min_length if MinLen in limits else 0
    most = limits[MaxLen].max_length if MaxLen in limits else least + 2
    return _values_like(field.annotation, low, high, least, most)


def _values_like(annotation: Any, low: int, high: int, least: int, most: int) -> st.SearchStrategy[Any]:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in {types.UnionType, typing.Union}:
        return st.one_of(st.none(), *(_plain(a) for a in inner if a is not types.NoneType))
    if origin in {tuple, Sequence}:
        return st.lists(_plain(inner[0]), min_size=least, max_size=most).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, JSON, max_size=2)
    if annotation is int:
        return st.integers(low, high)
    if annotation is str:
        return TEXT if least == 0 else TEXT.filter(bool)
    return _plain(annotation)


def _plain(annotation: Any) -> st.SearchStrategy[Any]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return records_of(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(list(annotation))
    return {
        str: TEXT,
        int: st.integers(0, 2**31 - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        dt.date: st.dates(),
        dt.datetime: st.datetimes(),
    }[annotation]


def _numbered(head: ConversationHead) -> ConversationHead:
    plans = [
        plan.model_copy(
            update={
                "plan_index": i,
                "sub_plans": tuple(
                    sub_plan.model_copy(update={"plan_index": i, "sub_plan_index": j})
                    for j, sub_plan in enumerate(plan.sub_plans)
                ),
            }
        )
        for i, plan in enumerate(head.plans)
    ]
    return head.model_copy(update={"plans": tuple(plans)})


def heads() -> st.SearchStrategy[ConversationHead]:
    return records_of(ConversationHead).map(_numbered)


def messages() -> st.SearchStrategy[list[Message]]:
    listed = st.lists(records_of(Message), max_size=4, unique_by=lambda m: m.message_key)
    return listed.map(lambda ms: [m.model_copy(update={"message_id": i}) for i, m in enumerate(ms)])


def probes() -> st.SearchStrategy[list[Probe]]:
    return st.lists(records_of(Probe), max_size=3, unique_by=lambda p: p.probe_id)
