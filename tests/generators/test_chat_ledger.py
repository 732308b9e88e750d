from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from longbeam.generators import ChatStatement, passages_of, read_passage, verified, without_echoes
from longbeam.generators.chat_ledger import plan_of
from longbeam.generators.probes import Histories
from longbeam.prompts.calls import MOST_STATEMENTS, StatementDraft
from longbeam.schemas import (
    BulletKind,
    Message,
    MessageKind,
    MessageRole,
    Part,
    PartKind,
    Stance,
    Value,
    ValueKind,
    text_of,
)
from longbeam.text import MONTHS
from tests.generators.scripted import ScriptedModel, asker_for

USER, ASSISTANT = MessageRole.USER, MessageRole.ASSISTANT


def message(number: int, content: str, role: MessageRole = USER) -> Message:
    """A message on the day of its number in March 2024, each day a session."""
    return Message(
        message_key=f"p0.s{number}.t0.n0",
        role=role,
        speaker=role.value,
        kind=MessageKind.QUESTION if role is USER else MessageKind.REPLY,
        session=number,
        sent_at=dt.datetime(2024, 3, 1 + number, 9),
        content=content,
        tokens=1,
    )


def draft(**changes: Any) -> StatementDraft:
    """A good draft of the first message below."""
    given: dict[str, Any] = {
        "message": 0,
        "quote": "The van costs €1,150.",
        "says": "fact",
        "subject": "the van",
        "attribute": "price",
        "value": "€1,150",
    }
    return StatementDraft.model_validate(given | changes)


SAID = [message(0, "Hello. The van costs\n€1,150."), message(1, "Take €300 along.", ASSISTANT)]


def test_a_draft_is_verified_against_its_message_and_its_value_is_read_by_code() -> None:
    found = verified(draft(), SAID)
    assert found is not None
    assert found.quote == "The van costs\n€1,150."  # as it stands there
    assert found.value is not None
    assert (found.value.kind, found.value.number, found.value.unit) == (ValueKind.MONEY, 1_150, "EUR")


@pytest.mark.parametrize(
    "changes",
    [
        {"message": 2},
        {"message": -1},
        {"message": 1},
        {"quote": "The van costs €1,250."},
        {"quote": ""},
        {"value": "€1,250"},
        {"value": ""},
        {"subject": " "},
        {"subject": "the €1,150 van"},
        {"attribute": ""},
        {"says": "preference", "condition": "", "requirement": "cheap"},
        {"says": "instruction", "message": 1, "quote": "Take €300 along.", "condition": "c", "requirement": "r"},
    ],
)
def test_a_draft_that_does_not_hold_is_left_out(changes: dict[str, Any]) -> None:
    assert verified(draft(**changes), SAID) is None


def test_words_are_values_and_a_day_without_its_year_is_none() -> None:
    said = [message(0, "Transvia moves us on May 3.")]
    name = verified(draft(quote=said[0].content, value="Transvia"), said)
    assert name is not None
    assert name.value is not None
    assert name.value.kind is ValueKind.NAME
    assert verified(draft(quote=said[0].content, value="May 3"), said) is None


def listed(**changes: Any) -> StatementDraft:
    """A good draft of the options of `OFFERED`."""
    given: dict[str, Any] = {
        "message": 0,
        "quote": "Take oil, wax or, for the table, shellac.",
        "says": "list",
        "subject": "the varnish",
        "attribute": "options",
        "items": ["oil", "wax", "shellac"],
    }
    return StatementDraft.model_validate(given | changes)


OFFERED = [message(0, "Take oil, wax or, for the table, shellac.", ASSISTANT), message(1, "Take oil, wax, shellac.")]


def test_a_list_of_the_assistants_is_noted_with_its_items() -> None:
    found = verified(listed(), OFFERED)
    assert found is not None
    assert found.items == ("oil", "wax", "shellac")
    assert found.line == "assistant: the varnish, options: oil; wax; shellac"
    plan, voiced = plan_of(OFFERED, [found])
    assert [(a.kind.value, a.items, a.topic) for a in plan.advice] == [("options", found.items, "the varnish")]
    assert plan.facts == ()
    assert voiced == {"p0.s0.t0.n0": ("p0.s0.b0",)}


