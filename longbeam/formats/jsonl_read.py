"""Reads our own JSONL export back, as docs/export-format.md says it.

Of what a benchmark holds, an export lacks the spare probes, the planned user turns and the reviews: a review starts
afresh. All else comes back, the ledger too; the models that wrote it stand in its manifest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.formats.jsonl import FORMAT, FORMAT_VERSION
from longbeam.formats.jsonl_lines import ConversationLine, MessageLine, ProbeLine, RelationshipColumns, SeedColumns
from longbeam.formats.reading import ImportOptions, parse_json, read_json, refuse, want
from longbeam.schemas import (
    Author,
    ConversationHead,
    Evidence,
    GivenConversation,
    ImportNote,
    Message,
    NoteKind,
    Part,
    Probe,
    ProbeDetails,
    Profile,
    Record,
    RelationshipGraph,
    Seed,
)
from longbeam.store import sha256_of

MANIFEST, CONVERSATIONS, MESSAGES, PROBES = "manifest.json", "conversations.jsonl", "messages.jsonl", "probes.jsonl"
READ_VERSIONS = (2, FORMAT_VERSION)
"""Version 2 lacks the columns whose records have a default in `jsonl_lines`."""
_Line = TypeVar("_Line", bound=Record)


def import_jsonl(path: Path, options: ImportOptions) -> Iterator[GivenConversation]:
    """Yield the conversations of an export's folder; token counts stay as exported, whatever the options say.

    Raises UserError for a folder that is no JSONL export of this version, and for a line that does not fit.
    """
    manifest = _manifest(path)
    authors, notes = _authors(manifest), tuple(_changed_files(path, manifest))
    starts = _starts(path / MESSAGES)
    probes: dict[str, list[Probe]] = {}
    for probe_line, _ in _lines(path / PROBES, ProbeLine):
        listed = probes.setdefault(probe_line.conversation_id, [])
        listed.append(_probe(probe_line, sum(p.ability == probe_line.ability for p in listed)))
    for number, (line, where) in enumerate(_lines(path / CONVERSATIONS, ConversationLine)):
        if line.conversation_id not in starts:
            refuse(where, f"{MESSAGES} has no message of conversation {line.conversation_id!r}")
        start = starts[line.conversation_id]
        messages = partial(_messages, path / MESSAGES, start, line.conversation_id)
        found = tuple(probes.get(line.conversation_id, ()))
        head = _head(line, f"c{number:03d}").model_copy(update={"authors": authors})
        own = notes
        if not found:
            own += (ImportNote(kind=NoteKind.NO_PROBES, subject="conversation", message="there are no probes"),)
        head = head.model_copy(update={"import_notes": own})
        yield GivenConversation(head, messages, found)


def _manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of an export. Raises UserError for a folder that is none."""
    for name in (MANIFEST, CONVERSATIONS, MESSAGES, PROBES):
        if not (path / name).is_file():
            raise UserError(f"{path}: there is no {name}; name the folder that `longbeam export --format jsonl` wrote")
    told = want(dict, read_json(path / MANIFEST), str(path / MANIFEST), "an object")
    found = (told.get("format"), told.get("format_version"))
    if found[0] != FORMAT or found[1] not in READ_VERSIONS:
        read = " and ".join(map(str, READ_VERSIONS))
        refuse(str(path / MANIFEST), f"format {found[0]!r} version {found[1]!r}; {FORMAT!r} {read} are read")
    return told


def _changed_files(path: Path, manifest: dict[str, Any]) -> Iterator[ImportNote]:
    """Yield a note for each table that is another file than its manifest says."""
    files = want(dict, manifest.get("files", {}), f"{path / MANIFEST}: files", "an object")
    for name in (CONVERSATIONS, MESSAGES, PROBES):
        said = files.get(name)
        if isinstance(said, dict) and said.get("sha256") not in (None, sha256_of(path / name)):
            message = f"{name} is another file than {MANIFEST} says: it was changed or damaged after the export"
            yield ImportNote(kind=NoteKind.CHANGED_FILE, subject=name, message=message)


