"""The studies of arXiv 2604.12376 in one command: boundaries × evictions, bookmark generators, bookmark lengths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
