"""Redaction of imported chats in place: afterwards no file of the benchmark's folder holds a text that was replaced.

What was made of the chats quotes them, so it is deleted: replies, units, checks, evaluations and probes. None of it
would count afterwards, because the messages are others. Files that may be somebody's own work stop the redaction.

A killed redaction leaves private text in sealed conversations alone, where `private_texts` shows it, and can be run
again: everything else is deleted before the first of them is written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from longbeam.errors import UserError
from longbeam.models import load_tokenizer
from longbeam.pipeline.importing import finding_of
from longbeam.schemas import ConversationHead, Making, Message
from longbeam.store import (
    COPY_SUFFIX,
    LOCK_SUFFIX,
    SPEC,
    SUFFIX,
    Benchmark,
    Lease,
    SealedConversation,
    delete_file,
    seal_conversation,
    write_benchmark,
)
from longbeam.text import Found, Redaction

_DELETED = ("work", "checks", "evaluation", "batches", "logs")
"""Folders of what was made of the chats."""


def private_texts(benchmark: Benchmark) -> list[Found]:
    """Return what looks private in the messages and titles, by the rules of `import chat --redact`."""
    redaction = Redaction()
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            for message in sealed.messages():
                redaction.redacted(message.content)
            redaction.redacted(sealed.head.seed.title)
    return redaction.found()


def redact_chats(benchmark: Benchmark, redaction: Redaction) -> None:
    """Replace the private texts of every conversation in place, and delete everything that was made of the chats.

    Where there is nothing to replace, nothing is changed: a stopped command that redacts continues with its replies.
    Raises UserError where the folder holds files that longbeam cannot redact and must not delete, and StoreError where
    another process is writing or a conversation is damaged; then nothing is changed.
    """
    if not _look_through(benchmark, redaction) and benchmark.database_path.exists():
        return
    _require_no_others(benchmark)
    with ExitStack() as held:
        for path in _logs(benchmark):
            held.callback(Lease(path).release)
        _delete_made(benchmark)
        heads = [_redact(benchmark, conversation_id, redaction) for conversation_id in benchmark.sealed_ids]
        write_benchmark(
            benchmark.database_path,
            seeds=[(head.conversation_id, head.seed) for head in heads],
            findings=[finding_of(head.conversation_id, note) for head in heads for note in head.import_notes],
            statistics={},
        )


def _look_through(benchmark: Benchmark, redaction: Redaction) -> bool:
    """Return whether a conversation has private texts, and let the redaction know of the placeholders there are.

    A new placeholder that is one of the import's own redaction would make one of two people. Raises DamageError if a
    conversation cannot be read.
    """
    tried = Redaction(redaction.names)
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            for message in sealed.messages():
                redaction.pass_over(message.content)
                redaction.spans(message.content)
                _redacted(message, tried.redacted, len)
            _redacted_head(sealed.head, tried.redacted)
    return bool(tried.found())


def _require_no_others(benchmark: Benchmark) -> None:
    """Raise UserError if the folder holds files that may quote the chats and are not deleted with them."""
    database, sealed = benchmark.database_path, [benchmark.sealed_path(i) for i in benchmark.sealed_ids]
    known = {SPEC, SPEC + SUFFIX, SPEC + COPY_SUFFIX, database.name, database.name + SUFFIX, *_DELETED}
    known |= {
        "pace.json",
        "conversations",
        *(f"conversations/{path.name}{end}" for path in sealed for end in ("", SUFFIX)),
    }
    found = [*benchmark.root.iterdir(), *(benchmark.root / "conversations").iterdir()]
    names = sorted(path.relative_to(benchmark.root).as_posix() for path in found if not path.name.startswith("."))
    if others := [name for name in names if name not in known]:
        raise UserError(
            f"{benchmark.root}: these may quote the chats, so nothing was replaced: {', '.join(others[:5])}. "
            "Move them to another folder, or delete them, and run the command again"
        )


def _logs(benchmark: Benchmark) -> Iterator[Path]:
    """Yield the work logs that other processes may be writing."""
    for path in _files(benchmark):
        if path.suffix == ".sqlite" and path.stem in benchmark.conversation_ids:
            yield path


def _files(benchmark: Benchmark) -> list[Path]:
    found = (path for folder in _DELETED for path in (benchmark.root / folder).rglob("*"))
    return sorted(path for path in found if path.is_symlink() or not path.is_dir())


def _delete_made(benchmark: Benchmark) -> None:
    """Delete all that was made of the chats but lock files, which hold no text and may not be removed."""
    for path in (*_files(benchmark), benchmark.database_path):
        if path.suffix != LOCK_SUFFIX:
            delete_file(path)
    for folder in _DELETED:
        for path in sorted((benchmark.root / folder).rglob("*/"), reverse=True):
            with suppress(OSError):  # a lock file is in it
                path.rmdir()


def _redact(benchmark: Benchmark, conversation_id: str, redaction: Redaction) -> ConversationHead:
    """Write a sealed conversation anew, as it was imported but for its private texts; return its head."""
    hide, count = redaction.redacted, load_tokenizer(benchmark.spec.tokenizer).count
    path = benchmark.sealed_path(conversation_id)
    with SealedConversation(path) as sealed:
        head, messages = sealed.head, [_redacted(m, hide, count) for m in sealed.messages()]
    head = _redacted_head(head, hide)
    seal_conversation(path, head, messages, ())
    return head


def _redacted_head(head: ConversationHead, hide: Callable[[str], str]) -> ConversationHead:
    hidden = {name: [hide(text) for text in head.details.get(name, ())] for name in ("titles", "system")}
    notes = tuple(note.model_copy(update={"message": hide(note.message)}) for note in head.import_notes)
    changed = {
        "import_notes": notes,
        "seed": head.seed.model_copy(update={"title": hide(head.seed.title)}),
        "details": head.details | hidden,
        "plans": (),
        "narratives": (),
        "user_turns": (),
        "authors": (),
        "making": Making(),
    }
    return head.model_copy(update=changed)


def _redacted(message: Message, hide: Callable[[str], str], count: Callable[[str], int]) -> Message:
    content = hide(message.content)
    parts = tuple(part.model_copy(update={"text": hide(part.text)}) for part in message.parts)
    changed = {"content": content, "parts": parts, "tokens": count(content), "bullet_ids": ()}
    return message.model_copy(update=changed)
