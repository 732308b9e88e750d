"""The rubric, by which answers are judged: no text is empty, and no nugget occurs twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from longbeam.schemas import Probe
from longbeam.validation.base import ERROR, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield empty texts, nuggets that occur twice, and nuggets without evidence of their own."""
    for what in _empty_texts(probe):
        yield Problem("empty", probe.probe_id, f"{what} is empty")
    ids = Counter(n.nugget_id for n in probe.rubric)
    texts = Counter(" ".join(n.text.casefold().split()) for n in probe.rubric)
    for repeated in (t for counts in (ids, texts) for t, times in counts.items() if times > 1):
        yield Problem("duplicate_nugget", probe.probe_id, f"two nuggets are {shorten(repeated)!r}")
    supported = {i for e in probe.evidence for i in e.nugget_ids}
    for nugget in probe.rubric:
        if supported and nugget.nugget_id not in supported:
            text = f"no evidence supports nugget {nugget.nugget_id}: {shorten(nugget.text)}"
            yield Problem("unsupported_nugget", probe.probe_id, text)


def _empty_texts(probe: Probe) -> Iterator[str]:
    """Yield the names of the probe's texts that are empty."""
    for name, text in (("question", probe.question), ("gold_answer", probe.gold_answer)):
        if not text.strip():
            yield f"the {name}"
    if not probe.rubric:  # possible only where a record was made without validation
        yield "the rubric"
    for nugget in probe.rubric:
        if not nugget.text.strip():
            yield f"nugget {nugget.nugget_id}"


CHECK = Check(
    name="rubric",
    doc="Question, gold answer and rubric are not empty; nuggets are unique and each has evidence.",
    severities={"empty": ERROR, "duplicate_nugget": ERROR, "unsupported_nugget": WARNING},
    on_probe=find_problems,
)
