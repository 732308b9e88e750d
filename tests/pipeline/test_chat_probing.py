"""Probes over imported chats: extraction is scripted, everything behind it is the product's."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from longbeam.cli import OK, USER_ERROR, run
from longbeam.errors import UserError
from longbeam.formats import ImportOptions, import_chat
from longbeam.models import ModelCall
from longbeam.offline import OfflineWriter
from longbeam.pipeline import PROBING_FIELDS, Origin, chats_of, import_benchmark, probe_chats, probing_spec
from longbeam.pipeline.run import SilentProgress
from longbeam.prompts.calls import ContradictionInputs, CriticInputs, ExtractFactsInputs, ReadInputs, StatementDraft
from longbeam.schemas import BenchmarkSpec, MessageRole, ModelReply, Position
from longbeam.store import Benchmark, SealedConversation, open_benchmark
from tests.wired import answered_by

TALK = [
    ("I move to Lisbon. The deposit is €2,400.", "I would set aside €850 for shipping."),
    ("Transvia quoted €1,150 for the removal van.", "That is fair."),
    ("My language course has 24 lessons.", "Good."),
    ("The piano weighs 210 kg.", "It fits the lift."),
    ("Transvia now asks €1,290 for the removal van.", "You could still take it."),
]
FACTS = {
    "€2,400": ("the flat in Lisbon", "deposit"),
    "€850": ("the shipping to Lisbon", "suggested reserve"),
    "€1,150": ("the removal van", "price"),
    "24 lessons": ("the language course", "length"),
    "30 lessons": ("the language course", "length"),
    "2 March 2024": ("the piano", "day of tuning"),
    "20 March 2024": ("the piano", "next tuning day"),
    "€120": ("the lift", "repair money"),
    "€90": ("the stairs", "repair money"),
    "2 hours": ("chess with Goran", "length of a game"),
    "4 May": ("Transvia", "arrival"),
    "210 kg": ("the piano", "weight"),
    "€1,290": ("the removal van", "price"),
    "€700": ("the piano", "price"),
    "€95": ("the bench", "suggested price"),
}


LISTED = ("shellac", "tung oil", "hard wax")
"""Options that the assistant names in running text."""


class Reader:
    """Finds the facts and the options above; the offline writer answers every other prompt.

    `can_both_be_true` is its verdict on two statements; None leaves that to the offline writer, too. `settling`: a
    message for which it, as the critic, refuses each contradiction.
    """

    def __init__(self, *, can_both_be_true: bool | None = None, settling: str = "") -> None:
        self.calls = 0
        self.readers: set[str] = set()
        self.judged: list[ContradictionInputs] = []
        self._can_both_be_true = can_both_be_true
        self._settling = settling
        self._writer = OfflineWriter()

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls += 1
        if isinstance(call.inputs, ContradictionInputs) and self._can_both_be_true is not None:
            self.judged.append(call.inputs)
            return ModelReply(text=json.dumps({"reason": "r", "can_both_be_true": self._can_both_be_true}))
        if isinstance(call.inputs, ReadInputs):
            return await self._read(call, call.inputs)
        if isinstance(call.inputs, CriticInputs) and self._settling:
            settled = {p.number for p in call.inputs.passages if p.text == self._settling}
            contradictions = {p.number for p in call.inputs.probes if p.ability == "contradiction_resolution"}
            contradictions &= {p.number for p in call.inputs.probes if settled & {*p.passages}}
            given = json.loads((await self._writer.complete(call)).text)
            for critique in given["critiques"]:
                if critique["probe"] in contradictions:
                    critique |= {"verdict": "refuse", "reason": self._settling}
            return ModelReply(text=json.dumps(given))
        if not isinstance(call.inputs, ExtractFactsInputs):
            return await self._writer.complete(call)
        self.readers.add(call.model)
        found = [
            StatementDraft(
                message=m.number,
                quote=next(s for s in m.content.split(". ") if value in s).rstrip("."),
                says="change" if value == "€1,290" else "fact",
                subject=FACTS[value][0],
                attribute=FACTS[value][1],
                value=value,
            ).model_dump()
            for m in call.inputs.messages
            for value in FACTS
            if value in m.content
        ]
        found += [
            StatementDraft(
                message=m.number,
                quote=LISTED[0],
                says="list",
                subject="the varnish of the piano",
                attribute="options",
                items=list(LISTED),
            ).model_dump()
            for m in call.inputs.messages
            if call.inputs.reads_lists and LISTED[0] in m.content
        ]
        found += [
            StatementDraft(message=m.number, quote=m.content, says="denial", subject="Goran").model_dump()
            for m in call.inputs.messages
            if m.content.startswith("I have never")
        ]
        return ModelReply(text=json.dumps({"statements": found}))

    async def _read(self, call: ModelCall, inputs: ReadInputs) -> ModelReply:
        """Name the two statements where a question has two passages; rules read a chat's own words less well."""
        given = json.loads((await self._writer.complete(call)).text)
        said = {p.number: p.text for p in inputs.passages}
        shown = {q.number: q.passages for q in inputs.questions}
        for answer in given["answers"]:
            texts = [t for n in shown[answer["question"]] if re.search(r"lessons\.|chess", t := said[n])]
            if len(texts) == 2:
                both = '", and you also said "'.join(texts)
                answer["answer"] = f'These contradict each other: you said "{both}". Which of the two is right?'
        return ModelReply(text=json.dumps(given))