@pytest.mark.parametrize(
    "changes",
    [
        {"items": ["oil", "wax"]},  # somebody can be asked for three to seven
        {"items": [*"abcdefgh"]},
        {"items": ["oil", "shellac", "wax"]},  # not their order
        {"items": ["oil", "wax", "varnish of amber"]},
        {"items": ["oil", "Oil", "shellac"]},
        {"items": ["oil", "", "shellac"]},
        {"attribute": "price"},
        {"subject": "the shellac"},  # no question can keep it back
        {"message": 1, "quote": "Take oil, wax, shellac."},  # the user's own
    ],
)
def test_a_list_that_cannot_be_asked_for_is_left_out(changes: dict[str, Any]) -> None:
    assert verified(listed(**changes), OFFERED) is None


@pytest.mark.parametrize("text", ["Then the six come to €840.", "Both add to €840.", "The 3 amounted to €840."])
def test_a_sum_is_no_end_of_a_range(text: str) -> None:
    found = verified(draft(quote=text, value="€840"), [message(0, text)])
    assert found is not None
    assert found.value is not None
    assert found.value.number == 840


@pytest.mark.parametrize(
    ("said", "day", "resolved"),
    [
        ("May 3", 0, dt.date(2024, 5, 3)),
        ("3 May", 0, dt.date(2024, 5, 3)),
        ("December 20", 0, dt.date(2023, 12, 20)),
        ("May 3, 2026", 0, dt.date(2026, 5, 3)),
        ("September 2", 0, None),  # as near in 2023 as in 2024
    ],
)
def test_a_day_without_its_year_is_the_nearest_where_messages_are_dated(
    said: str, day: int, resolved: dt.date | None
) -> None:
    messages = [message(day, f"Transvia moves us on {said}.")]
    found = verified(draft(quote=messages[0].content, value=said), messages, is_dated=True)
    value = found.value if found is not None else None
    assert (value.date if value else None) == resolved
    if value is not None:
        assert value.text == said


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("We moved here on 3 February.", dt.date(2023, 11, 10)),  # 2024-02-03 is nearer
        ("Our wedding was on 20 January, in the snow.", dt.date(2023, 12, 20)),
        ("The wedding will be on 3 October.", dt.date(2023, 11, 10)),
        ("Our lease ends on 3 October.", dt.date(2023, 11, 10)),
        ("On 3 February we moved here.", dt.date(2023, 11, 10)),
        ("Clara's party was on 20 January.", dt.date(2023, 12, 20)),
    ],
)
def test_a_day_whose_nearest_year_is_not_the_one_that_its_verb_tells_of_is_none(text: str, on: dt.date) -> None:
    assert _day_in(text, on) is None


@pytest.mark.parametrize(
    ("text", "on", "day"),
    [
        ("We moved here on 3 February.", dt.date(2024, 3, 1), dt.date(2024, 2, 3)),
        ("We moved the test to 16 December.", dt.date(2023, 12, 4), dt.date(2023, 12, 16)),
        ("I booked the hall for 3 February.", dt.date(2023, 11, 10), dt.date(2024, 2, 3)),
        ("I signed up, and the race is on 5 January.", dt.date(2023, 12, 28), dt.date(2024, 1, 5)),
        ("We were married on 28 December.", dt.date(2024, 1, 3), dt.date(2023, 12, 28)),
        ("Clara's party was on 28 December.", dt.date(2024, 1, 3), dt.date(2023, 12, 28)),
        ("I need the van on 5 January.", dt.date(2023, 12, 28), dt.date(2024, 1, 5)),
    ],
)
def test_a_day_over_the_end_of_a_year_is_the_one_that_its_verb_tells_of(text: str, on: dt.date, day: dt.date) -> None:
    assert _day_in(text, on) == day


