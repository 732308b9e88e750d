"""The base of all records (frozen, without unknown keys, with a stable digest) and the hashes of messages and
requests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema, core_schema


def message_hash(role: str, content: str) -> bytes:
    """Return the SHA-256 of role, a zero byte and content. Raises UnicodeEncodeError for half a surrogate pair."""
    return hashlib.sha256(f"{role}\0{content}".encode()).digest()


def request_hash(messages: Iterable[bytes]) -> bytes:
    """Return the SHA-256 of the hashes of a request's messages, in order."""
    return hashlib.sha256(b"".join(messages)).digest()


_FIELD_NAMES: dict[type[BaseModel], set[str]] = {}
"""Sets of field names that `compact` shares."""
_encode = json.JSONEncoder(sort_keys=True).encode
"""Encodes as `json.dumps` does, which makes an encoder for each call."""


class Record(BaseModel):
    """A frozen record that packages exchange; it does no I/O."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the record's canonical JSON."""
        return hashlib.sha256(self.canonical_json()).hexdigest()

    def canonical_json(self) -> bytes:
        """Return the record as JSON: fields in their order, no white space."""
        return self.model_dump_json().encode()

    @classmethod
    def taken_from(cls, source: object, **more: Any) -> Self:
        """Return a record of the attributes of another object that are named like its fields, and of those given."""
        same = {name: getattr(source, name) for name in cls.model_fields if name not in more and hasattr(source, name)}
        return cls(**same, **more)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields replaced, without the original's cached values, such as its digest."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - type(self).model_fields.keys():
            del copy.__dict__[name]
        return copy


R = TypeVar("R", bound=Record)


class KeptJson(Record):
    """A record that is part of many requests: its JSON is made once and kept as long as the record."""

    @cached_property
    def kept_json(self) -> bytes:
        """The JSON that `canonical_json` returns."""
        return super().canonical_json()

    def canonical_json(self) -> bytes:
        """Return the record as JSON, made once."""
        return self.kept_json


def compact(record: R) -> R:
    """Return an equal record; it and all records in it share one set of field names for each class.

    Pydantic holds a set for each record, which takes half of a fact's memory. Records that are held for long, such as
    plans, are compacted.
    """
    fields = _FIELD_NAMES.setdefault(type(record), set(type(record).model_fields))
    values = {name: _compacted(getattr(record, name)) for name in fields}
    return cast("R", type(record).model_construct(fields, **values))  # mypy takes the type for Record's


def _compacted(value: Any) -> Any:
    if isinstance(value, Record):
        return compact(value)
    return tuple(map(_compacted, value)) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class MayBeStored:
    """Annotation of a `Sequence[R]` field that may hold more than fits into memory.

    A list or tuple becomes a validated tuple; any other sequence, such as a `SpilledSequence`, stays as it is.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validate lists and tuples as a tuple; serialize every sequence as a tuple."""
        whole = handler.generate_schema(tuple[(*get_args(source), ...)])  # type: ignore[misc]

        def validated(value: Any, as_tuple: ValidatorFunctionWrapHandler) -> Any:
            is_stored = isinstance(value, Sequence) and not isinstance(value, (list, tuple, str, bytes))
            return value if is_stored else as_tuple(value)

        return core_schema.no_info_wrap_validator_function(
            validated,
            whole,
            serialization=core_schema.wrap_serializer_function_ser_schema(
                lambda value, as_tuple: as_tuple(tuple(value)), schema=whole
            ),
        )


def digest_of(*parts: object) -> str:
    """Return the SHA-256 (hex) of parts that are strings, numbers, None, records, or sequences and dicts of them.

    Records contribute their cached digest, so hashing a long list of messages is cheap.
    """
    return hashlib.sha256(_encode([_digestible(p) for p in parts]).encode()).hexdigest()


def _digestible(part: object) -> Any:  # Any: the JSON tree
    if part is None or isinstance(part, (str, int, float, bool)):
        return part
    if isinstance(part, Record):
        return part.digest
    if isinstance(part, BaseModel):
        return part.model_dump(mode="json")
    if isinstance(part, dict):
        return {str(k): _digestible(v) for k, v in part.items()}
    if isinstance(part, Sequence):
        return [_digestible(p) for p in part]
    raise TypeError(f"cannot digest {type(part).__name__}")