@pytest.fixture
def imported(tmp_path: Path) -> Benchmark:
    return imported_from(TALK, tmp_path)


def imported_from(talk: Sequence[tuple[str, str]], folder: Path, *, is_dated: bool = True) -> Benchmark:
    """A benchmark of chats with one message of each speaker, every second day of March 2024, or of unknown days."""
    chats = [
        {
            "title": f"Day {day}",
            **({"created_at": f"2024-03-{1 + 2 * day:02d}T09:00:00Z"} if is_dated else {}),
            "messages": [{"role": "user", "content": said}, {"role": "assistant", "content": replied}],
        }
        for day, (said, replied) in enumerate(talk)
    ]
    file = folder / "chats.json"
    file.write_text(json.dumps(chats))
    given = import_chat(file, ImportOptions(joins=True))
    return import_benchmark(given, "mine", folder / "out", Origin("chat", "", "o200k_base")).benchmark


async def test_probes_are_made_on_what_both_speakers_said(imported: Benchmark, tmp_path: Path) -> None:
    reader = Reader()
    benchmark = replace(imported, spec=probing_spec(imported, BenchmarkSpec(name="x", probes_per_ability=4)))
    made = await probe_chats(benchmark, answered_by(reader))
    assert (made.statements, made.failures) == (6, ())
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        probes = [p for p in sealed.probes() if p.is_selected]
        roles = {m.message_key: m.role for m in sealed.messages()}
        voiced = {m.message_key: m.bullet_ids for m in sealed.messages() if m.bullet_ids}
    assert len(probes) == made.probes
    (updated,) = (p for p in probes if p.ability == "knowledge_update")
    assert (updated.details.old_value, updated.details.new_value) == ("€1,150", "€1,290")
    assert voiced["p0.s0.t0.n1"] == ("p0.s0.b1",)
    # What the assistant said is asked for by itself alone: "what I told you" would be wrong of it.
    assert all(
        len(p.evidence) == 1 for p in probes if any(roles[e.message_key] is MessageRole.ASSISTANT for e in p.evidence)
    )
    assert open_benchmark(tmp_path / "out", "mine").spec.probes_per_ability == 4
    assert run(["validate", "mine", "--out", str(tmp_path / "out")]) == OK


@pytest.mark.parametrize("share", [0.0, 1.0])
async def test_the_probes_of_the_spec_say_when_questions_are_asked(imported: Benchmark, share: float) -> None:
    given = BenchmarkSpec.model_validate({"name": "x", "probes": {"on_the_way": share}})
    benchmark = replace(imported, spec=probing_spec(imported, given))
    await probe_chats(benchmark, answered_by(Reader()))
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        probes = [p for p in sealed.probes() if p.is_selected]
    assert any(p.asked_at for p in probes) == bool(share)


def test_the_page_names_the_fields_of_a_spec_that_count() -> None:
    page = (Path(__file__).parents[2] / "docs" / "imports.md").read_text(encoding="utf-8")
    listed = page.split("Of the spec these keys and tables count: ")[1].split(".")[0]
    assert re.findall(r"`(\w+)`", listed) == list(PROBING_FIELDS)


