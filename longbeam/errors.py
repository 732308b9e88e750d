"""The tree of errors.

    LongbeamError
    ├── UserError          fix your input: printed as one line, exit 2, no traceback
    │   ├── SpecError      a spec file, or a change to one that is not allowed
    │   └── StoreError     a store file that is locked, corrupt, of another version, or a full disk
    ├── ProviderError      a model call that failed; raised only in `models/`
    │   └── ReplyError     a reply that arrived but does not fit what was asked
    └── RunStopped         going on would fail everywhere, or cost too much; raised only in `models/`

Everything else that escapes is a bug and keeps its traceback. A failed *unit* is not an exception for the
caller: it is stored as a failure record and counted in the summary.
"""

from __future__ import annotations


class LongbeamError(Exception):
    """Base of every error that longbeam raises on purpose."""


class UserError(LongbeamError):
    """The input is wrong; the message says what, where, which value, what was allowed, what to do."""


class SpecError(UserError):
    """A benchmark spec that cannot be used, or a change to it that is not allowed."""


class StoreError(UserError):
    """A store file that cannot be read or written."""


class ProviderError(LongbeamError):
    """A model call failed.

    `kind` names the cause; docs/models.md lists the kinds. `is_retryable`: whether a retry can succeed.
    `retry_after_s`: the waiting time that the endpoint asked for; None if it did not say.
    """

    def __init__(self, message: str, *, kind: str, is_retryable: bool, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s


class ReplyError(ProviderError):
    """A reply does not fit the schema or the checks of its prompt; it is requested again, then recorded."""

    def __init__(self, message: str, *, kind: str = "schema") -> None:
        super().__init__(message, kind=kind, is_retryable=True)


class RunStopped(LongbeamError):
    """The run ends cleanly: finished units are kept, and `resume` continues with the others.

    `failure` is the error of the call that caused the stop; its unit is recorded as failed. Every other unanswered
    call gets the same message without a `failure`, and its unit stays unfinished.
    """

    def __init__(self, message: str, *, failure: ProviderError | None = None) -> None:
        super().__init__(message)
        self.failure = failure