def _day_in(text: str, on: dt.date) -> dt.date | None:
    """The day that a message of this day is read to say."""
    at = message(0, text).model_copy(update={"sent_at": dt.datetime.combine(on, dt.time(9))})
    said = " ".join(word for word in text.rstrip(".").split() if word[:1].isdigit() or word in MONTHS)
    found = verified(draft(quote=text, value=said.rstrip(","), attribute="day"), [at], is_dated=True)
    return found.value.date if found is not None and found.value is not None else None


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("The van does not cost €85.", "The van does not cost €85."),
        ("The van isn't even €85.", "The van isn't even €85."),
        ("I doubt that the van costs €85.", "the van costs €85"),  # what stands before the quote counts, too
        ("What if the van costs €85?", "the van costs €85"),
        ("Suppose the van costs €85.", "the van costs €85"),
        ("If the van had cost me €85, I would have kept it.", "the van had cost me €85"),
        ("Fine. If the van were €85 I'd buy it.", "the van were €85"),
        ("If I could, I would pay €85 for the van.", "I would pay €85 for the van"),
    ],
)
def test_a_value_that_is_denied_or_supposed_is_none(content: str, quote: str) -> None:
    assert verified(draft(quote=quote, value="€85"), [message(0, content)]) is None


@pytest.mark.parametrize(
    ("content", "role"),
    [
        ("It does not matter, the van costs €85.", USER),
        ("If I remember right, the van cost €85.", USER),
        ("If it helps, I paid €85 for the van and I would do so again.", USER),
        ("Can you tell me whether the van is fair, it costs €85?", USER),
        ("If I were you, I would pay €85 for the van.", ASSISTANT),
        ("What if you set €85 aside for the van?", ASSISTANT),
    ],
)
def test_a_value_beside_a_negation_or_a_condition_holds(content: str, role: MessageRole) -> None:
    assert verified(draft(quote=content, value="€85"), [message(0, content, role)]) is not None


@pytest.mark.parametrize("said", ["tomorrow", "next Tuesday", "this weekend", "two weeks ago", "last spring"])
def test_a_day_told_from_the_day_of_its_message_is_no_value(said: str) -> None:
    text = f"The van comes {said}."
    assert verified(draft(quote=text, value=said), [message(0, text)]) is None


@pytest.mark.parametrize("said", ["Tuesdays", "Tuesday", "Last Resort", "This Way Up"])
def test_a_weekday_and_a_name_are_values(said: str) -> None:
    assert _value_of(said).text == said


@pytest.mark.parametrize("said", ["€1,200-1,400", "€1,200 – 1,400", "2h 15m", "-5 degrees", "not €85"])
def test_a_value_of_which_one_number_is_a_part_is_no_number(said: str) -> None:
    assert _value_of(said).number is None


@pytest.mark.parametrize("bound", ["up to", "less than", "at most", "over"])
def test_a_bound_is_no_amount(bound: str) -> None:
    text = f"The van costs {bound} €85."
    found = verified(draft(quote=text, value="€85"), [message(0, text)])
    assert found is not None
    assert found.value is not None
    assert (found.value.kind, found.value.text) == (ValueKind.NAME, "€85")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The van takes 2 hours 5 minutes.", "5 minutes"),
        ("The van takes 2 hours and 5 minutes.", "2 hours"),
        ("The van takes 3 to 4 weeks.", "4 weeks"),
        ("The van takes three to four weeks.", "four weeks"),
        ("The van holds 20 to 25 guests.", "20"),
        ("The van costs €80 to €85.", "€80"),
        ("The van costs €80 to €85.", "€85"),
        ("The van costs between €80 and €85.", "€80"),
        ("The van costs between €80 and €85.", "€85"),
        ("The van costs €80 or €90.", "€80"),
        ("Ask Transvia or Movex for the van.", "Movex"),
        ("The van comes on 3-5 May 2025.", "5 May 2025"),
        ("The van comes on 3 and 4 May 2025.", "4 May 2025"),
        ("The van stands at -5 degrees.", "5 degrees"),
        ("The van is " + "very " * 12 + "old.", "very " * 12 + "old"),
    ],
)
def test_a_part_of_what_is_said_is_no_value(text: str, said: str) -> None:
    assert verified(draft(quote=text, value=said), [message(0, text)], is_dated=True) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The van went from €80 to €85.", "€85"),
        ("The van takes 2 hours and holds 3 people.", "2 hours"),
        ("We talked for 2 hours, 5 minutes of it on the van.", "2 hours"),
        ("The van - €85 - is here.", "€85"),
        ("We drive 3 km to Movex.", "3 km"),
        ("I gave one to Tom, and a van.", "Tom"),
    ],
)
def test_a_value_beside_another_one_is_one(text: str, said: str) -> None:
    assert verified(draft(quote=text, value=said), [message(0, text)]) is not None


