"""The lexical judge on plain forms of nuggets and answers, most of them a language model's."""

from __future__ import annotations

import pytest

from longbeam.offline import judge
from longbeam.prompts.calls import JudgeInputs

CHLOE = "You have given me contradictory information: the call took 35 minutes, and it is still ahead. Which is right?"
SAMBAR = "Take lemon juice. It sours a sambar as strongly as tamarind, but it gives no body."


@pytest.mark.parametrize(
    ("question", "nugget", "answer"),
    [
        ("How long was our call?", "States that the telephone talk lasted 50 minutes", "You talked for 50 minutes."),
        ("What of the machines?", "States that the price of the wet grinder was 749 PLN",
         "You were down to two: a wet grinder with stone rollers at 749 PLN and a strong blender at 529 PLN."),
        ("How many states?", "States that the user's tour comes to 4 states", "Your tour comes to 4 states."),
        ("When?", "LLM response should state: from April 10, 2024 till June 1, 2024",
         "There are 52 days between April 10, 2024 and June 1, 2024."),
        ("Have I talked to Chloe?", "States that the user's statements about a call contradict each other", CHLOE),
        ("Have I talked to Chloe?", "LLM response should mention: which statement is correct?", CHLOE),
        ("Where do I keep ginger?", "Gives the storage time in weeks", "Ginger keeps in the fridge for 4 weeks."),
        ("How do I cook rice?", "Gives the spices in spoonfuls", "Fry the rice with half a teaspoon of pepper."),
        ("Who sells nigella?", "Gives a question to put to the seller that shows what the seller knows",
         'Ask who sells it: "What should the seeds smell of?"'),
        ("What can I sour a sambar with?", "States in what respect the substitute falls short of tamarind", SAMBAR),
        ("What will a bank want?", "Says for each named paper how many working days to allow",
         "A bank wants proof of identity (1 working day) and pay statements (3 to 5 working days)."),
        ("What have I told you of a contact?", 'Mentions that the user said "I\'ve never mentioned a contact person."',
         'You said "I\'ve never mentioned a contact person." and named Dr Lindholm.'),
        ("Will our money do?", "Puts the worst case in the answer before the likely case",
         "At worst the repairs take our money. More likely it holds."),
        ("What do the words mean?", "Closes the answer with one question worded for the solicitor",
         "The words mean that charges stay. \"Which of them are registered today?\""),
    ],
)  # fmt: skip
def test_a_right_answer_in_other_words_meets_a_plain_nugget(question: str, nugget: str, answer: str) -> None:
    inputs = JudgeInputs(question=question, nugget=nugget, answer=answer, is_strict=True)
    assert judge(inputs).verdict == "met"


@pytest.mark.parametrize(
    ("question", "nugget", "answer"),
    [
        ("How long was our call?", "States that the telephone talk lasted 50 minutes", "You talked for 67 minutes."),
        ("Have I talked to Chloe?", "States that the user's statements about a call contradict each other",
         "All that you told me agrees."),
        ("Where do I keep ginger?", "Gives the storage time in weeks", "Ginger keeps in the fridge for a month."),
        ("Where do I keep ginger?", "Gives the storage time in weeks", "Your course takes six weeks."),
        ("Who sells nigella?", "Gives a question to put to the seller", "Who sells nigella?"),
        ("What can I sour a sambar with?", "States in what respect the substitute falls short of tamarind",
         "You told me: it was the second one, but you were glad."),
        ("What will a bank want?", "Says for each named paper how many working days to allow",
         "A bank wants proof of identity (1 working day) and pay statements."),
        ("What did Kendra think?", "States that the conversation has no information about what Kendra thought",
         'You said "I\'ve never mentioned a contact person for it", and you named one. Which is right?'),
        ("Which failures did I give you?", "Asks the user which of the two statements is correct",
         "Which failures did I give you?"),
        ("Will our money do?", "Puts the worst case in the answer before the likely case",
         "Our money will likely do; at worst the repairs take it."),
    ],
)  # fmt: skip
def test_a_wrong_answer_does_not(question: str, nugget: str, answer: str) -> None:
    inputs = JudgeInputs(question=question, nugget=nugget, answer=answer, is_strict=True)
    assert judge(inputs).verdict != "met"


