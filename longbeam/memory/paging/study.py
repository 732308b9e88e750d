"""The studies of arXiv 2604.12376 in one command (boundaries × evictions, bookmark generators, bookmark lengths)
and their plot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape

from longbeam.memory.paging.bookmarks import FORMATS, GENERATORS
from longbeam.memory.paging.pages import BOUNDARIES, PageTurn, boundary_of, cut
from longbeam.memory.paging.residency import POLICIES, Capacity
from longbeam.memory.paging.simulator import (
    AccuracyBreakdown,
    CountTokens,
    PageOutcome,
    PagingConfig,
    Selector,
    TimedQuestion,
    Workload,
    break_down_accuracy,
    simulate,
)
from longbeam.schemas import Message, MessageRole, Probe, Record

SELECTORS: tuple[Selector, ...] = ("random", "lexical", "oracle")


class StudyRow(Record):
    """One configuration and its means."""

    config: PagingConfig
    summary: AccuracyBreakdown
    pages: float
    """Mean number of pages of a conversation."""
    by_kind: dict[str, float]
    """Accuracy by kind of fact or category of question."""


class Study(Record):
    """The rows of all studies on one set of conversations."""

    name: str
    capacity: str
    conversations: int
    questions: int
    ablation: tuple[StudyRow, ...]
    bookmarks: tuple[StudyRow, ...]
    formats: tuple[StudyRow, ...]


def workload_of(name: str, messages: Iterable[Message], probes: Iterable[Probe]) -> Workload:
    """Return a conversation with its questions; probes without evidence are left out, as they need no page."""
    turns, times = [], []
    first_speaker = ""
    for message in messages:
        first_speaker = first_speaker or message.speaker
        is_user = (
            # Among named people the one who speaks first takes the part of the user.
            message.role is MessageRole.USER
            if message.speaker in {"user", "assistant"}
            else (message.speaker == first_speaker)
        )
        turns.append(
            PageTurn(message.message_key, message.speaker, message.content, message.tokens, is_user, message.session)
        )
        times.append(message.sent_at)
    asked = []
    for probe in probes:
        keys = frozenset(cited.message_key for cited in probe.evidence)
        if probe.is_selected and keys:
            # A probe without a time is asked at the end.
            after = len(turns) if probe.asked_at is None else sum(1 for at in times if at <= probe.asked_at)
            kind = probe.details.variety or probe.source_category or probe.ability
            asked.append(TimedQuestion(probe.question, max(after, 1), keys, kind))
    return Workload(name, tuple(turns), tuple(sorted(asked, key=lambda a: a.after)))


def run_study(
    name: str, workloads: Sequence[Workload], count: CountTokens, capacity: Capacity, *, boundaries: Sequence[str] = ()
) -> Study:
    """Return all studies: boundaries × four evictions, eight generators × three selectors, four formats.

    Boundaries default to the paper's five, and `session` where a conversation has several sessions.
    """
    has_sessions = any(len({turn.session for turn in workload.turns}) > 1 for workload in workloads)
    boundaries = boundaries or (*BOUNDARIES, *(("session",) if has_sessions else ()))
    pages = capacity.pages
    base = PagingConfig(tokens=capacity.tokens if pages is None else None, pages=pages)

    def rows(configs: Iterable[dict[str, str]]) -> tuple[StudyRow, ...]:
        return tuple(_row(workloads, base.model_copy(update=changed), count) for changed in configs)

    return Study(
        name=name,
        capacity=f"{pages} pages" if pages is not None else f"{capacity.tokens:,} tokens",
        conversations=len(workloads),
        questions=sum(len(t.questions) for t in workloads),
        ablation=rows({"boundary": b, "eviction": e} for b in boundaries for e in POLICIES),
        bookmarks=rows({"bookmarks": g, "selector": s} for g in GENERATORS for s in SELECTORS),
        formats=rows({"form": f} for f in FORMATS),
    )


def _row(workloads: Sequence[Workload], config: PagingConfig, count: CountTokens) -> StudyRow:
    outcomes: list[PageOutcome] = []
    pages = 0
    for workload in workloads:
        outcomes += simulate(workload, config, count)
        pages += len(cut(workload.turns, boundary_of(config.boundary)))
    kinds = sorted({o.kind for o in outcomes})
    return StudyRow(
        config=config,
        summary=break_down_accuracy(outcomes),
        pages=pages / len(workloads) if workloads else 0.0,
        by_kind={kind: break_down_accuracy(o for o in outcomes if o.kind == kind).accuracy for kind in kinds},
    )


def render_study(study: Study) -> str:
    """Return the tables as Markdown."""
    return "\n".join(_lines(study)) + "\n"


_HEADS = ("accuracy", "resident", "triggered", "right page", "context tokens", "recalled tokens")


def _lines(study: Study) -> Iterator[str]:
    yield f"## {study.name}, {study.capacity}"
    yield ""
    settings = len(study.ablation)
    yield (
        f"{study.conversations} conversations, {study.questions} questions, so {settings * study.questions:,} in the"
        f" {settings} settings of the first table; readers take the best bookmark by words."
    )
    yield ""
    yield from _table(
        "Boundary and eviction (heuristic bookmarks)",
        ("boundary", "eviction", "pages"),
        [((r.config.boundary, r.config.eviction, f"{r.pages:.0f}"), r.summary) for r in study.ablation],
    )
    yield from _table(
        "Bookmark generators (fixed_10, lru)",
        ("generator", "reader"),
        [((r.config.bookmarks, r.config.selector), r.summary) for r in study.bookmarks],
    )
    yield from _table(
        "Formats (fixed_10, lru, heuristic)", ("format",), [((r.config.form,), r.summary) for r in study.formats]
    )


def _table(
    title: str, heads: Sequence[str], rows: Sequence[tuple[tuple[str, ...], AccuracyBreakdown]]
) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    yield f"| {' | '.join([*heads, *_HEADS])} |"
    yield "|" + "---|" * (len(heads) + len(_HEADS))
    for named, s in rows:
        cells = [f"{100 * v:.1f}" for v in (s.accuracy, s.residency, s.trigger, s.precision)]
        yield f"| {' | '.join([*named, *cells, f'{s.context_tokens:,.0f}', f'{s.recalled_tokens:,.0f}'])} |"
    yield ""


BAR, GAP, GROUP, LEFT, TOP, HEIGHT = 26, 6, 24, 46, 42, 240
DARK, LIGHT, INK = "#30638e", "#9cc4e4", "#333"


def plot_study(study: Study) -> str:
    """Return the plot as SVG."""
    groups = list(dict.fromkeys(row.config.boundary for row in study.ablation))
    each = len(study.ablation) // max(len(groups), 1)
    width = LEFT + len(groups) * (each * (BAR + GAP) + GROUP) + 20
    title = f"{study.name}, {study.capacity}: questions answered, resident (dark) and by recall (light), percent"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + 70}" font-family="sans-serif" '
        f'font-size="11" fill="{INK}"><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="13">{escape(title)}</text>',
    ]
    for share in range(0, 101, 25):
        y = TOP + HEIGHT * (1 - share / 100)
        parts.append(f'<line x1="{LEFT}" x2="{width - 10}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{share}</text>')
    x = LEFT + GAP
    for group in groups:
        start = x
        for row in (r for r in study.ablation if r.config.boundary == group):
            parts += _bar(row, x)
            x += BAR + GAP
        middle = (start + x - GAP) / 2
        parts.append(f'<text x="{middle}" y="{TOP + HEIGHT + 58}" text-anchor="middle">{escape(group)}</text>')
        x += GROUP
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(row: StudyRow, x: float) -> list[str]:
    there, whole = HEIGHT * row.summary.residency, HEIGHT * row.summary.accuracy
    low = TOP + HEIGHT
    middle, percent = x + BAR / 2, f"{100 * row.summary.accuracy:.0f}"
    return [
        f'<rect x="{x}" y="{low - whole:.1f}" width="{BAR}" height="{whole - there:.1f}" fill="{LIGHT}"/>',
        f'<rect x="{x}" y="{low - there:.1f}" width="{BAR}" height="{there:.1f}" fill="{DARK}"/>',
        f'<text x="{middle}" y="{low - whole - 4:.1f}" text-anchor="middle">{percent}</text>',
        f'<text transform="translate({middle + 4},{low + 8}) rotate(60)">{escape(row.config.eviction)}</text>',
    ]