@pytest.mark.parametrize("kind", [PartKind.TOOL_RESULT, PartKind.THINKING])
def test_what_a_tool_answers_or_a_model_thinks_is_not_said(kind: PartKind) -> None:
    parts = (Part(kind=kind, text="The van costs €85."), Part(kind=PartKind.TEXT, text="The lift costs €90."))
    said = message(0, text_of(parts), ASSISTANT).model_copy(update={"parts": parts})
    assert verified(draft(quote="The van costs €85.", value="€85"), [said]) is None
    assert verified(draft(quote="The lift costs €90.", value="€90"), [said]) is not None


@pytest.mark.parametrize("said", ["2 hours 5 minutes", "2 hours and 5 minutes", "125 minutes"])
def test_a_length_of_time_in_two_units_is_one(said: str) -> None:
    value = _value_of(said)
    assert (value.kind, value.number, value.unit, value.text) == (ValueKind.DURATION, 125, "minutes", said)


def _value_of(said: str) -> Value:
    found = verified(draft(quote=f"It is {said} there.", value=said), [message(0, f"It is {said} there.")])
    assert found is not None
    assert found.value is not None
    return found.value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,500", "1500"),
        ("$85", "85 dollars"),
        ("$1.2 million", "1,200,000 dollars"),
        ("18 May", "May 18"),
        ("two weeks", "14 days"),
        ("1 hour", "60 minutes"),
        ("2 years", "24 months"),
        ("3 km", "3 kilometres"),
        ("35%", "35 percent"),
        ("seven", "7"),
        ("24 lessons", "24"),
        ("24", "24 lessons"),
        ("Dr. Weber", "Dr Weber"),
        ("7 p.m.", "7pm"),
    ],
)
def test_a_value_is_the_same_in_another_spelling(one: str, other: str) -> None:
    assert _values_of(one, other) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("1,500", "1,501"), ("$85", "€85"), ("1 month", "30 days"), ("C++", "C#"), ("May 18", "May 19")]
)
def test_another_value_is_another_one(one: str, other: str) -> None:
    assert _values_of(one, other) == 2


def _values_of(*said: str) -> int:
    """The number of values that a thing has had after these were told of it, each as a change."""
    messages = [message(i, f"It is {value} there.") for i, value in enumerate(said)]
    drafts = (draft(quote=m.content, value=v, says="change") for m, v in zip(messages, said, strict=True))
    told = [verified(d, [m], is_dated=True) for d, m in zip(drafts, messages, strict=True)]
    plan, _ = plan_of(messages, [s for s in told if s is not None])
    assert len(plan.assertions) == len(said)
    (life,) = Histories([plan]).lives()
    assert sum(b.kind is BulletKind.UPDATE for b in plan.bullets()) == len(life.steps) - 1
    return len(life.steps)


