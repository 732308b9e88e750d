from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given

from longbeam.errors import UserError
from longbeam.memory.cmv import (
    TrimSettings,
    Variant,
    blocks_of,
    content_holder,
    is_compaction,
    parse_line,
    since_compaction,
    speaker_of,
    trim_file,
    trim_lines,
)
from tests.memory.cmv.lines import IMAGE, SESSIONS, blocks, call, line, result, text, trimmed, write_session

LONG = "x" * 501


def test_lines_that_no_model_reads_are_dropped_and_others_kept() -> None:
    kept, metrics = trimmed(
        [line("file-history-snapshot"), line("queue-operation"), "", line("user", "hello"), line("system", x=1)]
    )
    assert [k["type"] for k in kept] == ["user", "system"]
    assert (metrics.file_history_removed, metrics.queue_operations_removed, metrics.user_messages) == (1, 1, 1)


def test_text_that_is_no_json_is_copied_as_it_is() -> None:
    kept: list[str] = []
    trim_lines(lambda: iter(["{broken", line("user", "a")]), kept.append, TrimSettings())
    assert kept[0] == "{broken"


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("y" * 500, "y" * 500),
        (LONG, "[Trimmed tool result: ~501 chars]"),
        ([text("a" * 300), text("b" * 200)], [text("a" * 300), text("b" * 200)]),
        ([text("a" * 300), text("b" * 201)], [text("[Trimmed tool result: ~501 chars]")]),
    ],
)
def test_a_result_is_stubbed_beyond_the_threshold(content: object, left: object) -> None:
    kept, metrics = trimmed([call("Bash", {"command": "ls"}), result(content)])
    assert blocks(kept[1])[0]["content"] == left
    assert metrics.tool_results_stubbed == (content != left)


def test_the_threshold_is_a_setting_of_at_least_fifty() -> None:
    lines = [call("Bash", {}), result("z" * 300)]
    assert blocks(trimmed(lines, 200)[0][1])[0]["content"] == "[Trimmed tool result: ~300 chars]"
    assert blocks(trimmed(lines, 500)[0][1])[0]["content"] == "z" * 300
    assert blocks(trimmed([call("Bash", {}), result("z" * 50)], 1)[0][1])[0]["content"] == "z" * 50


def test_an_image_in_a_result_goes_and_its_result_is_never_empty() -> None:
    kept, metrics = trimmed([call("Shot", {}), result([IMAGE])])
    assert blocks(kept[1])[0]["content"][0]["text"].startswith("[Trimmed tool result: ~")
    small = {"type": "image", "source": {"data": "A"}}
    kept, _ = trimmed([call("Shot", {}), result([small])])
    assert blocks(kept[1])[0]["content"] == [text("[Trimmed tool result: ~38 chars]")]
    released, _ = trimmed([call("Shot", {}), result([small])], variant=Variant.RELEASED)
    assert blocks(released[1])[0]["content"] == []  # which the API refuses
    assert metrics.images_stripped == 1


def test_what_a_writer_writes_is_stubbed_and_what_identifies_it_kept() -> None:
    path = "/p/" + "d" * 600
    kept, metrics = trimmed([call("Write", {"file_path": path, "content": LONG})])
    assert blocks(kept[0])[0]["input"] == {"file_path": path, "content": "[Trimmed input: ~501 chars]"}
    kept, _ = trimmed([call("Edit", {"file_path": "f", "old_string": LONG, "new_string": "short"})])
    assert blocks(kept[0])[0]["input"]["old_string"] == "[Trimmed input: ~501 chars]"
    assert blocks(kept[0])[0]["input"]["new_string"] == "short"
    assert metrics.tool_inputs_stubbed == metrics.tool_calls == 1


def test_a_long_input_of_another_tool_keeps_its_identifying_fields() -> None:
    kept, _ = trimmed([call("Task", {"description": LONG, "prompt": LONG, "count": 3})])
    assert blocks(kept[0])[0]["input"] == {"description": LONG, "prompt": "[Trimmed input: ~501 chars]", "count": 3}


