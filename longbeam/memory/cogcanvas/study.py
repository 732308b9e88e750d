"""CogCanvas's retrieval recall (Table 6 of arXiv 2601.00821) at equal token budgets, with floors and a ceiling.

The metric is the share of the gold answer's word stems that occur in the text read. It needs no model. It rewards a
reader that reads more, so all rows read the same number of tokens, and the share of cited messages read stands beside
it, which volume alone does not raise.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from Stemmer import Stemmer

from longbeam.abilities import Trait, ability_of
from longbeam.memory.base import Tools
from longbeam.memory.cogcanvas.artifacts import written
from longbeam.memory.cogcanvas.searching import adaptive_k
from longbeam.memory.cogcanvas.settings import CogCanvasSettings
from longbeam.memory.cogcanvas.system import CogCanvas
from longbeam.memory.exchanges import dated, exchanges_of
from longbeam.memory.retrieval import Bm25Index, ranked
from longbeam.memory.tuning import MEMORIZING
from longbeam.schemas import Exchange, Message, Probe, Record, WholeConversation

BUDGETS = (500, 1_000, 2_000, 4_000)
REPRESENTATIONS = ("artifacts", "chunks", "union")
WITHOUT_GRAPH = " - graph"
_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})
_STEMMER = Stemmer("porter")


class RecallRow(Record):
    """Means over all questions of one reader at one budget, from 0 to 1."""

    name: str
    budget: int
    """0 for the whole conversation."""
    recall: float
    precision: float
    f1: float
    contains_gold: float
    """Share of the questions whose gold answer occurs word for word in the text read."""
    evidence: float
    """Share of the cited messages from which some of the text read was made."""
    tokens: float
    by_category: dict[str, float]
    """Recall by category."""


class RecallStudy(Record):
    """All rows, in order."""

    name: str
    embedder: str
    conversations: int
    questions: int
    rows: tuple[RecallRow, ...]


def stems_of(text: str) -> frozenset[str]:
    """Return the Porter stems of a text's words, without articles."""
    words = (word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)
    return frozenset(_STEMMER.stemWords(list(words)))


@dataclass(frozen=True)
class _StudyUnit:
    text: str
    keys: tuple[str, ...]
    place: int
    """Keys of the messages that it was made from."""
    is_whole: bool
    """Whether its text is the whole text of its messages."""


_Reader: TypeAlias = Callable[[str, int], Iterable[_StudyUnit]]
"""Function from a question and a number of units to the best units, best first."""


async def recall_study(
    name: str,
    subjects: Sequence[WholeConversation],
    tools: Tools,
    *,
    budgets: Sequence[int] = BUDGETS,
    categories: Sequence[str] = (),
) -> RecallStudy:
    """Return the study: three representations with and without the graph, BM25, random turns, and everything.

    `categories` limits the probes, by the name in their source or else their ability; empty: all but abstention.
    """
    scores: dict[tuple[str, int], list[tuple[str, _Score]]] = {}
    questions = 0
    for subject in subjects:
        asked = [p for p in subject.probes if p.is_selected and _is_asked(p, categories)]
        questions += len(asked)
        count = _counting(tools.count_tokens)
        for reader_name, reader in (await _readers(subject, tools)).items():
            for probe in asked:
                for budget in budgets:
                    read = [*_fill(reader(probe.question, MEMORIZING.ranked_units), budget, count)]
                    scores.setdefault((reader_name, budget), []).append(
                        (category_of(probe), _score(probe, read, count))
                    )
        everything = [_StudyUnit(_dated(m), (m.message_key,), i, True) for i, m in enumerate(subject.messages)]
        stems = stems_of("\n".join(unit.text for unit in everything))
        for probe in asked:
            score = _score(probe, everything, count, stems=stems)
            scores.setdefault(("whole conversation", 0), []).append((category_of(probe), score))
    return RecallStudy(
        name=name,
        embedder=tools.embedder.name if tools.embedder else "",
        conversations=len(subjects),
        questions=questions,
        rows=tuple(
            _row(key, found)
            for key, found in sorted(scores.items(), key=lambda s: s[0][1] or MEMORIZING.ranked_units**3)
        ),
    )


def category_of(probe: Probe) -> str:
    """Return a probe's category in its source, or else its ability."""
    return probe.source_category or probe.ability


def _is_asked(probe: Probe, categories: Sequence[str]) -> bool:
    is_meant = category_of(probe) in categories if categories else not ability_of(probe.ability).has(Trait.ABSTAINS)
    return is_meant and bool(stems_of(probe.gold_answer))


async def _readers(subject: WholeConversation, tools: Tools) -> dict[str, _Reader]:
    """Return the readers by name; each keeps its results, so that no question is searched twice."""
    readers: dict[str, _Reader] = {}
    exchanges = list(exchanges_of(subject.messages))
    asked = {p.question for p in subject.probes}
    for representation in REPRESENTATIONS:
        for name, given in ((representation, {}), (f"{representation}{WITHOUT_GRAPH}", {"without": "graph"})):
            settings = CogCanvasSettings.model_validate(
                {
                    "representation": representation,
                    "reranker": "none",
                    "most_expanded": MEMORIZING.ranked_units,
                    **given,
                }
            )
            readers[name] = await _canvas(settings, exchanges, sorted(asked), tools)
    turns = [_StudyUnit(_dated(m), (m.message_key,), i, True) for i, m in enumerate(subject.messages)]
    index = Bm25Index([unit.text for unit in turns])
    readers["BM25 turns"] = lambda question, most: [turns[i] for i in ranked(index.scores(question), most)]
    readers["random turns"] = lambda question, most: random.Random(f"{subject.conversation_id}/{question}").sample(
        turns, min(most, len(turns))
    )
    return readers