DISAGREEING = [
    *TALK[2:],
    *TALK[:2],
    ("My language course has 30 lessons.", "A lot."),
    ("I sing in the evenings.", "Sing on."),
]
"""Its first and its last but one message of the user's give the language course two lengths."""


def checked_spec(*, model: bool) -> BenchmarkSpec:
    """A spec of two abilities, with or without the checks of models."""
    abilities = ["contradiction_resolution", "information_extraction"]
    return BenchmarkSpec.model_validate({"name": "x", "abilities": abilities, "checks": {"model": model}})


@pytest.mark.parametrize("is_possible", [False, True])
async def test_two_statements_that_cannot_both_be_true_are_asked_for(tmp_path: Path, *, is_possible: bool) -> None:
    imported = imported_from(DISAGREEING, tmp_path)
    first, last = DISAGREEING[0][0], DISAGREEING[5][0]
    given = checked_spec(model=True)
    benchmark = replace(imported, spec=probing_spec(imported, given))
    reader = Reader(can_both_be_true=is_possible)
    made = await probe_chats(benchmark, answered_by(reader))
    assert made.failures == ()
    (pair,) = reader.judged
    assert (pair.earlier.text, pair.later.text) == (first, last)
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        probes = [p for p in sealed.probes() if p.is_selected]
    found = [p for p in probes if p.ability == "contradiction_resolution"]
    assert [[e.quote for e in p.evidence] for p in found] == ([] if is_possible else [[first, last]])
    # Nothing else is asked of a thing whose value is open.
    assert not [p for p in probes if p not in found and "lessons" in p.gold_answer]
    calls = reader.calls
    assert await probe_chats(benchmark, answered_by(reader)) == made
    assert reader.calls == calls
    assert run(["validate", "mine", "--out", str(tmp_path / "out")]) == OK


async def test_a_denial_of_what_was_told_is_asked_for(tmp_path: Path) -> None:
    told, denied = "A game of chess with Goran takes us 2 hours.", "I have never played chess with Goran."
    imported = imported_from([(told, "Nice."), *TALK[:3], (denied, "I see."), ("I sing.", "Sing on.")], tmp_path)
    benchmark = replace(imported, spec=probing_spec(imported, checked_spec(model=True)))
    assert (await probe_chats(benchmark, answered_by(Reader(can_both_be_true=False)))).failures == ()
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        probes = [p for p in sealed.probes() if p.is_selected]
    found = [p for p in probes if p.ability == "contradiction_resolution"]
    assert [[e.quote for e in p.evidence] for p in found] == [[told, denied]]
    assert not [p for p in probes if p not in found and "2 hours" in p.gold_answer]
    assert run(["validate", "mine", "--out", str(tmp_path / "out")]) == OK


async def test_what_another_message_settles_is_not_asked_for(tmp_path: Path) -> None:
    settling = "I had miscounted the lessons of my language course."
    imported = imported_from([*DISAGREEING, (settling, "I see."), ("I sing at night.", "Sing on.")], tmp_path)
    given = checked_spec(model=True)
    benchmark = replace(imported, spec=probing_spec(imported, given))
    await probe_chats(benchmark, answered_by(Reader(can_both_be_true=False, settling=settling)))
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        assert "contradiction_resolution" not in {p.ability for p in sealed.probes()}


async def test_nobody_is_asked_about_contradictions_where_models_do_not_check(tmp_path: Path) -> None:
    imported = imported_from(DISAGREEING, tmp_path)
    given = checked_spec(model=False)
    reader = Reader(can_both_be_true=False)
    await probe_chats(replace(imported, spec=probing_spec(imported, given)), answered_by(reader))
    assert reader.judged == []


