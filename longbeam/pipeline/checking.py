"""Checks and counts over the finished conversations of a benchmark; both are kept in its `benchmark.duckdb`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from longbeam.errors import StoreError
from longbeam.pages import PAGE_END, page_start
from longbeam.pipeline.evaluate.model_checks import stored_model_findings
from longbeam.schemas import ConversationReader, Finding, FormFigure, Message, Probe, Seed, Severity, Statistics
from longbeam.store import (
    Benchmark,
    SealedConversation,
    read_findings,
    read_statistics,
    write_atomically,
    write_benchmark,
)
from longbeam.terminal import counted
from longbeam.text import Language, language_of
from longbeam.validation import (
    ConversationIndex,
    all_checks,
    build_index,
    check_benchmark,
    check_index,
    index_statistics,
    left_out,
    measure_form,
)

T = TypeVar("T")
_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
STATISTICS = "benchmark"
"""Name of the tables among the stored statistics."""
FORM = "form"
"""Name of the figures on form there."""


@contextmanager
def sealed_conversations(benchmark: Benchmark) -> Iterator[Iterator[SealedConversation]]:
    """Give an iterator over the finished conversations in order, of which one is open at a time."""

    def opened() -> Generator[SealedConversation, None, None]:
        for conversation_id in benchmark.sealed_ids:
            with SealedConversation(benchmark.sealed_path(conversation_id)) as reader:
                yield reader

    with closing(opened()) as readers:
        yield readers


def _read_conversations(benchmark: Benchmark) -> Iterator[ConversationIndex]:
    """Yield the finished conversations in order, read; their files are closed, so that DuckDB holds nothing of them."""
    spec = benchmark.spec
    asked = None if spec.is_given else dict.fromkeys(spec.abilities, spec.probes_per_ability)
    return (_read(benchmark.sealed_path(conversation_id), asked) for conversation_id in benchmark.sealed_ids)


def _read(path: Path, asked: Mapping[str, int] | None) -> ConversationIndex:
    with SealedConversation(path) as reader:
        return build_index(reader, asked=asked)


def check_and_store(benchmark: Benchmark) -> list[Finding]:
    """Return what the checks find: in conversations, across them, and what model-backed ones found of the same."""
    findings: list[Finding] = []
    seeds: list[tuple[str, Seed]] = []
    for index in _read_conversations(benchmark):
        findings += check_index(index, language=language_of(benchmark.spec.language))
        seeds.append((index.head.conversation_id, index.head.seed))
        del index  # before the next one is read
    with sealed_conversations(benchmark) as readers:
        findings += check_benchmark(readers)
    findings += stored_model_findings(benchmark)
    path = benchmark.database_path
    write_benchmark(path, seeds=seeds, findings=findings, statistics=_kept(path, read_statistics) or {})
    return findings


def count_and_store(benchmark: Benchmark) -> Statistics:
    """Return the benchmark's tables."""
    statistics = index_statistics(_read_conversations(benchmark))
    with sealed_conversations(benchmark) as readers:
        seeds = [(reader.head.conversation_id, reader.head.seed) for reader in readers]
    path = benchmark.database_path
    findings = _kept(path, read_findings) or []
    stored = {**(_kept(path, read_statistics) or {}), STATISTICS: statistics.model_dump(mode="json")}
    write_benchmark(path, seeds=seeds, findings=findings, statistics=stored)
    return statistics


def form_of(benchmark: Benchmark) -> tuple[FormFigure, ...]:
    """Return what the form of the messages of the finished conversations gives away."""
    return measure_form(_read_conversations(benchmark))


def measure_form_and_store(benchmark: Benchmark) -> tuple[FormFigure, ...]:
    """Return what the form of the benchmark's messages gives away. Raises UserError without scikit-learn."""
    figures = form_of(benchmark)
    with sealed_conversations(benchmark) as readers:
        seeds = [(reader.head.conversation_id, reader.head.seed) for reader in readers]
    path = benchmark.database_path
    kept = {**(_kept(path, read_statistics) or {}), FORM: [f.model_dump(mode="json") for f in figures]}
    write_benchmark(path, seeds=seeds, findings=_kept(path, read_findings) or [], statistics=kept)
    return figures