async def test_a_passage_is_read_in_one_call_and_faulty_statements_are_left_out() -> None:
    reply = '{"statements": [%s, %s, %s]}'
    good, bad = draft().model_dump_json(), draft(value="€9").model_dump_json()
    model = ScriptedModel({"extract_facts": [reply % (good, bad, good)]})
    found = await read_passage(asker_for(model), SAID, ["user: the flat, rent: €900"])
    assert [s.line for s in found] == ["user: the van, price: €1,150"]
    (call,) = model.calls
    assert "- user: the flat, rent: €900" in call.messages()[-1].content
    assert "Message 1, assistant, 2024-03-02" in call.messages()[-1].content


async def test_the_prompt_names_the_most_statements_of_a_reply() -> None:
    model = ScriptedModel({"extract_facts": ['{"statements": []}']})
    await read_passage(asker_for(model), SAID, [])
    assert f"at most {MOST_STATEMENTS}; a passage may have none" in model.calls[0].messages()[0].content


async def test_a_statement_of_the_example_is_left_out_and_refuses_no_passage() -> None:
    """A model of 1.5B began each of three replies with the example's statement, so that the passage was lost."""
    copied = draft(
        quote="The dimmer board costs 610 euros, second-hand.", subject="the dimmer board", value="610 euros"
    )
    reply = f'{{"statements": [{copied.model_dump_json()}, {draft().model_dump_json()}]}}'
    model = ScriptedModel({"extract_facts": [reply]})
    assert [s.line for s in await read_passage(asker_for(model), SAID, [])] == ["user: the van, price: €1,150"]


def test_a_wish_is_shown_to_later_passages_with_its_condition() -> None:
    said = "Give me kilometres from now on."
    wish = {"condition": "when an answer has a distance", "requirement": "gives it in kilometres"}
    found = verified(draft(quote=said, says="instruction", subject="distances", **wish), [message(0, said)])
    assert found is not None
    assert found.line == "user, instruction: distances, when an answer has a distance: gives it in kilometres"


def test_a_wish_on_answers_as_such_is_kept_and_a_later_one_replaces_it() -> None:
    said = ["Keep your answers under 100 words.", "Forget the rule, write 300 words."]
    messages = [message(i, text) for i, text in enumerate(said)]
    wishes = [
        draft(quote=text, says="instruction", subject="answers", condition="in every answer", requirement=requirement)
        for text, requirement in zip(said, ["stays under 100 words", "has 300 words"], strict=True)
    ]
    found = [s for w, m in zip(wishes, messages, strict=True) if (s := verified(w, [m])) is not None]
    plan, _ = plan_of(messages, found)
    (pair,) = Histories([plan]).standing(BulletKind.INSTRUCTION)
    assert [b.requirement for b in pair if b] == ["has 300 words", "stays under 100 words"]
    assert verified(draft(subject="answers"), SAID) is None


def test_a_wish_that_is_lifted_is_left_out_with_the_one_that_lifts_it() -> None:
    said = ["Keep your answers under 100 words.", "Write in English.", "Forget the rule."]
    required = ["stays under 100 words", "is in English", "may be longer than 100 words"]
    messages = [message(i, text) for i, text in enumerate(said)]
    conditions = ["in every answer", "when I ask in German", "in every answer"]
    found = []
    for at, requirement, condition in zip(messages, required, conditions, strict=True):
        wish = {"says": "instruction", "subject": "answers", "condition": condition, "requirement": requirement}
        found.append(verified(draft(quote=at.content, **wish), [at]))
    plan, _ = plan_of(messages, [s for s in found if s is not None])
    assert [b.requirement for b in plan.bullets()] == ["is in English"]