async def test_what_the_assistant_gave_is_asked_for_by_more_than_one_ability(tmp_path: Path) -> None:
    talk = [
        ("The piano was tuned on 2 March 2024.", "I see."),
        ("I sing at night.", "Have it tuned anew, the next tuning day is 20 March 2024."),
        ("The piano weighs 210 kg.", "Put €120 aside as the repair money for the lift."),
        ("I sing at noon, too.", "Put €90 aside as the repair money for the stairs."),
        ("I sing at dawn.", "Sing on."),
    ]
    imported = imported_from(talk, tmp_path)
    abilities = ["information_extraction", "multi_session_reasoning", "temporal_reasoning"]
    given = BenchmarkSpec.model_validate({"name": "x", "abilities": abilities, "probes_per_ability": 4})
    benchmark = replace(imported, spec=probing_spec(imported, given))
    assert (await probe_chats(benchmark, answered_by(Reader()))).failures == ()
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        probes = [p for p in sealed.probes() if p.is_selected]
        replies = {m.message_key for m in sealed.messages() if m.role is MessageRole.ASSISTANT}
    asked = [p for p in probes if replies & {e.message_key for e in p.evidence}]
    assert {p.ability: p.details.computed_value for p in asked if p.details.computed_value} == {
        "multi_session_reasoning": "€210",
        "temporal_reasoning": "18 days",
    }
    assert "March 20, 2024" in " ".join(p.gold_answer for p in asked if p.ability == "information_extraction")
    assert run(["validate", "mine", "--out", str(tmp_path / "out")]) == OK


async def test_a_list_of_the_assistants_and_a_sum_over_both_speakers_are_asked_for(tmp_path: Path) -> None:
    talk = [
        ("How do I treat the case?", "You could take shellac, tung oil or, if it has to be quick, hard wax."),
        ("The price of the piano was €700.", "A fine piano."),
        ("I need a bench, too.", "For the bench I would reckon with a price of €95."),
        ("I sing at dawn.", "Sing on."),
    ]
    imported = imported_from(talk, tmp_path)
    abilities = ["information_extraction", "multi_session_reasoning"]
    given = BenchmarkSpec.model_validate({"name": "x", "abilities": abilities, "probes_per_ability": 4})
    benchmark = replace(imported, spec=probing_spec(imported, given))
    assert (await probe_chats(benchmark, answered_by(Reader()))).failures == ()
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        probes = [p for p in sealed.probes() if p.is_selected]
        roles = {m.message_key: m.role for m in sealed.messages()}
    (listed,) = (p for p in probes if all(item in p.gold_answer for item in LISTED))
    assert [e.quote for e in listed.evidence] == [
        "You could take shellac, tung oil or, if it has to be quick, hard wax."
    ]
    (summed,) = (p for p in probes if p.details.computed_value == "€795")
    assert [roles[e.message_key] for e in summed.evidence] == [MessageRole.USER, MessageRole.ASSISTANT]
    assert run(["validate", "mine", "--out", str(tmp_path / "out")]) == OK


