"""A BEAM chat, from wherever it was read, as a conversation of ours.

A folder of the release and a row of the Hugging Face tables hold the same things under other names; both become a
`RawChat` first. The chat itself is read three times (days, message ids, records), so that it is never held whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from typing import Any

from longbeam.formats.beam_chat import Batch, BeamChatReader, anchor_text, batch_details, with_neighbours
from longbeam.formats.beam_probes import MessageIndex, read_probes
from longbeam.formats.beam_seeds import read_plan_seeds, read_seed
from longbeam.formats.beam_text import (
    PlanText,
    read_labels,
    read_people,
    read_plan_text,
    read_profile,
    split_marker,
    to_plan,
)
from longbeam.formats.dates import find_day
from longbeam.formats.reading import ImportOptions, Notes, parse_json, want
from longbeam.keys import SubPlanKey
from longbeam.models import load_tokenizer
from longbeam.schemas import ConversationHead, GivenConversation, NoteKind, Plan, Profile, UserTurn

PLAN_KEY = re.compile(r"plan-(\d+)")


@dataclass
class RawChat:
    """Everything that BEAM has about one conversation; texts are named as in the release's folder."""

    name: str
    """`4`: name of the folder, or conversation_id of the row."""
    where: str
    seed: dict[str, Any]
    """Content of topic.json."""
    texts: dict[str, str]
    plan_folders: tuple[str, ...]
    """`""` for one plan, `plan-0/`, `plan-1/`, ... for several."""
    user_messages: dict[int, list[Any]]
    """Content of user_messages.json, by plan."""
    questions: Any
    """Content of probing_questions.json."""
    batches: Callable[[], Iterator[Batch]] | None
    """Returns the batches of the chat; None if there is no chat text."""
    unsaid_plans: tuple[int, ...] = ()
    """Plans whose chat is missing: planned user messages stand in for it, and later messages have no known id."""
    details: dict[str, Any] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)


def to_conversation(raw: RawChat, conversation_id: str, options: ImportOptions) -> GivenConversation:
    """Return the conversation; UserError names the place of a fault that makes this impossible."""
    notes = raw.notes
    if raw.batches is None:
        notes.add(NoteKind.NO_CHAT, "conversation", "there is no chat text; the planned user messages stand in for it")
    batches = raw.batches or (lambda: planned_batches(raw.user_messages, raw.where))
    plan_texts = _plan_texts(raw)
    # The chat is read as a stream, three times: for its days, for its message ids, and for its messages. A chat of 10M
    # tokens does not fit in memory.
    anchors, kept = _survey_batches(raw, batches, plan_texts)
    plans = tuple(_plan(i, text, anchors) for i, text in enumerate(plan_texts))
    reader = BeamChatReader(
        where=raw.where,
        batches=batches,
        anchors=anchors,
        bullets={(s.plan_index, s.sub_plan_index): len(s.bullets) for plan in plans for s in plan.sub_plans},
        # Surveying needs no token counts, and counting would take most of its time.
        count=lambda text: 0,
    )
    index = _survey_messages(reader, notes, min(raw.unsaid_plans, default=None))
    where = f"{raw.where}: probing questions"
    probes = read_probes(raw.questions, where, None if raw.batches is None else index, notes)
    turns, planned = _user_turns(raw)
    many = max(len(raw.plan_folders), *(plan + 1 for plan, _ in anchors), 1)
    texts = raw.texts
    seed = read_seed(raw.seed, raw.name)
    people = {name: text for name, text in texts.items() if name.rpartition("/")[2] in _PEOPLE}
    head = ConversationHead(
        conversation_id=conversation_id,
        seed=seed,
        plan_seeds=read_plan_seeds(_plan_topics(raw), many, seed),
        profile=_profile(raw),
        relationships=read_people(people, notes),
        narratives=tuple(n for f in raw.plan_folders for n in read_labels(texts.get(f"{f}labels.txt", ""))),
        plans=plans,
        user_turns=turns,
        target_tokens=0,
        tokenizer=options.tokenizer,
        details={
            "format": "beam",
            "id": raw.name,
            "seed": raw.seed,
            "files": texts,
            **({"batches": kept} if kept else {}),
            **({"user_messages": planned} if planned else {}),
            **({"no_chat": True} if raw.batches is None else {}),
            **({"unsaid_plans": list(raw.unsaid_plans)} if raw.unsaid_plans else {}),
            **({"plans": many} if many > 1 else {}),
            **raw.details,
        },
        import_notes=tuple(notes.kept),
    )
    counting = BeamChatReader(
        reader.where, reader.batches, reader.anchors, reader.bullets, load_tokenizer(options.tokenizer).count
    )
    return GivenConversation(head, lambda: (message for _, message in counting.messages()), probes)


