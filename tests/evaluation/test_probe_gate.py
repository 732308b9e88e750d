"""The gate of probes: what it asks, and what it makes of the readers' answers, the critic's words and the marks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from longbeam.evaluation import MEASURING, SEVERITIES, Outcome, altered_answer, guess_answers, judge_batch, matters_of
from longbeam.models import ModelCall
from longbeam.prompts.calls import CriticInputs, GuessInputs, MarkInputs, ReadInputs
from longbeam.schemas import Difficulty, Evidence, Message, Nugget, Probe, ProbeDetails, Severity
from tests.generators.scripted import ScriptedModel, asker_for
from tests.memory.test_systems import messages

SAID = messages(
    (
        ("The gift limit is $80 a birthday.", "Noted: the gift limit is $80."),
        ("The roof leaks.", "Badly?"),
        ("She brought the gift limit down to $50.", "Then $50 it is for each gift."),
        ("We meet in the Banksia Room.", "A good room."),
    )
)
OLD, NEW, ROOM = SAID[0], SAID[4], SAID[6]


def probe(probe_id: str = "knowledge_update.0", *, cites: Sequence[int] = (0, 4), **fields: object) -> Probe:
    values = {
        "probe_id": probe_id,
        "ability": probe_id.partition(".")[0],
        "question": "How much may I spend on a birthday gift?",
        "gold_answer": "The gift limit is $50.",
        "difficulty": Difficulty.MEDIUM,
        "rubric": (Nugget(nugget_id=f"{probe_id}.n0", text="States that the gift limit is $50"),),
        "evidence": tuple(Evidence(message_key=SAID[i].message_key, quote=SAID[i].content) for i in cites),
        "details": ProbeDetails(old_value="$80", new_value="$50"),
        **fields,
    }
    return Probe.model_validate(values)


class Panel:
    """Readers, critic and judge: answers by where they are asked for, and the answers that meet everything."""

    def __init__(
        self, answers: Mapping[str, str], right: Sequence[str], *, choices: int = 0, **critique: object
    ) -> None:
        self.answers, self.right = {"guess": "$20", "evidence": "$50", "all": "$50 a birthday", **answers}, right
        self.choices = choices
        self.critique = {"reason": "r", "verdict": "fine", "right": "fifty", "wrong": "$80", **critique}
        self.model = ScriptedModel(
            {
                "guess_answers": self.guess,
                "read_passages": self.read,
                "criticise_probes": self.criticise,
                "mark_answers": self.mark,
            }
        )

    def guess(self, call: ModelCall) -> str:
        assert isinstance(call.inputs, GuessInputs)
        asked = [q.number for q in call.inputs.questions]
        return json.dumps(
            {"answers": [{"question": n, "choices": self.choices, "answer": self.answers["guess"]} for n in asked]}
        )

    def read(self, call: ModelCall) -> str:
        assert isinstance(call.inputs, ReadInputs)
        place = call.unit_key.rpartition("/")[2]
        used = [p.number for p in call.inputs.passages if "brought" in p.text]
        return json.dumps(
            {
                "answers": [
                    {"question": q.number, "passages": used, "answer": self.answers[place]}
                    for q in call.inputs.questions
                ]
            }
        )

    def criticise(self, call: ModelCall) -> str:
        assert isinstance(call.inputs, CriticInputs)
        return json.dumps({"critiques": [{"probe": p.number, **self.critique} for p in call.inputs.probes]})

    def mark(self, call: ModelCall) -> str:
        assert isinstance(call.inputs, MarkInputs)
        marks = [
            {"probe": p.number, "answer": i, "met": list(range(1, len(p.nuggets) + 1)) if a in self.right else []}
            for p in call.inputs.probes
            for i, a in enumerate(p.answers, 1)
        ]
        return json.dumps({"marks": marks})

    async def judge(self, *probes: Probe, said: Sequence[Message] = SAID) -> list[Outcome]:
        matters, asker = matters_of(lambda: said, probes, {}), asker_for(self.model)
        guesses = {g.probe_id: g for g in await guess_answers(asker, probes)}
        return await judge_batch(asker, matters, guesses, [probe("temporal_reasoning.0", gold_answer="3 days")])


RIGHT = ("The gift limit is $50.", "$50", "$50 a birthday", "fifty")


async def test_a_sound_probe_has_no_fault_and_five_requests() -> None:
    panel = Panel({}, RIGHT)
    (outcome,) = await panel.judge(probe())
    assert (outcome.faults, outcome.mended) == ((), probe())
    assert [c.prompt.prompt_id for c in panel.model.calls] == [
        "guess_answers", "read_passages", "read_passages", "criticise_probes", "mark_answers",
    ]  # fmt: skip


async def test_the_requests_of_several_probes_are_as_many_as_of_one() -> None:
    panel = Panel({}, RIGHT)
    await panel.judge(*(probe(f"knowledge_update.{i}") for i in range(MEASURING.gate_batch)))
    assert len(panel.model.calls) == 5


@pytest.mark.parametrize(
    ("answers", "right", "kind"),
    [
        ({"guess": "$50"}, RIGHT, "guessed"),
        ({"all": "$80 again"}, RIGHT, "changes_answer"),
        ({"all": "$80", "evidence": "$80"}, RIGHT, "nothing"),
        ({}, RIGHT[1:], "gold_not_full"),
        ({}, RIGHT[:3], "right_refused"),
        ({}, (*RIGHT, "$80"), "wrong_full"),
        ({}, (*RIGHT, "The gift limit is $80."), "wrong_full"),  # the old value
        ({}, (*RIGHT, "3 days"), "wrong_full"),  # another probe's answer
    ],
)
async def test_what_readers_and_marks_show_is_a_fault(answers: dict[str, str], right: Sequence[str], kind: str) -> None:
    (outcome,) = await Panel(answers, right).judge(probe())
    assert [f.kind for f in outcome.faults] == [kind]
    assert kind in SEVERITIES


ORDER = ("the gift limit", "the roof", "the Banksia Room", "the lease")


@pytest.mark.parametrize(
    ("probe_id", "items", "choices", "kind"),
    [
        ("event_ordering.0", ORDER[:3], 0, "lucky"),  # 1 of 6
        ("event_ordering.0", ORDER, 0, "guessed"),  # 1 of 24
        ("event_ordering.0", ORDER, 2, "guessed"),  # the items are known, whatever is said of them
        ("temporal_reasoning.0", (), 3, "lucky"),  # one of three things that the question names
        ("knowledge_update.0", (), 2, "lucky"),  # yes or no
        ("knowledge_update.0", (), 20, "guessed"),
        ("knowledge_update.0", (), 1, "guessed"),
        ("knowledge_update.0", (), 0, "guessed"),
    ],
)
async def test_a_guess_that_chance_explains_refuses_nothing(
    probe_id: str, items: Sequence[str], choices: int, kind: str
) -> None:
    panel = Panel({"guess": "$50"}, RIGHT, choices=choices)
    (outcome,) = await panel.judge(probe(probe_id, details=ProbeDetails(items=tuple(items))))
    assert [f.kind for f in outcome.faults] == [kind]
    assert SEVERITIES["guessed"] is Severity.ERROR
    assert SEVERITIES["lucky"] is Severity.INFO


async def test_guesses_are_asked_in_one_request_that_shows_nothing_and_leaves_absences_out() -> None:
    panel = Panel({}, RIGHT)
    probes = [probe(f"knowledge_update.{i}", question=f"What is {i}?") for i in range(20)]
    guesses = await guess_answers(asker_for(panel.model), [*probes, probe("abstention.0")])
    assert [g.probe_id for g in guesses] == [p.probe_id for p in probes]
    (call,) = panel.model.calls
    assert not any(m.content in text.content for m in SAID for text in call.messages())


async def test_a_message_that_alone_gives_the_answer_becomes_evidence_and_the_probe_easy() -> None:
    (outcome,) = await Panel({}, RIGHT).judge(probe(cites=(0, 6)))
    assert [(f.kind, f.message_keys) for f in outcome.faults] == [("evidence", (NEW.message_key,))]
    assert [e.message_key for e in outcome.mended.evidence].count(NEW.message_key) == 1
    assert outcome.mended.difficulty is Difficulty.EASY


async def test_where_the_cited_messages_do_not_suffice_their_neighbours_are_read() -> None:
    panel = Panel({"evidence": "no information", "neighbours": "$50"}, RIGHT)
    (outcome,) = await panel.judge(probe(cites=(3, 5)))  # the message between them has the value
    assert [(f.kind, f.message_keys) for f in outcome.faults] == [("evidence", (NEW.message_key,))]
    assert [e.quote for e in outcome.mended.evidence][1] == NEW.content, "the oldest message comes first"
    assert len(panel.model.calls) == 7


async def test_the_head_of_a_table_is_no_quote_of_further_evidence() -> None:
    row = "| a birthday gift, since she brought it down | $50 |"
    table = NEW.model_copy(update={"content": f"| How much I may spend on the gift limit | is |\n|---|---|\n{row}"})
    said = [table if m.message_key == NEW.message_key else m for m in SAID]
    (outcome,) = await Panel({}, RIGHT).judge(probe(cites=(0, 6)), said=said)
    assert row in [e.quote for e in outcome.mended.evidence]


async def test_the_critic_refuses_or_gives_new_words_with_their_evidence() -> None:
    (refused,) = await Panel({}, RIGHT, verdict="refuse", reason="nobody asks").judge(probe())
    assert [(f.kind, f.text) for f in refused.faults] == [("refused", "nobody asks")]
    words = {
        "question": "What may a present cost?",
        "gold_answer": "$50.",
        "nuggets": [{"text": "Says that it may cost $50", "passages": [2]}],
    }
    panel = Panel({}, (), verdict="reword", **words)
    (outcome,) = await panel.judge(probe(cites=(0,)))
    critic = next(c.inputs for c in panel.model.calls if isinstance(c.inputs, CriticInputs))
    named = next(p.text for p in critic.passages if p.number == 2)
    assert [f.kind for f in outcome.faults] == ["reword"], "old words need no further faults"
    assert (outcome.mended.question, outcome.mended.gold_answer) == ("What may a present cost?", "$50.")
    (evidence,) = outcome.mended.evidence  # what no criterion needs any more is no evidence
    assert evidence.nugget_ids == ("knowledge_update.0.n0",)
    assert evidence.quote in named


async def test_readers_see_neither_gold_nor_rubric() -> None:
    panel = Panel({}, RIGHT)
    await panel.judge(probe(gold_answer="The GOLD is $50.", rubric=(Nugget(nugget_id="x", text="RUBRIC $50"),)))
    for call in panel.model.calls:
        text = "".join(m.content for m in call.messages())
        assert ("GOLD" in text) == (call.prompt.prompt_id not in ("guess_answers", "read_passages")), (
            call.prompt.prompt_id
        )


async def test_the_critic_sees_the_wishes_that_hold() -> None:
    panel = Panel({}, RIGHT)
    matters = matters_of(lambda: SAID, [probe()], {})
    await judge_batch(asker_for(panel.model), matters, {}, [], ["when I ask about money: the answer is in euros"])
    texts = {c.prompt.prompt_id: c.messages()[-1].content for c in panel.model.calls}
    assert "- when I ask about money: the answer is in euros\n" in texts["criticise_probes"]


def test_a_passage_has_what_stands_before_it_and_a_message_gives_one() -> None:
    ruling = "Nobody deletes anything here, whoever asks. "
    text = f"{'Far away it is dry. ' * 60}{ruling}{'It stays as it was. ' * 45}A birthday gift may be small."
    reply = SAID[5].model_copy(update={"content": text})
    said = [*SAID[:5], reply, *SAID[6:]]
    (matter,) = matters_of(lambda: said, [probe()], {})
    (shown,) = (m.content for m in matter.found if m.message_key == reply.message_key)
    assert shown.endswith("A birthday gift may be small.")
    assert ruling in shown
    assert len(shown) < len(reply.content)


async def test_an_absence_is_neither_read_from_evidence_nor_guessed() -> None:
    absent = "There is no information about it."
    panel = Panel({"all": absent, "guess": absent}, (absent, "fifty"))
    (outcome,) = await panel.judge(probe("abstention.0", cites=(), gold_answer=absent, details=ProbeDetails()))
    assert outcome.faults == ()


async def test_passages_of_a_batch_are_shared_and_both_readers_of_all_have_one_prefix() -> None:
    panel = Panel({}, RIGHT)
    await panel.judge(probe(), probe("knowledge_update.1"))
    whole, critic = (
        next(c for c in panel.model.calls if c.unit_key.endswith(place)).messages()[0].content
        for place in ("/all", "/critic")
    )
    passages = whole[: whole.rindex(NEW.content)]
    assert OLD.content in passages
    assert critic.startswith(passages)
    assert whole.count(NEW.content) == 1


async def test_a_message_that_one_probe_cites_is_shown_to_another_in_the_same_form() -> None:
    cut = "She brought the gift limit down"
    assert cut in NEW.content
    whole, part = matters_of(lambda: SAID, [probe(), probe("knowledge_update.1", cites=(0,))], {})
    part = replace(part, found=(NEW.model_copy(update={"content": cut}), *part.found[1:]))
    panel = Panel({}, RIGHT)
    await judge_batch(asker_for(panel.model), [whole, part], {}, [])
    for call in panel.model.calls:
        assert call.messages()[0].content.count(cut) <= 1


def test_altered_answers_have_the_old_value_or_one_of_the_story() -> None:
    assert altered_answer(probe(), []) == "The gift limit is $80."
    other = probe("information_extraction.3", gold_answer="You paid $23 for the scones.")
    plain = probe(details=ProbeDetails())
    assert altered_answer(plain, [other]) == "The gift limit is $23."
    assert altered_answer(plain, [plain]) == ""
