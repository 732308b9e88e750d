from __future__ import annotations

import io
import json
import os
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from longbeam.errors import StoreError, UserError
from longbeam.memory.cmv import (
    BACKUPS,
    CmvStore,
    TrimSettings,
    choose_session,
    export_snapshot,
    folder_of,
    import_snapshot,
    run_hook,
    tree_json,
    tree_lines,
)
from tests.memory.cmv.lines import call, line, result, write_session

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LINES = [
    line("user", "Plan it.", uuid="a", parentUuid=None, sessionId="s-1234", cwd="/home/ann/p.x", version="2.1"),
    call("Bash", {"command": "ls"}, uuid="b", parentUuid="a", sessionId="s-1234"),
    result("r" * 900, uuid="c", parentUuid="b", sessionId="s-1234"),
    line("assistant", "Done.", uuid="d", parentUuid="c", sessionId="s-1234"),
]


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A folder of Claude Code's with one session."""
    folder = tmp_path / "projects"
    path = write_session(folder / "-home-ann-p-x" / "s-1234.jsonl", LINES)
    os.utime(path, (NOW.timestamp() - 999, NOW.timestamp() - 999))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> CmvStore:
    return CmvStore(tmp_path / "store", clock=lambda: NOW)


def test_snapshot_branch_export_import_is_the_identity(projects: Path, store: CmvStore, tmp_path: Path) -> None:
    session = choose_session(projects, "s-1234")
    taken = store.snapshot(session, "base", description="all of it", tags=("x",))
    made, _ = store.branch(taken, projects, name="again", trim=None)
    again = store.snapshot(choose_session(projects, made.session_id), "again")
    export_snapshot(store, again, tmp_path / "a.cmv")
    other = CmvStore(tmp_path / "other")
    there = import_snapshot(other, tmp_path / "a.cmv")
    # The same lines but for the session they belong to.
    expected = [t.replace("s-1234", made.session_id) for t in LINES]
    assert other.session_path(there).read_text(encoding="utf-8").splitlines() == expected
    assert (there.name, there.project, there.claude_code_version) == ("again", "/home/ann/p.x", "2.1")
    assert store.session_path(taken).read_bytes() == session.path.read_bytes()


def test_a_branch_is_where_claude_code_looks_and_trimmed(projects: Path, store: CmvStore) -> None:
    listed = projects / "-home-ann-p-x" / "sessions-index.json"
    listed.write_text('{"version":1,"entries":[]}', encoding="utf-8")
    taken = store.snapshot(choose_session(projects, "s-12"[:4]), "base")
    made, metrics = store.branch(taken, projects, trim=TrimSettings(), orientation="Go on with the tests.")
    path = projects / folder_of("/home/ann/p.x") / f"{made.session_id}.jsonl"
    lines = [json.loads(t) for t in path.read_text(encoding="utf-8").splitlines()]
    assert {found["sessionId"] for found in lines} == {made.session_id}
    assert lines[-1]["message"]["content"] == "Go on with the tests."
    assert lines[-1]["parentUuid"] == "d"
    assert metrics is not None
    assert metrics.tool_results_stubbed == 1
    assert made.name == "base-20260301-1200"
    (entry,) = json.loads(listed.read_text(encoding="utf-8"))["entries"]
    assert (entry["sessionId"], entry["messageCount"]) == (made.session_id, 5)
    store.delete_branch(taken, made.name)
    assert not path.exists()
    assert json.loads(listed.read_text(encoding="utf-8"))["entries"] == []


def test_a_message_after_the_lines_of_a_sidechain_follows_the_session(tmp_path: Path, store: CmvStore) -> None:
    side = line("assistant", "Found it.", uuid="x", parentUuid=None, isSidechain=True, sessionId="s-9999")
    path = write_session(tmp_path / "p" / "-home-ann-p-x" / "s-9999.jsonl", [*LINES, side])
    taken = store.snapshot(choose_session(tmp_path / "p", str(path)), "base")
    made, _ = store.branch(taken, tmp_path / "p", trim=None, orientation="Go on.")
    last = json.loads(Path(made.path).read_text(encoding="utf-8").splitlines()[-1])
    assert (last["message"]["content"], last["parentUuid"], last["isSidechain"]) == ("Go on.", "d", False)


