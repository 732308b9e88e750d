"""Store of snapshots and branches of sessions, as a DAG: several branches can continue from one snapshot.

A store is a folder: `index.json`, and `snapshots/<id>/` with `meta.json` and the session. Everything is written
under a hidden name and renamed, under a lock, so that two commands at once lose nothing.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import networkx as nx
from pydantic import Field, ValidationError

from longbeam import __version__
from longbeam.errors import StoreError, UserError
from longbeam.memory.cmv.session import (
    SessionFile,
    count_messages,
    folder_of,
    parse_line,
    read_lines,
)
from longbeam.memory.cmv.sessions.branching import BranchWriter, ListedSession, list_session, unlist_session
from longbeam.memory.cmv.study.trim import TrimMetrics, TrimSettings, refuse_without_messages, trim_lines
from longbeam.schemas.base import Record
from longbeam.store.files import describe_os_error, put_in_place, scratch_beside, write_atomically
from longbeam.store.lease import Lease

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
