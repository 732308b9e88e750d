"""Metrics without a judge: evidence and gold values found in a context and in an answer.

A system says which messages its context was made from. That alone proves nothing: a server may repeat the keys that it
was sent, and a page may be cut. So a message counts as evidence only if the context contains the words that the probe
cites.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from longbeam.schemas import Answer, AskedProbe, Probe, Result, Retrieval, Value, ValueKind
from longbeam.text import says, values_in


def retrieval_of(probe: Probe, answer: Answer, contents: Mapping[str, str]) -> Retrieval:
    """Return the metrics of one answer; `contents` has the text of each message by its key."""
    quotes: dict[str, list[str]] = {}
    for cited in probe.evidence:
        # Imports cite messages without a quote: then all of the message must be there.
        quotes.setdefault(cited.message_key, []).append(cited.quote or contents.get(cited.message_key, ""))
    text = answer.context.text if answer.context else ""
    sources = set(answer.context.message_keys) if answer.context else set()
    read = [key for key, said in quotes.items() if key in sources and contains_all(text, said)]
    values = rubric_values(probe)
    hits = [rank for rank, keys in enumerate(answer.ranking, 1) if quotes.keys() & set(keys)]
    is_ranked = bool(quotes and answer.ranking)
    return Retrieval(
        evidence_recall=len(read) / len(quotes) if quotes else None,
        source_recall=len(quotes.keys() & sources) / len(quotes) if quotes else None,
        evidence_precision=len(read) / len(sources) if quotes and sources else None,
        values_found=_share(values, text),
        answer_values_found=_share(values, answer.text),
        tokens=answer.context.tokens if answer.context else 0,
        ranked=len(answer.ranking) if quotes else 0,
        first_hit=hits[0] if hits else None,
        ndcg_at_5=ndcg(answer.ranking, set(quotes), 5) if is_ranked else None,
        ndcg_at_10=ndcg(answer.ranking, set(quotes), 10) if is_ranked else None,
    )


def ndcg(ranking: Sequence[Sequence[str]], cited: set[str], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first k passages, from 0 to 1.

    A passage gains one for each cited message that no earlier passage has. The best order has the passages with the
    most such messages first, and each message that was not found as a passage of its own.

    Source: Järvelin and Kekäläinen (2002), with the discount log2(rank + 1), as LongMemEval has it.
    """
    missing = set(cited)
    gains = []
    for keys in ranking:
        gains.append(len(missing & set(keys)))
        missing -= set(keys)
    best = sorted([*gains, *[1] * len(missing)], reverse=True)
    return _discounted(gains[:k]) / _discounted(best[:k])


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def contains_all(text: str, quotes: Sequence[str]) -> bool:
    """Return whether a text contains every quote; blanks and line ends may differ, and an empty quote is in no text."""
    if all(quote and quote in text for quote in quotes):
        return True
    plain = " ".join(text.split())
    return all((words := " ".join(quote.split())) != "" and words in plain for quote in quotes)


def missing_values(probes: Iterable[AskedProbe], results: Iterable[Result]) -> dict[str, tuple[int, int, int]]:
    """Count the typed values of rubrics that answers lack, by system: times not read, others not read, and those read.

    They are the three kinds of failure in CogCanvas's error analysis (its 4.8): temporal blindness, gaps of extraction
    and gaps of reasoning. Answers without a context, and systems that lack nothing, are left out.
    """
    asked = {probe.key: rubric_values(probe) for probe in probes}
    counted: dict[str, list[int]] = {}
    for r in results:
        if r.answer.context is None:
            continue
        for value in asked.get((r.conversation_id, r.probe_id), ()):
            if not says(r.answer.text, value):
                is_time = value.kind in (ValueKind.DATE, ValueKind.DURATION)
                kind = 2 if says(r.answer.context.text, value) else 0 if is_time else 1
                counted.setdefault(r.system, [0, 0, 0])[kind] += 1
    return {system: (times, others, read) for system, (times, others, read) in counted.items()}


def rubric_values(probe: Probe | AskedProbe) -> tuple[Value, ...]:
    """Return the typed values of the rubric that the question does not contain."""
    # Two nuggets may ask for one value, which counts once.
    values = {v.model_dump_json(): v for nugget in probe.rubric for v in values_in(nugget.text)}
    return tuple(v for v in values.values() if not says(probe.question, v))


def _share(values: Sequence[Value], text: str) -> float | None:
    return sum(says(text, v) for v in values) / len(values) if values else None
