"""BEAM as released: a folder per chat, `<size>/<n>/` with chat.json, probing_questions/ and the plans.

Read: one such folder, a folder of them, or the tables of Hugging Face (docs/imports.md). Written: folders that BEAM's
own scripts, and harnesses that read them, take for theirs. Pickles are never read: they can run code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from longbeam import __version__
from longbeam.errors import UserError
from longbeam.formats.beam_chat import Batch
from longbeam.formats.beam_read import RawChat, batches_of, planned_batches, to_conversation
from longbeam.formats.beam_rows import is_table, read_rows
from longbeam.formats.beam_seeds import plan_seed_objects, seed_object
from longbeam.formats.beam_text import own_texts
from longbeam.formats.beam_write import chat_text, plan_chats, questions_of, size_class, user_messages
from longbeam.formats.dataset_card import format_card
from longbeam.formats.exporting import (
    ExportWriter,
    FormatExporter,
)
from longbeam.formats.reading import (
    ImportOptions,
    Notes,
    read_json,
    read_text,
    stream_list,
    want,
)
from longbeam.schemas import ConversationReader, GivenConversation, NoteKind

FORMAT = "beam"
FORMAT_VERSION = 1
CHAT, TRUNCATED = "chat.json", "chat_trunecated.json"
"""The release spells the second name so."""
QUESTIONS = "probing_questions/probing_questions.json"
USER_MESSAGES = "user_messages.json"
TOPIC = "topic.json"
_PLAN_FOLDER = re.compile(r"plan-\d+")
_UNREAD_SUFFIXES = (".pickle", ".pkl")

ABOUT = """## Files

In the layout of BEAM's release: `<size>/<n>/` holds `chat.json` (sub-plans, turns, messages),
`probing_questions/probing_questions.json`, `user_messages.json`, the profile and the plans. Sizes are the four that
BEAM has; what is shorter than 100K is filed there. Message ids count from 0 through the whole chat, and
`source_chat_ids` cite them."""


def import_beam(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
    """Yield the conversations of a path: a chat's folder, a folder of them, or a table of Hugging Face rows."""
    if is_table(path):
        chats: Iterable[RawChat] = read_rows(path)
    else:
        chats = (_read_folder(folder, options) for folder in _chat_folders(path))
    for i, raw in enumerate(chats):
        yield to_conversation(raw, f"c{i:03d}", options)


# --- reading ----------------------------------------------------------------------------------------------


def _chat_folders(path: Path) -> list[Path]:
    if not path.is_dir():
        raise UserError(f"{path}: there is no folder or table here; name a chat's folder, a folder of them, or a file")
    if _is_chat_folder(path):
        return [path]
    found = [p for p in path.iterdir() if p.is_dir() and _is_chat_folder(p)]
    if not found:  # a root of size folders
        found = [p for size in path.iterdir() if size.is_dir() for p in size.iterdir() if _is_chat_folder(p)]
    if not found:
        raise UserError(f"{path}: no BEAM chat here: a chat's folder has {CHAT} or {USER_MESSAGES}, and {QUESTIONS}")
    return sorted(found, key=lambda p: (p.parent.name, int(p.name) if p.name.isdecimal() else 0, p.name))


def _is_chat_folder(path: Path) -> bool:
    names = (CHAT, TRUNCATED, USER_MESSAGES, QUESTIONS)
    return path.is_dir() and (any((path / name).is_file() for name in names) or bool(_plan_folders(path)))


def _plan_folders(path: Path) -> list[Path]:
    found = [p for p in path.iterdir() if p.is_dir() and _PLAN_FOLDER.fullmatch(p.name)]
    return sorted(found, key=lambda p: int(p.name.removeprefix("plan-")))


def _read_folder(folder: Path, options: ImportOptions) -> RawChat:
    if not (folder / QUESTIONS).is_file():
        raise UserError(f"{folder}: there is no {QUESTIONS}; a chat without questions is no benchmark")
    notes = Notes()
    plan_folders = _plan_folders(folder)
    where = folder.name
    seed: dict[str, Any] = {}
    if (folder / TOPIC).is_file():
        seed = want(dict, read_json(folder / TOPIC), f"{where}/{TOPIC}", "an object")
    else:
        notes.add(NoteKind.MISSING_FILE, TOPIC, f"there is no {TOPIC}; nothing says domain, title and theme")
    user_messages = {
        i: want(list, read_json(p / USER_MESSAGES), f"{where}/{p.name}/{USER_MESSAGES}", "a list of sub-plans")
        for i, p in enumerate(plan_folders or [folder])
        if (p / USER_MESSAGES).is_file()
    }
    chat = _chat_of(folder, options, notes)
    batches, unsaid = _chat_of_plans(plan_folders, user_messages, notes) if chat is None else (chat, ())
    if batches is None and not user_messages:
        raise UserError(f"{folder}: there is neither {CHAT} nor {USER_MESSAGES}; nothing was said")
    return RawChat(
        name=folder.name,
        where=where,
        seed=seed,
        texts=_texts_of(folder, notes),
        plan_folders=tuple(f"{p.name}/" for p in plan_folders) or ("",),
        user_messages=user_messages,
        questions=read_json(folder / QUESTIONS),
        batches=batches,
        unsaid_plans=unsaid,
        details={"size": folder.parent.name, **({"chat": TRUNCATED} if chat and chat.keywords["name"] != CHAT else {})},
        notes=notes,
    )


