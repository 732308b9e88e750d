"""BEAM as the JSON files of harnesses: one list of rows per size, `beam_100K.json` and so on.

mem0's memory-benchmarks looks for these names in its cache folder; the agent memory benchmark takes any path. Questions
are an object here and a Python literal in the tables, which is what each of the loaders expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from longbeam import __version__
from longbeam.formats.beam_seeds import plan_seed_objects, seed_object
from longbeam.formats.beam_text import write_labels, write_people, write_plan_text, write_profile
from longbeam.formats.beam_write import (
    chat_text,
    has_many_plans,
    plan_chats,
    questions_of,
    size_class,
    user_messages,
)
from longbeam.formats.dataset_card import format_card
from longbeam.formats.exporting import (
    CANARY,
    ExportWriter,
    FormatExporter,
    JsonList,
    json_text,
)
from longbeam.formats.session_reading import further_members
from longbeam.schemas import ConversationHead, ConversationReader

FORMAT = "beam-json"
FORMAT_VERSION = 1

ABOUT = """## Files

`beam_<size>.json`: a JSON list of rows with the columns of BEAM's tables, `probing_questions` as an object. A chat is
a list of sub-plans, each a list of messages; a turn begins where `question_type` is `main_question`. Chats of several
plans are lists of `{"plan-1": [...]}` objects, filed under 10M; what is shorter than 100K is filed under 100K."""


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    with ExitStack() as stack:
        lists: dict[str, JsonList] = {}
        for reader in readers:
            size = size_class(reader)
            if size not in lists:
                lists[size] = stack.enter_context(JsonList(stack.enter_context(writer.open(f"beam_{size}.json"))))
            lists[size].begin()
            for piece in row_text(writer, reader):
                lists[size].file.write(piece)
    writer.write_card(format_card(writer.told, writer.counts, __version__, ABOUT))


export_beam_json = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write a file per size below `target` and return what was written; see `Exporter`."""


def row_text(writer: ExportWriter, reader: ConversationReader, *, is_table: bool = False) -> Iterator[str]:
    """Yield the JSON text of a conversation's row, its chat message by message.

    `is_table`: as in BEAM's tables, where questions are a Python literal, and each plan has its own chat once more.
    """
    head = reader.head
    message_ids: dict[str, int] = {}
    yield '{"chat":'
    if head.details.get("no_chat"):
        writer.warn("conversations without chat text have an empty chat in BEAM's rows")
        for _ in chat_text(head, writer.messages_of(reader), message_ids, flat=True):
            pass
        yield "[]"
    else:
        if head.details.get("unsaid_plans"):
            writer.warn("where chats of plans are missing, later messages do not have the ids that probes cite")
        yield from chat_text(head, writer.messages_of(reader), message_ids, flat=True)
    questions = questions_of(writer, reader, message_ids)
    columns = _columns(head)
    if is_table and "plans" in columns:
        yield ',\n"plans":['
        yield from _plans_with_chats(columns.pop("plans"), reader)
        yield "]"
    columns["probing_questions"] = repr(questions) if is_table else questions
    yield further_members(columns) + "}"


def _plans_with_chats(plans: list[dict[str, Any]], reader: ConversationReader) -> Iterator[str]:
    """Yield the JSON texts of plans, each with its own chat."""
    head = reader.head
    is_unsaid = bool(head.details.get("no_chat"))
    chats = plan_chats(head, () if is_unsaid else enumerate(reader.messages()), flat=True)
    ahead = next(chats, None)
    for i, plan in enumerate(plans):
        yield ("," if i else "") + json_text(plan)[:-1] + ',"chat":'
        if ahead is None or ahead[0] != i:
            yield "[]}"
            continue
        yield from ahead[1]
        yield "}"
        ahead = next(chats, None)


def _columns(head: ConversationHead) -> dict[str, Any]:
    """Return the columns of a row except chat and questions."""
    many = has_many_plans(head)
    planned = [batches for _, batches in user_messages(head, with_markers=True)]
    user_info = _text(head, "main_spec.txt") or (write_profile(head.profile) if head.profile else "")
    row: dict[str, Any] = {
        "conversation_id": _row_id(head),
        "conversation_seed": seed_object(head),
        "narratives": _text(head, "labels.txt") or write_labels(head.narratives),
        "user_profile": {
            "user_info": user_info,
            "user_relationships": _text(head, "core_relationships.txt" if many else "relationships.txt")
            or write_people(head.relationships),
        },
        "conversation_plan": "" if many else _plan_text(head, 0),
        "user_questions": [] if many else _user_questions(planned[0] if planned else []),
    }
    if many:
        topics = dict(plan_seed_objects(head))
        row["plans"] = [
            {
                "conversation_seed": topics.get(f"plan-{i}/topic.json"),
                "conversation_plan": _plan_text(head, i),
                "narratives": _text(head, f"plan-{i}/labels.txt"),
                "user_profile": {
                    "user_info": user_info,
                    "user_relationships": _text(head, f"plan-{i}/new_relationships.txt"),
                },
                "user_questions": _user_questions(planned[i] if i < len(planned) else []),
            }
            for i in range(int(head.details.get("plans", len(head.plans))))
        ]
    if head.details.get("format") == "beam":
        return row | dict(head.details.get("row", {}))
    return row | {"canary": CANARY}


def _row_id(head: ConversationHead) -> str:
    if head.details.get("format") == "beam":
        return str(head.details["id"])
    ordinal = head.conversation_id[1:]
    return str(int(ordinal) + 1) if ordinal.isdecimal() else head.conversation_id


def _text(head: ConversationHead, name: str) -> str:
    return str(head.details["files"].get(name, "")) if head.details.get("format") == "beam" else ""


def _plan_text(head: ConversationHead, plan: int) -> str:
    folder = f"plan-{plan}/" if has_many_plans(head) else ""
    kept = _text(head, f"{folder}plan_new.txt")
    return kept or (write_plan_text(head.plans[plan], with_special=True) if plan < len(head.plans) else "")


def _user_questions(batches: list[Any]) -> list[dict[str, Any]]:
    """Return the planned user messages in the tables' form: contents only, in a list within a list."""
    return [
        {"messages": [[m.get("content", "") for m in batch["messages"]]], "time_anchor": batch.get("time_anchor")}
        for batch in batches
        if isinstance(batch, dict) and isinstance(batch.get("messages"), list)
    ]