ENVELOPE = "How many costs are listed on the envelope with our bidding limit?"
COSTS = "States that the envelope with the bidding limit lists 8 costs"
RENT = "How much ground rent a year does Ferry Court have to pay?"
RENTS = "States that the yearly ground rent of Ferry Court is €365"
KRISTY = "How many jobs did Kristy come to?"
ROOMS = "How many bedrooms did Harbour Row have?"
NO_ROOMS = "States that the conversation has no information about the number of bedrooms that Harbour Row had"
FREE = [
    (ENVELOPE, COSTS, "Eight."),
    (ENVELOPE, COSTS, "The envelope now lists eight costs, up from six."),
    (ENVELOPE, COSTS, "8 costs, not 6 costs."),
    (RENT, RENTS, "It pays three hundred and sixty-five euros every year."),
    (RENT, RENTS, "€365, not the €240 of Harbour Row."),
    (ROOMS, NO_ROOMS, "That hasn't come up between us, so I can't say."),
    (ROOMS, NO_ROOMS, "You haven't shared that with me."),
    (KRISTY, "States that the user's statements about the number of jobs contradict each other",
     "I have two different numbers from you: nine jobs on one occasion and eight on another."),
    (KRISTY, "Asks the user which of the two numbers of jobs is right", "Please tell me which of them holds."),
    ("How long did both come to together?", "States that the surveyor had 35 minutes",
     "Fifty minutes: the surveyor had thirty-five, the fitter fifteen."),
]  # fmt: skip
TEMPTING = [
    (ENVELOPE, COSTS, "There are 6 costs, not 8 costs."),
    (ENVELOPE, COSTS, "It is 6 costs, no longer 8 costs."),
    (ENVELOPE, COSTS, "6 costs, 7 costs or 8 costs."),
    (ENVELOPE, COSTS, "Either six costs or eight costs."),
    (ENVELOPE, COSTS, "There are 6 costs and 8 costs on the envelope."),
    (RENT, RENTS, "Last I know, Harbour Row has to pay €365."),
    (ROOMS, NO_ROOMS, "You didn't mention it, but it was probably 2 bedrooms."),
    (KRISTY, "States that the user's statements about the number of jobs contradict each other",
     "There is no contradiction here: she came to 9 jobs."),
    (KRISTY, "States that the user said Kristy counted 9 jobs", "Kristy counted 9 jobs."),
    ("Does Janice know the pack?", "States that the user said Janice never read the pack",
     "You told me that Janice read the pack."),
    ("What share were repeats?", "States that 80% of the messages of that night were repeats",
     "20% came again and 80% were new."),
]  # fmt: skip


