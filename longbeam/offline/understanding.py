"""Finds statements in a conversation by matching the templates of the packs.

The offline writer tells its stories with these templates. A match gives the subject, the attributes, their values, and
the kind of statement: told, moved, contradicted, denied. Text in other words is not understood.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from string import Formatter

from longbeam.offline.advising import ATTRIBUTES, CHOICES, CORRECTIONS, DAYS, FIGURES, ITEMS, LISTS, USES
from longbeam.offline.own_logs import asides
from longbeam.offline.packs import Pack, Standing, Thread, load_pack, pack_paths, wishes
from longbeam.offline.planning import ENDING_LABEL, MOVED_ANYWHERE, NEVER_ANYWHERE
from longbeam.offline.story import people_thread
from longbeam.offline.telling import COST_SLOT, END_SLOT, ENDED, OWN_COST, WHOLE
from longbeam.schemas import AdviceKind, ValueKind
from longbeam.text import (
    COMPANION,
    FIGURE,
    MONTHS,
    PLACE,
    QUANTITY,
    SOURCE,
    WEEKDAYS,
    sentences,
)

ME = "me"
UNSAID = "unsaid"
"""Matter of a request to leave something unsaid."""
INTRODUCED = {"name": "full name", "age": "age", "profession": "profession", "city": "home city"}
"""Attribute of the user by field of an introduction."""


class How(StrEnum):
    """Kind of a statement."""

    TOLD = "told"
    MOVED = "moved"
    """A new value that replaces an older one."""
    OTHERWISE = "otherwise"
    """Another value of something that happened once: a contradiction."""
    DENIED = "denied"


@dataclass(frozen=True)
class ReadStatement:
    """One understood phrase."""

    how: How
    matter: str
    """Pack, thread and beat; a denial contradicts a statement on the same matter."""
    narrative: str
    subject: str
    values: tuple[tuple[str, str], ...]
    """Pairs of attribute and value, as written."""
    quote: str
    """The sentences with the statement."""
    said_on: dt.date = dt.date.min
    """Day of its message, where the text has days."""


@dataclass(frozen=True)
class Wish:
    """An instruction or a preference that was stated."""

    standing: Standing
    quote: str


@dataclass(frozen=True)
class Understood:
    """Statements and wishes of a text, in its order."""

    statements: tuple[ReadStatement, ...]
    wishes: tuple[Wish, ...]
    advised: tuple[ReadStatement, ...] = ()
    """Advice that the assistant gave."""
    taken: tuple[ReadStatement, ...] = ()
    """Options of the assistant that the user took."""


@dataclass(frozen=True)
class _Rule:
    """A template to match in texts."""

    template: str
    kinds: Mapping[str, ValueKind]
    """Kinds of the fields with typed values."""
    pack: str
    matter: str
    narrative: str
    how: How
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Attribute by field."""
    subject: str = ""
    """Subject of a template that does not name it."""
    is_of_person: bool = False
    standing: Standing | None = None

    @cached_property
    def literal(self) -> str:
        """The template's longest piece without fields and weekdays, in lower case; every text that matches has it."""
        pieces = (part for piece, *_ in Formatter().parse(self.template) for part in _WEEKDAY.split(piece))
        return max((piece.removesuffix(" on ") for piece in pieces), key=len).strip().lower()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Pattern of the template, compiled on first use, as a benchmark needs dozens of the thousands of rules."""
        return _pattern(self.template.rstrip("."), self.kinds)


_WEEKDAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})\b")
_AMOUNTS = frozenset({ValueKind.NUMBER, ValueKind.MONEY, ValueKind.DURATION, ValueKind.RATIO})
_VALUE = r"(?:[^.!?;\n]|\.(?=\d))+?"
_VALUE_OF: Mapping[ValueKind | None, str] = {
    **dict.fromkeys(_AMOUNTS, rf"[-$€£¥]?\d(?:{_VALUE})?"),
    ValueKind.DATE: rf"(?:{'|'.join(MONTHS)}) {_VALUE}",
}
"""Patterns of typed values. They keep the thing before a value from matching half a sentence."""
_SUBJECT = r"[^.!?,;:\n]{1,80}?"
_START = r"(?:(?:^|(?<=[\n.!?,;:]\s)|(?<=\n)|(?<=\bthat )|(?<=\bbecause )|(?<=\bis )))"
_END = r"(?=[.!?;:](?:\s|$)|,(?!\s?\d)|\n|$)"


def _pattern(template: str, kinds: Mapping[str, ValueKind]) -> re.Pattern[str]:
    parts, seen = [], set[str]()
    pieces = list(Formatter().parse(template))
    for literal, name, _, _ in pieces:
        parts.append(_literal(literal, is_before_day=kinds.get(name or "") is ValueKind.DATE))
        if name in seen:
            parts.append(".{1,80}?")
        elif name:
            parts.append(f"(?P<{name}>{_SUBJECT if name == 'it' else _VALUE_OF.get(kinds.get(name), _VALUE)})")
            seen.add(name)
    begin = _START if pieces[0][0] == "" else r"(?<!\w)"
    end = _END if pieces[-1][1] else r"(?!\w)"
    return re.compile(begin + "".join(parts) + end, re.IGNORECASE)


def _literal(text: str, *, is_before_day: bool) -> str:
    """Return the pattern of a template's literal, in a text whose spoken days are spelled out.

    `On Monday` may have become a date, and `last Sunday`, which has no preposition, a date without one.
    """
    found = _WEEKDAY.sub(rf"(?:\g<0>|(?:{'|'.join(MONTHS)}) \\d+, \\d+)", re.escape(text))
    return re.sub(r"\bon\\ $", r"(?:on\\ )?", found) if is_before_day else found


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, tuple[_Rule, ...]]:
    """Return all rules by the longest word of their literal."""
    by_word: dict[str, list[_Rule]] = defaultdict(list)
    seen = set[tuple[object, ...]]()
    for rule in _all_rules():
        key = (rule.template, rule.narrative, rule.how, tuple(sorted(rule.attributes.items())))
        if key not in seen:
            seen.add(key)
            by_word[max(_whole_words(rule.literal), key=len)].append(rule)
    return {word: tuple(rules) for word, rules in by_word.items()}


_ARTICLE = re.compile(r"(?:The|An?|My|Our) ")
_WORDS = re.compile(r"[a-z0-9]+")


def _whole_words(literal: str) -> list[str]:
    # A literal may begin or end within a word (`{it}'s`), so its first and last pieces may be no whole words.
    return _WORDS.findall(literal) or [literal]


def _all_rules() -> Iterator[_Rule]:
    packs = [load_pack(path) for path in pack_paths()]
    yield from _of_thread("people", people_thread(), is_of_person=True)
    for pack in packs:
        for thread in pack.threads:
            yield from _of_thread(pack.pack, thread)
        for text in pack.intro:
            yield _Rule(text, {}, pack.pack, "intro", "", How.TOLD, INTRODUCED, ME)
        yield from _of_wishes(pack)
    attributes = {s.attribute for p in packs for t in p.threads for s in t.slots.values()}
    attributes |= {s.attribute for s in people_thread().slots.values()}
    for attribute in sorted(attributes):
        for how, texts in ((How.MOVED, MOVED_ANYWHERE), (How.DENIED, NEVER_ANYWHERE)):
            for text in texts:
                told = text.replace("{attribute}", attribute)
                yield _Rule(told, {}, "", f"any/{attribute}", "", how, {"new": attribute})
    yield from _of_side_stories()
    for texts, slot in ((ENDED, END_SLOT), (OWN_COST, COST_SLOT)):
        for text in texts:
            yield _Rule(text, {}, "", "ending", ENDING_LABEL, How.TOLD, {"day": slot, "total": slot}, WHOLE)


def _of_side_stories() -> Iterator[_Rule]:
    for log in (*asides().logs, *asides().travel_logs):
        fields = {"amount": QUANTITY, "place": PLACE}
        for text in log.tell:
            together = text.replace("{place}", "{place} with {who}")
            yield _Rule(together, {}, "", f"side/{log.name}", "", How.TOLD, {**fields, "who": COMPANION}, log.name)
            yield _Rule(text, {}, "", f"side/{log.name}", "", How.TOLD, fields, log.name)
    for private in asides().confidences:
        told = {"source": SOURCE, "figure": FIGURE}
        yield _Rule(private.tell, {"figure": ValueKind.MONEY}, "", "side", "", How.TOLD, told, private.name)
        for text in (asides().forget, asides().keep):
            asked = text.format(name=private.name, person="{person}")
            yield _Rule(asked, {}, "", UNSAID, "", How.TOLD, {"person": UNSAID}, private.name)


def _of_thread(pack: str, thread: Thread, *, is_of_person: bool = False) -> Iterator[_Rule]:
    def rule(text: str, beat: str, how: How, fields: Mapping[str, str]) -> _Rule:
        """`fields`: the slot that each field holds."""
        matter = f"{pack}/{thread.thread}/{beat}"
        names = {field: thread.slots[slot].attribute for field, slot in fields.items()}
        kinds = {field: thread.slots[slot].type for field, slot in fields.items()}
        return _Rule(text, kinds, pack, matter, thread.narrative, how, names, is_of_person=is_of_person)

    for beat in thread.beats:
        said = {name: name for name in (*beat.sets, *beat.fixed, *beat.updates, *beat.recalls)}
        for text in beat.tell:
            yield rule(text, beat.beat, How.TOLD, said)
        for text in (*beat.deny, *beat.not_yet):
            yield rule(text, beat.beat, How.DENIED, {})
        for name in beat.fixed:
            for text in thread.slots[name].misremember:
                yield rule(text, beat.beat, How.OTHERWISE, {"other": name})
    for name, slot in thread.slots.items():
        for text in slot.moved:
            yield rule(text, "", How.MOVED, {"new": name})


def _of_wishes(pack: Pack) -> Iterator[_Rule]:
    known = wishes(pack)
    later = [p.later for p in known.preferences if p.later is not None]
    for standing in (*known.instructions, *known.preferences, *later):
        for text in standing.tell:
            yield _Rule(text, {}, pack.pack, "wish", "", How.TOLD, standing=standing)


@dataclass(frozen=True)
class _Found:
    rule: _Rule
    start: int
    end: int
    fields: tuple[tuple[str, str], ...]


@lru_cache(maxsize=16_384)
def _found_in(text: str) -> tuple[_Found, ...]:
    """Return every match of a rule in a message."""
    folded = text.lower()
    rules = _rules()
    found = []
    for word in dict.fromkeys(_WORDS.findall(folded)):
        for rule in rules.get(word, ()):
            if rule.literal in folded and (match := rule.pattern.search(text)) is not None:
                fields = tuple((k, v) for k, v in match.groupdict().items() if v is not None)
                found.append(_Found(rule, match.start(), match.end(), fields))
    return tuple(found)


def understand(messages: Sequence[str], replies: Sequence[str] = (), days: Sequence[dt.date] = ()) -> Understood:
    """Return what the user's messages, with their days, and the assistant's replies state, in their order.

    Packs share some phrases: of rules that match the same words, those of the pack with most matches in the text win.
    """
    found = [(text, _found_in(text)) for text in messages]
    fits: Counter[str] = Counter()
    for _, rules in found:
        for one in rules:
            fits[one.rule.pack] += len(one.rule.literal)
    statements: list[ReadStatement] = []
    wished: list[Wish] = []
    for (text, rules), day in zip(found, days or [dt.date.min] * len(found), strict=True):
        for one in _best_of(rules, fits):
            quote = _sentences_at(text, one.start, one.end)
            if one.rule.standing is not None:
                wished.append(Wish(one.rule.standing, quote))
            else:
                statements.append(_statement(one, quote, day))
    advised = (_statement(one, "") for text in replies for one in _advised_in(text))
    taken = (_statement(one, "") for text in messages for one in _matches(_choice_rules(), text))
    return Understood(tuple(statements), tuple(wished), tuple(advised), tuple(taken))


@lru_cache(maxsize=1)
def _advice_rules() -> tuple[_Rule, ...]:
    """Return the rules for what the assistant brings in."""
    rules = []
    for attribute, kind in ATTRIBUTES.items():
        for text in (*(DAYS if kind is ValueKind.DATE else FIGURES), *CORRECTIONS):
            told = text.replace("{attribute}", attribute)
            rules.append(_Rule(told, {"new": kind}, "", f"advice/{attribute}", "", How.TOLD, {"new": attribute}))
    use = AdviceKind.USE.value
    rules += [_Rule(text, {"new": ValueKind.MONEY}, "", f"advice/{use}", "", How.TOLD, {"use": use}) for text in USES]
    for kind_, texts in LISTS.items():
        names = [f"item{i}" for i in range(ITEMS[kind_])]
        # Each item goes on to the end of its line: it may have commas.
        listed = "".join(f"{i}. {{{name}}}\n" for i, name in enumerate(names, 1))
        for text in texts:
            told, attributes = text.replace("{list}", listed), dict.fromkeys(names, kind_.value)
            rules.append(_Rule(told, {}, "", f"advice/{kind_}", "", How.TOLD, attributes))
    return tuple(rules)


@lru_cache(maxsize=1)
def _choice_rules() -> tuple[_Rule, ...]:
    return tuple(_Rule(text, {}, "", "taken", "", How.TOLD, {"nth": "taken"}) for text in CHOICES)


@lru_cache(maxsize=16_384)
def _advised_in(text: str) -> tuple[_Found, ...]:
    return tuple(_best_of(_matches(_advice_rules(), f"{text}\n"), {}))


def _matches(rules: Iterable[_Rule], text: str) -> list[_Found]:
    """Return the matches of some rules in a text."""
    folded, found = text.lower(), []
    for rule in rules:
        if rule.literal in folded:
            for match in rule.pattern.finditer(text):
                fields = tuple((k, v) for k, v in match.groupdict().items() if v is not None)
                found.append(_Found(rule, match.start(), match.end(), fields))
    return found


def _best_of(found: Iterable[_Found], fits: Mapping[str, int]) -> list[_Found]:
    """Return matches that do not overlap, longer ones preferred, in the order of the text."""
    kept: list[_Found] = []
    for one in sorted(found, key=lambda f: (-(len(f.rule.literal)), -fits.get(f.rule.pack, 0), f.start)):
        if all(one.end <= k.start or one.start >= k.end for k in kept):
            kept.append(one)
    return sorted(kept, key=lambda f: f.start)


def _statement(found: _Found, quote: str, day: dt.date = dt.date.min) -> ReadStatement:
    rule, fields = found.rule, dict(found.fields)
    subject = rule.subject or re.sub(r"^(?:so|and|but) ", "", fields.get("it", ""))
    if rule.is_of_person:
        subject = _person(subject)
    elif _ARTICLE.match(subject):
        subject = subject[:1].lower() + subject[1:]  # The thing was at the beginning of a sentence.
    values = tuple((rule.attributes[f], fields[f].strip()) for f in fields if f in rule.attributes)
    return ReadStatement(rule.how, rule.matter, rule.narrative, subject.strip(), values, quote, day)


def _person(named: str) -> str:
    """Return `Darryl` for `my friend Darryl`."""
    names = re.findall(r"[A-Z][\w'-]+", named)
    return names[-1] if names else named


def _sentences_at(text: str, start: int, end: int) -> str:
    spans = [(a, b) for a, b in sentences(text) if a < end and b > start]
    return " ".join(text[spans[0][0] : spans[-1][1]].split()) if spans else text[start:end]
