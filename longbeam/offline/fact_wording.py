"""Names of facts in the wording of probes: as the user names them, to the user, and of the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from longbeam.offline.language import upper_first
from longbeam.offline.probe_wording import clause_for, day_named, of_user, to_you
from longbeam.prompts.calls import Excerpt
from longbeam.schemas import MessageRole, Value, ValueKind
from longbeam.text import format_date, listed


def shown(value: Value | None) -> str:
    """Return a value as a question or an answer says it: a date in full; empty for none."""
    if value is None:
        return ""
    return format_date(value.date) if value.kind is ValueKind.DATE and value.date else value.text


def asked(excerpt: Excerpt, it: str = "") -> str:
    """Return the clause by which the user asks for a value (`what I paid for the roof`); empty if there is none.

    `it` stands for the thing where its name was said before, or must not be said.
    """
    by_assistant = excerpt.speaker is MessageRole.ASSISTANT
    clause = clause_for(excerpt.attribute, excerpt.subject, is_of_assistant=by_assistant)
    return clause.format(it=it or excerpt.subject)


def asked_each(excerpts: Sequence[Excerpt], voice: Callable[[Excerpt, str], str] = asked) -> list[str]:
    """Return the clauses of several values: a thing has its name in the first of its clauses, and a pronoun after it.

    Empty if one of the values has no clause.
    """
    before = ("", *(e.subject for e in excerpts))
    known = (pronoun(e.subject) if e.subject == last else "" for e, last in zip(excerpts, before, strict=False))
    clauses = [voice(e, it) for e, it in zip(excerpts, known, strict=True)]
    return clauses if all(clauses) else []


def pronoun(subject: str) -> str:
    """Return what stands for a thing that was just named; a person's name stands for itself."""
    if subject[:1].isupper():
        return subject
    return "them" if re.search(r"[^s](?<!serie)(?<!new)s$", subject.split(" for ")[0].split(" of ")[0]) else "it"


def asked_to(excerpt: Excerpt, it: str = "") -> str:
    """Return the clause as the assistant says it: `what you paid for the roof`."""
    return _in_voice(asked(excerpt, it), to_you, "I {} you")


def asked_of(excerpt: Excerpt) -> str:
    """Return the clause as somebody says it who speaks of both: `what the user paid for the roof`."""
    return _in_voice(asked(excerpt), of_user, "the assistant {} the user")


def _in_voice(clause: str, voice: Callable[[str], str], told: str) -> str:
    advised = _BY_ASSISTANT.search(clause)
    if advised is None:
        return voice(clause)
    return voice(clause[: advised.start()]) + told.format(advised[1]) + voice(clause[advised.end() :])


def day_of(excerpt: Excerpt, it: str = "") -> str:
    """Return the name of a day in the user's voice: `my appointment for the scan`, `the day I began with the diary`."""
    return day_named(clause) if (clause := asked(excerpt, it)) else slot_of(excerpt)


def day_to(excerpt: Excerpt) -> str:
    """Return the name of a day as the assistant says it to the user."""
    return day_named(clause) if (clause := asked_to(excerpt)) else told_to(excerpt)


def day_told_of(excerpt: Excerpt) -> str:
    """Return the name of a day as somebody says it who speaks of both."""
    return day_named(clause) if (clause := asked_of(excerpt)) else told_of(excerpt)


def stated_of(excerpt: Excerpt) -> str:
    """Return a value as a nugget states it: `what the user paid for the roof: $80`."""
    clause = asked_of(excerpt)
    return f"{clause}: {shown(excerpt.value)}" if clause else f"that {told_of(excerpt)} is {shown(excerpt.value)}"


def stated_to(excerpt: Excerpt) -> str:
    """Return the sentence with which the assistant states a value: `You told me what you paid for the roof: $80.`"""
    clause, value = asked_to(excerpt), shown(excerpt.value)
    if not clause or excerpt.speaker is MessageRole.ASSISTANT:
        return upper_first(f"{told_to(excerpt)} is {value}.")
    if clause.startswith(_DAY_GIVEN):
        return upper_first(f"{day_named(clause)} is {value}.")
    return f"You told me {clause}: {value}."


