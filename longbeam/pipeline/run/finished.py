"""Finished conversations that `resume` leaves as they are.

A finished conversation is whole, whichever version of longbeam made it. `resume` continues what is not finished; a new
version, with other prompts and rules, is no reason to pay for a finished conversation again. `generate` makes exactly
what the spec and the installed version say, and so brings finished conversations up to date.
"""

from __future__ import annotations

from longbeam.errors import StoreError
from longbeam.prompts import PromptRegistry
from longbeam.schemas import BenchmarkSpec, Record, digest_of
from longbeam.store import Benchmark, SealedConversation, WorkLog

_KEY = "made_with"
_FREE = frozenset({"name", "conversations", "seeds_file", "endpoints", "limits", "batch", "licence"})
"""Fields of a spec that may change without a change of any conversation."""


class MadeWith(Record):
    """Digests of the spec and the prompts that a conversation was sealed with."""

    spec: str
    """Digest of the fields that decide what a conversation contains, without those at their defaults, so that a field
    that a later version adds changes nothing."""
    prompts: str
    """Digest of the versions of all prompts."""


def made_with(spec: BenchmarkSpec, prompts: PromptRegistry) -> MadeWith:
    """Return what a conversation that is sealed now is made with."""
    # The length of a conversation of a composition follows from that and from the conversation's place in it.
    exclude = _FREE | {"length"} if spec.composition else _FREE
    fields = spec.model_dump(mode="json", exclude=set(exclude), exclude_defaults=True)
    models = sorted(map(spec.identity_of, spec.models_in_use))
    versions = sorted(prompts.versions([prompt.prompt_id for prompt in prompts]))
    return MadeWith(spec=digest_of(fields, models), prompts=digest_of(versions))


def remember(log: WorkLog, made: MadeWith) -> None:
    """Keep in a conversation's work log what it is sealed with."""
    log.meta_set(_KEY, made.model_dump())


def finished_conversations(benchmark: Benchmark, prompts: PromptRegistry) -> frozenset[str]:
    """Return the ids of the sealed conversations that the spec as it is now does not change.

    A conversation with a failed unit counts as unfinished while the prompts are those that it was made with: asking
    again costs that unit alone. Conversations that were sealed before longbeam kept such marks count as finished.
    """
    now = made_with(benchmark.spec, prompts)
    return frozenset(i for i in benchmark.sealed_ids if _is_finished(benchmark, i, now))


def unchanged_conversations(benchmark: Benchmark, prompts: PromptRegistry) -> frozenset[str]:
    """Return the ids of the sealed conversations without a failed unit that were made with this spec and these prompts.

    `generate` goes through them, and has nothing to ask for.
    """
    now = made_with(benchmark.spec, prompts)
    return frozenset(i for i in benchmark.sealed_ids if _was_made_with(benchmark, i) == (now, False))


def _is_finished(benchmark: Benchmark, conversation_id: str, now: MadeWith) -> bool:
    if (found := _was_made_with(benchmark, conversation_id)) is None:
        return False
    made, has_failures = found
    return made is None or (made.spec == now.spec and not (has_failures and made.prompts == now.prompts))


def _was_made_with(benchmark: Benchmark, conversation_id: str) -> tuple[MadeWith | None, bool] | None:
    """Return the mark of a sealed conversation, None where it has none, and whether a unit failed.

    Returns None for a file that is damaged or not there: the run says which file, or makes it again.
    """
    try:
        SealedConversation(benchmark.sealed_path(conversation_id)).close()
        with WorkLog.open_read_only(benchmark.work_path(conversation_id)) as log:
            mark = log.meta_get(_KEY)
            return (None if mark is None else MadeWith.model_validate(mark)), bool(log.units.failures())
    except StoreError:
        return None
