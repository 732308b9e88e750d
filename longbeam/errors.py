"""The tree of errors.

    LongbeamError
    ├── UserError          fix your input: printed as one line, exit 2, no traceback
    │   ├── SpecError      a spec file, or a change to one that is not allowed
    │   └── StoreError     a store file that is locked, of another version, or a full disk
    │       └── DamageError    a store file that does not hold what was written
    ├── ProviderError      a model call that failed; raised only in `models/`
    │   ├── ReplyError     a reply that arrived but does not fit what was asked
    │   └── MemorySystemError  a memory system under test that failed; raised only in `memory/`
    └── RunStopped         going on would fail everywhere, or cost too much; raised only in `models/`

Everything else that escapes is a bug and keeps its traceback. A failed *unit* is not an exception for the
caller: it is stored as a failure record and counted in the summary.
"""

from __future__ import annotations

from importlib.util import find_spec


class LongbeamError(Exception):
    """Base of every error that longbeam raises on purpose."""


class UserError(LongbeamError):
    """The input is wrong; the message says what, where, which value, what was allowed, what to do."""


class SpecError(UserError):
    """A benchmark spec that cannot be used, or a change to it that is not allowed."""


class StoreError(UserError):
    """A store file that cannot be read or written."""


class DamageError(StoreError):
    """A store file that does not hold what was written."""


class ProviderError(LongbeamError):
    """A model call failed.

    `kind` names the cause; docs/models.md lists the kinds. `is_retryable`: whether a retry can succeed.
    `retry_after_s`: the waiting time that the endpoint asked for; None if it did not say. `said`: the endpoint's own
    words, of which the message may show a part.
    """

    def __init__(
        self, message: str, *, kind: str, is_retryable: bool, retry_after_s: float | None = None, said: str = ""
    ) -> None:
        super().__init__(message)
        self.said = said
        self.kind = kind
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s


class ReplyError(ProviderError):
    """A reply does not fit the schema or the checks of its prompt; it is requested again, then recorded.

    `reason`: what is wrong with the reply, without where it was asked for.
    """

    def __init__(self, message: str, *, kind: str = "schema", reason: str = "") -> None:
        super().__init__(message, kind=kind, is_retryable=True)
        self.reason = reason or message


class MemorySystemError(ProviderError):
    """A memory system under test failed, after retries where those can help; recorded for the probes that needed it."""

    def __init__(self, message: str, *, kind: str = "system") -> None:
        super().__init__(message, kind=kind, is_retryable=False)


def is_final(error: ProviderError) -> bool:
    """Return whether a call failed at its content, so that a run should go on without it.

    Its replies do not fit, it is too long for the model, or the endpoint refuses this one request and would refuse it
    again. Everything else may be put right, by waiting or by the user. An endpoint that refuses every request stops the
    run instead (`models/limits.py`).
    """
    return isinstance(error, ReplyError) or error.kind in {"bad_request", "context_length", "content_filter"}


def reason_of(error: ProviderError) -> str:
    """Return why a call failed; of a reply that does not fit, without where it was asked for."""
    return error.reason if isinstance(error, ReplyError) else str(error)


class RunStopped(LongbeamError):
    """The run ends cleanly: finished units are kept, and `resume` continues with the others.

    `failure` is the error of the call that caused the stop; its unit is recorded as failed. Every other unanswered
    call gets the same message without a `failure`, and its unit stays unfinished.
    `reopens_units`: units failed in this run because of the model, not of their content, so `resume` tries them again.
    """

    def __init__(self, message: str, *, failure: ProviderError | None = None, reopens_units: bool = False) -> None:
        super().__init__(message)
        self.failure = failure
        self.reopens_units = reopens_units


def require_extra(extra: str, what: str, *modules: str) -> None:
    """Raise UserError where `what` needs a module of an extra that is not installed."""
    if missing := [module for module in modules if find_spec(module) is None]:
        raise UserError(f"{what} needs {missing[0]}, which is not installed: pip install 'longbeam[{extra}]'")
