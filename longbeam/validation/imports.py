"""Notes that an import made about the source files, as findings: unusual content is read, never dropped."""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.schemas import NoteKind
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield the notes that the import left in the conversation."""
    for note in index.head.import_notes:
        yield Problem(note.kind.value, note.subject, note.message, note.evidence)


CHECK = Check(
    name="import",
    doc="Notes of the import: parts of the source that are missing, unusual, wrong, or not kept.",
    severities={
        NoteKind.PLAN_MARKERS: WARNING,
        NoteKind.COPIED_MARKER: WARNING,
        NoteKind.MARKER_INSIDE: WARNING,
        NoteKind.BAD_INDEX: INFO,
        NoteKind.MESSAGE_ID: WARNING,
        NoteKind.MESSAGE_KIND: INFO,
        NoteKind.NO_DATE: WARNING,
        NoteKind.TIME_GOES_BACK: WARNING,
        NoteKind.NO_CHAT: WARNING,
        NoteKind.OTHER_CHAT: INFO,
        NoteKind.TRUNCATED_CHAT: WARNING,
        NoteKind.MISSING_FILE: INFO,
        NoteKind.NO_PROBES: WARNING,
        NoteKind.ODD_VALUE: WARNING,
        NoteKind.UNREAD: WARNING,
        NoteKind.OTHER_BRANCH: INFO,
        NoteKind.EMPTY_MESSAGE: INFO,
        NoteKind.HALF_CHARACTER: WARNING,
        NoteKind.UNREAD_FILE: INFO,
        NoteKind.CHANGED_FILE: WARNING,
        NoteKind.PROFILE: INFO,
        NoteKind.PLAN: INFO,
        NoteKind.EVIDENCE_MISSING: WARNING,
        NoteKind.ONE_MESSAGE: ERROR,
        NoteKind.ONE_SESSION: WARNING,
        NoteKind.EVIDENCE_ID: ERROR,
        NoteKind.EVIDENCE_ORDER: WARNING,
        NoteKind.EVIDENCE_SHAPE: INFO,
        NoteKind.MISSING_KEY: INFO,
        NoteKind.NO_GOLD: ERROR,
        NoteKind.NO_RUBRIC: ERROR,
        NoteKind.ADVERSARIAL_ANSWER: INFO,
    },
    on_conversation=find_problems,
)
