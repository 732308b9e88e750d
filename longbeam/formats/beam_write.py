"""Parts that the writers of BEAM's folder, its JSON file and its tables share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count, groupby
from typing import Any

from longbeam.formats.beam_chat import batch_object, bullet_places, chat_batches
from longbeam.formats.beam_probes import write_probe
from longbeam.formats.dates import beam_day, find_day
from longbeam.formats.exporting import ExportWriter, cited_ids, json_text
from longbeam.keys import SubPlanKey, TurnKey
from longbeam.schemas import ABILITIES, ConversationHead, ConversationReader, Message

SIZES = {"100K": 250_000, "500K": 750_000, "1M": 2_500_000, "10M": None}
"""Chat sizes that the harnesses know, with the most tokens of a chat filed under each."""
MANY_PLANS = "10M"


def size_class(reader: ConversationReader) -> str:
    """Return the size under which a conversation is filed; several plans go under 10M, which has their layout."""
    head = reader.head
    if head.details.get("format") == "beam" and head.details.get("size") in SIZES:
        return str(head.details["size"])
    if has_many_plans(head):
        return MANY_PLANS
    tokens = head.target_tokens or sum(m.tokens for m in reader.messages())
    return next(name for name, most in SIZES.items() if most is None or tokens <= most)


def has_many_plans(head: ConversationHead) -> bool:
    """Return whether a chat has several plans, and so another layout."""
    return int(head.details.get("plans", len(head.plans))) > 1


def chat_text(
    head: ConversationHead, messages: Iterable[tuple[int, Message]], message_ids: dict[str, int], *, flat: bool
) -> Iterator[str]:
    """Yield the JSON text of a chat piece by piece; `message_ids` receives the ids of its messages.

    `flat`: a batch is a list of messages, as in the tables, instead of an object with turns; several plans keep
    their objects in the tables, too.
    """
    many = has_many_plans(head)
    # BEAM's own tables keep the objects where a chat has several plans.
    flat = flat and not many
    current: int | None = None
    separator = ""
    yield "["
    for plan, batch, turns in chat_batches(head, said(head, _numbered(messages, message_ids))):
        if many and plan != current:
            yield ("" if current is None else "]},") + f'\n{{"plan-{plan + 1}":['
            separator, current = "", plan
        yield f"{separator}\n"
        separator = ","
        yield from _batch_text(head, (plan, batch), turns, flat=flat)
    yield "]}\n]\n" if current is not None else "\n]\n"


def _batch_text(
    head: ConversationHead, place: tuple[int, int], turns: Iterable[list[dict[str, Any]]], *, flat: bool
) -> Iterator[str]:
    """Yield the JSON text of a batch, given its plan and sub-plan, turn by turn."""
    anchor = None
    yield "[" if flat else '{"turns":['
    for i, turn in enumerate(turns):
        # The day of a batch is the first that one of its messages names.
        anchor = anchor or find_day(str(turn[0].get("time_anchor") or ""))
        pieces = ",".join(json_text(message) for message in turn) if flat else json_text(turn)
        yield f"{',' if i else ''}\n{pieces}"
    # Without its opening brace: the turns above have opened the object.
    yield "]" if flat else f"],{json_text(batch_object(head, *place, anchor))[1:]}"


def plan_chats(
    head: ConversationHead, messages: Iterable[tuple[int, Message]], *, flat: bool
) -> Iterator[tuple[int, Iterator[str]]]:
    """Yield each plan with messages and the JSON text of its own chat, whose ids begin at 0; `flat` as in `chat_text`.

    The texts must be consumed in their order.
    """
    for plan, batches in groupby(chat_batches(head, said(head, messages)), key=lambda item: item[0]):
        yield plan, _plan_text(head, batches, flat=flat)


def _plan_text(
    head: ConversationHead, batches: Iterable[tuple[int, int, Iterator[list[dict[str, Any]]]]], *, flat: bool
) -> Iterator[str]:
    ids = count()
    for i, (plan, batch, turns) in enumerate(batches):
        renumbered = ([{**message, "id": next(ids)} for message in turn] for turn in turns)
        yield "," if i else "["
        yield from _batch_text(head, (plan, batch), renumbered, flat=flat)
    yield "]"


def said(head: ConversationHead, messages: Iterable[tuple[int, Message]]) -> Iterator[tuple[int, Message]]:
    """Yield the messages without those of an import's plans whose chat was missing."""
    unsaid = frozenset(head.details.get("unsaid_plans", ()))
    return (item for item in messages if item[1].plan_index not in unsaid)


