"""Metrics without a judge: evidence and gold values found in a context and in an answer.

A system says which messages its context was made from. That alone proves nothing: a server may repeat the keys that it
was sent, and a page may be cut. So a message counts as evidence only if the context contains the words that the probe
cites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longbeam.schemas import Answer, Probe, Retrieval, Value
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
    return Retrieval(
        evidence_recall=len(read) / len(quotes) if quotes else None,
        source_recall=len(quotes.keys() & sources) / len(quotes) if quotes else None,
        evidence_precision=len(read) / len(sources) if quotes and sources else None,
        values_found=_share(values, text),
        answer_values_found=_share(values, answer.text),
        tokens=answer.context.tokens if answer.context else 0,
        ranked=len(answer.ranking) if quotes else 0,
        first_hit=hits[0] if hits else None,
    )


def contains_all(text: str, quotes: Sequence[str]) -> bool:
    """Return whether a text contains every quote; blanks and line ends may differ, and an empty quote is in no text."""
    if all(quote and quote in text for quote in quotes):
        return True
    plain = " ".join(text.split())
    return all((words := " ".join(quote.split())) != "" and words in plain for quote in quotes)


def rubric_values(probe: Probe) -> tuple[Value, ...]:
    """Return the typed values of the rubric that the question does not contain."""
    # Two nuggets may ask for one value, which counts once.
    values = {v.model_dump_json(): v for nugget in probe.rubric for v in values_in(nugget.text)}
    return tuple(v for v in values.values() if not says(probe.question, v))


def _share(values: Sequence[Value], text: str) -> float | None:
    return sum(says(text, v) for v in values) / len(values) if values else None
