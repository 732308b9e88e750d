"""Reader of BEAM's rows, from the tables on Hugging Face or the JSON files of harnesses, as raw chats."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from longbeam.errors import UserError
from longbeam.formats.beam_read import RawChat, batches_of
from longbeam.formats.exporting import json_text
from longbeam.formats.parquet_files import read_parquet
from longbeam.formats.reading import Notes, describe, parse_json, refuse, stream_list, want
from longbeam.formats.session_reading import numbered_elements
from longbeam.schemas import NoteKind

_JSON_SUFFIXES = (".json", ".jsonl")
_KNOWN = {
    "conversation_id", "conversation_seed", "narratives", "user_profile", "conversation_plan", "user_questions", "chat",
    "probing_questions", "plans",
}  # fmt: skip


def is_table(path: Path) -> bool:
    """Return whether a path is a file of rows, or a folder of them."""
    if path.is_file():
        return path.suffix in (*_JSON_SUFFIXES, ".parquet")
    return path.is_dir() and bool(_table_files(path))


def read_rows(path: Path) -> Iterator[RawChat]:
    """Yield the rows of a JSON list, JSON Lines or parquet files as raw chats, one in memory at a time."""
    seen: dict[str, int] = {}
    files = [path] if path.is_file() else _table_files(path)
    for number, (where, row) in enumerate(numbered_elements(files, "row", _rows_of), start=1):
        raw = _read_row(want(dict, row, where, "an object with chat and probing_questions"), where, number)
        if raw.name in seen:
            refuse(where, f"conversation_id {raw.name!r} is that of row {seen[raw.name]}, too")
        seen[raw.name] = number
        yield raw


def _rows_of(file: Path) -> Iterator[Any]:
    return read_parquet(file) if file.suffix == ".parquet" else stream_list(file)


def _table_files(folder: Path) -> list[Path]:
    """Return parquet files, or the JSON files that harnesses read, of which a size each."""
    names = ("*.parquet", "data/*.parquet", "beam_*.json")
    return next((found for name in names if (found := sorted(folder.glob(name)))), [])


def _read_row(row: dict[str, Any], where: str, number: int) -> RawChat:
    for key in ("chat", "probing_questions"):
        if row.get(key) is None:
            refuse(where, f"there is no {key}; a BEAM row has chat and probing_questions")
    notes = Notes()
    if not row.get("conversation_seed"):
        notes.add(NoteKind.MISSING_FILE, "conversation_seed", "there is no seed; nothing says domain, title and theme")
    name = str(row.get("conversation_id") or number)
    plans = want(list, row.get("plans") or [], f"{where}: plans", "a list of plans")
    chat = want(list, row["chat"], f"{where}: chat", "a list of sub-plans")
    raw = RawChat(
        name=name,
        where=where,
        seed=_without_nulls(row.get("conversation_seed")),
        texts=_texts(row, plans),
        plan_folders=tuple(f"plan-{i}/" for i in range(len(plans))) or ("",),
        user_messages=_user_messages(row, plans, where),
        questions=_questions(row["probing_questions"], where),
        batches=partial(lambda listed, place: batches_of(iter(listed), place), chat, f"{where}: chat"),
        details={"row": kept} if (kept := {k: v for k, v in row.items() if k not in _KNOWN}) else {},
        notes=notes,
    )
    for i, plan in enumerate(plans):
        if isinstance(plan, Mapping) and plan.get("chat"):
            notes.add(
                NoteKind.OTHER_CHAT, f"plans[{i}].chat", "the plan's part of the chat again; the whole was imported"
            )
    return raw


def _questions(value: object, where: str) -> Any:  # Any: a JSON tree
    """Return questions that are an object, a Python literal as in the tables, or JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    try:
        return parse_json(value, f"{where}: probing_questions")
    except UserError:
        refuse(f"{where}: probing_questions", f"found {describe(value)}; a Python literal or JSON is needed")


def _texts(row: Mapping[str, Any], plans: list[Any]) -> dict[str, str]:
    found: dict[str, Any] = {
        "labels.txt": row.get("narratives"),
        "plan_new.txt": row.get("conversation_plan"),
        **_profile_texts(row.get("user_profile"), "core_relationships.txt" if plans else "relationships.txt"),
    }
    for i, plan in enumerate(plans):
        if isinstance(plan, Mapping):
            if topic := _without_nulls(plan.get("conversation_seed")):
                found[f"plan-{i}/topic.json"] = json_text(topic)
            found[f"plan-{i}/labels.txt"] = plan.get("narratives")
            found[f"plan-{i}/plan_new.txt"] = plan.get("conversation_plan")
            found |= {
                f"plan-{i}/{name}": text
                for name, text in _profile_texts(plan.get("user_profile"), "new_relationships.txt").items()
            }
    return {name: text for name, text in found.items() if isinstance(text, str) and text}


def _profile_texts(profile: object, relationships: str) -> dict[str, Any]:
    if not isinstance(profile, Mapping):
        return {}
    return {"main_spec.txt": profile.get("user_info"), relationships: profile.get("user_relationships")}


def _user_messages(row: Mapping[str, Any], plans: list[Any], where: str) -> dict[int, list[Any]]:
    sources = [p.get("user_questions") if isinstance(p, Mapping) else None for p in plans] or [
        row.get("user_questions")
    ]
    return {
        i: [_with_roles(batch) for batch in want(list, listed, f"{where}: user_questions", "a list of sub-plans")]
        for i, listed in enumerate(sources)
        if listed is not None
    }


def _with_roles(batch: object) -> object:
    """Return a batch whose planned messages are texts, or lists of texts, in the form of the release's folder."""
    if not isinstance(batch, Mapping) or not isinstance(batch.get("messages"), list):
        return batch
    flat = [m for item in batch["messages"] for m in (item if isinstance(item, list) else [item])]
    messages = [{"role": "user", "content": m} if isinstance(m, str) else m for m in flat]
    return {**batch, "messages": messages}


def _without_nulls(value: object) -> dict[str, Any]:
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else {}
