"""Digests: stable, and never another record's."""

from __future__ import annotations

import pytest

from longbeam.schemas.base import digest_of
from longbeam.schemas.calls import ChatMessage


def test_copy_has_a_digest_of_its_own() -> None:
    message = ChatMessage(role="user", content="one")
    first = message.digest
    copy = message.model_copy(update={"content": "two"})
    assert copy.digest != first
    assert copy.digest == ChatMessage(role="user", content="two").digest


def test_digest_is_the_sha256_of_the_canonical_json() -> None:
    # echo -n '{"role":"user","content":"one"}' | sha256sum
    assert ChatMessage(role="user", content="one").digest.startswith("bf39f3d3b16d7df4")


def test_digest_of_tells_nested_parts_apart() -> None:
    assert digest_of(["a"], "b") != digest_of(["a", "b"])
    assert digest_of({"x": 1, "y": 2}) == digest_of({"y": 2, "x": 1})


def test_digest_of_refuses_what_has_no_stable_form() -> None:
    with pytest.raises(TypeError, match="cannot digest set"):
        digest_of({"a", "b"})
