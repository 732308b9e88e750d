"""Evidence: the cited messages exist, and hold the quote word for word."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.schemas.probes import Evidence, Probe
from longbeam.validation.base import ERROR, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import about, claim

FACTUAL = frozenset({"contradiction_resolution", "information_extraction", "knowledge_update", "temporal_reasoning"})
"""Abilities whose cited messages each say something that the question is about."""
MIN_WORDS = 3


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield evidence that is missing, cites nothing, or quotes what was not said."""
    if not probe.evidence and probe.ability != "abstention":
        kind = "import_none" if index.is_import else "none"
        yield Problem(kind, probe.probe_id, "the probe has no evidence")
    nugget_ids = {n.nugget_id for n in probe.rubric}
    for evidence in probe.evidence:
        yield from _quote_problems(index, probe, evidence)
        if unknown := [i for i in evidence.nugget_ids if i not in nugget_ids]:
            text = f"evidence supports {unknown[0]!r}, which the rubric does not have"
            yield Problem("unknown_nugget", probe.probe_id, text, (evidence.message_key,))
    yield from _unrelated(index, probe)
    places = [index.position[e.message_key] for e in probe.evidence if e.message_key in index.position]
    if places != sorted(places):
        yield Problem("order", probe.probe_id, "evidence is not in the order of the conversation")


def _unrelated(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield cited messages of the user that have no word in common with question, gold and rubric."""
    subject = about("\n".join((probe.question, probe.gold_answer, *(claim(n.text) for n in probe.rubric))))
    for message in index.cited(probe) if len(subject) >= MIN_WORDS else ():
        if index.speaks_as_user(message) and probe.ability in FACTUAL and not index.words(message) & subject:
            text = f"{message.message_key} has no word of question and gold: {shorten(message.content)}"
            yield Problem("unrelated", probe.probe_id, text, (message.message_key,))


def _quote_problems(index: ConversationIndex, probe: Probe, evidence: Evidence) -> Iterator[Problem]:
    key = evidence.message_key
    message = index.message(key)
    if message is None:
        yield Problem("unknown_message", probe.probe_id, f"evidence cites {key!r}, which does not exist")
    elif evidence.quote not in message.content:
        text = f"{key} does not say {shorten(evidence.quote)!r}"
        yield Problem("not_verbatim", probe.probe_id, text, (key,))
    elif not evidence.quote.strip() and not index.is_import:
        yield Problem("no_quote", probe.probe_id, f"evidence cites {key} without a quote", (key,))


CHECK = Check(
    name="evidence",
    doc="Every probe but an abstention has evidence; cited messages exist and hold the quotes verbatim.",
    severities={
        "none": ERROR,
        "import_none": WARNING,
        "unknown_message": ERROR,
        "not_verbatim": ERROR,
        "no_quote": ERROR,
        "unknown_nugget": ERROR,
        "order": WARNING,
        "unrelated": WARNING,
    },
    english_only={"unrelated": "compares English words"},
    on_probe=find_problems,
)
