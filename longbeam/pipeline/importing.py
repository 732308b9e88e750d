"""Makes a benchmark of conversations that come whole, from a format's reader or a suite, as `generate` leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import StoreError, UserError
from longbeam.models import load_tokenizer
from longbeam.schemas import (
    ABILITIES,
    NAME_PATTERN,
    BenchmarkSpec,
    ConversationHead,
    Finding,
    GivenConversation,
    ImportNote,
    Message,
    NoteKind,
    R,
    Seed,
)
from longbeam.store import Benchmark, describe_os_error, scratch_beside, seal_conversation, write_benchmark, write_spec
from longbeam.terminal import counted, printable, whole_text
from longbeam.validation import IMPORTS, Problem

_SHOWN_MESSAGES = 20


@dataclass(frozen=True)
class GivenReport:
    """An imported benchmark and its counts."""

    benchmark: Benchmark
    conversations: int
    messages: int
    tokens: int
    probes: int
    notes: int
    """Oddities that an import met; `validate` lists them."""


@dataclass
class _Tally:
    messages: int = 0
    tokens: int = 0

    def counted(self, messages: Iterable[Message]) -> Iterator[Message]:
        """The messages, counted as they go by."""
        for message in messages:
            self.messages += 1
            self.tokens += message.tokens
            yield message


@dataclass(frozen=True)
class Origin:
    """Source of an imported benchmark, as its spec records it."""

    format_name: str
    licence: str
    tokenizer: str
    """Tokenizer with which the reader counted the tokens."""


def import_benchmark(conversations: Iterable[GivenConversation], name: str, out: Path, origin: Origin) -> GivenReport:
    """Make the benchmark `name` from the conversations of a format's reader; errors as `keep_given`'s.

    Raises UserError for a tokenizer that does not exist, before anything is read.
    """
    load_tokenizer(origin.tokenizer)
    given = {
        "name": name,
        "length": 0,
        "imported_from": origin.format_name,
        "licence": origin.licence,
        "tokenizer": origin.tokenizer,
    }
    return keep_given(conversations, {**given, "models": {}}, out)


def keep_given(conversations: Iterable[GivenConversation], fields: Mapping[str, object], out: Path) -> GivenReport:
    """Make a benchmark under `out`, whole or not at all, one conversation in memory at a time.

    `fields` are those of its spec but `conversations` and `abilities`, which follow from what is given. Raises
    UserError when the name cannot be used or is taken, and whatever the source finds wrong.
    """
    name = str(fields["name"])
    if not NAME_PATTERN.fullmatch(name):
        raise UserError(f"benchmark name {name!r}: only letters, digits, '.', '_' and '-' are allowed")
    root = out / name
    if root.exists():
        raise UserError(f"benchmark {name!r} exists already in {out}; give this one another --name")
    tally, seeds, findings, abilities, probes = _Tally(), list[tuple[str, Seed]](), list[Finding](), set[str](), 0
    with scratch_beside(root) as scratch:
        made = Benchmark(BenchmarkSpec.model_validate(fields), scratch / "benchmark")
        (made.root / "work").mkdir(parents=True)
        (made.root / "conversations").mkdir()
        for conversation in _storable(conversations):
            head = _sealed(made, conversation, tally)
            seeds.append((head.conversation_id, head.seed))
            findings += (finding_of(head.conversation_id, note) for note in head.import_notes)
            abilities |= {p.ability for p in conversation.probes}
            probes += len(conversation.probes)
        if not seeds:
            raise UserError("nothing to import: the source holds no conversation")
        found = {"conversations": len(seeds), "abilities": tuple(sorted(abilities)) or ABILITIES}
        spec = BenchmarkSpec.model_validate({**fields, **found})
        write_benchmark(made.database_path, seeds=seeds, findings=findings, statistics={})
        write_spec(made.root, spec)
        try:
            made.root.rename(root)
        except OSError as exc:
            raise StoreError(describe_os_error(root, exc)) from exc
    return GivenReport(Benchmark(spec, root), len(seeds), tally.messages, tally.tokens, probes, len(findings))


def _storable(conversations: Iterable[GivenConversation]) -> Iterator[GivenConversation]:
    """Yield the conversations; UserError for a value that no record of ours can hold."""
    try:
        yield from conversations
    except ValidationError as exc:
        raise UserError(f"the source cannot be kept: {' '.join(str(exc).split())[:200]}") from exc


def _sealed(made: Benchmark, conversation: GivenConversation, tally: _Tally) -> ConversationHead:
    """Seal a conversation and return its head; half characters, which no file can hold, are replaced."""
    before = replace(tally)
    for tried in (conversation, None):
        try:
            whole = tried or _without_half_characters(conversation)
            messages = tally.counted(whole.messages())
            seal_conversation(made.sealed_path(whole.head.conversation_id), whole.head, messages, whole.probes)
        except ValueError as exc:  # half a character, or a value that no reader expected of its files
            if tried is None:
                head = conversation.head
                source = printable(whole_text(str(head.details.get("id", head.conversation_id))[:60]))
                problem = " ".join(whole_text(str(exc)).split())[:200]
                raise UserError(f"conversation {source}: cannot be kept: {problem}") from exc
            tally.messages, tally.tokens = before.messages, before.tokens
        else:
            break
    return whole.head


def _without_half_characters(conversation: GivenConversation) -> GivenConversation:
    """Return a conversation with U+FFFD for each half of a surrogate pair, and a note that names the messages."""
    messages = [_whole(message) for message in conversation.messages()]
    changed = [new.message_key for new, old in zip(messages, conversation.messages(), strict=True) if new != old]
    where = f"{counted(len(changed), 'message')}" if changed else "a title or another part of the source"
    note = ImportNote(
        kind=NoteKind.HALF_CHARACTER,
        subject="conversation",
        message=f"{where} held half a surrogate pair; U+FFFD stands for it",
        evidence=tuple(changed[:_SHOWN_MESSAGES]),
    )
    head = _whole(conversation.head)
    head = head.model_copy(update={"import_notes": (*head.import_notes, note)})
    return GivenConversation(head, partial(iter, messages), tuple(map(_whole, conversation.probes)))


def _whole(record: R) -> R:
    return type(record).model_validate(whole_text(record.model_dump()))


def finding_of(conversation_id: str, note: ImportNote) -> Finding:
    """Return an oddity that an import met as a finding of the check `import`."""
    return IMPORTS.finding(Problem(note.kind.value, note.subject, note.message, note.evidence), conversation_id)
