"""Findings of the checks, and notes of an import: irregularities of the files, which are read as well as possible.

Checks return findings and edit nothing.
"""

from __future__ import annotations

from enum import StrEnum

from longbeam.schemas.base import Record


class Severity(StrEnum):
    """`error`: do not use the benchmark as it is; `warning`: a person should look; `info`: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(Record):
    """One problem, in a sentence for people, and where to look."""

    check: str
    """Check and kind of the finding: `leaks.plan_word`."""
    severity: Severity
    conversation_id: str
    subject: str
    """Record with the problem: a probe_id, message_key, bullet_id, `profile`, `conversation`."""
    message: str
    evidence: tuple[str, ...] = ()
    """Message keys to look at."""

    @property
    def check_name(self) -> str:
        """Name of the check, without the kind of the finding."""
        return self.check.partition(".")[0]


class NoteKind(StrEnum):
    """Kind of an irregularity; validation gives each its severity (docs/imports.md)."""

    PLAN_MARKERS = "plan_markers"
    """Main questions end with the marker of the plan, as all of BEAM's do."""
    COPIED_MARKER = "copied_marker"
    """A reply, an answer or a follow-up ends with a plan marker, which the model has imitated."""
    MARKER_INSIDE = "marker_inside"
    """A plan marker within a message; the import leaves it there."""
    BAD_INDEX = "bad_index"
    """An index that is not `sub-plan,bullet`, or names a bullet that the plan does not have."""
    MESSAGE_ID = "message_id"
    """A message's id is not its place in the conversation."""
    MESSAGE_KIND = "message_kind"
    """A user message does not say whether it is a question, an answer or a follow-up."""
    NO_DATE = "no_date"
    """A date is missing or cannot be read; the neighbour's date replaces it."""
    TIME_GOES_BACK = "time_goes_back"
    """A session has an earlier date than the previous session."""
    NO_CHAT = "no_chat"
    """There is no chat text; the planned user messages replace it."""
    OTHER_CHAT = "other_chat"
    """There is another version of the chat beside the imported one; it is not kept."""
    TRUNCATED_CHAT = "truncated_chat"
    """Only the truncated version of the chat is there, although the full one was asked for."""
    MISSING_FILE = "missing_file"
    """A file or a column that all conversations of the format have is missing."""
    CHANGED_FILE = "changed_file"
    """A file is another one than its manifest says: it was changed or damaged after the export."""
    NO_PROBES = "no_probes"
    """A conversation without questions."""
    ODD_VALUE = "odd_value"
    """A value in a form that the format does not have; the message says how it was read."""
    UNREAD = "unread"
    """A chat, a message or a part of one that has not the form of its maker's exports; the others are read."""
    OTHER_BRANCH = "other_branch"
    """A message that was edited or answered again: it stands on another branch than the live one, and is left out."""
    EMPTY_MESSAGE = "empty_message"
    """A message that holds no text."""
    HALF_CHARACTER = "half_character"
    """Half a surrogate pair, which no file can hold; U+FFFD stands for it."""
    UNREAD_FILE = "unread_file"
    """A file that was not read."""
    PROFILE = "profile"
    """A part of the profile or of the relationships that cannot be read."""
    PLAN = "plan"
    """A line of a plan that is no bullet, a plan without sub-plans."""
    EVIDENCE_MISSING = "evidence_missing"
    """A probe that cites nothing, or not on each side."""
    ONE_MESSAGE = "one_message"
    """A probe cites one message for two sides that exclude each other, and there is no chat text to look at."""
    ONE_SESSION = "one_session"
    """A probe cites one message for both events of a span of time, and there is no chat text to look at."""
    EVIDENCE_ID = "evidence_id"
    """A probe cites a message that does not exist."""
    EVIDENCE_ORDER = "evidence_order"
    """The evidence of an ordered answer is listed in another order than that of the conversation."""
    EVIDENCE_SHAPE = "evidence_shape"
    """Evidence in an unusual shape: numbers and lists mixed, several ids in one string."""
    MISSING_KEY = "missing_key"
    """A probe lacks a key that its ability requires."""
    NO_GOLD = "no_gold"
    """A probe without gold answer."""
    NO_RUBRIC = "no_rubric"
    """A probe whose rubric is empty although its format has one; the gold answer replaces it."""
    ADVERSARIAL_ANSWER = "adversarial_answer"
    """An adversarial question that has a gold answer."""


class ImportNote(Record):
    """One irregularity, its place, and how the import treated it."""

    kind: NoteKind
    subject: str
    """A probe_id, message_key, bullet_id, file name, `profile` or `conversation`."""
    message: str
    evidence: tuple[str, ...] = ()
    """Message keys to look at."""
