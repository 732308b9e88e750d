"""A text is taken out of a benchmark, its work logs, its review and its evaluations; a search proves it."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.pipeline import holds
from longbeam.store import ReviewStore, SealedConversation, open_benchmark
from tests.review.events import event

SECRET = "Zvjezdana Kovač"
NFD = unicodedata.normalize("NFD", SECRET)
HIDDEN = SECRET.replace("d", "\u00add").replace(" ", "\u00a0")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A probed and evaluated benchmark of chats, in whose messages, title and review a name stands."""
    said = [
        ("user", f"The flat of {SECRET} costs €2,400. The piano weighs 210 kg."),
        ("assistant", f"I noted what {SECRET.upper()} pays.\n\n- {NFD}\n- {SECRET.replace(' ', chr(10))}\n- {HIDDEN}"),
        ("user", "The course has 24 lessons."),
        ("assistant", "Good."),
    ]
    chat = {"title": f"To {SECRET}", "messages": [{"role": role, "content": text} for role, text in said]}
    (tmp_path / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    folder = tmp_path / "output"
    more = ["--out", str(folder)]
    assert run(["import", "chat", str(tmp_path / "chat.json"), "--name", "mine", *more]) == OK
    assert run(["probe", "mine", "--model", "offline", *more]) == OK
    assert run(["evaluate", "mine", "--system", "rag", *more]) == OK
    with ReviewStore(folder / "mine" / "reviews.sqlite") as store:
        store.append([event("flagged", at=1).model_copy(update={"note": f"Who is {SECRET}?"})])
    return folder


def test_a_text_is_gone_from_every_file(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern, root = re.compile(re.escape(SECRET), re.IGNORECASE), out / "mine"
    before = {p.relative_to(root).parts[0] for p in root.rglob("*") if p.is_file() and holds(p, pattern)}
    assert before >= {"work", "conversations", "evaluation", "reviews.sqlite", "benchmark.duckdb"}
    capsys.readouterr()
    assert run(["purge", "mine", "--text", SECRET, "--out", str(out)]) == OK
    said = capsys.readouterr().out
    assert "rewritten  conversations/c000.duckdb" in said
    assert "deleted    work/c000.sqlite" in said
    assert "the text is in none of them" in said
    assert not any(holds(path, pattern) for path in root.rglob("*") if path.is_file())
    with SealedConversation(open_benchmark(out, "mine").sealed_path("c000")) as sealed:
        first, second, *_ = sealed.messages()
        assert first.content.startswith("The flat of [removed] costs €2,400.")
        assert second.content == "I noted what [removed] pays.\n\n- [removed]\n- [removed]\n- [removed]"
    with ReviewStore(root / "reviews.sqlite", read_only=True) as store:
        assert [e.note for _, e in store.events()] == ["Who is [removed]?"]
    assert run(["validate", "mine", "--out", str(out)]) in {OK, 1}
    assert run(["verify", "mine", "--out", str(out)]) == OK


def test_a_file_that_is_not_of_the_benchmark_is_named(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (out / "mine" / "notes.txt").write_text(f"{SECRET} called", encoding="utf-8")
    assert run(["purge", "mine", "--text", SECRET, "--out", str(out)]) == USER_ERROR
    assert "these files still hold the text: notes.txt" in capsys.readouterr().err


def test_a_text_of_two_letters_is_refused(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["purge", "mine", "--text", "an", "--out", str(out)]) == USER_ERROR
    assert "3 characters or more" in capsys.readouterr().err


def test_a_text_in_a_fixed_value_is_refused_before_anything_changes(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [path for path in sorted((out / "mine").rglob("*")) if path.is_file()]
    before = [path.read_bytes() for path in files]
    for text, named in (("Mine", "BenchmarkSpec"), ("user", "role"), ("[removed]", "was removed")):
        capsys.readouterr()
        assert run(["purge", "mine", "--text", text, "--out", str(out)]) == USER_ERROR
        (line,) = capsys.readouterr().err.splitlines()
        assert named in line
    assert [path.read_bytes() for path in files] == before