def _authors(manifest: dict[str, Any]) -> tuple[Author, ...]:
    """Return the models that wrote, as the manifest names them."""
    spec = manifest.get("spec")
    models = spec.get("models") if isinstance(spec, dict) else None
    return tuple(Author(role=r, model=str(m)) for r, m in models.items()) if isinstance(models, dict) else ()


def _starts(path: Path) -> dict[str, int]:
    """Return the offsets at which the messages of each conversation begin, so that they can be read later."""
    starts: dict[str, int] = {}
    at, last = 0, ""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            where = f"{path}: line {number}"
            found = str(
                want(dict, parse_json(raw.decode(errors="replace"), where), where, "an object").get("conversation_id")
            )
            if found != last and starts.setdefault(found, at) != at:
                refuse(where, f"messages of conversation {found!r} stand in two places")
            at, last = at + len(raw), found
    return starts


def _lines(path: Path, kind: type[_Line], start: int = 0) -> Iterator[tuple[_Line, str]]:
    """Yield the lines of a file from an offset on, each with its place."""
    with path.open("rb") as file:
        file.seek(start)
        for number, raw in enumerate(file, start=1):
            where = f"{path}: line {number}" + (f" from byte {start}" if start else "")
            parse_json(raw.decode(errors="replace"), where)  # refuses a column that stands twice
            try:
                yield kind.model_validate_json(raw), where
            except ValidationError as exc:
                first = exc.errors()[0]
                refuse(where, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}")


def _head(line: ConversationLine, conversation_id: str) -> ConversationHead:
    details = _open(line.details)
    if line.conversation_id != conversation_id:  # of an export with gaps
        details = details | {"id": line.conversation_id}
    return ConversationHead(
        conversation_id=conversation_id,
        seed=Seed(**_fields(line.seed, SeedColumns, without="category")),
        profile=Profile(**line.profile.model_dump()) if line.profile else None,
        relationships=_graph(line.relationships),
        narratives=line.narratives,
        plans=line.plans,
        plan_seeds=line.plan_seeds,
        target_tokens=line.target_tokens,
        tokenizer=line.tokenizer,
        details=details,
    )


def _graph(columns: RelationshipColumns) -> RelationshipGraph:
    nodes = [{"id": "user"}, *({"id": p.person_id} for p in columns.people)]
    edges = [edge.model_dump() for edge in columns.edges]
    kind = {"directed": False, "multigraph": False, "graph": {}}
    return RelationshipGraph(people=columns.people, node_link=kind | {"nodes": nodes, "edges": edges})


def _messages(path: Path, start: int, conversation_id: str) -> Iterator[Message]:
    for line, _ in _lines(path, MessageLine, start):
        if line.conversation_id != conversation_id:
            return
        fields = _fields(line, MessageLine, without="conversation_id")
        for ours, theirs in (("plan_index", "plan"), ("sub_plan_index", "subplan"), ("turn_index", "turn")):
            fields[ours] = fields.pop(theirs)
        fields["parts"] = tuple(Part(kind=p.kind, text=p.text, data=_open(p.data)) for p in line.parts)
        yield Message(**fields | {"details": _open(line.details)})


def _probe(line: ProbeLine, rank: int) -> Probe:
    fields = _fields(line, ProbeLine)
    for name in ("conversation_id", "asked_after", "review", "canary"):
        fields.pop(name)
    said = {"message_id", "role", "speaker"}  # the messages have it
    fields["evidence"] = tuple(Evidence(**e.model_dump(exclude=said)) for e in line.evidence)
    fields["details"] = ProbeDetails(**line.details.model_dump() | {"extra": _open(line.details.extra)})
    return Probe(**fields, is_selected=True, rank=rank)


def _fields(record: Record, kind: type[Record], without: str = "") -> dict[str, Any]:
    return {name: getattr(record, name) for name in kind.model_fields if name != without}


def _open(text: str) -> dict[str, Any]:
    return want(dict, parse_json(text, "details"), "details", "a JSON object") if text else {}
