"""Aids to judge an item: counter-evidence, and the panel of its ability.

A panel shows value history, order, nugget coverage and matches of the gold answer. An ability's record names its panel.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from longbeam.abilities import ability_of, resolve
from longbeam.annotation_ui.links import message_href
from longbeam.annotation_ui.rendering import TextMark, render_plain, without_markdown
from longbeam.annotation_ui.views import (
    CounterRow,
    CounterView,
    EvidenceRoleView,
    LedgerValue,
    MessageLink,
    NuggetCoverage,
    PanelKind,
    PanelView,
    ValueMatch,
)
from longbeam.errors import SpecError
from longbeam.keys import conversation_of
from longbeam.review import CounterEvidence, OpenConversation, evidence_id_of
from longbeam.schemas import Evidence, MessageRole, Probe
from longbeam.text import WINDOW, LaterPassage, content_words, distinct_values, says
from longbeam.validation import claim

GENERIC = PanelKind(name="generic")
SIDES = PanelKind(name="sides", sides_title="The two statements")
ORDER = PanelKind(
    name="order",
    sides_title="Items as asked, and their place in the conversation",
    draft_field="items",
    draft_hint="items in order, one a line",
)
ABSENCE = PanelKind(name="absence", further="absence", draft_field="missing", draft_hint="what is never said")
DATES = PanelKind(name="dates", further="dates")
SESSIONS = PanelKind(name="sessions", has_sessions=True)


@cache
def panel_kind_of(ability: str) -> PanelKind:
    """Return the panel of an ability; raises SpecError for a record that names none."""
    name = ability_of(ability).panel
    kind = resolve(name)
    if not isinstance(kind, PanelKind):
        raise SpecError(f"abilities: {name} is no PanelKind")
    return kind


MOST_SINGLE = 5
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True)
class ItemPlace:
    """An item and its open conversation."""

    conversation: OpenConversation
    item_id: str

    def link(self, message_id: int) -> MessageLink:
        """Return the link to a message."""
        key = self.conversation.lines[message_id].message_key
        href = message_href(conversation_of(self.item_id), message_id, self.item_id)
        return MessageLink(message_key=key, message_id=message_id, href=href)


def counter_view(place: ItemPlace, found: CounterEvidence, cleared: Collection[str]) -> CounterView:
    """Return counter-evidence as the item page shows it; `cleared` are keys of messages that change nothing."""
    return CounterView(
        terms=found.words,
        considered=found.considered,
        candidates=tuple(
            _counter_row(place, c, found.terms, c.message.message_key in cleared) for c in found.candidates
        ),
    )


def panel_view(place: ItemPlace, probe: Probe) -> PanelView:
    """Return the data of a probe's panel."""
    conversation = place.conversation
    ids = conversation.ids
    places = {e.message_key: ids[e.message_key] for e in probe.evidence if e.message_key in ids}
    lines = {i: conversation.lines[i] for i in places.values()}
    return PanelView(
        ability=probe.ability,
        values=tuple(_values(place, probe)),
        sides=tuple(_sides(place, probe)),
        coverage=tuple(_coverage(probe, n.nugget_id, n.text) for n in probe.rubric),
        matches=tuple(_matches(probe)),
        sessions=tuple(sorted({line.session for line in lines.values()})),
        single=tuple(_single(place, probe)),
    )


def _values(place: ItemPlace, probe: Probe) -> list[LedgerValue]:
    """Return the ledger of the probe's facts in the order of the story; empty for imports, which have no ledger."""
    if not probe.fact_ids:
        return []
    conversation = place.conversation
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
        LedgerValue(
            subject=row[1],
            attribute=row[2],
            stance=row[3],
            value=row[4],
            messages=tuple(place.link(i) for i in voiced.get(row[5], ())),
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


def _sides(place: ItemPlace, probe: Probe) -> list[EvidenceRoleView]:
    ids = place.conversation.ids
    order = sorted({ids[e.message_key] for e in probe.evidence if e.message_key in ids})
    return [_side(place, probe, e, order) for e in probe.evidence]


def _side(place: ItemPlace, probe: Probe, evidence: Evidence, order: list[int]) -> EvidenceRoleView:
    conversation = place.conversation
    message_id = conversation.ids.get(evidence.message_key)
    line = conversation.lines[message_id] if message_id is not None else None
    items, group = probe.details.items, evidence.group
    return EvidenceRoleView.taken_from(
        evidence,
        evidence_id=evidence_id_of(evidence),
        item=items[group] if group is not None and 0 <= group < len(items) else "",
        message=place.link(message_id) if message_id is not None else None,
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


def _single(place: ItemPlace, probe: Probe) -> list[MessageLink]:
    values = distinct_values(probe.gold_answer)
    # The longest word of each value narrows the scan; `says` decides on the few messages that are left.
    words = [max(v.text.lower().split(), key=len) for v in values if v.text.strip()]
    if len(words) < 2:
        return []
    wheres = " AND ".join("contains(low, ?)" for _ in words)
    rows = place.conversation.rows(
        "SELECT message_id, content FROM (SELECT message_id, content, lower(content) AS low FROM sealed.messages) "
        f"WHERE {wheres} ORDER BY message_id LIMIT 200",
        words,
    )
    found = [message_id for message_id, content in rows if all(says(content, v) for v in values)]
    return [place.link(i) for i in found[:MOST_SINGLE]]


def _sentence_at(content: str, at: int) -> str:
    """Return the sentence or line of a message around a place, as the quote of new evidence."""
    start = max((m.end() for m in _SENTENCE_END.finditer(content, 0, at)), default=0)
    after = _SENTENCE_END.search(content, at)
    return content[start : after.end() if after else len(content)].strip()[:2_000]


def _counter_row(place: ItemPlace, candidate: LaterPassage, terms: Sequence[str], is_cleared: bool) -> CounterRow:
    message, centre = candidate.message, candidate.centre
    start, end = max(centre - WINDOW, 0), min(centre + 2 * WINDOW, len(message.content))
    shown = without_markdown(message.content[start:end])
    places = (re.search(rf"{re.escape(term)}\w*", shown, re.IGNORECASE) for term in terms)
    marks = [TextMark(start=place.start(), end=place.end(), kind="search") for place in places if place]
    message_id = message.message_id or 0
    return CounterRow.taken_from(
        message,
        quote=_sentence_at(message.content, centre),
        message_id=message_id,
        href=place.link(message_id).href,
        score=round(candidate.score, 3),
        signs=candidate.signs,
        excerpt_html=("… " if start else "")
        + render_plain(shown, marks)
        + (" …" if end < len(message.content) else ""),
        is_cleared=is_cleared,
    )
