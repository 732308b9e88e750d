from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from longbeam.errors import StoreError, UserError
from longbeam.formats import (
    LINES,
    DetailColumns,
    EvidenceColumns,
    ExportOptions,
    export_jsonl,
    features_of,
    public_spec,
    who_wrote_it,
)
from longbeam.schemas import Author, BenchmarkSpec, MeasuredDifficulty, Message
from tests.tiny import TinyConversation, probe, tiny_conversation

SPEC = BenchmarkSpec(name="tiny", seeds_file="/home/somebody/seeds.json")

# The contract, docs/export-format.md: who changes a column raises the format's version.
COLUMNS = {
    "conversations": "conversation_id seed profile relationships narratives plans plan_seeds target_tokens tokenizer "
    "statistics details canary",
    "messages": "conversation_id message_id message_key role speaker kind session plan subplan turn sent_at "
    "content tokens bullet_ids parts details",
    "probes": "conversation_id probe_id ability source_category difficulty question gold_answer rubric "
    "evidence bullet_ids fact_ids details asked_at asked_after review canary",
}
FILES = {"README.md", "croissant.json", "manifest.json", *(f"{name}.jsonl" for name in LINES)}


def read_lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]


def test_every_line_has_the_columns_of_the_contract(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation("c000"), tiny_conversation("c001")], SPEC, tmp_path / "out")

    for name, columns in COLUMNS.items():
        assert {" ".join(line) for line in read_lines(tmp_path / "out", name)} == {columns}
    assert {p.name for p in (tmp_path / "out").iterdir()} == FILES


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_conversation_has_all_its_plans(tmp_path: Path, count: int) -> None:
    tiny = tiny_conversation()
    plans = tuple(tiny.head.plans[0].model_copy(update={"plan_index": i}) for i in range(count))
    export_jsonl([replace(tiny, head=tiny.head.model_copy(update={"plans": plans}))], SPEC, tmp_path / "out")

    (line,) = read_lines(tmp_path / "out", "conversations")
    assert line["plans"] == [plan.model_dump(mode="json") for plan in plans]


def test_messages_keep_their_order_and_content(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")

    lines = read_lines(tmp_path / "out", "messages")
    assert [line["message_id"] for line in lines] == list(range(8))
    assert lines[5]["content"] == "That is enough for “five” days.\nUse trams."
    assert (lines[4]["plan"], lines[4]["subplan"], lines[4]["turn"]) == (0, 1, 1)
    assert lines[4]["sent_at"] == "2024-03-04T09:04:00"


def test_probes_are_the_selected_ones_with_the_ids_of_their_messages(tmp_path: Path) -> None:
    report = export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")

    lines = read_lines(tmp_path / "out", "probes")
    assert [line["probe_id"] for line in lines] == ["abstention.0", "information_extraction.0"]
    assert [e["message_id"] for e in lines[1]["evidence"]] == [0, 4]
    assert lines[0]["review"] == {"status": "unreviewed"}
    assert (report.conversations, report.messages, report.probes, report.tokens) == (1, 8, 2, 230)


def test_evidence_names_its_speaker_and_a_question_on_the_way_the_message_before_it(tmp_path: Path) -> None:
    tiny = tiny_conversation()
    said = (tiny.said[0], tiny.said[1])  # the user's, and the reply to it
    early = probe("information_extraction.0", "information_extraction", said, selected=True)
    asked = replace(tiny, asked=(early.model_copy(update={"asked_at": tiny.said[3].sent_at}),))

    export_jsonl([asked], SPEC, tmp_path / "out")

    (line,) = read_lines(tmp_path / "out", "probes")
    assert [(e["message_id"], e["role"], e["speaker"]) for e in line["evidence"]] == [
        (0, "user", "user"),
        (1, "assistant", "assistant"),
    ]
    assert (line["asked_at"], line["asked_after"]) == (tiny.said[3].sent_at.isoformat(), 3)


def test_conversation_statistics_are_counted(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")

    # user tokens: 10 + 4 + 12 + 4
    assert read_lines(tmp_path / "out", "conversations")[0]["statistics"] == {
        "messages": 8,
        "user_messages": 4,
        "replies": 4,
        "answers": 1,
        "follow_ups": 1,
        "turns": 2,
        "tokens": 230,
        "user_tokens": 30,
        "probes": 2,
    }


def test_rejected_probes_are_left_out(tmp_path: Path) -> None:
    reviews = {("c000", "abstention.0"): "rejected", ("c000", "information_extraction.0"): "edited"}
    report = export_jsonl([tiny_conversation()], SPEC, tmp_path / "out", ExportOptions(reviews))

    (line,) = read_lines(tmp_path / "out", "probes")
    assert (line["probe_id"], line["review"]["status"]) == ("information_extraction.0", "edited")
    assert (report.rejected, report.not_reviewed) == (1, 0)


def test_reviewed_only_leaves_out_what_nobody_looked_at(tmp_path: Path) -> None:
    reviews = {("c000", "abstention.0"): "accepted"}
    report = export_jsonl([tiny_conversation()], SPEC, tmp_path / "out", ExportOptions(reviews, reviewed_only=True))

    assert [line["probe_id"] for line in read_lines(tmp_path / "out", "probes")] == ["abstention.0"]
    assert report.not_reviewed == 1


def test_the_bytes_depend_on_the_data_alone(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation()], SPEC, tmp_path / "here")
    elsewhere = SPEC.model_copy(update={"seeds_file": "/srv/other/seeds.json", "limits": {"concurrency": 1}})
    export_jsonl([tiny_conversation()], elsewhere, tmp_path / "there" / "deeper")

    for name in FILES:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / "deeper" / name).read_bytes()