_PEOPLE = ("relationships.txt", "core_relationships.txt", "new_relationships.txt")


def batches_of(elements: Iterator[Any], where: str) -> Iterator[Batch]:
    """Yield the batches of a chat in any of its shapes: batch objects, flat lists, plans of either."""
    for number, element in enumerate(elements):
        if isinstance(element, dict) and "turns" not in element:
            plans = {int(m[1]) - 1: value for key, value in element.items() if (m := PLAN_KEY.fullmatch(key)) and value}
            if not plans:
                want(list, None, f"{where}: element {number + 1}", "a sub-plan with turns, or plan-1, plan-2, ...")
            for plan in sorted(plans):
                listed = want(list, plans[plan], f"{where}: plan-{plan + 1}", "a list of sub-plans")
                yield from ((plan, i, _batch(item, f"{where}: plan-{plan + 1}")) for i, item in enumerate(listed))
        else:
            yield 0, number, _batch(element, where)


def _batch(element: object, where: str) -> dict[str, Any]:
    if isinstance(element, list):
        return {"turns": element}
    return want(dict, element, where, "a sub-plan: an object with turns, or a list of messages")


def _plan_texts(raw: RawChat) -> list[PlanText]:
    found = []
    for folder in raw.plan_folders:
        name = next((n for n in (f"{folder}plan_new.txt", f"{folder}plan.txt") if n in raw.texts), None)
        if name is None:
            raw.notes.add(NoteKind.PLAN, folder or "plan_new.txt", "there is no plan")
        found.append(PlanText(()) if name is None else read_plan_text(raw.texts[name], name, raw.notes))
    return found if any(text.sub_plans for text in found) else []


def _plan(plan_index: int, text: PlanText, anchors: Mapping[tuple[int, int], date]) -> Plan:
    own: list[date | None] = [anchors.get((plan_index, i)) or day for i, day in enumerate(text.anchors())]
    return to_plan(plan_index, text, with_neighbours(own))


def _survey_batches(
    raw: RawChat, batches: Callable[[], Iterator[Batch]], plans: list[PlanText]
) -> tuple[dict[tuple[int, int], date], dict[str, Any]]:
    """Return the first day of each sub-plan of the chat, and the unusual fields of its batches."""
    said: dict[tuple[int, int], date | None] = {}
    kept: dict[str, Any] = {}
    for plan, sub_plan, batch in batches():
        where = f"{raw.where}: sub-plan {sub_plan + 1}"
        text = anchor_text(batch, where) or _planned_anchor(raw, plan, sub_plan)
        day = find_day(text)
        if day is None:
            stands_in = "its plan's" if _plan_day(plans, plan, sub_plan) else "its neighbour's"
            what = f"sub-plan {sub_plan + 1} has no day ({text or 'nothing'!r}); {stands_in} stands in"
            raw.notes.add(NoteKind.NO_DATE, str(SubPlanKey(plan, sub_plan)), what)
            day = _plan_day(plans, plan, sub_plan)
        said[plan, sub_plan] = day
        if beyond := batch_details(batch, sub_plan + 1):
            kept[f"{plan}.{sub_plan}"] = beyond
    return dict(zip(said, with_neighbours(list(said.values())), strict=True)), kept


def _plan_day(plans: list[PlanText], plan: int, sub_plan: int) -> date | None:
    days = plans[plan].anchors() if plan < len(plans) else []
    return days[sub_plan] if sub_plan < len(days) else None


