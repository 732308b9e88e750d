"""Replies as the benchmark of grammars gives them to the libraries."""

from __future__ import annotations

from benchmarks.bench_grammars import in_form


def _form(*names: str) -> dict[str, object]:
    return {"type": "object", "properties": {name: {} for name in names}, "required": list(names)}


def test_a_reply_has_the_properties_of_its_form_in_their_order() -> None:
    # A grammar refuses the first property that is not the next one of the form; nothing behind it would be timed.
    form = {"anyOf": [_form("line", "name", "text"), _form("line", "items", "text")]}
    named = {"line": "a0", "text": "Keep a margin.", "name": "margin", "items": []}
    listed = {"line": "a0", "text": "1. call", "items": ["call", "ask"], "name": ""}
    made = [in_form(draft, form, {}) for draft in (named, listed)]
    assert [list(draft) for draft in made] == [["line", "name", "text"], ["line", "items", "text"]]