async def _canvas(
    settings: CogCanvasSettings, exchanges: Sequence[Exchange], questions: Sequence[str], tools: Tools
) -> _Reader:
    system = CogCanvas(settings, tools)
    for exchange in exchanges:
        await system.add(exchange)
    await system.finish()
    found: dict[str, list[_StudyUnit]] = {}
    for question in questions:
        # With the graph: k as the paper has it, and all that hangs on it. Without: as many as there is room for.
        k = adaptive_k(question) if settings.has("graph") else MEMORIZING.ranked_units
        numbers = [number for number, _ in await system.find(question, k=k)]
        found[question] = [_unit_of(system, exchanges, number) for number in numbers]
    return lambda question, most: found[question][:most]


def _unit_of(system: CogCanvas, exchanges: Sequence[Exchange], number: int) -> _StudyUnit:
    artifact = system.artifacts[number]
    is_chunk = artifact.kind == "chunk"
    text = dated(exchanges[artifact.position]) if is_chunk else written(artifact, "compact")
    return _StudyUnit(text, artifact.message_keys, artifact.position, is_chunk)


def _dated(message: Message) -> str:
    return f"[{message.sent_at:%A, %d %B %Y, %H:%M}] {message.speaker}: {message.content}"


def _fill(units: Iterable[_StudyUnit], budget: int, count: Callable[[str], int]) -> Iterable[_StudyUnit]:
    """Yield units while they fit; units that do not fit, or whose messages were read whole, are skipped."""
    left, whole = budget, set[str]()
    for unit in units:
        if left <= 0:
            return
        tokens = count(unit.text)
        if tokens <= left and not whole.issuperset(unit.keys):
            left -= tokens
            whole.update(unit.keys if unit.is_whole else ())
            yield unit


@dataclass(frozen=True)
class _Score:
    recall: float
    precision: float
    f1: float
    contains: float
    evidence: float | None
    tokens: int


def _score(
    probe: Probe, read: Sequence[_StudyUnit], count: Callable[[str], int], *, stems: frozenset[str] | None = None
) -> _Score:
    text = "\n".join(unit.text for unit in read)
    found, gold = stems_of(text) if stems is None else stems, stems_of(probe.gold_answer)
    shared = len(found & gold)
    # The words of the gold found in the context, as in the paper; no reader is needed.
    recall, precision = shared / len(gold), shared / len(found) if found else 0.0
    cited = {e.message_key for e in probe.evidence}
    keys = {key for unit in read for key in unit.keys}
    return _Score(
        recall=recall,
        precision=precision,
        f1=2 * recall * precision / (recall + precision) if shared else 0.0,
        contains=float(probe.gold_answer.rstrip(".").casefold() in text.casefold()),
        evidence=len(cited & keys) / len(cited) if cited else None,
        tokens=sum(count(unit.text) for unit in read),
    )


def _counting(count_tokens: Callable[[str], int]) -> Callable[[str], int]:
    """Return the same function, which counts each text once."""
    counted: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in counted:
            counted[text] = count_tokens(text)
        return counted[text]

    return count


def _row(key: tuple[str, int], scores: Sequence[tuple[str, _Score]]) -> RecallRow:
    of = [score for _, score in scores]
    categories = sorted({category for category, _ in scores})
    evidence = [score.evidence for score in of if score.evidence is not None]
    return RecallRow(
        name=key[0],
        budget=key[1],
        recall=fmean(s.recall for s in of),
        precision=fmean(s.precision for s in of),
        f1=fmean(s.f1 for s in of),
        contains_gold=fmean(s.contains for s in of),
        evidence=fmean(evidence) if evidence else 0.0,
        tokens=fmean(s.tokens for s in of),
        by_category={c: fmean(s.recall for of_one, s in scores if of_one == c) for c in categories},
    )


def render_recall(study: RecallStudy) -> str:
    """Return the study as Markdown, in percent."""
    categories = list(study.rows[0].by_category) if study.rows else []
    heads = ["budget", "read", "recall", *categories, "precision", "F1", "gold in full", "cited messages", "tokens"]
    lines = [
        f"## {study.name}: retrieval recall",
        "",
        f"{study.conversations} conversations, {study.questions} questions; model-free extractor; "
        f"vectors: {study.embedder or 'none, BM25 alone'}.",
        "",
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
    ]
    for row in study.rows:
        shares = [row.recall, *row.by_category.values(), row.precision, row.f1, row.contains_gold, row.evidence]
        cells = [f"{100 * share:.1f}" for share in shares]
        lines.append(f"| {row.budget or 'all'} | {row.name} | {' | '.join(cells)} | {row.tokens:,.0f} |")
    return "\n".join([*lines, *map("\n{}".format, _notes_on(study.rows))]) + "\n"


def _notes_on(rows: Sequence[RecallRow]) -> Iterator[str]:
    """Yield what the rows do not tell apart, a sentence each."""
    recall = {(row.budget, row.name): row.recall for row in rows}
    pairs = [(recall[budget, name], other) for (budget, full), other in recall.items()
             if (name := full.removesuffix(WITHOUT_GRAPH)) != full]  # fmt: skip
    if lower := sum(graph < other for graph, other in pairs):
        yield (
            f"With its graph CogCanvas finds less in {lower} of {len(pairs)} pairs of rows: at equal tokens, what is "
            "linked takes the place of what ranks well (docs/canvas.md)."
        )
    whole = max((row.tokens for row in rows if not row.budget), default=0.0)
    if fits := sorted({row.budget for row in rows if row.budget >= whole}):
        yield f"At {', '.join(f'{b:,}' for b in fits)} tokens everything fits: these rows tell nothing apart."