def test_no_path_leaks(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")

    text = "".join((tmp_path / "out" / name).read_text(encoding="utf-8") for name in sorted(FILES))
    assert "/home/" not in text
    assert str(tmp_path) not in text
    assert public_spec(SPEC)["seeds_file"] == "seeds.json"


def test_the_manifest_has_counts_and_digests(tmp_path: Path) -> None:
    report = export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")

    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["format"], manifest["format_version"]) == ("longbeam-jsonl", 3)
    assert manifest["counts"] == {"conversations": 1, "messages": 8, "probes": 2, "tokens": 230}
    for name in FILES - {"manifest.json"}:
        digest = hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest()
        assert manifest["files"][name]["sha256"] == report.sha256[name] == digest


def test_the_card_declares_every_column(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")

    _, front, body = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    header = yaml.safe_load(front)
    assert {c["config_name"]: c["data_files"] for c in header["configs"]} == {n: f"{n}.jsonl" for n in LINES}
    for info in header["dataset_info"]:
        for line in read_lines(tmp_path / "out", info["config_name"]):
            assert_fits(line, info["features"])
    assert "2 probing questions" in body


def test_the_card_begins_with_an_example_and_ends_with_limits_and_licence(tmp_path: Path) -> None:
    spec = BenchmarkSpec.model_validate({"name": "tiny", "export": {"licence": "CC-BY-4.0"}})
    export_jsonl([tiny_conversation()], spec, tmp_path / "out")

    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    sections = [line.removeprefix("## ") for line in card.splitlines() if line.startswith("## ")]
    assert sections == [
        *("Example", "Composition", "Who wrote it", "Files", "Load it"),
        *("How it was checked", "Limits", "Licence and contamination"),
    ]
    shown = next(p for p in tiny_conversation().asked if p.evidence)
    assert f"**Question:** {shown.question}" in card
    assert f"> {shown.evidence[0].quote}" in card
    assert "| abstention | 1 |" in card
    assert "unreviewed 2" in card
    assert "Licence: CC-BY-4.0." in card
    assert "\nlicense: cc-by-4.0\n" in card


def test_the_card_says_what_its_makers_brought(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "_people.j2").write_text("Nobody.\n")
    spec = BenchmarkSpec.model_validate(
        {
            "name": "tiny",
            "domain": {"name": "b2b support", "about": "Administrators write to the support of a bookkeeping cloud."},
            "prompts": {"folder": str(tmp_path / "prompts")},
            "people": {"table": str(tmp_path / "people.csv")},
        }
    )
    export_jsonl([tiny_conversation()], spec, tmp_path / "out")

    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "> Administrators write to the support of a bookkeeping cloud." in card
    assert "the planner, `offline`" in card
    assert "- `outline`: `" in card
    assert str(tmp_path) not in card + (tmp_path / "out" / "manifest.json").read_text(encoding="utf-8")


def test_a_licence_stands_in_one_place() -> None:
    with pytest.raises(ValueError, match=r"contradicts export\.licence"):
        BenchmarkSpec.model_validate({"name": "b", "licence": "MIT", "export": {"licence": "CC0-1.0"}})
    with pytest.raises(ValueError, match="unknown key 'license'; the known key is licence"):
        BenchmarkSpec.model_validate({"name": "b", "export": {"license": "MIT"}})


PARSERS: dict[str, Callable[[Any], Any]] = {
    "string": str,
    "int64": int,
    "float64": float,
    "bool": bool,
    "date32": lambda text: dt.date.fromisoformat(text).isoformat(),
    "timestamp[s]": lambda text: dt.datetime.fromisoformat(text).isoformat(),
}


def assert_fits(value: dict[str, Any], features: list[dict[str, Any]]) -> None:
    """The declared types are those of the line, all the way down."""
    assert list(value) == [f["name"] for f in features]
    for feature in features:
        item = value[feature["name"]]
        if item is None:
            continue
        if "struct" in feature:
            assert_fits(item, feature["struct"])
        elif "list" in feature:
            for element in item:
                assert_fits(element, feature["list"])
        elif "sequence" in feature:
            assert all(isinstance(element, str) for element in item)
        else:
            assert PARSERS[feature["dtype"]](item) == item


def test_features_are_derived_from_the_line_records() -> None:
    by_name = {f["name"]: f for f in features_of(LINES["messages"])}
    assert by_name["plan"] == {"name": "plan", "dtype": "int64"}
    assert by_name["bullet_ids"] == {"name": "bullet_ids", "sequence": "string"}
    assert [f["name"] for f in by_name["parts"]["list"]] == ["kind", "text", "data"]


def test_the_offline_writer_is_never_called_a_language_model() -> None:
    assert "No language model wrote" in who_wrote_it({"default": "offline"}, "1")
    mixed = who_wrote_it({"default": "openai:gpt-x", "planner": "offline"}, "1")
    assert "| default | `openai:gpt-x` |" in mixed
    assert "`offline` is the offline writer of longbeam 1: rules" in mixed
    assert "rules" not in who_wrote_it({"default": "openai:gpt-x"}, "1")


def test_a_model_under_its_servers_name_is_a_language_model() -> None:
    # Sealed conversations name the model as its server answers: without a provider.
    text = who_wrote_it({"assistant": "gpt-4.1-mini", "planner": "Qwen/Qwen3-8B"}, "1")

    assert "| assistant | `gpt-4.1-mini` |" in text
    assert "rules" not in text


def test_the_card_says_whether_a_model_checked_what_others_wrote() -> None:
    assert "No model checked" in who_wrote_it({"writer": "gpt-x"}, "1")
    checked = who_wrote_it({"writer": "gpt-x", "checker": "gpt-y"}, "1")
    assert "The role `checker` judged the text" in checked
    assert "No model checked" not in checked
    assert "check" not in who_wrote_it({"default": "openai:gpt-x"}, "1")  # nothing is known of the roles that answered


def test_an_export_names_the_models_that_answered_and_not_those_of_today(tmp_path: Path) -> None:
    tiny = tiny_conversation()
    authors = tuple(Author(role=r, model=m) for r, m in (("user", "m-1"), ("assistant", "m-2"), ("assistant", "m-1")))
    spec = SPEC.model_copy(update={"models": {"default": "openai:today"}})
    head = tiny.head.model_copy(update={"authors": authors})
    export_jsonl([TinyConversation(head, tiny.said, tiny.asked)], spec, tmp_path / "out")

    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["spec"]["models"] == {"assistant": "m-1, m-2", "user": "m-1"}
    assert "| assistant | `m-1, m-2` |" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_a_former_export_is_replaced(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation("c000"), tiny_conversation("c001")], SPEC, tmp_path / "out")
    export_jsonl([tiny_conversation("c001")], SPEC, tmp_path / "out")

    assert [line["conversation_id"] for line in read_lines(tmp_path / "out", "conversations")] == ["c001"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json"])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("{}", encoding="utf-8")

    with pytest.raises(UserError, match="not empty"):
        export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")
    assert (tmp_path / "out" / name).read_text(encoding="utf-8") == "{}"


def test_a_file_laid_into_a_former_export_is_not_deleted(tmp_path: Path) -> None:
    export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")
    (tmp_path / "out" / "thesis.tex").touch()

    with pytest.raises(UserError, match=r"'thesis\.tex' beside a former export"):
        export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")


def test_a_file_as_target_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UserError, match="is a file"):
        export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")