def _numbered(messages: Iterable[tuple[int, Message]], message_ids: dict[str, int]) -> Iterator[tuple[int, Message]]:
    for ordinal, message in messages:
        kept = message.details.get("beam", {}).get("id")
        message_ids[message.message_key] = kept if isinstance(kept, int) else ordinal
        yield ordinal, message


def questions_of(
    writer: ExportWriter, reader: ConversationReader, message_ids: Mapping[str, int]
) -> dict[str, list[dict[str, Any]]]:
    """Return a conversation's probing questions by ability.

    Ours have a list for each of BEAM's ten abilities and for every other one that has a probe; an import of BEAM has
    the lists that it came with, under their names.
    """
    imported = reader.head.details.get("format") == "beam"
    found: dict[str, list[dict[str, Any]]] = {} if imported else {ability: [] for ability in ABILITIES}
    for probe in reader.probes() if imported else ():
        found[probe.source_category or probe.ability] = []
    for probe, _ in writer.probes_of(reader):
        category = (probe.source_category if imported else "") or probe.ability
        found.setdefault(category, []).append(write_probe(probe, cited_ids(reader, probe, message_ids)))
    return found


def user_messages(head: ConversationHead, *, with_markers: bool = False) -> Iterator[tuple[str, list[Any]]]:
    """Yield the planned user messages by file name: one file, or one for each of several plans.

    `with_markers`: ours end with the marker of their bullets, too, as all of BEAM's do.
    """
    turns: dict[SubPlanKey, list[str]] = {}
    places = bullet_places(head) if with_markers and head.details.get("user_messages") is None else None
    for turn in head.user_turns:
        key = TurnKey.parse(turn.turn_id).sub_plan
        marker = "" if places is None else _marker(key, turn.bullet_ids, places)
        turns.setdefault(key, []).append(turn.text + marker)
    kept: Mapping[str, list[Any]] | None = head.details.get("user_messages")
    many = has_many_plans(head)
    if kept is not None:
        for plan, batches in kept.items():
            name = f"plan-{plan}/user_messages.json" if many else "user_messages.json"
            yield name, [_restored(batch, turns.get(SubPlanKey(int(plan), i), [])) for i, batch in enumerate(batches)]
        return
    for plan_record in head.plans if turns else ():
        name = f"plan-{plan_record.plan_index}/user_messages.json" if many else "user_messages.json"
        yield (
            name,
            [
                {
                    "batch": sub_plan.sub_plan_index + 1,
                    "time_anchor": beam_day(sub_plan.anchor),
                    "messages": [
                        {"role": "user", "content": text} for text in turns.get(SubPlanKey.parse(sub_plan.key), [])
                    ],
                }
                for sub_plan in plan_record.sub_plans
            ],
        )


def _marker(key: SubPlanKey, bullet_ids: Iterable[str], places: Mapping[str, int]) -> str:
    """Return the marker of a planned message; `N/A` stands for no bullet, as in BEAM's own."""
    voiced = ", ".join(str(places[bullet_id]) for bullet_id in bullet_ids if bullet_id in places)
    return f" ->-> {key.sub_plan_index + 1},{voiced or 'N/A'}"


def _restored(batch: dict[str, Any], texts: list[str]) -> Any:  # Any: a batch as it was
    if "raw" in batch:
        return batch["raw"]
    beyond = {k: v for k, v in batch.items() if k not in {"markers", "roles"}}
    role = {} if batch.get("roles") == ["None"] else {"role": "user"}
    pairs = zip(texts, batch["markers"], strict=True)
    return beyond | {"messages": [{**role, "content": text + marker} for text, marker in pairs]}
