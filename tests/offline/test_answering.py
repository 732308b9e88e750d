"""The offline reader: it answers from the prompt, in the phrases of the packs, and from nothing else."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.offline import USES, How, fill, understand
from longbeam.offline.answering import answer
from longbeam.prompts.calls import AnswerInputs

TALK = """[Monday, 23 June 2025, 09:24]
user: A short one today. The login page is up next, and I've promised myself in front of witnesses to be through with it by {due}. What is the smallest version of it?
assistant: The login page could be done by August 1, 2030.

[Tuesday, 24 June 2025, 09:24]
user: The search box was finished on July 27, 2025, after 24 hours in all, and I've crossed it off with a thick pen. What should I write down?

[Friday, 27 June 2025, 10:00]
user: My friend Janice suggested that we meet at the Harbour Library to go through everything that worries me. How do I start?

[Sunday, 29 June 2025, 10:00]
user: The login page was finished on July 30, 2025, after 10 hours in all, and I've crossed it off with a thick pen. Good?

[Monday, 30 June 2025, 10:00]
user: One request along the way: when I ask what a term means, put the plain meaning first and the fine print behind it, I lose the thread otherwise. You see, when you explain a term to me, put the plain meaning first and the fine print behind it, I lose the thread otherwise."""  # noqa: E501
CONTEXT = TALK.format(due="July 14, 2025")
BEGUN = (
    "user: I made a start with the login page on May 2, 2025, an hour before everyone else got up, and it felt good."
)


def asked(question: str, context: str = CONTEXT) -> str:
    return answer(AnswerInputs(context=context, question=question, asked_on=dt.date(2025, 9, 1)))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the target date of the login page?", "The target date of the login page is July 14, 2025."),
        ("Which meeting place did I give you for Janice?", "The meeting place of Janice is the Harbour Library."),
        (
            "How many days lie between the completion date of the search box and the completion date of the login "
            "page?",
            "There are 3 days between the completion date of the search box (July 27, 2025) and the completion date of "
            "the login page (July 30, 2025).",
        ),
        (
            "What is the time spent of the search box and the login page in total?",
            "Together they come to 34 hours: the time spent of the search box is 24 hours and the time spent of the "
            "login page is 10 hours.",
        ),
        (
            "By how much do the time spent of the search box and the time spent of the login page differ?",
            "The difference is 14 hours: the time spent of the search box is 24 hours and the time spent of the login "
            "page is 10 hours.",
        ),
        ("How many different meeting places have I named so far?", "You named 1 different meeting places: the Harbour Library."),  # noqa: E501
        (
            # Named out of their order, each with a value of its own; the first telling of the login page is its plan.
            "In which order did I first tell you these: when I got the login page done; when I got the search box "
            "done; and what day I had down for having the login page done?",
            "1) what day you had down for having the login page done\n2) when you got the search box done\n"
            "3) when you got the login page done",
        ),
        (
            "Can you sum up everything I told you about the search box?",
            "The completion date of the search box is July 27, 2025. The time spent of the search box is 24 hours.",
        ),
        ("What completion date goes with it? The time spent was 24 hours.", "The completion date of the search box is July 27, 2025."),  # noqa: E501
        ("Can you remind me what day I had down for having the login page done?", "The target date of the login page is July 14, 2025."),  # noqa: E501
        (
            "How many days is it from the day I got the search box done to the day I got the login page done?",
            "There are 3 days between the completion date of the search box (July 27, 2025) and the completion date of "
            "the login page (July 30, 2025).",
        ),
        (
            "I remember how much time had gone into one thing by the last count (24 hours), but not which thing that "
            "was. Can you tell me when I got it done?",
            "The completion date of the search box is July 27, 2025.",
        ),
        (
            "Please put these in the order in which I first told you of them: when I got the login page done; and when "
            "I got the search box done.",
            "1) when you got the search box done\n2) when you got the login page done",
        ),
        (
            "By how many days did I miss or beat the target date that I had set last for the login page?",
            "It was done 16 days after the last target date: The completion date of the login page is July 30, 2025. "
            "The target date of the login page is July 14, 2025.",
        ),
        (
            "How many days off was I in the end from the target date that I had set last for the login page?",
            "It was done 16 days after the last target date: The completion date of the login page is July 30, 2025. "
            "The target date of the login page is July 14, 2025.",
        ),
        ("Which raffle did I enter for the login page?", "There is no information about this in our conversation."),
    ],
)  # fmt: skip
def test_what_was_said_is_found_computed_put_in_order_or_missed(question: str, expected: str) -> None:
    assert asked(question) == expected


def test_it_reads_the_prompt_and_nothing_else() -> None:
    question = "What is the target date of the login page?"
    assert "October 3, 2026" in asked(question, TALK.format(due="October 3, 2026"))
    without = CONTEXT.replace("The login page is up next, and I've promised myself", "I've promised myself")
    assert "July 14" not in asked(question, without)
    assert "2030" not in asked(question)  # what the assistant said is not what the user said
    assert asked(question, "") == "There is no information about this in our conversation."


def test_the_latest_value_holds_by_day_and_not_by_place() -> None:
    moved = "[Thursday, 03 July 2025, 09:24]\nuser: My target date for the login page is July 20, 2025 after all.\n\n"
    assert asked("What is the target date of the login page?", moved + CONTEXT).endswith("July 20, 2025.")


@pytest.mark.parametrize(
    "denial", ["it was {} when I started with the login page", "I've never written a single line for the login page"]
)
def test_what_contradicts_is_told_from_both_sides(denial: str) -> None:
    said = denial.format("May 9, 2025")
    found = asked("What is the start date of the login page?", f"{BEGUN}\nuser: For the record, {said}.")
    assert found.startswith("You have told me two things that contradict each other")
    assert "May 2, 2025" in found
    assert said in found
    assert found.endswith("Which of the two is right?")


def test_a_denial_is_found_by_what_it_denies() -> None:
    context = f"{BEGUN}\nuser: Bear in mind that I've never written a single line for the login page."
    assert "contradict" in asked("Have I ever written a single line for the login page?", context)


def test_a_wish_is_named_and_kept() -> None:
    found = asked("What does the word surety mean?")
    assert "put the plain meaning first" in found
    assert "plain" in found.splitlines()[0].rpartition('"')[2]


def test_values_do_not_swallow_what_stands_before_them() -> None:
    text = (
        "Quick update: the pages have come back from the swap with another writer with 36 comments, and what keeps "
        "returning in them is the missing figures."
    )
    (found,) = understand([text]).statements
    assert (found.how, found.subject) == (How.TOLD, "the swap with another writer")
    assert dict(found.values) == {"number of comments": "36 comments", "main complaint": "the missing figures"}


def test_a_step_with_a_comma_is_read_to_the_end_of_its_line() -> None:
    steps = ("run the tests", "release small changes", "ask a colleague", "note version, date and one sentence on it")
    listed = "\n".join(f"{i}. {step}" for i, step in enumerate(steps, 1))
    context = f"assistant: All right.\n\nMy plan for the nightly job has four steps:\n{listed}\n\nMore tomorrow."
    told = asked("How did you once tell me to deal with the nightly job? I need all four points.", context)
    assert told == "\n".join(f"{i}) {step}" for i, step in enumerate(steps, 1))


def test_options_are_read_back() -> None:
    context = "assistant: All right.\n\nThese are your options for the nightly job:\n1. a cloud\n2. a box\n3. a rota\n"
    told = asked("Which three ways to deal with the nightly job did you once name for me?", context)
    assert told == "The options for the nightly job were a cloud, a box and a rota."


@pytest.mark.parametrize("use", USES)
def test_what_the_assistant_set_money_aside_for_is_read_back(use: str) -> None:
    said = fill(use, {"it": "the nightly job", "new": "$60", "use": "a printout of everything"})
    context = f"assistant: All right.\n\n{said}\n\nMore tomorrow."
    told = asked("What did you say the $60 that you put down for the nightly job was for?", context)
    assert told == "The amount that I suggested for the nightly job was for a printout of everything."


def test_a_thing_called_a_summary_is_no_wish_for_one() -> None:
    context = "user: I've gone over to Vercel with the monthly summary. Also, $50 for the monthly summary."
    told = asked("Can you tell me who provides the monthly summary?", context)
    assert told == "The provider of the monthly summary is Vercel."
