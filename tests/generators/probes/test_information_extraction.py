"""Facts said once, asked directly, together and indirectly."""

from __future__ import annotations

from longbeam.generators.probes import ProbeCandidate
from longbeam.generators.probes.information_extraction import check, find_candidates
from longbeam.schemas import AdviceKind, Difficulty, Value, ValueKind
from longbeam.text import money, name
from tests.generators.probes.story import Story, contradict, reply, update


def _candidates() -> dict[Difficulty, ProbeCandidate]:
    story = Story()
    story.tell(0, "the kitchen", "The kitchen costs $80.", ("the kitchen", "price", money(80)))
    story.tell(1, "the kitchen", "Bramble builds the kitchen.", ("the kitchen", "builder", name("Bramble")))
    return {c.difficulty: c for c in reversed(find_candidates(story.material()))}


def test_candidates_come_in_three_levels() -> None:
    found = _candidates()
    assert [v.text for v in found[Difficulty.EASY].answers] == ["$80"]
    assert [v.text for v in found[Difficulty.MEDIUM].answers] == ["$80", "Bramble"]
    assert found[Difficulty.HARD].variety == "indirect"


def test_two_values_of_one_message_are_one_look_up() -> None:
    story = Story()
    told = ("the kitchen", "price", money(80)), ("the kitchen", "builder", name("Bramble"))
    story.tell(0, "the kitchen", "Bramble builds the kitchen for $80.", *told)
    assert {c.variety for c in find_candidates(story.material())} == {"direct"}


def test_a_value_may_have_another_article() -> None:
    story = Story()
    photo = Value(text="a dated photograph", kind=ValueKind.TEXT)
    story.tell(0, "the claim", "For the claim I take a dated photograph.", ("the claim", "proof", photo))
    (found,) = find_candidates(story.material())
    assert not check(
        found,
        reply(
            "What do I take for the claim?",
            "You take a dated photograph.",
            ("States that it is the dated photograph", [0]),
        ),
    )


def test_updated_and_denied_facts_are_no_candidates() -> None:
    story = Story()
    target = story.tell(0, "the kitchen", "The kitchen costs $80.", ("the kitchen", "price", money(80)))
    update(story, 1, "the kitchen", "price", money(90), target)
    denied = story.tell(1, "the roof", "The roof costs $70.", ("the roof", "price", money(70)))
    contradict(story, 2, "the roof", "I have never asked what the roof costs.", denied)
    assert find_candidates(story.material()) == []


def test_value_in_the_subject_is_no_candidate() -> None:
    story = Story()
    told = ("the Bramble kitchen", "builder", name("Bramble"))
    story.tell(0, "the Bramble kitchen", "Bramble builds the Bramble kitchen.", told)
    assert find_candidates(story.material()) == []


def test_check_accepts_a_good_draft() -> None:
    good = reply("What does the kitchen cost?", "You said it costs $80.", ("States that it costs $80", [0]))
    assert not check(_candidates()[Difficulty.EASY], good)


def test_check_refuses_wrong_drafts() -> None:
    easy = _candidates()[Difficulty.EASY]
    nugget = ("States that it costs $80", [0])
    assert "does not say '$80'" in str(check(easy, reply("What is the cost?", "You said it costs $90.", nugget)))
    assert "gives '$80' away" in str(check(easy, reply("Does it cost $80?", "You said $80.", nugget)))
    assert "address the user" in str(check(easy, reply("What is the cost?", "My kitchen costs $80.", nugget)))
    wrong_excerpt = reply("What is the cost?", "It is $80.", ("States $80", [1]))
    assert "names excerpt 1" in str(check(easy, wrong_excerpt))
    assert "no nugget says" in str(check(easy, reply("What is the cost?", "It is $80.", ("Is polite", [0]))))


def test_check_refuses_an_indirect_question_that_names_the_thing() -> None:
    hard = _candidates()[Difficulty.HARD]
    answer, cited = hard.answers[0].text, list(hard.cited)
    named = reply("What goes with the kitchen?", f"It is {answer}.", (f"States {answer}", cited))
    veiled = reply("What goes with that one?", f"It is {answer}.", (f"States {answer}", cited))
    assert "refer to it only by what the clue says" in str(check(hard, named))
    assert not check(hard, veiled)


def test_a_clue_is_told_in_another_message_than_what_is_asked() -> None:
    story = Story()
    builder, price = ("the attic", "builder", name("Aldgate")), ("the attic", "price", money(80))
    story.tell(0, "the attic", "Aldgate builds the attic for $80.", builder, price)
    assert "indirect" not in {c.variety for c in find_candidates(story.material())}


def test_a_question_on_a_use_goes_by_the_amount_and_its_point_does_not() -> None:
    story = Story()
    told = story.tell(0, "the kitchen", "The kitchen costs $400.", ("the kitchen", "price", money(400)))
    said = "Put another $60 aside for the kitchen, and keep it for spare tiles."
    story.bring_in(told, AdviceKind.USE, "use of the money", said, value=money(60), items=("spare tiles",))
    (use,) = (c for c in find_candidates(story.material()) if c.variety == "use")
    question, gold, point = "What was the $60 for the kitchen for?", "It was for spare tiles.", "States: spare tiles"

    assert not check(use, reply(question, gold, (point, [0])))
    assert "must name '$60'" in str(check(use, reply("What was the other money for?", gold, (point, [0]))))
    assert "must name '$60'" in str(check(use, reply("What was the $80 for?", gold, (point, [0]))))
    assert "leave '$60' out" in str(check(use, reply(question, gold, ("States that $60 is for spare tiles", [0]))))