def test_nested_edits_are_stubbed_where_mended_and_kept_by_the_released_code() -> None:
    lines = [call("MultiEdit", {"file_path": "f", "edits": [{"old_string": "a", "new_string": LONG}]})]
    mended, _ = trimmed(lines)
    assert blocks(mended[0])[0]["input"]["edits"][0]["new_string"] == "[Trimmed input: ~501 chars]"
    released, _ = trimmed(lines, variant=Variant.RELEASED)
    assert blocks(released[0])[0]["input"]["edits"][0]["new_string"] == LONG


def test_all_before_the_last_compaction_goes_with_the_results_of_its_calls() -> None:
    kept, metrics = trimmed(
        [
            line("user", "first"),
            line("summary", summary="one"),
            call("Bash", {}, own="old"),
            line("system", subtype="compact_boundary"),
            result("late answer", call="old"),
            call("Bash", {}, own="new"),
            result("answer", call="new"),
        ]
    )
    assert [k["type"] for k in kept] == ["system", "assistant", "user"]
    assert (metrics.lines_before_compaction, metrics.orphan_results_removed, metrics.empty_lines_removed) == (3, 1, 1)


def test_usage_goes_from_both_places() -> None:
    raw = {"type": "assistant", "message": {"role": "assistant", "content": "a", "usage": {"input_tokens": 1}}}
    kept, _ = trimmed([json.dumps({**raw, "usage": {"output_tokens": 2}})])
    assert kept[0] == {"type": "assistant", "message": {"role": "assistant", "content": "a"}}