STORED = "How do I store ginger?"
SHELF = "Who may cancel a booking?"
PERMISSIONS = "Shows in a table what the owner and the mechanic may do"
FREE += [
    (ENVELOPE, COSTS, "On the envelope: eight."),
    (RENT, RENTS, "€365. (Harbour Row's was the €240 one.)"),
    (STORED, "Gives the storage time in weeks", "| Ginger | Weeks |\n|---|---|\n| peeled | 20 |\n| whole | 4 |"),
    (SHELF, PERMISSIONS, "| | Owner | Mechanic |\n|---|---|---|\n| Cancel | yes | no |"),
    ("How do I get the jobs?", "Shows the SQL of the query", "With `jobs.all()`, which is `SELECT * FROM jobs` below."),
    ("How do I learn what Mindy would like to read?", "Ends with an open question that can be put to Mindy",
     "Read it to her, then ask: 'What would you like to go on doing?'"),
    (KRISTY, "States that the user said Kristy counted 9 jobs", "In July your list had 9 of them, in August 8 jobs."),
    ("How long did the fitter have?", "States that the fitter had 15 minutes", "A quarter of an hour."),
    ("By how much did I overshoot my figure?", "States that the user went €1,500 over the figure", "By 1.500 €."),
]  # fmt: skip
TEMPTING += [
    # The wish repeated, promised or described is not followed.
    (STORED, "Gives the storage time in weeks", "As you wished, I give the storage time of ginger in weeks."),
    (STORED, "Gives the storage time in weeks", "You like me to say in weeks how long ginger keeps, 2 wishes."),
    (SHELF, PERMISSIONS, "I will show in a table what the owner and the mechanic may do with a booking."),
    ("How do I get the jobs?", "Shows the SQL of the query", "When you ask for a query, I show the SQL of it."),
    ("What do the words mean?", "Closes the answer with one question for the solicitor",
     "The words mean that charges stay. Would you like me to explain the register?"),
    # Words of the point all over an answer, a count of another thing, the number of an item, another subject.
    ("What did I buy?", "States that the user bought a wet grinder for the kitchen",
     "The grinder of the shop was loud. It rained. All was wet. We talked of prices. Someone bought a lamp."),
    (ENVELOPE, COSTS, "Kristy counted 8 jobs for the envelope."),
    ("How many states does my tour have?", "States that the tour has 4 states",
     "Your tour goes on:\n1. fish curry\n2. dal\n3. paneer\n4. dhokla"),
    (ROOMS, NO_ROOMS, "There is no information about the district in which Nordkant Surveys has an office."),
    (ROOMS, NO_ROOMS, "I can't give out particulars of other people's homes."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "nugget", "answer"), FREE)
def test_a_right_answer_in_free_wording_is_met(question: str, nugget: str, answer: str) -> None:
    inputs = JudgeInputs(question=question, nugget=nugget, answer=answer, is_strict=True)
    assert judge(inputs).verdict == "met"


@pytest.mark.parametrize(("question", "nugget", "answer"), TEMPTING)
def test_a_tempting_wrong_answer_is_not_met(question: str, nugget: str, answer: str) -> None:
    inputs = JudgeInputs(question=question, nugget=nugget, answer=answer, is_strict=True)
    assert judge(inputs).verdict == "not met"


@pytest.mark.parametrize(
    ("question", "nugget", "answer", "reason"),
    [
        ("How long was the call?", "States that the call lasted 50 minutes", "I know of no call.",
         "the answer has 0 of 1 value (missing: 50 minutes)"),
        ("What of the machines?", "States that the wet grinder cost 749 PLN", "It was 749 PLN.",
         "the answer has 1 of 1 value and 0 of 2 telling words (missing: wet, grinder)"),
        ("What did the grinder cost?", "States that the wet grinder cost 749 PLN", "749 PLN.",
         "the answer has 1 of 1 value and 0 of 1 telling word (missing: wet); so short that its values count alone"),
        ("What did the grinder cost?", "States that the wet grinder cost 749 PLN", "The grinder cost 749 PLN.",
         "the answer has 1 of 1 value and 0 of 1 telling word (missing: wet); "
         "50% of the point's words stand beside its values"),
        ("What did I buy?", "States that the user bought a wet grinder", "You bought a blender.",
         "the answer has 1 of 3 telling words (missing: wet, grinder)"),
        ("What did Kendra think?", "States that the conversation has no information about what Kendra thought",
         "There is no information on that.", "the answer says that there is no information"),
        ("What did Kendra think?", "States that the conversation has no information about what Kendra thought",
         "She liked it.", "the answer does not say that there is no information"),
        ("Is it so?", "States that the statements contradict each other", "It is so.",
         "the answer does not say that two statements contradict each other"),
    ],
)  # fmt: skip
def test_a_reason_says_what_the_answer_did(question: str, nugget: str, answer: str, reason: str) -> None:
    assert judge(JudgeInputs(question=question, nugget=nugget, answer=answer, is_strict=True)).reason == reason