def test_the_tree_follows_branches_and_a_deleted_parent_leaves_its_children_to_its_own(
    projects: Path, store: CmvStore
) -> None:
    base = store.snapshot(choose_session(projects, None), "base")
    made, _ = store.branch(base, projects, name="fork", trim=None)
    middle = store.snapshot(choose_session(projects, made.session_id), "middle")
    last, _ = store.branch(middle, projects, name="leaf", trim=None)
    top = store.snapshot(choose_session(projects, last.session_id), "top")
    shown = [t.split(" (")[0].split(" [")[0] for t in tree_lines(store.graph())]
    assert shown == ["base", "└── fork", "    └── middle", "        └── leaf", "            └── top"]
    assert len(list(tree_lines(store.graph(), most_depth=2))) == 2
    store.delete(middle)
    assert store.find("top").parent == base.snapshot_id
    (root,) = tree_json(store.graph())
    assert {child["name"] for child in root["children"]} == {"fork", "top"}
    assert top.parent == middle.snapshot_id


def test_snapshots_that_are_their_own_ancestors_are_named(projects: Path, store: CmvStore) -> None:
    first = store.snapshot(choose_session(projects, None), "one")
    path = store.root / "index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["snapshots"][first.snapshot_id]["parent"] = first.snapshot_id
    path.write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(StoreError, match="their own ancestors: one"):
        store.graph()


@pytest.mark.parametrize("name", ["", "a b", "../x", "a" * 101])
def test_names_that_cannot_be_are_refused(projects: Path, store: CmvStore, name: str) -> None:
    with pytest.raises(UserError, match="1 to 100 letters"):
        store.snapshot(choose_session(projects, None), name)


def test_a_name_is_taken_once(projects: Path, store: CmvStore) -> None:
    store.snapshot(choose_session(projects, None), "a" * 100)
    with pytest.raises(UserError, match="exists already"):
        store.snapshot(choose_session(projects, None), "a" * 100)


def test_a_session_in_use_or_without_messages_is_warned_of(tmp_path: Path, store: CmvStore) -> None:
    path = write_session(tmp_path / "p" / "x" / "empty.jsonl", [line("queue-operation")])
    os.utime(path, (NOW.timestamp() - 10, NOW.timestamp() - 10))
    warned: list[str] = []
    taken = store.snapshot(choose_session(tmp_path / "p", None), "e", warn=warned.append)
    assert [w.partition(" ")[2][:20] for w in warned] == ["empty was written to", "empty has no message"]
    with pytest.raises(UserError, match="no message to go on from"):
        store.branch(taken, tmp_path / "p", trim=None)


def test_sessions_are_chosen_by_beginning_and_never_by_chance(tmp_path: Path) -> None:
    for name in ("abcd-1", "abcd-2"):
        write_session(tmp_path / "p" / f"{name}.jsonl", LINES)
    assert choose_session(tmp_path, "abcd-2").session_id == "abcd-2"
    with pytest.raises(UserError, match="ambiguous: "):
        choose_session(tmp_path, "abcd")
    with pytest.raises(UserError, match="at least"):
        choose_session(tmp_path, "abc")
    with pytest.raises(UserError, match="no session lies below"):
        choose_session(tmp_path / "nowhere", None)


