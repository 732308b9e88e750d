"""Findings as one page: counts by check and ability, and each finding beside its probe, the cited messages, and why.

The page is a file of its own: no script, nothing from elsewhere, so that it can be mailed and printed. Text of
conversations is somebody else's: the template escapes everything but the frame
of the page, which is ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from longbeam.pages import PAGE_END, page_start
from longbeam.schemas import ConversationReader, Finding, Message, Probe, Severity
from longbeam.validation import all_checks

TEMPLATES = Path(__file__).parent / "templates"
MOST_MESSAGES = 8
"""Messages shown beside one probe; a summary may cite dozens."""
MOST_CASES = 2_000
"""Probes and messages shown: a page of more would not open. Errors come first, and the page says what it leaves out."""
AROUND = 260
"""Characters shown on either side of what is marked."""
_QUOTED = re.compile(r"'([^'\n]{2,80})'|\"([^\"\n]{2,80})\"")
_NO_ABILITY = "-"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message, or the part of it around what is marked."""

    key: str
    role: str
    parts: tuple[tuple[str, bool], ...]
    """Text and whether it is marked."""


@dataclass(frozen=True, slots=True)
class Case:
    """A probe, a message or another subject, with all that was found on it."""

    anchor: str
    conversation_id: str
    subject: str
    probe: Probe | None
    findings: tuple[Finding, ...]
    excerpts: tuple[Excerpt, ...]
    left_out: int
    """Cited messages that are not shown."""


@dataclass(frozen=True, slots=True)
class Row:
    """How often a check found something, by ability."""

    check: str
    severity: Severity
    total: int
    by_ability: Mapping[str, int]
    first: str
    """Anchor of the first case."""


def findings_page(name: str, findings: Sequence[Finding], readers: Iterable[ConversationReader]) -> str:
    """Return the page as HTML; conversations are read one after the other, and only cited messages are kept."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: list(Severity).index(f.severity)):
        groups.setdefault((finding.conversation_id, finding.subject), []).append(finding)
    # Errors come first, so what is left out is the least severe.
    shown = dict(list(groups.items())[:MOST_CASES])
    anchors = {place: f"case-{i}" for i, place in enumerate(shown)}
    cases: dict[str, Case] = {}
    abilities: dict[tuple[str, str], str] = {}
    for reader in readers:
        conversation_id = reader.head.conversation_id
        probes = {p.probe_id: p for p in reader.probes()}
        abilities |= {(conversation_id, p.probe_id): p.ability for p in probes.values()}
        own = {place: found for place, found in shown.items() if place[0] == conversation_id}
        messages = _cited_messages(reader, own, probes)
        for place, found in own.items():
            cases[anchors[place]] = _case(anchors[place], place, found, probes.get(place[1]), messages)
    # Findings on a conversation as a whole have no probe or message to show.
    for place, found in shown.items():
        cases.setdefault(anchors[place], _case(anchors[place], place, found, None, {}))
    rows = _rows(findings, abilities, anchors)
    return (
        _environment()
        .get_template("findings.html")
        .render(
            name=name,
            rows=rows,
            abilities=sorted({a for row in rows for a in row.by_ability}),
            totals=[(severity.value, sum(f.severity is severity for f in findings)) for severity in Severity],
            cases=[cases[anchor] for anchor in anchors.values()],
            left_out=len(groups) - len(shown),
            docs={check.name: check.doc for check in all_checks()},
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(page_start=_page_start, page_end=Markup(PAGE_END))
    return environment


def _page_start(title: str, brand: str, style: str) -> Markup:
    return Markup(page_start(str(title), brand, style))


def _rows(
    findings: Sequence[Finding], abilities: Mapping[tuple[str, str], str], anchors: Mapping[tuple[str, str], str]
) -> list[Row]:
    counts: dict[tuple[Severity, str], Counter[str]] = {}
    first: dict[str, str] = {}
    for finding in findings:
        place = finding.conversation_id, finding.subject
        ability = abilities.get(place, _NO_ABILITY)
        counts.setdefault((finding.severity, finding.check), Counter())[ability] += 1
        first.setdefault(finding.check, anchors.get(place, ""))
    ranked = sorted(counts, key=lambda k: (list(Severity).index(k[0]), k[1]))
    return [Row(check, sev, counts[sev, check].total(), counts[sev, check], first[check]) for sev, check in ranked]


def _keys(found: Sequence[Finding], probe: Probe | None, subject: str) -> list[str]:
    cited = [e.message_key for e in probe.evidence] if probe is not None else [subject]
    return list(dict.fromkeys([*(k for f in found for k in f.evidence), *cited]))


def _cited_messages(
    reader: ConversationReader, own: Mapping[tuple[str, str], Sequence[Finding]], probes: Mapping[str, Probe]
) -> dict[str, Message]:
    wanted = {
        key for (_, subject), found in own.items() for key in _keys(found, probes.get(subject), subject)[:MOST_MESSAGES]
    }
    return {m.message_key: m for m in reader.messages() if m.message_key in wanted} if wanted else {}


def _case(
    anchor: str,
    place: tuple[str, str],
    found: Sequence[Finding],
    probe: Probe | None,
    messages: Mapping[str, Message],
) -> Case:
    keys = _keys(found, probe, place[1])
    marks = {e.message_key: e.quote for e in probe.evidence if e.quote} if probe is not None else {}
    said = [a or b for f in found for a, b in _QUOTED.findall(f.message)]
    excerpts = tuple(_excerpt(messages[k], marks.get(k, ""), said) for k in keys[:MOST_MESSAGES] if k in messages)
    return Case(anchor, place[0], place[1], probe, tuple(found), excerpts, max(len(keys) - MOST_MESSAGES, 0))


def _excerpt(message: Message, quote: str, said: Sequence[str]) -> Excerpt:
    """Mark the quote, or where there is none what the findings name, and cut what is far from it."""
    text = message.content
    spans = _spans(text, [quote] if quote and quote in text else said)
    start, end = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    start, end = max(start - AROUND, 0), min(max(end, start) + AROUND, len(text))
    parts: list[tuple[str, bool]] = [("... ", False)] if start else []
    at = start
    for a, b in spans:
        parts += [(text[at:a], False), (text[a:b], True)]
        at = b
    parts += [(text[at:end], False), (" ...", False) if end < len(text) else ("", False)]
    return Excerpt(message.message_key, message.role.value, tuple(p for p in parts if p[0]))


def _spans(text: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    folded = text.casefold() if len(text.casefold()) == len(text) else text
    found = sorted((at, at + len(w)) for w in dict.fromkeys(wanted) if (at := folded.find(w.casefold())) >= 0)
    spans: list[tuple[int, int]] = []
    for a, b in found:
        # Excerpts stay short: what lies far behind the first mark is left to the reader.
        if not spans or spans[-1][1] <= a < spans[0][0] + 3 * AROUND:
            spans.append((a, b))
    return spans
