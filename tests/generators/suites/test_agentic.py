from __future__ import annotations

from pathlib import Path

import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.generators.suites import BEFORE, AgenticSettings, Draw, Place
from longbeam.generators.suites.agentic import make_conversation
from longbeam.models import load_tokenizer
from longbeam.schemas import PartKind, text_of
from longbeam.store import SealedConversation

COUNT = load_tokenizer("o200k_base").count


def draw(index: int = 0) -> Draw:
    return Draw("agentic", 1, index, COUNT, "o200k_base")


def test_every_fact_stands_once_and_its_quote_holds_the_value() -> None:
    made = make_conversation(AgenticSettings(length=64_000), draw())
    messages = {m.message_key: m for m in made.messages()}
    text = "\n".join(m.content for m in messages.values())
    assert len(made.probes) == 3 * len(Place)
    for probe in made.probes:
        (cited,) = probe.evidence
        again = probe.details.variety == Place.BEFORE_MENTIONED
        assert cited.quote in messages[cited.message_key].content
        assert probe.details.new_value in cited.quote
        assert text.count(probe.details.new_value) == (2 if again else 1)
        assert probe.details.new_value not in probe.question


def test_facts_before_the_compaction_stand_before_it() -> None:
    made = make_conversation(AgenticSettings(length=64_000), draw())
    order = {m.message_key: i for i, m in enumerate(made.messages())}
    (boundary,) = [i for i, m in enumerate(made.messages()) if any(p.kind is PartKind.COMPACTION for p in m.parts)]
    for probe in made.probes:
        is_before = order[probe.evidence[0].message_key] < boundary
        assert is_before == (Place(probe.details.variety) in BEFORE)


@pytest.mark.parametrize("length", [32_000, 128_000])
def test_length_content_and_order(length: int) -> None:
    made = make_conversation(AgenticSettings(length=length), draw())
    messages = list(made.messages())
    assert abs(sum(m.tokens for m in messages) - length) <= max(0.02 * length, 2_500)
    assert all(m.content == text_of(m.parts) for m in messages if m.parts)
    assert [m.sent_at for m in messages] == sorted(m.sent_at for m in messages)
    asked = [m.content for m in messages if m.role.value == "user"]
    assert len(asked) == len(set(asked))


def test_a_conversation_depends_on_its_place_alone() -> None:
    settings = AgenticSettings(length=32_000)
    first, again, other = (make_conversation(settings, draw(i)) for i in (0, 0, 1))
    assert list(first.messages()) == list(again.messages())
    assert {p.details.new_value for p in first.probes}.isdisjoint({p.details.new_value for p in other.probes})


def test_the_command_makes_a_benchmark_without_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["suite", "agentic", "--name", "ag", "--set", "length=32K", "--conversations", "2", "--out", str(tmp_path)]
    assert run(given) == OK
    assert run(["validate", "ag", "--out", str(tmp_path)]) == OK
    assert run(["export", "ag", "--to", str(tmp_path / "export"), "--out", str(tmp_path)]) == OK
    assert "suite `agentic`" in (tmp_path / "export" / "README.md").read_text(encoding="utf-8")
    with SealedConversation(tmp_path / "ag" / "conversations" / "c001.duckdb") as reader:
        assert len(list(reader.probes())) == 36
    assert run(["study", "cmv", "ag", "--threshold", "500", "--out", str(tmp_path)]) == OK
    assert run(["status", "ag", "--out", str(tmp_path)]) == OK
    assert "made by the suite agentic, 2 conversations; nothing is left to do" in capsys.readouterr().out
    assert run(["resume", "ag", "--out", str(tmp_path)]) == USER_ERROR


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["suite", "nope", "--name", "x"], "suite 'nope' is unknown; there are agentic"),
        (["suite", "agentic", "--name", "x", "--set", "length"], "write SETTING=VALUE"),
        (["suite", "agentic", "--name", "x", "--set", "length=4K"], "agentic: length"),
        (["suite", "agentic", "--name", "x", "--set", "size=4"], "settings are length"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], complaint: str
) -> None:
    assert run([*given, "--out", str(tmp_path)]) == USER_ERROR
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