def test_a_line_of_thinking_alone_goes_and_its_children_find_their_ancestor() -> None:
    lines = [
        line("user", "q", uuid="a", parentUuid=None),
        line("assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}], uuid="b", parentUuid="a"),
        line("file-history-snapshot", uuid="c", parentUuid="b"),
        line("assistant", [text("r")], uuid="d", parentUuid="c"),
    ]
    mended, _ = trimmed(lines)
    assert [(k["uuid"], k["parentUuid"]) for k in mended] == [("a", None), ("d", "a")]
    released, _ = trimmed(lines, variant=Variant.RELEASED)
    assert [(k["uuid"], k["parentUuid"]) for k in released] == [("a", None), ("b", "a"), ("d", "c")]
    assert blocks(released[1]) == []


def texts_of(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (speaker, text) for contents that are text and for blocks of text, in order."""
    for raw in lines:
        entry = parse_line(raw)
        speaker = speaker_of(entry) if entry is not None else None
        if entry is None or speaker is None:
            continue
        holder = content_holder(entry)
        if holder is not None and isinstance(holder["content"], str):
            yield speaker, holder["content"]
        yield from ((speaker, b["text"]) for b in blocks_of(entry) if b.get("type") == "text")


@given(SESSIONS)
def test_every_text_after_the_last_compaction_stays_verbatim(lines: list[str]) -> None:
    kept: list[str] = []
    trim_lines(lambda: iter(lines), kept.append, TrimSettings())
    stubs = "[Trimmed image"
    said = [(who, words) for who, words in texts_of(kept) if not words.startswith(stubs)]
    assert said == list(texts_of(since_compaction(lines)))


@given(SESSIONS)
def test_trimming_twice_is_trimming_once(lines: list[str]) -> None:
    once: list[str] = []
    twice: list[str] = []
    trim_lines(lambda: iter(lines), once.append, TrimSettings(threshold=50))
    trim_lines(lambda: iter(once), twice.append, TrimSettings(threshold=50))
    assert twice == once


@given(SESSIONS)
def test_parents_exist_and_no_content_is_empty(lines: list[str]) -> None:
    kept, _ = trimmed(lines) if all(t.startswith("{") for t in lines) else ([], None)
    known = {None}
    for found in kept:
        assert found["parentUuid"] in known
        known.add(found["uuid"])
        assert found.get("message", {}).get("content") != []


def test_a_file_is_trimmed_in_place_and_what_comes_meanwhile_is_kept(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", [line("user", "a"), call("Bash", {}), result(LONG)])
    metrics = trim_file(session, session, TrimSettings())
    left = session.read_text(encoding="utf-8").splitlines()
    assert len(left) == 3
    assert metrics.trimmed_bytes == session.stat().st_size
    assert metrics.original_bytes == metrics.trimmed_bytes + 501 - len("[Trimmed tool result: ~501 chars]")


def test_bytes_that_are_no_text_come_through(tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    session.write_bytes(b'\xff broken\n{"type":"user","message":{"role":"user","content":"h\xc3\xa4"}}\n')
    trim_file(session, tmp_path / "out.jsonl", TrimSettings())
    assert (tmp_path / "out.jsonl").read_bytes() == session.read_bytes()


def test_only_a_compact_boundary_is_a_compaction() -> None:
    found = [parse_line(t) for t in (line("summary"), line("system", subtype="compact_boundary"), line("system"))]
    assert [is_compaction(f) for f in found if f is not None] == [False, True, False]


def test_a_title_at_the_end_of_a_session_removes_nothing() -> None:
    # Coding agents write a session's title as a `summary` line that names a leaf, sometimes as the last line.
    lines = [line("user", "a"), line("assistant", "b"), line("summary", summary="A title", leafUuid="b")]

    kept, metrics = trimmed(lines)
    _, released = trimmed(lines, variant=Variant.RELEASED)

    assert [one["type"] for one in kept] == ["user", "assistant", "summary"]
    assert metrics.lines_before_compaction == 0
    assert released.lines_before_compaction == 2  # the fault of the released code


@pytest.mark.parametrize("variant", Variant)
def test_a_trim_that_leaves_no_message_is_refused(tmp_path: Path, variant: Variant) -> None:
    session = write_session(tmp_path / "s.jsonl", [line("user", "a"), line("system", subtype="compact_boundary")])
    before = session.read_bytes()

    with pytest.raises(UserError, match="no message would be left of 1"):
        trim_file(session, session, TrimSettings(variant=variant))

    assert session.read_bytes() == before


def test_the_copy_of_a_tools_result_is_shortened_and_keeps_its_shape() -> None:
    copy = {
        "stdout": LONG,
        "interrupted": False,
        "structuredPatch": [{"oldStart": 1, "lines": ["+a" * 100] * 3}],
        "file": {"filePath": "f.py", "numLines": 3},
    }
    lines = [call("Bash", {"command": "ls"}), result("short", toolUseResult=copy)]
    kept, metrics = trimmed(lines)
    assert kept[1]["toolUseResult"] == {
        "stdout": "[Trimmed tool result: ~501 chars]",
        "interrupted": False,
        "structuredPatch": [{"oldStart": 1, "lines": ["[Trimmed tool result: ~600 chars]"]}],
        "file": {"filePath": "f.py", "numLines": 3},
    }
    assert metrics.tool_copies_stubbed == 1
    released, _ = trimmed(lines, variant=Variant.RELEASED)
    assert released[1]["toolUseResult"] == copy  # the released code does not know the field


def test_half_a_character_stays_as_it_is_written(tmp_path: Path) -> None:
    source, target = tmp_path / "s.jsonl", tmp_path / "t.jsonl"
    blocks_ = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "half \ud83d emoji 😀"},
    ]
    source.write_text(json.dumps(json.loads(line("assistant", blocks_))) + "\n", encoding="utf-8")
    trim_file(source, target, TrimSettings())
    (kept,) = target.read_text(encoding="utf-8").splitlines()
    assert "half \\ud83d emoji 😀" in kept
    assert json.loads(kept)["message"]["content"][-1]["text"] == "half \ud83d emoji 😀"
