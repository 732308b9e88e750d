"""What an ability's panel shows beyond the item itself: value history, order, coverage, matches of the gold."""

from __future__ import annotations

import datetime as dt

from longbeam.annotation_ui.anchors import evidence_id_of
from longbeam.annotation_ui.archive import OpenConversation
from longbeam.annotation_ui.causes import message_href
from longbeam.annotation_ui.views import MessageLink
from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import MessageRole
from longbeam.schemas.probes import Evidence, Probe
from longbeam.text.extraction import distinct_values
from longbeam.text.matching import says
from longbeam.text.words import content_words
from longbeam.validation.wording import claim

MOST_SINGLE = 5


class ValueTold(Record):
    """One value of a fact, from the plan's ledger."""

    fact_id: str
    subject: str
    attribute: str
    stance: str
    """`sets`, `updates`, `denies` or `mentions`."""
    value: str
    bullet_id: str
    messages: tuple[MessageLink, ...]
    """User messages that voice it."""
    sent_at: dt.datetime | None
    is_current: bool
    """The last value that was set."""


class SidePlace(Record):
    """A piece of evidence in its role: a side of a contradiction, an item of an order, an instruction."""

    evidence_id: str
    part: str
    group: int | None
    item: str
    """The item's name, for ordered answers."""
    quote: str
    message: MessageLink | None
    sent_at: dt.datetime | None
    session: int | None
    mention_rank: int | None
    """Place among the evidence in the order of the conversation, 0 first."""


class NuggetCoverage(Record):
    """Which evidence supports a nugget, as cited and as its words say."""

    nugget_id: str
    cited: tuple[str, ...]
    """evidence_ids that name the nugget."""
    worded: tuple[str, ...]
    """evidence_ids whose quote shares at least a third of the nugget's words."""


class ValueMatch(Record):
    """A date, amount or number of the gold, and which evidence says it."""

    value: str
    kind: str
    evidence_ids: tuple[str, ...]


class PanelView(Record):
    """All that the ten panels are made of; empty where it does not apply."""

    ability: str
    values: tuple[ValueTold, ...]
    sides: tuple[SidePlace, ...]
    coverage: tuple[NuggetCoverage, ...]
    matches: tuple[ValueMatch, ...]
    sessions: tuple[int, ...]
    single: tuple[MessageLink, ...]
    """Messages that alone say every value of the gold: a multi-session question must have none."""
    items_asked: int
    items_in_gold: int


def panel_view(conversation: OpenConversation, conversation_id: str, probe: Probe, item_id: str = "") -> PanelView:
    """Return what a probe's panel is made of."""
    ids = conversation.ids
    places = {e.message_key: ids[e.message_key] for e in probe.evidence if e.message_key in ids}
    lines = {i: conversation.lines[i] for i in places.values()}
    return PanelView(
        ability=probe.ability,
        values=tuple(_values(conversation, conversation_id, probe, item_id)),
        sides=tuple(_sides(conversation, conversation_id, probe, item_id)),
        coverage=tuple(_coverage(probe, n.nugget_id, n.text) for n in probe.rubric),
        matches=tuple(_matches(probe)),
        sessions=tuple(sorted({line.session for line in lines.values()})),
        single=tuple(_single(conversation, conversation_id, probe, item_id)),
        items_asked=len(probe.details.items),
        items_in_gold=len(probe.rubric) if probe.details.items else 0,
    )


def _link(conversation: OpenConversation, conversation_id: str, message_id: int, item_id: str) -> MessageLink:
    key = conversation.lines[message_id].message_key
    return MessageLink(message_key=key, message_id=message_id, href=message_href(conversation_id, message_id, item_id))


