"""Two messages that cannot both be true."""

from __future__ import annotations

from longbeam.generators.probes import ProbeCandidate
from longbeam.generators.probes.contradiction_resolution import check, find_candidates
from longbeam.schemas import BulletKind, Stance
from longbeam.text import money
from tests.generators.probes.story import Story, contradict, day, reply

STATEMENT = "I met the plumber about the kitchen pipes."
DENIAL = "I have never met a plumber about the kitchen pipes."


def _story() -> Story:
    story = Story()
    target = story.tell(0, "the pipes", STATEMENT)
    _talk_of_other_things(story)
    contradict(story, 3, "the pipes", DENIAL, target)
    return story


def _talk_of_other_things(story: Story) -> None:
    for thing in ("the roof", "the stairs", "the garden"):
        story.tell(0, thing, f"I looked at {thing} today.")


def _candidate() -> ProbeCandidate:
    (candidate,) = find_candidates(_story().material())
    return candidate


GOLD = f'You have contradicted yourself: you said "{STATEMENT}" and "{DENIAL}" Which is right?'
NUGGETS = (
    ("States that the two statements contradict each other", [0, 1]),
    (f"Mentions: {STATEMENT}", [0]),
    (f"Mentions: {DENIAL}", [1]),
    ("Asks which statement is right", [0, 1]),
)


def test_candidate_quotes_both_sides() -> None:
    candidate = _candidate()
    assert [(e.part, e.quote) for e in candidate.excerpts] == [("statement", STATEMENT), ("denial", DENIAL)]


def test_other_value_has_both_values() -> None:
    story = Story()
    target = story.tell(0, "the kitchen", "The kitchen costs $80.", ("the kitchen", "price", money(80)))
    _talk_of_other_things(story)
    story.tell(
        1, "the kitchen", "The kitchen was $99 all along.", ("the kitchen", "price", money(99)),
        kind=BulletKind.CONTRADICTION, target_bullet_id=target, variety="other_value",
    )  # fmt: skip
    (candidate,) = find_candidates(story.material())
    assert [v.text for v in candidate.answers] == ["$80", "$99"]
    assert [e.value.text for e in candidate.excerpts if e.value] == ["$80", "$99"]


def test_a_side_may_give_its_day_in_full_where_the_message_gives_the_number_alone() -> None:
    story = Story()  # It begins on March 1.
    target = story.tell(0, "the visit", "The visit is on the 17th.", ("the visit", "date", day(16)))
    _talk_of_other_things(story)
    story.tell(
        1, "the visit", "I have the visit down for the 21st.", ("the visit", "date", day(20)),
        kind=BulletKind.CONTRADICTION, target_bullet_id=target, variety="other_value",
    )  # fmt: skip
    (candidate,) = find_candidates(story.material())
    gold = "These contradict each other: March 17, 2024 and March 21, 2024. Which is right?"
    conflict, *_, asks = NUGGETS
    sides = [("Mentions March 17, 2024", [0]), ("Mentions March 21, 2024", [1])]
    assert not check(candidate, reply("When is the visit?", gold, conflict, *sides, asks))
    wrong_day = ("Mentions March 22, 2024", [1])
    assert check(candidate, reply("When is the visit?", gold, conflict, sides[0], wrong_day, asks))


def test_a_flat_denial_is_asked_by_the_fact_that_it_denies() -> None:
    story = Story()
    facts = (("the pipes", "due date", day(9)), ("the pipes", "price", money(80)))
    target = story.tell(0, "the pipes", f"The pipes cost $80, due on {day(9).text}.", *facts)
    _talk_of_other_things(story)
    contradict(story, 3, "the pipes", "I have never asked the price of the pipes.", target)
    (candidate,) = find_candidates(story.material())
    statement = candidate.excerpts[0]
    assert (statement.subject, statement.attribute, statement.value) == ("the pipes", "price", money(80))


def test_sides_in_one_message_are_no_candidate() -> None:
    story = _story()
    first, denial = story.messages[0], story.messages[-2]
    both = f"{first.content} {denial.content}"
    keys = (*first.bullet_ids, *denial.bullet_ids)
    story.messages[0] = first.model_copy(update={"content": both, "bullet_ids": keys})
    del story.messages[2:]
    assert find_candidates(story.material()) == []