def test_what_else_was_told_of_a_denied_thing_is_left_out() -> None:
    texts = [
        "I spent a week in Trieste with Lena.",
        "Trieste cost me €500.",
        "The van costs €85.",
        "I was never there.",
    ]
    messages = [message(i, text) for i, text in enumerate(texts)]
    stay = "the stay in Trieste"
    drafts = [
        (0, draft(quote=texts[0], subject=stay, attribute="length", value="a week")),
        (0, draft(quote=texts[0], subject="Lena", attribute="journey", value="Trieste")),
        (1, draft(quote=texts[1], subject=stay, attribute="cost", value="€500")),
        (2, draft(quote=texts[2], value="€85")),
        (3, draft(quote=texts[3], says="denial", subject="Trieste")),
    ]
    told = [s for i, d in drafts if (s := verified(d, [messages[i]])) is not None]
    assert len(told) == len(drafts)
    plan, _ = plan_of(messages, told, {told[-1].digest: told[0].digest})
    assert [f"{f.subject}, {f.attribute}" for f in plan.facts] == [f"{stay}, length", "the van, price"]
    assert [life.steps for life in Histories([plan]).lives() if life.fact.subject == stay] == [()]


def test_passages_hold_all_messages_in_order() -> None:
    messages = [message(i, "x" * 7_000) for i in range(5)]
    assert [len(run) for run in passages_of(messages)] == [2, 2, 1]
    assert [m for run in passages_of(messages) for m in run] == messages


def statement(number: int, value: str, says: str = "fact", role: MessageRole = USER) -> ChatStatement:
    """A statement on the price of the van."""
    text = f"The van costs {value}."
    found = verified(draft(quote=text, value=value, says=says), [message(number, text, role)])
    assert found is not None
    return found


def test_a_change_updates_and_another_value_only_mentions() -> None:
    messages = [message(i, "m") for i in range(3)]
    plan, voiced = plan_of(messages, [statement(0, "€1,150"), statement(1, "€1,290", "change"), statement(2, "€7")])
    assert [a.stance for a in plan.assertions] == [Stance.SETS, Stance.UPDATES, Stance.MENTIONS]
    assert [b.kind for b in plan.bullets()] == [BulletKind.EVENT, BulletKind.UPDATE, BulletKind.EVENT]
    assert [b.target_bullet_id for b in plan.bullets()] == [None, "p0.s0.b0", None]
    assert voiced == {f"p0.s{i}.t0.n0": (f"p0.s{i}.b0",) for i in range(3)}
    assert len(plan.facts) == 1


def _kept(*told: tuple[MessageRole, str, str]) -> list[str]:
    """The statements on the price of the van that are no echoes; each has a message, with its text and its value."""
    messages = [message(i, text, role) for i, (role, text, _) in enumerate(told)]
    drafts = [(draft(quote=text, value=value), m) for m, (_, text, value) in zip(messages, told, strict=True) if value]
    statements = [s for d, m in drafts if (s := verified(d, [m])) is not None]
    assert len(statements) == len(drafts)
    return [s.quote for s in without_echoes(messages, statements)]


@pytest.mark.parametrize("asked", ["Is €85 fair?", "I have 85 euros in mind."])
def test_a_value_that_the_reply_takes_from_its_question_is_not_the_assistants(asked: str) -> None:
    assert _kept((USER, asked, ""), (ASSISTANT, "Yes, €85 is fair.", "€85")) == []


def test_a_value_that_the_user_told_of_the_thing_is_not_the_assistants() -> None:
    told = (USER, "The van costs €85.", "€85")
    assert _kept(told, (USER, "What now?", ""), (ASSISTANT, "With €85 you are done.", "€85")) == [told[1]]


def test_a_value_that_the_user_has_put_in_the_place_of_the_assistants_stays() -> None:
    own, rather, yielding = "Take €80.", "I would rather take €85.", "Then take €85."
    assert _kept((ASSISTANT, own, "€80"), (USER, rather, ""), (ASSISTANT, yielding, "€85")) == [own, yielding]


def test_facts_of_the_two_speakers_are_kept_apart() -> None:
    messages = [message(0, "m"), message(1, "m", ASSISTANT)]
    plan, _ = plan_of(messages, [statement(0, "€1,150"), statement(1, "€900", "change", ASSISTANT)])
    assert [a.stance for a in plan.assertions] == [Stance.SETS, Stance.SETS]
    assert len({f.fact_id for f in plan.facts}) == 2