def _chat_of(folder: Path, options: ImportOptions, notes: Notes) -> partial[Iterator[Batch]] | None:
    """Return a function that yields the batches of the folder's own chat; None if it has none."""
    there = [name for name in (CHAT, TRUNCATED) if (folder / name).is_file()]
    if there:
        wanted = CHAT if options.full_chat else TRUNCATED
        name = wanted if wanted in there else there[0]
        for other in there:
            if other != name:
                notes.add(NoteKind.OTHER_CHAT, other, f"{name} was imported; this other version is not kept")
        if options.full_chat and name == TRUNCATED:
            notes.add(NoteKind.TRUNCATED_CHAT, name, f"there is no {CHAT}; this was imported in its place")
        return partial(_own_batches, folder, name=name)
    return None


def _own_batches(folder: Path, *, name: str) -> Iterator[Batch]:
    return batches_of(stream_list(folder / name), f"{folder.name}/{name}")


def _chat_of_plans(
    plan_folders: list[Path], planned: Mapping[int, list[Any]], notes: Notes
) -> tuple[partial[Iterator[Batch]] | None, tuple[int, ...]]:
    """Return a function that yields the chats of all plans as one, and the plans without a chat of their own.

    The function is None if no plan has a chat.
    """
    files = {i: p / CHAT for i, p in enumerate(plan_folders) if (p / CHAT).is_file()}
    if not files:
        return None, ()
    unsaid = tuple(i for i in range(len(plan_folders)) if i not in files)
    for i in unsaid:
        stands_in = "its planned user messages stand in for it" if i in planned else "nothing stands in for it"
        notes.add(NoteKind.NO_CHAT, plan_folders[i].name, f"the plan's {CHAT} is missing; {stands_in}")
    plans: list[partial[Iterator[Batch]]] = []
    for i, folder in enumerate(plan_folders):
        planned_only = partial(planned_batches, {i: planned.get(i, [])}, folder.name)
        plans.append(partial(_plan_batches, files[i]) if i in files else planned_only)
    return partial(_joined, plans), unsaid


def _plan_batches(file: Path) -> Iterator[Batch]:
    return batches_of(stream_list(file), f"{file.parent.name}/{file.name}")


def _joined(plans: list[partial[Iterator[Batch]]]) -> Iterator[Batch]:
    """Yield the chats of several plans as one; message ids continue over the plans, as BEAM's probes cite them."""
    offset = 0
    for plan, batches in enumerate(plans):
        count = 0
        for _, sub_plan, batch in batches():
            for turn in batch.get("turns") or ():
                for message in turn if isinstance(turn, list) else [turn]:
                    if isinstance(message, dict) and isinstance(message.get("id"), int):
                        message["id"] += offset
                    count += 1
            yield plan, sub_plan, batch
        offset += count


def _texts_of(folder: Path, notes: Notes) -> dict[str, str]:
    """Return the texts of all other files, so that an export can write back what no field of ours holds."""
    texts: dict[str, str] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.name in {CHAT, TRUNCATED, USER_MESSAGES} or name in {QUESTIONS, TOPIC}:
            continue
        if path.suffix in _UNREAD_SUFFIXES:
            notes.add(NoteKind.UNREAD_FILE, name, "a pickle; it could run code, so it was not read")
            continue
        try:
            texts[name] = read_text(path)
        except UserError as exc:
            notes.add(NoteKind.UNREAD_FILE, name, f"not read: {exc}")
    return texts


# --- writing ----------------------------------------------------------------------------------------------


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    for number, reader in enumerate(readers, start=1):
        head = reader.head
        folder = f"{size_class(reader)}/{number if head.details.get('format') != 'beam' else head.details['id']}"
        if f"{folder}/{QUESTIONS}" in writer.files:
            folder += f"-{number}"  # two imports of one chat
        message_ids = _write_chat(writer, reader, folder)
        writer.write_json(f"{folder}/{QUESTIONS}", questions_of(writer, reader, message_ids))
        if topic := seed_object(head):
            writer.write_json(f"{folder}/{TOPIC}", topic)
        texts = head.details["files"].items() if head.details.get("format") == "beam" else own_texts(head)
        for name, topic in () if head.details.get("format") == "beam" else plan_seed_objects(head):
            writer.write_json(f"{folder}/{name}", topic)
        for name, text in texts:
            writer.write_text(f"{folder}/{name}", text)
        for name, planned in user_messages(head):
            writer.write_json(f"{folder}/{name}", planned)
    writer.write_card(format_card(writer.told, writer.counts, __version__, ABOUT))


export_beam = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write the folders below `target` and return what was written; see `Exporter`."""


def _write_chat(writer: ExportWriter, reader: ConversationReader, folder: str) -> dict[str, int]:
    """Write chat.json, unless the import had no chat, and return the ids that its messages have there."""
    message_ids: dict[str, int] = {}
    pieces = chat_text(reader.head, writer.messages_of(reader), message_ids, flat=False)
    details = reader.head.details
    if details.get("no_chat") or details.get("unsaid_plans"):
        for _ in pieces:  # counted all the same
            pass
        if not details.get("no_chat"):
            _write_plans_apart(writer, reader, folder)
        return message_ids
    with writer.open(f"{folder}/{details.get('chat', CHAT)}") as file:
        for piece in pieces:
            file.write(piece)
    return message_ids


def _write_plans_apart(writer: ExportWriter, reader: ConversationReader, folder: str) -> None:
    """Write a chat for each plan that has one: joined, the ids behind a missing plan would not be those that count."""
    for plan, pieces in plan_chats(reader.head, enumerate(reader.messages()), flat=False):
        with writer.open(f"{folder}/plan-{plan}/{CHAT}") as file:
            for piece in pieces:
                file.write(piece)
