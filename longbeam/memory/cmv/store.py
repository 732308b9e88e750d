"""Store of snapshots and branches of coding-agent sessions, as a DAG, and the archives that carry them between
machines.

Several branches can continue from one snapshot. An archive is a gzipped tar of `meta.json` and the session; its
reader trusts nothing in it.
"""

from __future__ import annotations

import io
import re
import shutil
import tarfile
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import networkx as nx
from pydantic import Field, ValidationError

from longbeam import __version__
from longbeam.errors import StoreError, UserError
from longbeam.memory.cmv.session import (
    Line,
    SessionFile,
    count_messages,
    encode_line,
    folder_of,
    line_text,
    parse_line,
    read_lines,
    speaker_of,
)
from longbeam.memory.cmv.trim import TrimMetrics, TrimSettings, refuse_without_messages, trim_lines
from longbeam.schemas import Record
from longbeam.store import Lease, describe_os_error, put_in_place, scratch_beside, write_atomically

LIST = "sessions-index.json"


class BranchWriter:
    """Writes lines under the id of another session, and remembers its last message.

    Lines of a sidechain are the dialogue with a sub-agent: a message below one of them would not be in the session.
    """

    def __init__(self, session_id: str, write: Callable[[bytes], object]) -> None:
        self.session_id = session_id
        self.write = write
        self.last: Line = {}

    def line(self, text: str) -> None:
        line = parse_line(text)
        if line is not None and "sessionId" in line:
            line["sessionId"] = self.session_id
            text = line_text(line)
        if line is not None and speaker_of(line) is not None and not line.get("isSidechain"):
            self.last = line
        self.write(encode_line(text))

    def say(self, text: str, now: datetime) -> None:
        """Append a message of the user to the last one."""
        told: Line = {k: self.last[k] for k in ("cwd", "version", "gitBranch", "userType") if k in self.last}
        self.line(
            line_text(
                {
                    "type": "user",
                    "message": {"role": "user", "content": text},
                    "uuid": str(uuid.uuid4()),
                    "parentUuid": self.last.get("uuid"),
                    "sessionId": self.session_id,
                    "timestamp": now.isoformat().replace("+00:00", "Z"),
                    "isSidechain": False,
                    **told,
                }
            )
        )


@dataclass(frozen=True)
class ListedSession:
    """A session as Claude Code's own list shows it."""

    path: Path
    first_prompt: str
    summary: str
    project: str
    """Folder that the session works in."""
    messages: int


def list_session(session: ListedSession, now: datetime) -> None:
    """Add a session to Claude Code's own list, if the project has one."""
    path = session.path
    index = path.parent / LIST
    listed = _session_list(index)
    if listed is None:
        return
    stamp = now.isoformat()
    listed["entries"].append(
        {
            "sessionId": path.stem,
            "fullPath": str(path),
            "fileMtime": int(now.timestamp() * 1000),
            "firstPrompt": session.first_prompt,
            "summary": session.summary,
            "messageCount": session.messages,
            "created": stamp,
            "modified": stamp,
            "projectPath": session.project,
            "isSidechain": False,
        }
    )
    write_atomically(index, line_text(listed))


def unlist_session(folder: Path, session_id: str) -> None:
    """Remove a session from the list of its folder, if there is one."""
    path = folder / LIST
    listed = _session_list(path)
    if listed is not None:
        listed["entries"] = [
            e for e in listed["entries"] if not (isinstance(e, dict) and e.get("sessionId") == session_id)
        ]
        write_atomically(path, line_text(listed))


