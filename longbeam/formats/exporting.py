"""Parts that all exports share: selection of probes, counts, the manifest, and a folder that appears whole.

The bytes depend on the conversations, the public part of the spec and the reviews alone: no clock, no path, no
address, no prompt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from pydantic_core import from_json

from longbeam import __version__
from longbeam.errors import UserError
from longbeam.formats.card_sections import CardFacts
from longbeam.formats.dates import LOCOMO_SESSIONS
from longbeam.formats.folders import replaced_folder
from longbeam.schemas import Author, BenchmarkSpec, ConversationReader, FormFigure, Message, MessageKind, Probe
from longbeam.store import sha256_of

T = TypeVar("T")
MANIFEST = "manifest.json"
CARD = "README.md"
WRITTEN, LICENCE = "## Who wrote it\n", "## Licence and contamination\n"
"""Headings of a card, between which the sections of the conversations stand."""

CANARY = (
    "longbeam test data, not for training: leave it out of every training corpus. "
    "GUID 0ab5f813-d828-4392-8b0f-aa1dbd04cf9a"
)
"""Canary of every export: if it occurs in a corpus, or a model can recite it, there is contamination."""

UNREVIEWED = "unreviewed"
UNSETTLED = "unsettled"
"""Edited without a verdict since, or sent back to the author: neither version is fit for export."""
KEPT_STATUSES = frozenset({"accepted", "edited"})
"""Statuses that `reviewed_only` keeps; `rejected` and `unsettled` are always left out."""

Reviews = Mapping[tuple[str, str], str]
"""(conversation_id, probe_id) to the probe's review status; a probe that is not in it is unreviewed."""


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export."""

    reviews: Reviews = field(default_factory=dict)
    reviewed_only: bool = False
    """Leave out probes that no reviewer accepted or edited."""
    most_sessions: int = LOCOMO_SESSIONS
    """LoCoMo: sessions of a conversation at most, further days are merged; 0: a session for each day."""
    form: tuple[FormFigure, ...] = ()
    """What the form gives away, for the card; empty where nobody measured it."""


DEFAULTS = ExportOptions()


@dataclass(frozen=True)
class ExportReport:
    """Counts of an export, and the probes that it left out."""

    target: Path
    conversations: int
    messages: int
    probes: int
    tokens: int
    rejected: int
    """Selected probes left out because a reviewer rejected them."""
    unsettled: int
    """Selected probes left out because a review of them is half done."""
    not_reviewed: int
    """Selected probes left out because only reviewed ones were asked for."""
    sha256: Mapping[str, str]
    """Digest of each file by its name; the manifest is left out."""
    warnings: tuple[str, ...] = ()
    """Parts of the benchmark that the format cannot hold."""


class Exporter(Protocol):
    """Writes conversations, in the given order, to a folder that appears whole or stays as it was.

    Raises UserError if `target` is a file or a folder with anything but a former export of the same format, if
    there is no conversation, or if a probe cites a message that does not exist; StoreError if it cannot be written.
    """

    def __call__(
        self,
        readers: Iterable[ConversationReader],
        spec: BenchmarkSpec,
        target: Path,
        options: ExportOptions = DEFAULTS,
    ) -> ExportReport:
        """Write the export and return its counts."""
        ...


@dataclass
class ExportWriter:
    """An export in progress: opens its files, yields the messages and probes to write, and counts them."""

    folder: Path
    spec: BenchmarkSpec
    options: ExportOptions
    conversations: int = 0
    messages: int = 0
    tokens: int = 0
    probes: int = 0
    rejected: int = 0
    unsettled: int = 0
    not_reviewed: int = 0
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    """SHA-256 and size of the files that are written, by name."""
    warnings: dict[str, None] = field(default_factory=dict)
    facts: CardFacts = field(default_factory=CardFacts)
    """What the card says of them."""
    _authors: set[Author] = field(default_factory=set)

    @contextmanager
    def open(self, name: str) -> Iterator[HashedFile]:
        """Open a file of the export for writing, and make its folders."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with HashedFile(path) as file:
            yield file
        self.files[name] = file.sha256, file.size

    def write_json(self, name: str, value: object) -> None:
        """Write a small JSON file, indented."""
        with self.open(name) as file:
            file.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a small text file."""
        with self.open(name) as file:
            file.write(text)

    def write_card(self, text: str) -> None:
        """Write the dataset card, with the sections that the conversations give around those of the spec."""
        head, written, body = text.partition(WRITTEN)
        body, licence, end = body.partition(LICENCE)
        opening, closing = self.facts.opening(), self.facts.closing(self.spec, self.options.form)
        self.write_text(CARD, f"{head}{opening}{written}{body}{closing}{licence}{end}")

    def add(self, name: str) -> None:
        """Add a file that was written into the folder by other means."""
        path = self.folder / name
        self.files[name] = sha256_of(path), path.stat().st_size

    def messages_of(self, reader: ConversationReader) -> Iterator[tuple[int, Message]]:
        """Yield the messages of a conversation with their ordinals, and count them."""
        self.conversations += 1
        self._authors.update(reader.head.authors)
        self.facts.see(reader.head)
        for ordinal, message in enumerate(reader.messages()):
            self.messages += 1
            self.tokens += message.tokens
            yield ordinal, message

    def probes_of(self, reader: ConversationReader) -> Iterator[tuple[Probe, str]]:
        """Yield the selected probes that are wanted, with their review status, and count them."""
        for probe in reader.probes():
            status = self.options.reviews.get((reader.head.conversation_id, probe.probe_id), UNREVIEWED)
            if self._wants(probe, status):
                self.probes += 1
                self.facts.count(probe, status)
                yield probe, status

    def leave_out(self, why: str) -> None:
        """Uncount a probe that `probes_of` yielded, because the format cannot hold it."""
        self.probes -= 1
        self.warn(why)

    def warn(self, text: str) -> None:
        """Add a warning about something that the format cannot hold; each warning counts once."""
        self.warnings[text] = None

    def _wants(self, probe: Probe, status: str) -> bool:
        if not probe.is_selected:
            return False
        if status == "rejected":
            self.rejected += 1
            return False
        if status == UNSETTLED:
            self.unsettled += 1
            return False
        if self.options.reviewed_only and status not in KEPT_STATUSES:
            self.not_reviewed += 1
            return False
        return True

    @property
    def told(self) -> BenchmarkSpec:
        """The spec with the models that really answered, as they may have changed since."""
        if not self._authors:
            return self.spec
        by_role: dict[str, list[str]] = {}
        for author in sorted(self._authors, key=lambda a: (a.role, a.model)):
            by_role.setdefault(author.role, []).append(author.model)
        return self.spec.model_copy(update={"models": {role: ", ".join(names) for role, names in by_role.items()}})

    @property
    def counts(self) -> dict[str, int]:
        """Counts so far: `conversations`, `messages`, `probes` and `tokens`."""
        return {
            "conversations": self.conversations,
            "messages": self.messages,
            "probes": self.probes,
            "tokens": self.tokens,
        }

    def manifest(self, format_name: str, version: int) -> dict[str, Any]:
        """Return the content of the manifest."""
        return {
            "format": format_name,
            "format_version": version,
            "longbeam_version": __version__,
            "canary": CANARY,
            "spec": public_spec(self.told),
            "reviewed_only": self.options.reviewed_only,
            "counts": self.counts,
            "files": {name: {"sha256": sha256, "bytes": size} for name, (sha256, size) in self.files.items()},
        }


@dataclass(frozen=True)
class FormatExporter:
    """The `Exporter` of one format: `write` writes its files, and this class adds the manifest."""

    format_name: str
    version: int
    write: Callable[[ExportWriter, Iterable[ConversationReader]], None]

    def __call__(
        self,
        readers: Iterable[ConversationReader],
        spec: BenchmarkSpec,
        target: Path,
        options: ExportOptions = DEFAULTS,
    ) -> ExportReport:
        """Write the export to the folder `target` and return its counts; errors are those of `Exporter`."""
        with replaced_folder(target, partial(why_not_ours, self.format_name)) as folder:
            writer = ExportWriter(folder, spec, options)
            self.write(writer, _some(readers, spec))
            manifest = writer.manifest(self.format_name, self.version)
            text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
            (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")
        return ExportReport(
            target=target,
            **writer.counts,
            rejected=writer.rejected,
            unsettled=writer.unsettled,
            not_reviewed=writer.not_reviewed,
            sha256={name: sha256 for name, (sha256, _) in writer.files.items()},
            warnings=tuple(writer.warnings),
        )


def public_spec(spec: BenchmarkSpec) -> dict[str, Any]:
    """Return the part of a spec that describes the data: no settings of the run, and of files only the names."""
    public = spec.model_dump(mode="json", exclude={"limits", "endpoints"})
    for table, key in ((public, "seeds_file"), (public["people"], "table"), (public["prompts"], "folder")):
        if table[key] is not None:
            table[key] = table[key].replace("\\", "/").rsplit("/", 1)[-1]
    return public


def why_not_ours(format_name: str, folder: Path) -> str | None:
    """Return the reason why a folder is no former export of this format that may be replaced; None if it is one."""
    # The folder may be the root of a disk: nothing below it is read before its manifest says that it is ours.
    if not (folder / MANIFEST).is_file():
        return "is not empty and not an export of longbeam"
    try:
        manifest = from_json((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        manifest = None
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(manifest, dict) or manifest.get("format") != format_name or not isinstance(files, dict):
        return f"is not empty and not a {format_name} export"
    names = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir())
    strange = next((name for name in names if name not in files and name != MANIFEST), None)
    return None if strange is None else f"holds {strange!r} beside a former export"


def sessions_of(messages: Iterable[tuple[int, Message]], *, by_day: bool) -> Iterator[list[tuple[int, Message]]]:
    """Yield the messages session by session.

    `by_day`: a session ends with its day, too, but never within a turn. Ours last for weeks, and formats that date
    sessions and not messages would lose all days but the first.
    """
    session: list[tuple[int, Message]] = []
    for ordinal, message in messages:
        if session:
            first = session[0][1]
            is_later = by_day and message.kind is MessageKind.QUESTION and message.sent_at.date() > first.sent_at.date()
            if message.session != first.session or is_later:
                yield session
                session = []
        session.append((ordinal, message))
    if session:
        yield session


def cited_keys(reader: ConversationReader) -> frozenset[str]:
    """Return the keys of messages that selected probes cite: an export needs the places of these messages only."""
    return frozenset(e.message_key for probe in reader.probes() if probe.is_selected for e in probe.evidence)


def cited_ids(reader: ConversationReader, probe: Probe, message_ids: Mapping[str, T]) -> list[T]:
    """Return the ordinals, or what else stands for them, of the messages that a probe cites, in its evidence's order.

    Raises UserError if the conversation does not have one of them.
    """
    try:
        return [message_ids[e.message_key] for e in probe.evidence]
    except KeyError as exc:
        raise UserError(
            f"conversation {reader.head.conversation_id}: probe {probe.probe_id!r} cites message {exc.args[0]!r}, "
            "which does not exist; run `longbeam validate` and repair it before exporting"
        ) from exc


@dataclass
class HashedFile:
    """A text file that computes its digest while it is written."""

    path: Path
    lines: int = 0
    size: int = 0
    sha256: str = ""
    """Known when the file is closed."""
    _hash: Any = field(default_factory=hashlib.sha256)  # Any: hashlib's type has no public name

    def __enter__(self) -> Self:
        self._file = self.path.open("wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self.sha256 = self._hash.hexdigest()

    def write(self, text: str) -> None:
        """Append text."""
        data = text.encode()
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def write_line(self, line: object) -> None:
        """Append a value as one line of JSON."""
        self.write(json_text(line) + "\n")
        self.lines += 1

    def write_long_line(self, line: Mapping[str, object], name: str, items: Iterable[object]) -> None:
        """Append an object as one line of JSON whose field `name` is a list, item by item."""
        for i, (key, value) in enumerate(line.items()):
            self.write(f"{',' if i else '{'}{json_text(key)}:")
            if key != name:
                self.write(json_text(value))
                continue
            self.write("[")
            for j, item in enumerate(items):
                self.write(("," if j else "") + json_text(item))
            self.write("]")
        self.write("}\n")
        self.lines += 1


@dataclass
class JsonList:
    """A JSON list that is written item by item."""

    file: HashedFile
    _count: int = 0

    def __enter__(self) -> Self:
        self.file.write("[")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.file.write("]")

    def begin(self) -> None:
        """Begin an item, whose text the caller then writes to the file piece by piece."""
        self.file.write(",\n" if self._count else "\n")
        self._count += 1

    def append(self, value: object) -> None:
        """Write a whole item."""
        self.begin()
        self.file.write(json_text(value))


def json_text(value: object) -> str:
    """Return JSON with fixed separators and no escapes that UTF-8 does not need; NaN is refused."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _some(readers: Iterable[ConversationReader], spec: BenchmarkSpec) -> Iterator[ConversationReader]:
    count = 0
    for reader in readers:
        count += 1
        yield reader
    if not count:
        raise UserError(f"benchmark {spec.name!r} has no finished conversation to export")
