"""Evidence: cited messages exist, hold their quotes verbatim, and are related to the question."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.abilities import Trait
from longbeam.schemas import Evidence, EvidencePart, Message, Probe
from longbeam.text import ASKING_WORDS, content_words
from longbeam.validation.base import ERROR, WARNING, Check, Problem, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.wording import claim

MIN_WORDS = 3
"""Texts with fewer content words are too short to tell that a message is unrelated."""
REQUESTS = (EvidencePart.INSTRUCTION, EvidencePart.PREFERENCE)
MIN_OF_REQUEST = 0.25
"""Share of the words of an instruction or preference that a message cited for it must have."""


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield evidence that is missing, cites nothing, or quotes what was not said."""
    if not probe.evidence and not has_trait(probe, Trait.ABSTAINS):
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
    if probe.asked_at is not None and (late := [m for m in index.cited(probe) if m.sent_at > probe.asked_at]):
        text = f"{late[0].message_key} is sent after the question, which is asked at {probe.asked_at:%Y-%m-%d %H:%M}"
        yield Problem("after_question", probe.probe_id, text, (late[0].message_key,))


def _unrelated(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield cited messages of the user that have no word in common with question, gold and rubric."""
    subject = (
        content_words("\n".join((probe.question, probe.gold_answer, *(claim(n.text) for n in probe.rubric))))
        - ASKING_WORDS
    )
    for message in index.cited(probe) if len(subject) >= MIN_WORDS else ():
        if (
            index.speaks_as_user(message)
            and has_trait(probe, Trait.CITES_SUBJECT)
            and not index.words(message) & subject
        ):
            text = f"{message.message_key} has no word of question and gold: {shorten(message.content)}"
            yield Problem("unrelated", probe.probe_id, text, (message.message_key,))
    yield from _unrelated_request(index, probe)


def _unrelated_request(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield messages that are cited for the probe's instruction or preference and say something else."""
    request = content_words(f"{probe.details.instruction} {probe.details.preference}")
    cited = [m for e in probe.evidence if e.part in REQUESTS and (m := index.message(e.message_key)) is not None]
    if not cited or len(request) < MIN_WORDS or any(_says_request(index, m, request) for m in cited):
        return
    keys = tuple(m.message_key for m in cited)
    text = f"{', '.join(keys)} is cited for a wish and says another thing: {shorten(cited[0].content)}"
    yield Problem("unrelated", probe.probe_id, text, keys)


def _says_request(index: ConversationIndex, message: Message, request: frozenset[str]) -> bool:
    return len(index.words(message) & request) >= MIN_OF_REQUEST * len(request)


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
    doc="Every probe but an abstention has evidence; cited messages precede the question and hold the quotes verbatim.",
    severities={
        "none": ERROR,
        "import_none": WARNING,
        "unknown_message": ERROR,
        "not_verbatim": ERROR,
        "no_quote": ERROR,
        "unknown_nugget": ERROR,
        "after_question": ERROR,
        "order": WARNING,
        "unrelated": WARNING,
    },
    english_only={"unrelated": "compares English words"},
    on_probe=find_problems,
)