def _session_list(path: Path) -> dict[str, Any] | None:
    """Return the list of a project's sessions; None if there is no readable one."""
    try:
        found = parse_line(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return found if found is not None and isinstance(found.get("entries"), list) else None


NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
ACTIVE_SECONDS = 120
"""Time after its last change in which a session may be in use."""


class Branch(Record):
    """A session that continues from a snapshot."""

    name: str
    session_id: str
    path: str
    created_at: datetime


class Snapshot(Record):
    """A copy of a session at one moment."""

    snapshot_id: str
    name: str
    description: str = ""
    created_at: datetime
    session_id: str
    """Id of the session that was copied."""
    project: str = ""
    """Folder that the session worked in, according to its lines."""
    tags: tuple[str, ...] = ()
    parent: str | None = None
    """Id of the snapshot whose branch the session was."""
    claude_code_version: str = ""
    longbeam_version: str = __version__
    branches: tuple[Branch, ...] = ()


class Index(Record):
    """All snapshots by id."""

    version: int = 1
    snapshots: dict[str, Snapshot] = Field(default_factory=dict)


Warn = Callable[[str], None]


def _now() -> datetime:
    return datetime.now(UTC)


class CmvStore:
    """The snapshots in one folder."""

    def __init__(self, root: Path, *, clock: Callable[[], datetime] = _now) -> None:
        """`clock` returns the time that snapshots and branches are dated with."""
        self.root = root
        self._clock = clock

    def index(self) -> Index:
        """Return all snapshots; StoreError if the index is damaged."""
        path = self.root / "index.json"
        try:
            return Index.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Index()
        except (ValidationError, UnicodeDecodeError) as exc:
            raise StoreError(f"{path}: is no index of snapshots: {' '.join(str(exc).split())[:160]}") from exc
        except OSError as exc:
            raise StoreError(describe_os_error(path, exc, "read")) from exc

    def find(self, name: str) -> Snapshot:
        """Return the snapshot with this name or id; UserError if there is none."""
        found = self.index().snapshots
        for snapshot in found.values():
            if name in {snapshot.name, snapshot.snapshot_id}:
                return snapshot
        names = ", ".join(sorted(s.name for s in found.values())) or "none"
        raise UserError(f"snapshot {name!r} is not in {self.root}; there are: {names}")

    def session_path(self, snapshot: Snapshot) -> Path:
        """Return the file of a snapshot's session."""
        return self.folder_of(snapshot.snapshot_id) / "session" / "session.jsonl"

    def folder_of(self, snapshot_id: str) -> Path:
        """Return the folder of a snapshot."""
        return self.root / "snapshots" / snapshot_id

    def snapshot(
        self,
        session: SessionFile,
        name: str,
        *,
        description: str = "",
        tags: tuple[str, ...] = (),
        warn: Warn = lambda text: None,
    ) -> Snapshot:
        """Take a snapshot of a session; UserError for a name that is taken or not allowed."""
        check_name(name)
        now = self._clock()
        if now.timestamp() - session.modified < ACTIVE_SECONDS:
            warn(f"session {session.session_id} was written to less than two minutes ago; it may still be in use")
        if not count_messages(read_lines(session.path)):
            warn(f"session {session.session_id} has no messages")
        told = _told(session.path)
        with self._changing() as index:
            _refuse_taken(index, name)
            parent = next(
                (s.snapshot_id for s in index.snapshots.values() for b in s.branches
                 if b.session_id == session.session_id),
                None,
            )  # fmt: skip
            made = Snapshot(
                snapshot_id=new_id(),
                name=name,
                description=description,
                created_at=now,
                session_id=session.session_id,
                project=told.get("cwd", ""),
                tags=tags,
                parent=parent,
                claude_code_version=told.get("version", ""),
            )
            self.keep(made, session.path)
            index.snapshots[made.snapshot_id] = made
        return made

    def keep(self, snapshot: Snapshot, session: Path) -> None:
        """Write a snapshot's folder: its metadata, and a copy of the session."""
        folder = self.folder_of(snapshot.snapshot_id)
        with scratch_beside(folder) as scratch:
            whole = scratch / "snapshot"
            try:
                (whole / "session").mkdir(parents=True)
                shutil.copyfile(session, whole / "session" / "session.jsonl")
                (whole / "meta.json").write_text(snapshot.model_dump_json(indent=1) + "\n", encoding="utf-8")
                whole.rename(folder)
            except OSError as exc:
                raise StoreError(describe_os_error(folder, exc)) from exc

    def add(self, snapshot: Snapshot, session: Path) -> None:
        """Add a snapshot that was made elsewhere; UserError if its name is taken."""
        with self._changing() as index:
            _refuse_taken(index, snapshot.name)
            self.keep(snapshot, session)
            index.snapshots[snapshot.snapshot_id] = snapshot

    def branch(
        self,
        snapshot: Snapshot,
        projects: Path,
        *,
        name: str = "",
        trim: TrimSettings | None,
        orientation: str = "",
    ) -> tuple[Branch, TrimMetrics | None]:
        """Create a session that begins where the snapshot ends, in Claude Code's own folder.

        `trim=None` copies it untrimmed. `orientation` is appended as a message of the user. UserError where the
        snapshot has no message to go on from.
        """
        now = self._clock()
        name = name or f"{snapshot.name}-{now:%Y%m%d-%H%M}"
        check_name(name)
        source = self.session_path(snapshot)
        if not (before := count_messages(read_lines(source))):
            raise UserError(f"snapshot {snapshot.name!r} has no message to go on from")
        session_id = str(uuid.uuid4())
        folder = projects / folder_of(snapshot.project or "unknown")
        path = folder / f"{session_id}.jsonl"
        with self._changing() as index:
            known = index.snapshots[snapshot.snapshot_id]
            if any(b.name == name for b in known.branches):
                raise UserError(f"snapshot {snapshot.name!r} has a branch {name!r} already; give another name")
            with scratch_beside(path) as scratch:
                written = scratch / "session"
                with written.open("wb") as file:
                    writer = BranchWriter(session_id, file.write)
                    metrics = None
                    if trim is None:
                        for text in read_lines(source):
                            writer.line(text)
                    else:
                        metrics = trim_lines(lambda: read_lines(source), writer.line, trim)
                        file.flush()
                        refuse_without_messages(before, count_messages(read_lines(written)))
                    if orientation:
                        writer.say(orientation, now)
                put_in_place(written, path)
            made = Branch(name=name, session_id=session_id, path=str(path), created_at=now)
            messages = count_messages(read_lines(path))
            list_session(ListedSession(path, name, f"branch of {snapshot.name}", snapshot.project, messages), now)
            index.snapshots[snapshot.snapshot_id] = known.model_copy(update={"branches": (*known.branches, made)})
        return made, metrics

    def delete_branch(self, snapshot: Snapshot, name: str) -> None:
        """Remove a branch's session file, its entry in Claude Code's list, and its record in the store."""
        with self._changing() as index:
            known = index.snapshots[snapshot.snapshot_id]
            gone = next((b for b in known.branches if b.name == name), None)
            if gone is None:
                names = ", ".join(b.name for b in known.branches) or "none"
                raise UserError(f"snapshot {snapshot.name!r} has no branch {name!r}; there are: {names}")
            path = Path(gone.path)
            unlist_session(path.parent, gone.session_id)
            path.unlink(missing_ok=True)
            kept = tuple(b for b in known.branches if b.name != name)
            index.snapshots[snapshot.snapshot_id] = known.model_copy(update={"branches": kept})

    def delete(self, snapshot: Snapshot) -> None:
        """Remove a snapshot; snapshots of its branches become children of its parent. The branches stay."""
        with self._changing() as index:
            del index.snapshots[snapshot.snapshot_id]
            for key, other in list(index.snapshots.items()):
                if other.parent == snapshot.snapshot_id:
                    index.snapshots[key] = other.model_copy(update={"parent": snapshot.parent})
        shutil.rmtree(self.folder_of(snapshot.snapshot_id), ignore_errors=True)

    def graph(self) -> nx.DiGraph[str]:
        """Return the DAG of snapshots (`kind="snapshot"`) and branches; edges point from older to newer.

        StoreError where parents go in a circle, which only a file that was edited can say.
        """
        graph: nx.DiGraph[str] = nx.DiGraph()
        snapshots = self.index().snapshots
        for snapshot in snapshots.values():
            graph.add_node(snapshot.snapshot_id, kind="snapshot", name=snapshot.name, created_at=snapshot.created_at)
        for snapshot in snapshots.values():
            for branch in snapshot.branches:
                graph.add_node(branch.session_id, kind="branch", name=branch.name, created_at=branch.created_at)
                graph.add_edge(snapshot.snapshot_id, branch.session_id)
            if snapshot.parent in snapshots:
                via = next((b.session_id for b in snapshots[snapshot.parent].branches
                            if b.session_id == snapshot.session_id), snapshot.parent)  # fmt: skip
                graph.add_edge(via, snapshot.snapshot_id)
        if not nx.is_directed_acyclic_graph(graph):
            circle = " → ".join(graph.nodes[a]["name"] for a, _ in nx.find_cycle(graph))
            raise StoreError(
                f"{self.root}/index.json: snapshots are their own ancestors: {circle}; mend their `parent`"
            )
        return graph

    @contextmanager
    def _changing(self) -> Iterator[Index]:
        """Yield the index for a change under a lock; it is written if the block raises nothing."""
        try:
            (self.root / "snapshots").mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StoreError(describe_os_error(self.root, exc)) from exc
        lease = Lease(self.root / "index.json")
        try:
            index = self.index()
            yield index
            write_atomically(self.root / "index.json", index.model_dump_json(indent=1) + "\n")
        finally:
            lease.release()


def check_name(name: str) -> None:
    """Raise UserError for a text that cannot be the name of a snapshot or branch."""
    if not NAME.fullmatch(name):
        raise UserError(f"name {name!r}: 1 to 100 letters, digits, '_' and '-' are allowed")


def new_id() -> str:
    """Return the id of a new snapshot."""
    return f"snap_{uuid.uuid4().hex[:8]}"


def _refuse_taken(index: Index, name: str) -> None:
    if any(s.name == name for s in index.snapshots.values()):
        raise UserError(f"snapshot {name!r} exists already; give another name, or delete it first")


def _told(path: Path) -> dict[str, str]:
    """Return `cwd` and `version` of the first line that has them."""
    found: dict[str, str] = {}
    for text in read_lines(path):
        line = parse_line(text) or {}
        found |= {k: line[k] for k in ("cwd", "version") if k not in found and isinstance(line.get(k), str)}
        if len(found) == 2:
            break
    return found


META, SESSION = "meta.json", "session/session.jsonl"
MOST_META_BYTES = 2**20
FORMAT = 1


def export_snapshot(store: CmvStore, snapshot: Snapshot, target: Path) -> None:
    """Write a snapshot to `target`, without its branches, which are files of this machine."""
    meta = snapshot.model_copy(update={"branches": ()}).model_dump_json(indent=1).encode()
    session = store.session_path(snapshot)
    with scratch_beside(target) as scratch:
        written = scratch / "archive"
        try:
            # PAX, not ustar: names and sizes of any length.
            with tarfile.open(written, "w:gz", format=tarfile.PAX_FORMAT) as archive:
                info = tarfile.TarInfo(META)
                info.size, info.mtime = len(meta), int(snapshot.created_at.timestamp())
                archive.addfile(info, io.BytesIO(meta))
                with session.open("rb") as file:
                    info = tarfile.TarInfo(SESSION)
                    info.size, info.mtime = session.stat().st_size, int(snapshot.created_at.timestamp())
                    archive.addfile(info, file)
        except OSError as exc:
            raise StoreError(describe_os_error(target, exc)) from exc
        put_in_place(written, target)


def import_snapshot(
    store: CmvStore, source: Path, *, name: str = "", force: bool = False, warn: Warn = lambda text: None
) -> Snapshot:
    """Add the snapshot of an archive to the store, under a new id, and return it.

    `name` renames it; `force` replaces one of that name, after the archive has been read whole. Only `meta.json` and
    the session are read, by name and as plain files: no path in an archive reaches the file system. Raises UserError
    for what is no such archive, and for a name that is taken.
    """
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "session.jsonl"
        meta = _read(source, session)
        name = name or meta.name
        check_name(name)
        taken = next((s for s in store.index().snapshots.values() if s.name == name), None)
        if taken is not None and not force:
            raise UserError(f"{source}: a snapshot {name!r} exists already; rename it with --name, or use --force")
        if meta.parent is not None and meta.parent not in store.index().snapshots:
            warn(f"{name}: its parent {meta.parent} is not here; it becomes a root")
            meta = meta.model_copy(update={"parent": None})
        made = meta.model_copy(update={"snapshot_id": new_id(), "name": name, "branches": ()})
        if taken is not None:
            store.delete(taken)
        store.add(made, session)
    return made


def _read(source: Path, session: Path) -> Snapshot:
    """Return the metadata of an archive, and copy its session to `session`."""
    try:
        with tarfile.open(source, "r:gz") as archive:
            meta = _member(archive, META, source)
            if meta.size > MOST_META_BYTES:
                raise UserError(f"{source}: {META} has {meta.size:,} bytes; a snapshot's has less than a million")
            text = _content(archive, meta, source)
            lines = _member(archive, SESSION, source)
            file = archive.extractfile(lines)
            assert file is not None  # `_member` gives plain files only
            with session.open("wb") as copy:
                while piece := file.read(2**20):
                    copy.write(piece)
    except (tarfile.TarError, EOFError, OSError) as exc:
        raise UserError(f"{source}: is no snapshot archive: {exc}") from exc
    try:
        found = Snapshot.model_validate_json(text)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = ".".join(str(part) for part in error["loc"]) or META
        raise UserError(f"{source}: {META}: {where}: {error['msg']}") from exc
    # Read once, so that a session that cannot be read is refused here and not on its first use.
    sum(len(encode_line(line)) for line in read_lines(session))
    return found


def _member(archive: tarfile.TarFile, name: str, source: Path) -> tarfile.TarInfo:
    """Return the one plain file of this name; UserError if it is missing or a link, or if there are other members."""
    members = archive.getmembers()
    if strange := [m.name for m in members if m.name not in {META, SESSION, "session"} or not (m.isreg() or m.isdir())]:
        raise UserError(f"{source}: holds {strange[0]!r}; a snapshot has {META} and {SESSION} alone. Nothing was read")
    found = [m for m in members if m.name == name and m.isreg()]
    if len(found) != 1:
        raise UserError(f"{source}: has {len(found)} files {name}; one is needed")
    return found[0]


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, source: Path) -> bytes:
    file = archive.extractfile(member)
    if file is None:
        raise UserError(f"{source}: {member.name} is no file")
    return file.read()
