"""The offline writer's answers to the probe prompts: rule-based wording of what code has chosen and computed.

The rules see what a language model sees and use its typed fields: subject, attribute, value, topic. Questions are in
the first person, gold answers in the second, nuggets in the third.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel

from longbeam.abilities import find_ability, is_kind, resolve
from longbeam.errors import SpecError
from longbeam.offline.fact_wording import (
    asked,
    asked_each,
    asked_of,
    asked_to,
    day_of,
    day_to,
    day_told_of,
    is_of_person,
    is_somebody,
    listed_to,
    pronoun,
    shown,
    slot_of,
    slots_of,
    stated_of,
    stated_to,
    stated_together,
    told_of,
    told_to,
)
from longbeam.offline.packs import Thread, pack_for
from longbeam.offline.planning import thread_of
from longbeam.offline.probe_kinds import LIST_WRITERS, word_kind
from longbeam.offline.probe_wording import (
    ABOUT_PERSON,
    Form,
    about_person,
    about_thing,
    about_value,
    neutral,
    of_user,
    ordinal,
    plural,
    standing_question,
    to_you,
)
from longbeam.offline.telling import WHOLE
from longbeam.prompts.calls import (
    AbstentionDraft,
    AbstentionInputs,
    AbstentionReply,
    CandidatesInputs,
    CandidatesReply,
    Excerpt,
    NuggetDraft,
    OrderReply,
    ProbeInputs,
    ProbeReply,
)
from longbeam.schemas import (
    Bullet,
    BulletKind,
    Difficulty,
    EvidencePart,
    MessageRole,
    PromptInputs,
    Value,
    ValueKind,
)
from longbeam.text import echoed_denial, listed

WordingRule = Callable[[ProbeInputs, random.Random], ProbeReply]
"""Function that words a candidate: question, gold answer and nuggets."""
QUOTED_WORDS = 45
"""Longest quote in a gold answer or nugget, in words."""


def answer_probe_prompt(prompt_id: str, inputs: PromptInputs, rng: random.Random) -> BaseModel:
    """Return the reply to a prompt about probes: a function of the inputs and `rng` only.

    Raises SpecError for an ability of a plug-in that brings a prompt and no wording rule.
    """
    if isinstance(inputs, CandidatesInputs):
        # The pool is already spread over facts, levels and deciles, best first.
        chosen = [o.candidate_id for o in inputs.options[: inputs.count]]
        return CandidatesReply(chosen=chosen, purposes=[""] * len(chosen))
    if isinstance(inputs, AbstentionInputs):
        return _abstain(inputs, rng)
    if not isinstance(inputs, ProbeInputs):
        raise TypeError(f"prompt {prompt_id!r} has inputs of type {type(inputs).__name__}")
    return (word_kind if is_kind(inputs.variety) else _wording_rule(inputs.ability))(inputs, rng)


def _wording_rule(ability: str) -> WordingRule:
    if ability in _WRITERS:
        return _WRITERS[ability]
    record = find_ability(ability)
    if not record.wording_rule:
        raise SpecError(f"abilities: {ability!r} has no wording_rule, so no rule-based model can word its probes")
    rule: WordingRule = resolve(record.wording_rule)
    return rule


# --- facts ----------------------------------------------------------------------------------------------------


def _fact_nugget(excerpt: Excerpt) -> NuggetDraft:
    text = f"States {stated_of(excerpt)}"
    return NuggetDraft(text=text, excerpts=[excerpt.ordinal])


def _ask_fact(excerpt: Excerpt, rng: random.Random) -> str:
    if clause := asked(excerpt):
        return _ask_again(clause, rng)
    slot = slot_of(excerpt)
    if excerpt.speaker is MessageRole.ASSISTANT:
        named = f"{excerpt.attribute} for {excerpt.subject}"
        return rng.choice(
            (
                f"Which {excerpt.attribute} did you give me for {excerpt.subject}?",
                f"What was {slot}?",
                f"You once gave me a {named}. What is it?",
                f"I need {slot} again. What is it?",
                f"Can you remind me of {slot}?",
            )
        )
    kind = excerpt.value.kind if excerpt.value else ValueKind.TEXT
    if is_somebody(excerpt):
        return rng.choice((f"Who is {slot}?", f"Can you remind me who {slot} is?", f"Who did I say is {slot}?"))
    forms = [
        f"What is {slot}?",
        f"What did I say {slot} is?",
        f"Can you remind me of {slot}?",
        f"I need {slot} again. What is it?",
    ]
    if excerpt.subject == "me" or is_of_person(excerpt):
        return rng.choice(forms)
    if kind is ValueKind.DATE:
        forms.append(f"I am filling in my calendar: what is {slot}?")
    elif kind in {ValueKind.MONEY, ValueKind.NUMBER, ValueKind.RATIO, ValueKind.DURATION}:
        forms += [f"What figure did I give you for {slot}?", f"I am putting my figures together: what is {slot}?"]
    return rng.choice(forms)


def _ask_again(clause: str, rng: random.Random) -> str:
    return rng.choice(
        (
            f"Can you remind me {clause}?",
            f"Please tell me again {clause}.",
            f"I can't recall {clause}. Can you help me out?",
            f"Could you tell me once more {clause}?",
            f"I have forgotten {clause}. Can you tell me?",
        )
    )


def _extraction(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    if inputs.variety in LIST_WRITERS:
        return LIST_WRITERS[inputs.variety](inputs, rng)
    clues = [e for e in inputs.excerpts if e.part == EvidencePart.CLUE]
    wanted = [e for e in inputs.excerpts if e.part != EvidencePart.CLUE]
    if clues:
        question = _ask_by_clue(wanted[0], clues[0], rng)
    elif len(wanted) > 1:
        clauses = listed(asked_each(wanted) or ["-"])
        slots = slots_of([e.attribute for e in wanted], wanted[0].subject)
        forms = (
            (f"Can you tell me once more {clauses}?", f"Please remind me {clauses}.")
            if clauses != "-"
            else (
                f"What are {slots}?",
                f"Can you give me {slots} once more?",
                f"I have to fill in a form: what did I say {slots} are?",
            )
        )
        question = rng.choice(forms)
    else:
        question = _ask_fact(wanted[0], rng)
    return ProbeReply(question=question, gold_answer=stated_together(wanted), nuggets=[_fact_nugget(e) for e in wanted])


def _ask_by_clue(wanted: Excerpt, clue: Excerpt, rng: random.Random) -> str:
    known = shown(clue.value)
    if asked(wanted) and asked(clue):
        about, clause = asked(clue, "one thing"), asked(wanted, "it")
        forms: tuple[str, ...] = (
            f"I remember {about} ({known}), but not which thing that was. Can you tell me {clause}?",
            f"I only have a note on {about}: {known}. Can you work out which thing that is, and tell me {clause}?",
        )
        return rng.choice(forms)
    forms = (
        f"One of the things I told you about has {known} as its {clue.attribute}. What is its {wanted.attribute}?",
        f"What {wanted.attribute} did I give for the one with {known} as its {clue.attribute}?",
        f"I remember that the {clue.attribute} was {known}, but of what I forget. "
        f"What {wanted.attribute} goes with it?",
    )
    return rng.choice(forms)


def _update(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    updated = next(e for e in inputs.excerpts if e.part == "updated")
    slot, clause = slot_of(updated), asked(updated)
    # The past tense would ask for the value that no longer holds as well.
    forms = (
        (
            f"Can you tell me {clause}?",
            f"Please remind me {clause}.",
            f"I am writing it down: can you tell me {clause}?",
        )
        if clause
        else (f"Who is {slot}?", f"Can you remind me who {slot} is?", f"I am writing it down: who is {slot}?")
        if is_somebody(updated)
        else (
            f"What is {slot}?",
            f"Can you remind me what {slot} is?",
            f"I need {slot} again. What is it?",
            f"I am writing it down: what is {slot}?",
        )
    )
    return ProbeReply(question=rng.choice(forms), gold_answer=stated_to(updated), nuggets=[_fact_nugget(updated)])


# --- computed answers -------------------------------------------------------------------------------------------


def _temporal(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    first, second = sorted(inputs.excerpts[:2], key=lambda e: _date_of(e.value))
    one, other = day_of(first), day_of(second, pronoun(second.subject) if second.subject == first.subject else "")
    forms = (
        f"How many days are there between {one} and {other}?",
        f"How many days is it from {one} to {other}?",
        f"I am looking back: how many days lie between {one} and {other}?",
    )
    days = inputs.computed_value
    verb = "is" if days.startswith("1 ") else "are"
    gold = (
        f"There {verb} {days} between {day_to(first)} ({shown(first.value)}) and "
        f"{day_to(second)} ({shown(second.value)})."
    )
    total = f"States that there {verb} {days} between {day_told_of(first)} and {day_told_of(second)}"
    nuggets = [NuggetDraft(text=total, excerpts=sorted((first.ordinal, second.ordinal)))]
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=nuggets)


def _date_of(value: Value | None) -> str:
    return value.date.isoformat() if value is not None and value.date is not None else ""


def _number_of(value: Value | None) -> float:
    return value.number if value is not None and value.number is not None else 0.0


def _across_sessions(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    if inputs.variety == "count":
        return _count(inputs, rng)
    excerpts = [e for e in inputs.excerpts if e.part != EvidencePart.ORIGINAL]
    attribute = excerpts[0].attribute
    shared = all(e.attribute == attribute for e in excerpts)
    subjects = list(dict.fromkeys(e.subject for e in excerpts))
    is_sum, clause = inputs.variety == "sum", asked(excerpts[0], listed(subjects)) if shared else ""
    slots = listed([asked(e) or slot_of(e) for e in excerpts])
    forms: tuple[str, ...]
    if is_sum and all(e.speaker is MessageRole.ASSISTANT for e in excerpts):
        ones = listed([slot_of(excerpts[0]), *(f"the one for {e.subject}" for e in excerpts[1:])])
        forms = (f"If you add up {ones}, what do you get?", f"Can you add up {ones}?")
    elif is_sum and clause and len(subjects) == len(excerpts):
        forms = (f"Can you add up {clause}?", f"Please add up {clause}.")
    elif is_sum:
        forms = (f"If you add up {slots}, what do you get?", f"What do {slots} come to together?")
    elif all(asked(e) for e in excerpts):
        forms = (f"What is the difference between {slots}?",)
    elif shared:
        more, less = sorted(excerpts, key=lambda e: -_number_of(e.value))
        forms = (
            f"What is the difference between {slots}?",
            f"By how much does {slot_of(more)} exceed {slot_of(less)}?",
        )
    else:
        forms = (f"By how much do {slots} differ?", f"What is the difference between {slots}?")
    opening = (
        f"Together they come to {inputs.computed_value}" if is_sum else f"The difference is {inputs.computed_value}"
    )
    told = listed_to(excerpts)
    result = f"States that the {'total' if inputs.variety == 'sum' else 'difference'} is {inputs.computed_value}"
    nuggets = [NuggetDraft(text=result, excerpts=[e.ordinal for e in excerpts])]
    question = rng.choice(forms)
    if len(excerpts) < len(inputs.excerpts):
        question = f"Going by the last word on each: {question[0].lower()}{question[1:]}"
    return ProbeReply(question=question, gold_answer=f"{opening}: {told}.", nuggets=nuggets)


def _count(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    attribute = inputs.excerpts[0].attribute
    many = plural(attribute)
    forms = (
        f"Across everything I told you, how many different {many} came up, and which are they?",
        f"How many different {many} have I named so far, and which ones?",
        f"Counting each only once, how many {many} did I mention to you? Please name them.",
    )
    by_value: dict[str, list[Excerpt]] = {}
    for excerpt in inputs.excerpts:
        by_value.setdefault(shown(excerpt.value), []).append(excerpt)
    gold = f"You named {inputs.computed_value} different {many}: {listed(list(by_value))}."
    nuggets = [
        NuggetDraft(
            text=f"States that the number of different {many} is {inputs.computed_value}",
            excerpts=[e.ordinal for e in inputs.excerpts],
        )
    ]
    nuggets += [
        NuggetDraft(text=f"Names {value} as one of the {many}", excerpts=[e.ordinal for e in excerpts])
        for value, excerpts in by_value.items()
    ]
    return ProbeReply(question=rng.choice(forms), gold_answer=gold, nuggets=nuggets)


def _ordering(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    named = [asked(e) or (slot_of(e) if e.subject else e.topic) for e in inputs.excerpts]
    items = [asked_to(e) or (told_to(e) if e.subject else to_you(e.topic)) for e in inputs.excerpts]
    told = [asked_of(e) or (told_of(e) if e.subject else of_user(e.topic)) for e in inputs.excerpts]
    *some, last = (named[i] for i in inputs.listed_as)
    them = f"{'; '.join(some)}; and {last}"
    forms = (
        f"In which order did I first tell you these: {them}?",
        f"I am writing it all up: in which order did I first tell you {them}?",
        f"Please put these in the order in which I first told you of them: {them}.",
    )
    gold = "You told me of them in this order: " + "; ".join(f"{i}) {x}" for i, x in enumerate(items, 1)) + "."
    nuggets = [
        NuggetDraft(text=f"Names {item} as told {ordinal(i)}", excerpts=[i - 1]) for i, item in enumerate(told, 1)
    ]
    return OrderReply(question=rng.choice(forms), gold_answer=gold, nuggets=nuggets, items=items)


# --- behaviour --------------------------------------------------------------------------------------------------


def _contradiction(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    statement = next(e for e in inputs.excerpts if e.part == "statement")
    denial = next(e for e in inputs.excerpts if e.part == "denial")
    first, second = sorted((statement, denial), key=lambda e: e.ordinal)
    # Of two tallies the last one would be no contradiction's.
    question = _ask_fact(statement, rng).replace(" by the last count", "").replace(" at last count", "")
    if denial.value is None and (not asked(statement) or echoed_denial(question, denial.quote)):
        question = _ask_whether(inputs, rng)
    both = [first.ordinal, second.ordinal]
    matter = of_user(inputs.topic)
    claims = [_claim(e) for e in (first, second)]
    gold = (
        f"You have told me two things that contradict each other: you said {claims[0]}, and you also said {claims[1]} "
        "Which of the two is right?"
    )
    if asked(statement) and statement.value is not None:
        gold = gold.replace("you said", f"on {asked_to(statement)} you said", 1)
    if asked(statement) and denial.value is not None:
        matter = asked_of(statement)
        gold = (
            f"What you told me about {asked_to(statement)} contradicts itself: you said {claims[0]} one time and "
            f"{claims[1]} another time. Which of the two is right?"
        )
    nuggets = [
        NuggetDraft(text=f"States that the user's statements about {matter} contradict each other", excerpts=both),
        NuggetDraft(text=f"Mentions that the user said {claims[0]}", excerpts=[first.ordinal]),
        NuggetDraft(text=f"Mentions that the user said {claims[1]}", excerpts=[second.ordinal]),
        NuggetDraft(text="Asks the user which of the two statements is correct", excerpts=both),
    ]
    return ProbeReply(question=question, gold_answer=gold, nuggets=nuggets)


MOST_LEAD_IN = 40
"""Characters of a sentence among which its lead-in ends."""


def _claim(excerpt: Excerpt) -> str:
    """Return what a side of a contradiction claims: its value where it has one, else its words."""
    if excerpt.value is not None:
        return shown(excerpt.value)
    # "As background: I've never counted them": whoever retells it leaves the lead-in out.
    said = excerpt.quote.find(" I", 0, MOST_LEAD_IN) + 1
    return _quoted(excerpt.model_copy(update={"quote": excerpt.quote[said:]}))


def _ask_whether(inputs: ProbeInputs, rng: random.Random) -> str:
    denial = next(e for e in inputs.excerpts if e.part == "denial")
    if found := re.search(rf"\b(?:the|a) ([\w -]+) for {re.escape(inputs.topic)}", denial.quote):
        asked = f"For {inputs.topic}, what have I told you of the {found[1]}?"
        if not echoed_denial(asked, denial.quote):
            return asked
    # The question names the topic alone: with the words of the denial, a search for them would find it.
    forms = (
        f"Going by what I have told you: is {inputs.topic} something that I have dealt with myself, or not?",
        f"From all that you know of me, have I any experience of my own with {inputs.topic}?",
        f"Is there anything behind me with {inputs.topic}, or is all of it still to come?",
    )
    return rng.choice(forms)


def _quoted(excerpt: Excerpt) -> str:
    words = excerpt.quote.replace('"', "'").split()
    clipped = " ".join(words[:QUOTED_WORDS]) + ("..." if len(words) > QUOTED_WORDS else "")
    return f'"{clipped}"'


def _instruction(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    return _standing(inputs, rng, "asked for this")


def _preference(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    return _standing(inputs, rng, "said that you prefer this")


def _standing(inputs: ProbeInputs, rng: random.Random, verb: str) -> ProbeReply:
    evidence = inputs.excerpts[-1]
    question = standing_question(inputs.condition, inputs.requirement, inputs.topic, rng)
    wanted, when = to_you(inputs.requirement.rstrip(".")), to_you(inputs.condition.rstrip("."))
    gold = f"A good reply {wanted}, because you {verb} {when}."
    nugget = NuggetDraft(text=f"The response {of_user(inputs.requirement.rstrip('.'))}", excerpts=[evidence.ordinal])
    return ProbeReply(question=question, gold_answer=gold, nuggets=[nugget])


def _summary(inputs: ProbeInputs, rng: random.Random) -> ProbeReply:
    of_value = [e for e in inputs.excerpts if e.value is not None and e.part != EvidencePart.ORIGINAL]
    events = [e for e in inputs.excerpts if e.value is None]
    it = listed(list(dict.fromkeys(e.subject for e in inputs.excerpts if e.subject)) or [inputs.topic])
    forms = (
        f"How did it go with {it}, from the beginning to where it stands now? Please sum up what I told you.",
        f"Can you sum up for me how {it} came along: what I told you of it, what changed and where it stands?",
        f"I have lost track of {it}. Can you sum up what I told you of it, from my first word to the last?",
    )
    told = [f"You said: {_quoted(e)}" for e in events]
    changes = [f"Before that it was {listed(e.past)}: {asked_to(e) or told_to(e)}." for e in of_value if e.past]
    return ProbeReply(
        question=rng.choice(forms),
        gold_answer=" ".join([*([stated_together(of_value)] if of_value else []), *changes, *told]),
        nuggets=[*(_development(e, inputs.excerpts) for e in of_value), *(_event_nugget(e) for e in events)],
    )


def _development(excerpt: Excerpt, excerpts: Sequence[Excerpt]) -> NuggetDraft:
    """Return the nugget of a value, with those that it had before."""
    slot = (excerpt.subject, excerpt.attribute)
    before = [e for e in excerpts if e.part == EvidencePart.ORIGINAL and (e.subject, e.attribute) == slot]
    changed = f", after {listed(excerpt.past)}" if before else ""
    return NuggetDraft(text=f"States {stated_of(excerpt)}{changed}", excerpts=[e.ordinal for e in (*before, excerpt)])


def _event_nugget(excerpt: Excerpt) -> NuggetDraft:
    return NuggetDraft(text=f"Tells this: {_quoted(excerpt)}", excerpts=[excerpt.ordinal])


_WRITERS: dict[str, WordingRule] = {
    "contradiction_resolution": _contradiction,
    "event_ordering": _ordering,
    "information_extraction": _extraction,
    "instruction_following": _instruction,
    "knowledge_update": _update,
    "multi_session_reasoning": _across_sessions,
    "preference_following": _preference,
    "summarization": _summary,
    "temporal_reasoning": _temporal,
}


# --- abstention -------------------------------------------------------------------------------------------------


def _abstain(inputs: AbstentionInputs, rng: random.Random) -> AbstentionReply:
    """Return questions without an answer.

    They ask for a person's view of a thing never discussed with them, for what was told of other things and never of
    this one, or for another detail.
    """
    # Of `waste` or `weight` nobody would ask who recommended it: things with an article are asked about first.
    bullets = [b for b in inputs.bullets if b.topic != WHOLE]
    rng.shuffle(bullets)
    bullets.sort(key=lambda b: re.match(r"(?:the|my|our) |[A-Z]", b.topic) is None)
    threads = _threads_by_topic(inputs)
    foreign_to = {
        topic: about_value([s.attribute for s in thread.slots.values()], {s.type for s in thread.slots.values()})
        for topic, thread in threads.items()
    }
    details = {topic: rng.sample(forms, len(forms)) for topic, forms in _forms_by_topic(bullets, threads).items()}
    items: list[AbstentionDraft] = []
    for i in range(inputs.count if bullets else 0):
        bullet = bullets[i % len(bullets)]
        names = _strangers(inputs, bullet) if i % 3 == 0 else []
        # Of what the thread of a thing never tells, any thing may be asked: what it costs, when it is due.
        foreign = foreign_to.get(bullet.topic, ())
        if names:
            items.append(_about_person(bullet, rng.choice(names), ABOUT_PERSON[i // 3 % len(ABOUT_PERSON)]))
        elif foreign and i % 3 == 1:
            items.append(_about_detail(bullet, rng.choice(foreign)))
        else:
            person = next((p for p in inputs.people if p.first_name == bullet.topic), None)
            forms = about_person(person.relation) if person is not None else details[bullet.topic]
            items.append(_about_detail(bullet, forms[i % len(forms)]))
    return AbstentionReply(items=items)


def _threads_by_topic(inputs: AbstentionInputs) -> dict[str, Thread]:
    """Return the thread that tells of each thing."""
    pack = pack_for(inputs.seed)
    things = [b for b in inputs.bullets if b.kind is BulletKind.EVENT and b.topic != WHOLE]
    threads = {b.topic: thread_of(pack, b) for b in things}
    return {topic: thread for topic, thread in threads.items() if thread is not None}


def _forms_by_topic(bullets: Sequence[Bullet], threads: Mapping[str, Thread]) -> dict[str, tuple[Form, ...]]:
    """Return the questions on details that fit each thing."""
    slots = {topic: [s.attribute for s in thread.slots.values()] for topic, thread in threads.items()}
    return {b.topic: about_thing(slots.get(b.topic, ())) for b in bullets}


def _strangers(inputs: AbstentionInputs, bullet: Bullet) -> list[str]:
    """Return the people who are never mentioned together with this topic."""
    if any(bullet.topic == p.first_name for p in inputs.people):
        return []  # nobody asks what one person thought of another
    beside = " ".join(b.text for b in inputs.bullets if b.topic == bullet.topic)
    return [p.first_name for p in inputs.people if p.first_name not in beside]


def _about_person(bullet: Bullet, person: str, form: tuple[str, str]) -> AbstentionDraft:
    question, missing = form
    return AbstentionDraft(
        question=question.format(who=person, it=bullet.topic),
        missing=to_you(missing.format(who=person, it=bullet.topic)),
        bullet_id=bullet.bullet_id,
        search_terms=[person, neutral(bullet.topic)],
        difficulty=Difficulty.MEDIUM,
    )


def _about_detail(bullet: Bullet, form: Form) -> AbstentionDraft:
    question, missing, term, difficulty = form
    return AbstentionDraft(
        question=question.format(it=bullet.topic),
        missing=to_you(missing.format(it=bullet.topic)),
        bullet_id=bullet.bullet_id,
        search_terms=[term, neutral(bullet.topic)],
        difficulty=difficulty,
    )