def _planned_anchor(raw: RawChat, plan: int, sub_plan: int) -> str:
    planned = raw.user_messages.get(plan, [])
    batch = planned[sub_plan] if sub_plan < len(planned) else None
    return str(batch.get("time_anchor") or "") if isinstance(batch, dict) else ""


def _survey_messages(reader: BeamChatReader, notes: Notes, unsaid: int | None) -> MessageIndex:
    """Return the index of the messages; from the plan `unsaid` on they cannot be cited, as their ids are not known."""
    index = MessageIndex(is_partial=unsaid is not None)
    marked = 0
    for message_id, message in reader.messages(notes):
        is_known = unsaid is None or (message.plan_index or 0) < unsaid
        index.add(message_id if is_known else None, message.message_key, message.role, message.content)
        marked += message.kind == "question" and "marker" in message.details
    if marked:
        notes.add(
            NoteKind.PLAN_MARKERS,
            "conversation",
            f"{marked} main questions end with the marker of the plan; it is kept apart from their text",
        )
    return index


def planned_batches(planned: Mapping[int, list[Any]], place: str) -> Iterator[Batch]:
    """Yield the planned user messages of plans as the batches of a chat without replies."""
    ids = count()
    for plan, listed in sorted(planned.items()):
        for sub_plan, batch in enumerate(listed):
            where = f"{place}: user messages of sub-plan {sub_plan + 1}"
            said = want(dict, batch, where, "an object with messages")
            turns = [
                [{"role": "user", "id": next(ids), **m, "question_type": "main_question", **_planned_index(m)}]
                for m in want(list, said.get("messages"), where, "a list of messages")
                if isinstance(m, dict)
            ]
            yield plan, sub_plan, {"turns": turns, "time_anchor": said.get("time_anchor")}


def _planned_index(message: Mapping[str, Any]) -> dict[str, str]:
    _, marker = split_marker(str(message.get("content", "")))
    return {"index": marker.strip().removeprefix("->->").strip()} if marker else {}


def _user_turns(raw: RawChat) -> tuple[tuple[UserTurn, ...], dict[str, Any]]:
    """Return the planned questions, and the other content of user_messages.json by plan."""
    turns: list[UserTurn] = []
    kept: dict[str, Any] = {}
    for plan, listed in raw.user_messages.items():
        kept[str(plan)] = [_planned_batch(batch, SubPlanKey(plan, i), turns) for i, batch in enumerate(listed)]
    return tuple(turns), kept


def _planned_batch(batch: object, key: SubPlanKey, turns: list[UserTurn]) -> object:
    messages = batch.get("messages") if isinstance(batch, dict) else None
    # Only messages that a turn and its marker restore exactly are taken apart; any other batch is kept as it is.
    plain = isinstance(messages, list) and all(
        isinstance(m, dict) and set(m) <= {"role", "content"} and isinstance(m.get("content"), str) for m in messages
    )
    if not isinstance(batch, dict) or not isinstance(messages, list) or not plain:
        return {"raw": batch}
    split = [split_marker(m["content"]) for m in messages]
    turns += [UserTurn(turn_id=str(key.turn(i)), text=text, bullet_ids=()) for i, (text, _) in enumerate(split)]
    beyond = {k: v for k, v in batch.items() if k != "messages"}
    roles = sorted({str(m.get("role")) for m in messages})
    return beyond | {"markers": [marker for _, marker in split]} | ({} if roles == ["user"] else {"roles": roles})


def _profile(raw: RawChat) -> Profile | None:
    text = raw.texts.get("main_spec.txt")
    if text is None:
        raw.notes.add(NoteKind.PROFILE, "profile", "nothing says who the user is")
        return None
    return read_profile(text, "main_spec.txt", raw.notes)


def _plan_topics(raw: RawChat) -> dict[int, dict[str, Any]]:
    """Return the topic.json of each plan that has one."""
    found: dict[int, dict[str, Any]] = {}
    for i, folder in enumerate(raw.plan_folders):
        name = f"{folder}topic.json"
        if folder and name in raw.texts:
            where = f"{raw.where}/{name}"
            found[i] = want(dict, parse_json(raw.texts[name], where), where, "an object")
    return found