def test_sides_close_together_are_no_candidate() -> None:
    story = Story()
    contradict(story, 3, "the pipes", DENIAL, story.tell(0, "the pipes", STATEMENT))
    assert find_candidates(story.material()) == []


def test_check_accepts_four_nuggets_and_a_question_back() -> None:
    assert not check(_candidate(), reply("Have I ever met a plumber?", GOLD, *NUGGETS))


def test_check_refuses_one_side_three_nuggets_and_a_telling_question() -> None:
    candidate, question = _candidate(), "Have I ever met a plumber?"
    assert "four are needed" in str(check(candidate, reply(question, GOLD, *NUGGETS[:3])))
    one_side = f"There is a contradiction: {STATEMENT} Which is right?"
    assert check(candidate, reply(question, "Yes, you did.", *NUGGETS))
    assert check(candidate, reply(question, one_side.replace("Which is right?", ""), *NUGGETS))
    telling = "Did I contradict myself about the plumber?"
    assert "'contradict'" in str(check(candidate, reply(telling, GOLD, *NUGGETS)))


def test_a_side_in_other_words_passes_and_another_statement_is_refused_with_the_wanted_words() -> None:
    candidate, question = _candidate(), "Have I ever met a plumber?"
    conflict, one, _, asks = NUGGETS
    other_words = ("States that the user said they have never met a plumber themselves", [1])
    assert not check(candidate, reply(question, GOLD, conflict, one, other_words, asks))
    off_topic = ("States that the user paints the fence on Sundays", [1])
    (refused,) = check(candidate, reply(question, GOLD, conflict, one, off_topic, asks))
    assert refused.startswith(
        "point 3 ('States that the user paints the fence on Sundays') does not say what excerpt 1"
    )
    assert DENIAL in refused


def test_a_question_may_have_the_words_of_both_sides_in_the_form_of_one_and_no_run_of_one_alone() -> None:
    story = Story()
    told, denied = "I simmered the dal for 4 hours.", "I have never let the dal simmer for hours on a gas flame."
    target = story.tell(0, "the dal", told)
    _talk_of_other_things(story)
    contradict(story, 3, "the dal", denied, target)
    (candidate,) = find_candidates(story.material())
    gold = f'You have contradicted yourself: you said "{told}" and "{denied}" Which is right?'
    conflict, _, _, asks = NUGGETS
    nuggets = (conflict, (f"Mentions: {told}", [0]), (f"Mentions: {denied}", [1]), asks)
    assert not check(candidate, reply("Have I ever let the dal simmer for hours?", gold, *nuggets))
    copied = "Have I ever let the dal simmer for hours on a gas flame?"
    assert "from the denial" in str(check(candidate, reply(copied, gold, *nuggets)))


def test_a_contradiction_that_another_message_decides_is_no_candidate() -> None:
    def story(*again: int) -> Story:
        told = Story()
        price = ("the kitchen", "price", money(80))
        target = told.tell(0, "the kitchen", "The kitchen costs $80.", price)
        _talk_of_other_things(told)
        told.tell(
            1, "the kitchen", "The kitchen was $99 all along.", ("the kitchen", "price", money(99)),
            kind=BulletKind.CONTRADICTION, target_bullet_id=target, variety="other_value",
        )  # fmt: skip
        for amount in again:
            said = f"I have paid ${amount} for the kitchen."
            told.tell(2, "the kitchen", said, ("the kitchen", "price", money(amount)), stance=Stance.MENTIONS)
        return told

    assert len(find_candidates(story().material())) == 1
    assert find_candidates(story(80).material()) == []


def test_check_refuses_a_question_in_the_words_of_the_denial() -> None:
    echo = "Have I ever met a plumber about the kitchen pipes?"
    assert "repeats the denial" in str(check(_candidate(), reply(echo, GOLD, *NUGGETS)))
    assert not check(_candidate(), reply("Do I know anybody who does plumbing?", GOLD, *NUGGETS))
