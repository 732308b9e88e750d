"""Archives of snapshots: a gzipped tar of `meta.json` and the session. The reader trusts nothing in an archive."""

from __future__ import annotations

import io
import tarfile
import tempfile
from pathlib import Path

from pydantic import ValidationError

from longbeam.errors import StoreError, UserError
from longbeam.memory.cmv.session import encode_line, read_lines
from longbeam.memory.cmv.sessions.store import CmvStore, Snapshot, Warn, check_name, new_id
from longbeam.store.files import describe_os_error, put_in_place, scratch_beside

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
