"""Metrics without a judge: evidence and gold values found in a context and in an answer."""

from __future__ import annotations

from collections.abc import Sequence

from longbeam.schemas.evaluation import Answer, Retrieval
from longbeam.schemas.plans import Value
from longbeam.schemas.probes import Probe
from longbeam.text.extraction import extract_values
from longbeam.text.matching import says


def retrieval_of(probe: Probe, answer: Answer) -> Retrieval:
    """Return the metrics of one answer."""
    cited = {e.message_key for e in probe.evidence}
    read = set(answer.context.message_keys) if answer.context else set()
    values = rubric_values(probe)
    hits = [rank for rank, keys in enumerate(answer.ranking, 1) if cited.intersection(keys)]
    return Retrieval(
        evidence_recall=len(cited & read) / len(cited) if cited else None,
        evidence_precision=len(cited & read) / len(read) if cited and read else None,
        values_found=_share(values, answer.context.text if answer.context else ""),
        answer_values_found=_share(values, answer.text),
        tokens=answer.context.tokens if answer.context else 0,
        ranked=len(answer.ranking) if cited else 0,
        first_hit=hits[0] if hits else None,
    )


def rubric_values(probe: Probe) -> tuple[Value, ...]:
    """Return the typed values of the rubric that the question does not contain."""
    values = {v.model_dump_json(): v for nugget in probe.rubric for v in extract_values(nugget.text)}
    return tuple(v for v in values.values() if not says(probe.question, v))


def _share(values: Sequence[Value], text: str) -> float | None:
    return sum(says(text, v) for v in values) / len(values) if values else None
