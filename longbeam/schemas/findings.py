"""Findings of the checks. Checks return findings and edit nothing."""

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
