"""The prose of the planted-fact suites: templates of facts, filler, distractors and long documents."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle


@dataclass(frozen=True)
class Template:
    """A kind of fact: its sentence, its question, and its four values."""

    name: str
    kind: str
    said: str
    question: str
    values: tuple[str, str, str, str]
    elsewhere: str
    """A similar confirmation about somebody else."""


TEMPLATES: tuple[Template, ...] = tuple(
    Template(name, kind, said, question, tuple(values.split("|")), elsewhere)  # type: ignore[arg-type]
    for name, kind, said, question, values, elsewhere in (
        ("database", "decision", "We have settled on {v} as the database of the service.",
         "Which database did we settle on?", "PostgreSQL|MongoDB|Cassandra|CockroachDB",
         "Good, {v} it is then, for my cousin's shop at least; they have just confirmed their database."),
        ("screens", "decision", "The screens will be built with {v}, that is decided.",
         "What will the screens be built with?", "Svelte|Angular|SolidJS|Ember",
         "The agency next door confirmed {v} for its own screens today."),
        ("platform", "decision", "From the next release on we deploy on {v}.",
         "What do we deploy on from the next release on?", "Kubernetes|Nomad|OpenShift|Dokku",
         "A friend wrote that they deploy on {v} now, confirmed by their board."),
        ("logs", "decision", "For the logs we picked {v}.",
         "What did we pick for the logs?", "Graylog|Splunk|Datadog|Elastic",
         "Yes, {v} is confirmed for the logs, I read, but that was the other company."),
        ("sign-in", "decision", "Signing in will go through {v}; that is settled.",
         "What will signing in go through?", "Keycloak|Okta|Zitadel|Authelia",
         "So {v} it will be for signing in, says my brother about his firm."),
        ("budget", "key_fact", "The budget for the whole project is {v}.",
         "What is the budget for the whole project?", "$48,500|$61,200|$73,900|$127,300",
         "The neighbouring project had its budget of {v} confirmed."),
        ("partner", "key_fact", "The partner's interface allows {v}.",
         "What does the partner's interface allow?",
         "340 requests a minute|275 requests a minute|610 requests a minute|95 requests a minute",
         "Their other interface allows {v}, as they confirmed; we do not use that one."),
        ("data centre", "key_fact", "Our main data centre is in {v}.",
         "Where is our main data centre?", "Tallinn|Porto|Graz|Bergen",
         "Confirmed: the conference on data centres is in {v} this year."),
        ("client", "key_fact", "The client is called {v}.",
         "What is the client called?",
         "Brightwater Logistics|Halcyon Foods|Quillfeather Press|Ostrava Tooling",
         "The client of the team upstairs is {v}, they confirmed."),
        ("version", "key_fact", "The old system still runs on version {v}.",
         "Which version does the old system still run on?", "7.4.19|6.2.33|5.8.41|9.1.27",
         "The training machine was confirmed to be on version {v}."),
        ("audit", "reminder", "Please remember that the audit is on {v}.",
         "When is the audit?", "March 14|June 23|September 8|November 27",
         "The audit of the sister company is confirmed for {v}."),
        ("no changes", "reminder", "Remember never to change anything in production {v}.",
         "When must nothing be changed in production?",
         "on Fridays|before ten in the morning|during school holidays|in the last week of a quarter",
         "The canteen confirmed that it is closed {v}."),
    )
)  # fmt: skip

FILLER: tuple[str, ...] = (
    "How do I name a test well?", "Is a long function always bad?", "What makes a good code review?",
    "Should I write the docs first?", "How often do you refactor?", "What is a sensible commit size?",
    "Is it fine to skip a stand-up?", "How would you explain caching?", "What is the point of linting?",
    "Do comments age well?", "When is a diagram worth it?", "How do I keep a backlog short?",
    "Is pairing worth the time?", "What is a flaky test?", "How do I read a stack trace?",
    "Should errors be values?", "How do I estimate better?", "What belongs in a changelog?",
    "Are feature flags worth it?", "How do I hand over a task?",
)  # fmt: skip
SUFFIXES: tuple[str, ...] = (
    "", "Just curious.", "I keep wondering about it.", "A colleague asked me.", "Two sentences are enough.",
)  # fmt: skip
OPENINGS: tuple[str, ...] = (
    "It depends on who reads it next.", "Mostly it is a matter of habit.", "I would try it for a week first.",
    "There is no fixed rule for that.", "Think of whoever comes after you.", "Ask what would go wrong without it.",
    "Start simple and measure.", "That differs from team to team.", "Most people overdo it a little.",
    "A small example often settles it.", "Begin with what hurts the most.", "It is easier than it sounds.",
    "Opinions are divided on that.", "Less of it than one believes.", "Ask two colleagues and compare.",
)  # fmt: skip
CLOSINGS: tuple[str, ...] = (
    "Keep it short.", "Leave out what people can see themselves.", "Change one thing at a time.",
    "If it surprises somebody, it is too much.", "Then decide whether it was worth it.", "Write down why you did it.",
    "Nothing is lost if you drop it later.", "Do it early rather than well.", "A list of three is enough.",
    "Stop when it no longer helps.", "The rest follows from there.", "Look at it again after a month.",
    "Whoever disagrees will say so.", "Make it easy to undo.", "Let somebody else read it once.",
)  # fmt: skip
NOTED: tuple[str, ...] = ("Understood, I have noted it.", "All right, that is noted.", "Good, I will keep it in mind.")
NOISE_BEFORE: tuple[str, ...] = (
    "Sorry for jumping around, but before I forget it and we talk about something else again:",
    "Half of this may not matter, the meeting was long and loud, still:",
)
NOISE_AFTER: tuple[str, ...] = (
    "Anyway, back to what we were doing, which I have lost track of a little.",
    "But that is only by the way, the coffee is getting cold.",
)
VAGUE: tuple[str, ...] = (
    "There was some talk of doing it differently, but I do not remember what came of it.",
    "Somebody mentioned another option last week; nobody wrote it down.",
    "I believe a few figures were thrown around in the corridor, none of them ours.",
)

PARAPHRASES: dict[str, str] = {
    "database": "Where do our records live from now on?",
    "screens": "Which framework draws what people see?",
    "platform": "Where does our software run after the coming rollout?",
    "logs": "What collects our traces?",
    "sign-in": "Who checks passwords at our door?",
    "budget": "How much money may all of it cost us?",
    "partner": "How often may we call the other firm?",
    "data centre": "In which city do our servers stand?",
    "client": "Who pays us for this work?",
    "version": "How far behind is the legacy software?",
    "audit": "By which day must our papers be ready for inspection?",
    "no changes": "At which times are live deployments forbidden?",
}
"""A question for each template, by name, that shares no telling word with what was said."""

_SUBJECTS = (
    "the northern warehouse", "the intake desk", "the pilot group", "the night shift", "the billing form",
    "the training plan", "the spare-parts list", "the visitor survey", "the loading dock", "the archive",
)  # fmt: skip
_SENTENCES = (
    "Section {n} found that {a} needed {m} minutes longer than {b}, without a clear reason.",
    "In {a}, {m} of {k} entries were complete, and the rest was left to {b}.",
    "It was suggested that {a} be looked at again once {b} has been closed for a while.",
    "Nobody could say why {a} and {b} had been kept apart for {m} months.",
    "For {a} the reviewers counted {m} open points, {n} of which concern {b}.",
    "The authors thank everybody at {a}, and recommend {m} smaller steps for {b}.",
)


def filler(rng: random.Random) -> Callable[[], tuple[str, str]]:
    """Return a function that gives the next small talk, message and reply; none repeats within 200 turns."""
    said = [" ".join(filter(None, (a, b))) for a in FILLER for b in SUFFIXES]
    rng.shuffle(said)
    again = [f"Once more: {text[0].lower()}{text[1:]}" for text in said]
    replies = [f"{a} {b}" for a in OPENINGS for b in CLOSINGS]
    rng.shuffle(replies)
    turns = cycle(zip([*said, *again], replies, strict=False))
    return lambda: next(turns)


def document(rng: random.Random, number: int, enough: Callable[[str], bool]) -> str:
    """Return a report of numbered paragraphs without planted facts, of at least a given length."""
    text = f"Report {number}: how things went\n"
    section = 0
    while not enough(text):
        section += 1
        lines = []
        for _ in range(6):
            a, b = rng.sample(_SUBJECTS, 2)
            wording = rng.choice(_SENTENCES)
            line = wording.format(n=section, a=a, b=b, m=rng.randrange(2, 60), k=rng.randrange(60, 90))
            lines.append(line[0].upper() + line[1:])
        text += f"\n{section}. {' '.join(lines)}\n"
    return text