def stated_together(excerpts: Sequence[Excerpt]) -> str:
    """Return the values of one or several things as the assistant states them, with each thing's in one sentence."""
    told = []
    for subject in dict.fromkeys(e.subject for e in excerpts):
        own = [e for e in excerpts if e.subject == subject]
        has_list = len(own) > 1 and all(asked(e) and e.speaker is MessageRole.USER for e in own)
        told += [f"You told me {listed_to(own)}."] if has_list else [stated_to(e) for e in own]
    return " ".join(told)


def listed_to(excerpts: Sequence[Excerpt]) -> str:
    """Return values as the assistant lists them: `what you paid for the roof ($80) and when it is due (May 3)`."""
    is_users = all(e.speaker is MessageRole.USER for e in excerpts)
    names = (asked_each(excerpts, asked_to) if is_users else []) or [told_to(e) for e in excerpts]
    return listed([f"{name} ({shown(e.value)})" for name, e in zip(names, excerpts, strict=True)])


def slot_of(excerpt: Excerpt) -> str:
    """Return a slot as the user names it."""
    if excerpt.speaker is MessageRole.ASSISTANT:
        return f"the {excerpt.attribute} that you gave me for {excerpt.subject}"
    return slots_of([excerpt.attribute], excerpt.subject)


def slots_of(attributes: Sequence[str], subject: str) -> str:
    """Return `the price and the builder of the roof`; for the user, `my age and my profession`."""
    if subject == "me":
        return listed([f"my {attribute}" for attribute in attributes])
    joints = {_joint(attribute) for attribute in attributes}
    joint = joints.pop() if len(joints) == 1 else "of"
    return f"{listed([f'the {attribute}' for attribute in attributes])} {joint} {subject}"


def is_of_person(excerpt: Excerpt) -> bool:
    """Return whether the slot is something between the user and a person: `the friendship with Ann`."""
    return any(excerpt.attribute.endswith(noun) for noun in _OF_PEOPLE)


def is_somebody(excerpt: Excerpt) -> bool:
    """Return whether the slot's value is a person: `Ms Varga` as the contact person."""
    return excerpt.value is not None and _TITLE.match(excerpt.value.text) is not None


def _joint(attribute: str) -> str:
    return next((word for noun, word in _JOINTS.items() if attribute.endswith(noun)), "of")


_DAY_GIVEN = ("what day you gave for ", "what day you gave as ", "what day you had down for ")
_BY_ASSISTANT = re.compile(r"\byou (told|gave) me\b")
_TITLE = re.compile(r"(?:old )?(?:Mr|Ms|Mrs|Dr)\b")
_OF_PEOPLE = {"friendship": "with", "help": "from", "loan": "from", "gift": "from", "call date": "with"}
_JOINTS = {
    **_OF_PEOPLE,
    "spent": "on",
    "paid": "for",
    "contact": "for",
    "person": "for",
    "practitioner": "for",
    "deadline": "for",
    "target date": "for",
    "budget": "for",
    "adviser": "for",
    "outlay": "for",
    "set aside": "for",
    "fee": "for",
    "appointment": "for",
    "documents": "for",
    "agenda points": "for",
    "keeping records": "for",
    "attempts": "at",
    "first talk": "about",
    "agreed on": "for",
    "dishes tried": "with",
    "trigger found": "with",
    "meeting place": "with",
    "first slip": "with",
    "recommended route": "from",
}
"""What joins an attribute to the name of its thing, by the attribute's last words."""


def told_to(excerpt: Excerpt) -> str:
    """Return a slot as the assistant names it to the user."""
    if excerpt.speaker is MessageRole.ASSISTANT:
        return f"the {excerpt.attribute} that I gave you for {to_you(excerpt.subject)}"
    return to_you(slot_of(excerpt))


def told_of(excerpt: Excerpt) -> str:
    """Return a slot as somebody names it who speaks of both."""
    if excerpt.speaker is MessageRole.ASSISTANT:
        return f"the {excerpt.attribute} that the assistant gave for {of_user(excerpt.subject)}"
    return of_user(slot_of(excerpt))