def test_an_unwritable_place_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file/out: cannot write|file/.*Not a directory"):
        export_jsonl([tiny_conversation()], SPEC, tmp_path / "file" / "out")


def test_no_conversation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no finished conversation"):
        export_jsonl([], SPEC, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_half_way_leaves_the_former_export(tmp_path: Path) -> None:
    class Broken(TinyConversation):
        def messages(self) -> Iterator[Message]:
            yield from self.said[:3]
            raise RuntimeError("disk on fire")

    good = tiny_conversation()
    export_jsonl([good], SPEC, tmp_path / "out")
    with pytest.raises(RuntimeError):
        export_jsonl([good, Broken(good.head, good.said, ())], SPEC, tmp_path / "out")

    assert len(read_lines(tmp_path / "out", "messages")) == 8
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_probe_that_cites_nothing_real_is_refused(tmp_path: Path) -> None:
    good = tiny_conversation()
    stray = good.said[0].model_copy(update={"message_key": "p9.s9.t9.n9"})
    broken = TinyConversation(good.head, good.said, (probe("x.0", "x", (stray,), selected=True),))

    with pytest.raises(UserError, match=r"probe 'x\.0' cites message 'p9\.s9\.t9\.n9'"):
        export_jsonl([broken], SPEC, tmp_path / "out")


def test_leftovers_of_a_killed_export_are_removed(tmp_path: Path) -> None:
    leftover = tmp_path / ".out.partial-999999999-00"  # above any system's greatest process id
    leftover.mkdir()
    export_jsonl([tiny_conversation()], SPEC, tmp_path / "out")
    assert not leftover.exists()


def test_every_column_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "export-format.md").read_text(encoding="utf-8")
    for name, line in LINES.items():
        section = page.split(f"## {name}.jsonl")[1].split("\n## ")[0]
        for column in line.model_fields:
            assert f"`{column}`" in section
    for column in (*DetailColumns.model_fields, *EvidenceColumns.model_fields, *MeasuredDifficulty.model_fields):
        assert f"`{column}`" in page or f"`{column}?`" in page
