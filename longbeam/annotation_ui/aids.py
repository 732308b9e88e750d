"""Aids to judge an item: counter-evidence, and the panel of its ability.

A panel shows what the probe says of itself, how a value changed, and what no check can settle: a person has to look at
it. An ability's record names its panel.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from longbeam.abilities import QuestionKind, Trait, ability_of, resolve
from longbeam.annotation_ui.links import message_href
from longbeam.annotation_ui.rendering import TextMark, render_plain, without_markdown
from longbeam.annotation_ui.views import (
    CounterRow,
    CounterView,
    DetailRow,
    Doubt,
    LedgerValue,
    MessageLink,
    PanelKind,
    PanelView,
)
from longbeam.errors import SpecError
from longbeam.keys import conversation_of
from longbeam.review import CounterEvidence, OpenConversation, dates_view
from longbeam.schemas import MessageRole, Probe
from longbeam.text import READING, LaterPassage, distinct_values, says, says_equivalent

GENERIC = PanelKind(name="generic")
ORDER = PanelKind(name="order", draft_field="items", draft_hint="items in order, one a line")
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
        candidates=tuple(
            _counter_row(place, c, found.words, c.message.message_key in cleared) for c in found.candidates
        ),
    )


def panel_view(place: ItemPlace, probe: Probe) -> PanelView:
    """Return the data of a probe's panel."""
    return PanelView(
        ability=probe.ability,
        details=tuple(_details(probe)),
        values=tuple(_values(place, probe)),
        doubts=tuple(_doubts(place, probe)),
    )


def _details(probe: Probe) -> Iterator[DetailRow]:
    """Yield what the probe says of itself; what the conversation should never say is a claim, or a ban."""
    details = probe.details
    is_absent = ability_of(probe.ability).has(Trait.ABSTAINS)
    rows = {
        "value on that day" if details.variety == QuestionKind.AS_OF else "old value": details.old_value,
        "new value": details.new_value,
        details.computation.replace("_", " ") or "computed": details.computed_value,
        "should be told nowhere" if is_absent else "must not be said": details.missing,
        "instruction": details.instruction,
        "preference": details.preference,
    }
    for name, text in rows.items():
        if text:
            yield DetailRow(name=name, text=text)


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
    given = [(row[0], i) for i, row in enumerate(rows) if row[3] in ("sets", "updates")]
    last, contested = dict(given), {row[0] for row in rows if row[3] == "denies"}

    def standing(i: int, fact_id: str, stance: str) -> str:
        said = voiced.get(rows[i][5])
        if probe.asked_at is not None and said and conversation.lines[said[0]].sent_at > probe.asked_at:
            return "told after the question"
        if fact_id in contested:
            return "told again" if stance == "mentions" else "one of two sides"
        if (fact_id, i) not in given:
            return "told again"
        if last[fact_id] != i:
            return "old: changed later"
        return "the last value" if stance == "updates" else "told once"

    return [
        LedgerValue(
            subject=row[1],
            attribute=row[2],
            value=row[4],
            standing=standing(i, row[0], row[3]),
            messages=tuple(place.link(i) for i in voiced.get(row[5], ())),
            sent_at=conversation.lines[voiced[row[5]][0]].sent_at if voiced.get(row[5]) else None,
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


def _doubts(place: ItemPlace, probe: Probe) -> Iterator[Doubt]:
    """Yield what a person should look at, though no check calls it wrong."""
    conversation = place.conversation
    ids = conversation.ids
    computed = probe.details.computed_value
    quotes = [
        (e.quote, conversation.lines[ids[e.message_key]].sent_at.date()) for e in probe.evidence if e.message_key in ids
    ]
    for value in distinct_values(probe.gold_answer) if quotes else ():
        is_said = any(says(quote, value, day) or says_equivalent(quote, value) for quote, day in quotes)
        if not is_said and not (computed and computed in value.text):
            yield Doubt(text=f"No quote says {value.text}.")
    cited = {nugget_id for e in probe.evidence for nugget_id in e.nugget_ids}
    for number, nugget in enumerate(probe.rubric, 1):
        if probe.evidence and nugget.nugget_id not in cited:
            yield Doubt(text=f"No quote is cited for nugget {number}.")
    groups = list(dict.fromkeys(e.group for e in probe.evidence if e.group is not None))
    if groups != sorted(groups):
        yield Doubt(text="The items are asked in another order than they are first told.")
    kind = panel_kind_of(probe.ability)
    if kind.has_sessions and (single := _single(place, probe)):
        yield Doubt(text="One message may answer it alone:", messages=tuple(single))
    if kind.further == "dates":
        for length in dates_view(conversation, probe).lengths:
            if length.verdict == "wrong":
                yield Doubt(text=f"{length.text}: no two dates here are so far apart.")


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


def _word_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch of a text without the words that its ends would cut."""
    while 0 < start < end and not text[start - 1].isspace():
        start += 1
    while start < end < len(text) and not text[end].isspace():
        end -= 1
    return start, min(end, len(text))


def _counter_row(place: ItemPlace, candidate: LaterPassage, terms: Sequence[str], is_cleared: bool) -> CounterRow:
    message, centre = candidate.message, candidate.centre
    start, end = _word_bounds(message.content, max(centre - READING.sign_window, 0), centre + 2 * READING.sign_window)
    shown = without_markdown(message.content[start:end])
    places = (re.search(rf"{re.escape(term)}\w*", shown, re.IGNORECASE) for term in terms)
    marks = [TextMark(start=place.start(), end=place.end(), kind="search") for place in places if place]
    message_id = message.message_id or 0
    return CounterRow.taken_from(
        message,
        quote=_sentence_at(message.content, centre),
        message_id=message_id,
        href=place.link(message_id).href,
        signs=candidate.signs,
        excerpt_html=("… " if start else "")
        + render_plain(shown, marks)
        + (" …" if end < len(message.content) else ""),
        is_cleared=is_cleared,
    )