def _archive(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("name", ["../escaped.jsonl", "/tmp/escaped.jsonl", "session/../../escaped.jsonl"])
def test_no_path_of_an_archive_reaches_the_file_system(store: CmvStore, tmp_path: Path, name: str) -> None:
    file = _archive(tmp_path / "bad.cmv", {"meta.json": b"{}", "session/session.jsonl": b"", name: b"x"})
    with pytest.raises(UserError, match="Nothing was read"):
        import_snapshot(store, file)
    assert not store.root.exists()
    assert not (tmp_path / "escaped.jsonl").exists()


def test_an_archive_with_a_link_is_refused(store: CmvStore, tmp_path: Path) -> None:
    file = tmp_path / "link.cmv"
    with tarfile.open(file, "w:gz") as archive:
        info = tarfile.TarInfo("session/session.jsonl")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(UserError, match="alone"):
        import_snapshot(store, file)


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_what_is_no_archive_is_said(store: CmvStore, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.cmv").write_bytes(content)
    with pytest.raises(UserError, match="no snapshot archive"):
        import_snapshot(store, tmp_path / "x.cmv")


def test_force_replaces_only_once_the_archive_was_read(projects: Path, store: CmvStore, tmp_path: Path) -> None:
    taken = store.snapshot(choose_session(projects, None), "base")
    export_snapshot(store, taken, tmp_path / "base.cmv")
    with pytest.raises(UserError, match="rename it with --name"):
        import_snapshot(store, tmp_path / "base.cmv")
    broken = _archive(tmp_path / "b.cmv", {"meta.json": b'{"name": "base"}', "session/session.jsonl": b""})
    with pytest.raises(UserError, match="snapshot_id"):
        import_snapshot(store, broken, force=True)
    assert store.find("base").snapshot_id == taken.snapshot_id
    again = import_snapshot(store, tmp_path / "base.cmv", force=True)
    assert again.snapshot_id != taken.snapshot_id
    assert [s.name for s in store.index().snapshots.values()] == ["base"]
    assert import_snapshot(store, tmp_path / "base.cmv", name="other").name == "other"


def test_a_hook_trims_in_place_with_backups_and_never_fails(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", LINES)
    told = json.dumps({"transcript_path": str(session), "session_id": "s", "hook_event_name": "PreCompact"})
    for minute in range(BACKUPS + 2):
        done = run_hook(told, tmp_path / "store", TrimSettings(), now=NOW.replace(minute=minute))
    assert "bytes (PreCompact)" in done
    assert len(list((tmp_path / "store" / "backups" / "s").glob("*.jsonl"))) == BACKUPS
    for broken in ("", "[]", '{"transcript_path": "/nowhere/x.jsonl"}'):
        assert run_hook(broken, tmp_path / "store", TrimSettings()).startswith("nothing done")
    small = json.dumps({"transcript_path": str(session), "hook_event_name": "PostToolUse"})
    assert "below 600,000" in run_hook(small, tmp_path / "store", TrimSettings())
    assert len((tmp_path / "store" / "auto-trim.log").read_text(encoding="utf-8").splitlines()) == BACKUPS + 6


def test_a_branch_without_a_message_is_refused(tmp_path: Path, store: CmvStore) -> None:
    projects = tmp_path / "projects"
    ended = [*LINES, line("system", subtype="compact_boundary", sessionId="s-1234")]
    session = write_session(projects / "-p" / "s-1234.jsonl", ended)
    taken = store.snapshot(choose_session(projects, "s-1234"), "base")

    with pytest.raises(UserError, match="no message would be left of 4"):
        store.branch(taken, projects, name="empty", trim=TrimSettings())

    assert sorted(projects.glob("*/*.jsonl")) == [session]
    assert store.find("base").branches == ()


def test_a_hook_leaves_a_session_that_ends_with_a_title_whole(tmp_path: Path) -> None:
    lines = [*LINES, line("summary", summary="A title", leafUuid="d")]
    session = write_session(tmp_path / "s-1234.jsonl", lines)

    run_hook(json.dumps({"transcript_path": str(session)}), tmp_path / "store", TrimSettings())

    assert len(session.read_text(encoding="utf-8").splitlines()) == len(lines)