def test_an_estimate_sends_nothing_and_prices_each_stage(
    imported: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "priced.toml"
    spec.write_text(
        '[models]\ndefault = "openai:m"\n[endpoints."openai:m"]\nbase_url = "http://127.0.0.1:9/v1"\n'
        "price = { input = 1.0, output = 2.0 }\n"
    )
    command = ["probe", "mine", "--spec", str(spec), "--estimate", "--out", str(tmp_path / "out")]
    assert run(command) == OK
    shown = capsys.readouterr().out
    assert shown.startswith("mine: 1 conversation of about ")
    assert run([*command, "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert {row["stage"] for row in found["rows"]} == {"ledger", "probes", "checks"}
    assert all(row["calls"] and row["cost_usd"] > 0 for row in found["rows"])
    assert not imported.work_path("c000").exists()
    # What it costs is also told before the messages are sent.
    assert run([name for name in command if name != "--estimate"]) == USER_ERROR
    told = capsys.readouterr().err
    assert "mine: expected: about" in told
    assert "nothing was sent" in told


async def test_the_bar_of_the_ledger_knows_how_many_passages_come(tmp_path: Path) -> None:
    seen: list[Position] = []

    class Bar(SilentProgress):
        def update(self, conversation_id: str, position: Position) -> None:
            seen.append(position)

    imported = imported_from([(f"Evening {i} was long. " * 300, "Indeed. " * 200) for i in range(6)], tmp_path)
    benchmark = replace(imported, spec=probing_spec(imported, BenchmarkSpec(name="x")))
    await probe_chats(benchmark, answered_by(Reader()), Bar())
    ledger = [(p.units_done, p.units_total) for p in seen if p.stage == "ledger"]
    # 6 evenings of 8,000 read characters: two fit into a passage of 16,000.
    assert (ledger[0][1], ledger[-1]) == (3, (3, 3))


@pytest.mark.parametrize("is_dated", [False, True])
async def test_a_day_without_its_year_needs_the_times_of_the_messages(tmp_path: Path, *, is_dated: bool) -> None:
    imported = imported_from([("Transvia comes on 4 May.", "Good.")], tmp_path, is_dated=is_dated)
    benchmark = replace(imported, spec=probing_spec(imported, checked_spec(model=False)))
    made = await probe_chats(benchmark, answered_by(Reader()))
    assert made.statements == is_dated
    with SealedConversation(benchmark.sealed_path("c000")) as sealed:
        days = [a.value.date for plan in sealed.head.plans for a in plan.assertions if a.value]
    assert days == [dt.date(2024, 5, 4)] * is_dated


def test_rules_read_as_many_statements_as_a_reply_may_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talk = [f"I paid {i + 3} euros for box{i}." for i in range(60)]
    file, out = tmp_path / "chat.json", ["--out", str(tmp_path / "out")]
    file.write_text(json.dumps([{"role": "user", "content": text} for text in talk]))
    assert run(["import", "chat", str(file), "--name", "mine", *out]) == OK
    assert run(["probe", "mine", "--yes", *out]) == OK
    assert "mine: 40 statements, " in capsys.readouterr().out


async def test_a_second_run_asks_nothing_again(imported: Benchmark) -> None:
    reader = Reader()
    benchmark = replace(imported, spec=probing_spec(imported, BenchmarkSpec(name="x")))
    first = await probe_chats(benchmark, answered_by(reader))
    asked = reader.calls
    assert asked > 1
    assert await probe_chats(benchmark, answered_by(reader)) == first
    assert reader.calls == asked


async def test_an_export_says_whose_text_it_is(imported: Benchmark, tmp_path: Path) -> None:
    benchmark = replace(imported, spec=probing_spec(imported, BenchmarkSpec(name="x")))
    await probe_chats(benchmark, answered_by(Reader()))
    assert run(["export", "mine", "--out", str(tmp_path / "out"), "--to", str(tmp_path / "export")]) == OK
    card = (tmp_path / "export" / "README.md").read_text()
    assert "The conversations are somebody's own chats, read from files; no licence for them is implied." in card
    assert "All text was written by" not in card


@pytest.mark.parametrize("has_checks", [True, False])
async def test_the_checker_reads_the_chats(imported: Benchmark, *, has_checks: bool) -> None:
    models = {"default": "offline", "checker": "openai:careful"}
    given = BenchmarkSpec.model_validate({"name": "mine", "models": models, "checks": {"model": has_checks}})
    reader = Reader()
    await probe_chats(replace(imported, spec=probing_spec(imported, given)), answered_by(reader))
    assert reader.readers == {"openai:careful"}
    calls = reader.calls
    await probe_chats(replace(imported, spec=probing_spec(imported, BenchmarkSpec(name="mine"))), answered_by(reader))
    assert reader.readers == {"openai:careful", "offline"}  # another checker reads anew
    assert reader.calls > calls


def test_another_import_has_no_chats(imported: Benchmark) -> None:
    other = replace(imported, spec=imported.spec.model_copy(update={"imported_from": "locomo"}))
    with pytest.raises(UserError, match="holds no imported chats"):
        chats_of(other)


def test_nothing_is_sent_before_the_user_agrees(
    imported: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["probe", "mine", "--model", "openai:m", "--out", str(tmp_path / "out")]
    assert run(command) == USER_ERROR
    shown = capsys.readouterr()
    assert "All messages of mine are sent to openai:m (its usual address), and nowhere else." in shown.out
    assert "nothing was sent; add --yes" in shown.err
    assert not imported.work_path("c000").exists()


def test_private_texts_are_replaced_for_good_before_anything_is_sent(
    imported: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["probe", "mine", "--model", "openai:m", "--redact-name", "Transvia", "--out", str(tmp_path / "out")]
    assert run(command) == USER_ERROR
    assert "Replaced in mine, for good:\nPerson 1     2  Transvia\n" in capsys.readouterr().out
    with SealedConversation(imported.sealed_path("c000")) as sealed:
        said = " ".join(m.content for m in sealed.messages())
    assert "Transvia" not in said
    assert "Person 1 quoted €1,150" in said