def stored_form(benchmark: Benchmark) -> tuple[FormFigure, ...]:
    """Return the figures that were measured last; empty where nobody did."""
    stored = _kept(benchmark.database_path, read_statistics) or {}
    return tuple(FormFigure.model_validate(figure) for figure in stored.get(FORM, ()))


def make_again(benchmark: Benchmark) -> None:
    """Make `benchmark.duckdb` again from the finished conversations, with findings and tables."""
    benchmark.database_path.unlink()
    if benchmark.sealed_ids:
        check_and_store(benchmark)
        count_and_store(benchmark)


def _kept(path: Path, read: Callable[[Path], T]) -> T | None:
    """Return what a file holds that is about to be replaced; None if it is damaged or absent."""
    try:
        return read(path)
    except StoreError:
        return None


def render_findings(name: str, conversations: int, findings: Sequence[Finding], most: int) -> str:
    """Return the findings as text, worst first and at most `most` of them, and a line of counts; ends a line."""
    ranked = sorted(findings, key=lambda f: list(Severity).index(f.severity))
    lines = [
        f"{f.severity.value:<7}  {f.conversation_id or name}  {f.subject}  {f.check}: {f.message}"
        for f in ranked[:most]
    ]
    if len(ranked) > most:
        lines.append(f"... and {len(ranked) - most} more; `--json` prints all")
    counts = Counter(f.severity for f in findings)
    summary = ", ".join(counted(counts[s], _NOUNS[s]) for s in Severity)
    lines.append(f"{name}: {counted(conversations, 'conversation')} checked: {summary}")
    return "\n".join(lines) + "\n"


def write_findings_page(benchmark: Benchmark, findings: Sequence[Finding], path: Path) -> None:
    """Write the findings to a file as one self-contained page."""
    with sealed_conversations(benchmark) as readers:
        write_atomically(path, findings_page(benchmark.spec.name, findings, readers))


def render_left_out(language: Language) -> str:
    """Return a line for what is not looked for in a language, grouped by the reason; nothing for English."""
    by_reason: dict[str, list[str]] = {}
    for kind, reason in left_out(language).items():
        by_reason.setdefault(reason, []).append(kind)
    return "".join(
        f"left out in {language.name}: {', '.join(kinds)} ({reason})\n" for reason, kinds in by_reason.items()
    )


def findings_json(findings: Sequence[Finding]) -> str:
    """Return all findings as a JSON list, one line each."""
    lines = (json.dumps(f.model_dump(mode="json"), ensure_ascii=False) for f in findings)
    return "[\n" + ",\n".join(lines) + "\n]\n" if findings else "[]\n"


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
class PageExcerpt:
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
    excerpts: tuple[PageExcerpt, ...]
    left_out: int
    """Cited messages that are not shown."""


@dataclass(frozen=True, slots=True)
class FindingRow:
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
) -> list[FindingRow]:
    counts: dict[tuple[Severity, str], Counter[str]] = {}
    first: dict[str, str] = {}
    for finding in findings:
        place = finding.conversation_id, finding.subject
        ability = abilities.get(place, _NO_ABILITY)
        counts.setdefault((finding.severity, finding.check), Counter())[ability] += 1
        first.setdefault(finding.check, anchors.get(place, ""))
    ranked = sorted(counts, key=lambda k: (list(Severity).index(k[0]), k[1]))
    return [
        FindingRow(check, sev, counts[sev, check].total(), counts[sev, check], first[check]) for sev, check in ranked
    ]


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


def _excerpt(message: Message, quote: str, said: Sequence[str]) -> PageExcerpt:
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
    return PageExcerpt(message.message_key, message.role.value, tuple(p for p in parts if p[0]))


def _spans(text: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    folded = text.casefold() if len(text.casefold()) == len(text) else text
    found = sorted((at, at + len(w)) for w in dict.fromkeys(wanted) if (at := folded.find(w.casefold())) >= 0)
    spans: list[tuple[int, int]] = []
    for a, b in found:
        # Excerpts stay short: what lies far behind the first mark is left to the reader.
        if not spans or spans[-1][1] <= a < spans[0][0] + 3 * AROUND:
            spans.append((a, b))
    return spans