def _values(conversation: OpenConversation, conversation_id: str, probe: Probe, item_id: str) -> list[ValueTold]:
    """The ledger of the facts that the probe is about, in the order of the story; imports have none."""
    if not probe.fact_ids:
        return []
    marks = ", ".join("?" * len(probe.fact_ids))
    rows = conversation.rows(
        'SELECT a.fact_id, f.subject, f.attribute, a.stance, coalesce(a."value"."text", \'\'), a.bullet_id '
        "FROM sealed.assertions a JOIN sealed.facts f USING (fact_id) "
        "JOIN sealed.bullets b ON b.bullet_id = a.bullet_id "
        f"WHERE a.fact_id IN ({marks}) ORDER BY a.fact_id, b.plan_index, b.sub_plan_index, b.ordinal",
        probe.fact_ids,
    )
    voiced = _voiced(conversation, [row[5] for row in rows])
    last = {row[0]: i for i, row in enumerate(rows) if row[3] in ("sets", "updates")}
    return [
        ValueTold(
            fact_id=row[0],
            subject=row[1],
            attribute=row[2],
            stance=row[3],
            value=row[4],
            bullet_id=row[5],
            messages=tuple(_link(conversation, conversation_id, i, item_id) for i in voiced.get(row[5], ())),
            sent_at=conversation.lines[voiced[row[5]][0]].sent_at if voiced.get(row[5]) else None,
            is_current=last.get(row[0]) == i,
        )
        for i, row in enumerate(rows)
    ]


def _voiced(conversation: OpenConversation, bullet_ids: list[str]) -> dict[str, list[int]]:
    rows = conversation.rows(
        'SELECT message_id, bullet_ids FROM sealed.messages WHERE "role" = ? AND list_has_any(bullet_ids, ?) '
        "ORDER BY message_id",
        [MessageRole.USER.value, bullet_ids],
    )
    found: dict[str, list[int]] = {}
    for message_id, voices in rows:
        for bullet_id in voices:
            found.setdefault(bullet_id, []).append(message_id)
    return found


def _sides(conversation: OpenConversation, conversation_id: str, probe: Probe, item_id: str) -> list[SidePlace]:
    ids = conversation.ids
    order = sorted({ids[e.message_key] for e in probe.evidence if e.message_key in ids})
    return [_side(conversation, conversation_id, probe, e, order, item_id) for e in probe.evidence]


def _side(
    conversation: OpenConversation,
    conversation_id: str,
    probe: Probe,
    evidence: Evidence,
    order: list[int],
    item_id: str,
) -> SidePlace:
    message_id = conversation.ids.get(evidence.message_key)
    line = conversation.lines[message_id] if message_id is not None else None
    items, group = probe.details.items, evidence.group
    return SidePlace(
        evidence_id=evidence_id_of(evidence),
        part=evidence.part,
        group=group,
        item=items[group] if group is not None and 0 <= group < len(items) else "",
        quote=evidence.quote,
        message=_link(conversation, conversation_id, message_id, item_id) if message_id is not None else None,
        sent_at=line.sent_at if line else None,
        session=line.session if line else None,
        mention_rank=order.index(message_id) if message_id is not None else None,
    )


def _coverage(probe: Probe, nugget_id: str, text: str) -> NuggetCoverage:
    words = content_words(claim(text))
    cited = [evidence_id_of(e) for e in probe.evidence if nugget_id in e.nugget_ids]
    worded = [
        evidence_id_of(e) for e in probe.evidence if words and 3 * len(words & content_words(e.quote)) >= len(words)
    ]
    return NuggetCoverage(nugget_id=nugget_id, cited=tuple(cited), worded=tuple(worded))


def _matches(probe: Probe) -> list[ValueMatch]:
    return [
        ValueMatch(
            value=value.text,
            kind=value.kind.value,
            evidence_ids=tuple(evidence_id_of(e) for e in probe.evidence if says(e.quote, value)),
        )
        for value in distinct_values(probe.gold_answer)
    ]


def _single(conversation: OpenConversation, conversation_id: str, probe: Probe, item_id: str) -> list[MessageLink]:
    values = distinct_values(probe.gold_answer)
    words = [max(v.text.lower().split(), key=len) for v in values if v.text.strip()]
    if len(words) < 2:
        return []
    wheres = " AND ".join("contains(low, ?)" for _ in words)
    rows = conversation.rows(
        "SELECT message_id, content FROM (SELECT message_id, content, lower(content) AS low FROM sealed.messages) "
        f"WHERE {wheres} ORDER BY message_id LIMIT 200",
        words,
    )
    found = [message_id for message_id, content in rows if all(says(content, v) for v in values)]
    return [_link(conversation, conversation_id, i, item_id) for i in found[:MOST_SINGLE]]
