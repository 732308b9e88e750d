"""Blocks of a reply: each is a paragraph, list, table, code or worked problem about one thing.

Every block varies its words and its form by the generator it is given, and says the user's own values where it
has them. Templates in this file are for any domain; what is said about the subject comes from the packs.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator

from longbeam.models.offline.arithmetic import evaluate
from longbeam.models.offline.language import advice, example, fill, identifier, lower_first, upper_first
from longbeam.models.offline.packs import Card, Option, Pack, Problem, Snippet, Standing, Thread
from longbeam.models.offline.turns import filled_code, shown_values
from longbeam.schemas import values
from longbeam.schemas.calls import BulletBrief, LedgerLine
from longbeam.schemas.plans import Bullet, BulletKind, ValueKind


def shortened(text: str, room: int) -> str:
    """As many whole lines or sentences of a block as fit; empty if none does. Code and tables are taken whole."""
    if len(text) <= room:
        return text
    if "```" in text or text.lstrip().startswith("|") or "\n|" in text:
        return ""
    if "\n" in text:
        lines = text.split("\n")
        kept: list[str] = []
        for line in lines:
            if sum(len(k) + 1 for k in kept) + len(line) > room:
                break
            kept.append(line)
        body = [k for k in kept if k.strip()]
        return "\n".join(kept).rstrip() if len(body) > 1 else ""
    kept_, used = [], 0
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", text):
        if used + len(sentence) > room:
            break
        kept_.append(sentence)
        used += len(sentence) + 1
    return " ".join(kept_)


# --- openings -----------------------------------------------------------------------------------------------

_UPDATE = (
    "Noted: the {attribute} for {it} is {new}.",
    "Then we work with {new} as the {attribute} for {it}.",
    "{new} it is, then, for the {attribute} of {it}.",
    "All right, {new} replaces what we had as the {attribute} for {it}.",
    "Thanks for telling me. From here on I take the {attribute} of {it} to be {new}.",
)
_WISH = (
    "Understood, and I will keep to it.",
    "That is easy to do, and I will.",
    "Good to know; I will hold on to that.",
    "Fine, that is how we do it from here on.",
    "Thank you for saying so. I will stick to it.",
    "Agreed. Remind me if I ever slip.",
)
_INTRODUCTION = (
    "Nice to meet you, {name}. That is a good deal to start from.",
    "Welcome, {name}, and thank you for the background; it helps me to be specific.",
    "Good to meet you, {name}. Let me take your question first and the rest as it comes.",
)
_DENIAL = (
    "Then let us take {it} from the beginning.",
    "In that case, here is how I would approach {it}.",
    "All right. For {it}, the first steps matter more than the clever ones.",
    "Let us look at {it} with fresh eyes, then.",
)
_DATE = (
    "{value} is {distance}, so there is {room} for {it}.",
    "Counting from today, {value} leaves {it} {days}.",
    "You have {days} until {value}; for {it} that is {room}.",
    "Between now and {value} lie {days}, which decides the order of things on {it}.",
    "With {it} due on {value}, {days} remain, and that is {room}.",
    "{days} from now, on {value}, {it} has to stand; there is {room}.",
    "From today to {value} I count {days} for {it}.",
    "{value} gives {it} {room}: {days}, to be exact.",
)
_PAST = (
    "That was {days} ago, so {it} is still fresh enough to learn from.",
    "Since {value}, {days} have gone by; that is long enough to see what holds with {it}.",
    "With {it}, {value} now lies {days} back.", "{value} is {days} past, and {it} has moved on since.",
    "Counting from {value}, {it} has had {days} to settle.", "{days} after {value} one can judge {it} calmly.",
)  # fmt: skip
_AMOUNT = (
    "{value} is a figure one can work with for the {attribute} of {it}.",
    "With {value} as the {attribute}, {it} stays within sight of what is reasonable.",
    "Let us take {value} as given for the {attribute} and see what follows for {it}.",
    "The {attribute} of {value} tells me roughly how large {it} is.",
    "{value} for the {attribute} of {it} sounds like you have thought about it.",
    "So {it} comes with {value} as the {attribute}; that is a start.",
    "I note {value} as the {attribute} for {it}.",
    "{value} as the {attribute} puts {it} on firmer ground.",
)
_NAMED = (
    "{value} as the {attribute} settles one question about {it} at least.",
    "So the {attribute} is {value}, which narrows things down for {it}.",
    "{value} is a sensible {attribute} for {it}.",
    "Good, with {value} as the {attribute} I can be more specific about {it}.",
    "With {value} as the {attribute}, {it} takes shape.",
    "I will keep {value} in mind as the {attribute} of {it}.",
    "{it} with {value} as the {attribute}: that I can picture.",
)
_PLAIN = (
    "That is a fair question about {it}.",
    "The short answer for {it}: yes, it can be done, in small steps.",
    "Let us sort out {it} one thing at a time.",
    "With {it}, the order matters more than the effort.",
    "I would look at {it} from the end: what must be true when it is done?",
    "It sounds as if {it} takes up more of your mind than of your time.",
    "There are two or three things about {it} that make all the difference.",
    "{it} is one of those matters where a bit of method saves a lot of worry.",
    "Happy to go through {it} with you.",
    "Here is what I would do about {it} in your place.",
    "You are asking about {it} at the right moment.",
    "Most people make {it} harder than it needs to be.",
)


def opening(brief: BulletBrief | None, thing: str, today: dt.date, rng: random.Random) -> str:
    """One or two sentences that take up what the user has said."""
    if brief is None:
        return fill(rng.choice(_PLAIN), {"it": thing})
    kind = brief.bullet.kind
    if kind is BulletKind.INTRODUCTION:
        name = next((f.value.text for f in brief.facts if f.attribute == "full name" and f.value), "")
        return rng.choice(_INTRODUCTION).format(name=name.split(" ")[0] or "and welcome")
    if kind in {BulletKind.INSTRUCTION, BulletKind.PREFERENCE}:
        return rng.choice(_WISH)
    if kind is BulletKind.CONTRADICTION:
        return fill(rng.choice(_DENIAL), {"it": thing})
    lines = [line for line in brief.facts if line.value is not None]
    if not lines:
        return fill(rng.choice(_PLAIN), {"it": thing})
    line = rng.choice(lines)
    if kind is BulletKind.UPDATE and line.value is not None:
        fields = {"it": thing, "attribute": line.attribute, "new": line.value.text}
        return upper_first(fill(rng.choice(_UPDATE), fields))
    return about_value(line, thing, today, rng)


def about_value(line: LedgerLine, thing: str, today: dt.date, rng: random.Random) -> str:
    """A sentence that does something with one of the user's values."""
    value = line.value
    assert value is not None
    fields = {"it": thing, "attribute": line.attribute, "value": value.text}
    if value.kind is ValueKind.DATE and value.date is not None:
        days = (value.date - today).days
        if days > 0:
            fields |= {
                "days": f"{days} days" if days != 1 else "one day",
                "distance": f"{days} days away" if days != 1 else "tomorrow",
                "room": "enough room" if days > 20 else "room for the essentials" if days > 9 else "not much slack",
            }
            return upper_first(fill(rng.choice(_DATE), fields))
        fields["days"] = f"{-days} days" if days < -1 else "a day" if days == -1 else "no more than hours"
        return upper_first(fill(rng.choice(_PAST), fields))
    pool = _NAMED if value.number is None else _AMOUNT
    return upper_first(fill(rng.choice(pool), fields))


_AFTER_ANSWER = (
    "Thanks, that tells me what to leave out for {it}.", "That helps; it changes the order a little for {it}.",
    "Good, then we can be more definite about {it}.", "All right, with that I would put {it} like this.",
    "Thank you, {it} looks simpler than I feared then.", "In that case I would shift the weight with {it} a little.",
    "That is what I needed to know about {it}.", "Okay, here is the version of {it} that fits you.",
    "Then {it} needs less than I thought.", "Fair enough, {it} can start from there.",
    "I see, and that puts {it} in another light.", "Good to know before we go on with {it}.",
    "That settles one thing about {it}.", "Then let us not lose time on that part of {it}.",
    "Understood; for {it} that means a different first step.", "Thank you, {it} makes more sense to me now.",
)  # fmt: skip


def after_answer(thing: str, rng: random.Random) -> str:
    """What an assistant says once it has been told."""
    return fill(rng.choice(_AFTER_ANSWER), {"it": thing})


# --- advice ---------------------------------------------------------------------------------------------------

_HEADS = (
    "**{About}**", "### {About}", "On {about}:", "Here is how I would go about {about}:", "**{About}, step by step**",
    "A word on {about}:", "For {about}, this is what counts:", "### A plan for {about}", "What matters with {about}:",
    "**{About} for {it}**", "### {About}: {it}", "{About}, with {it} in mind:", "As for {about} with {it}:",
    "To get {about} right for {it}:", "This is what I know about {about}:", "**{About}, in short**",
    "Let us take {about}, since you ask:", "{About} is mostly this:", "### {About}, as it fits {it}",
    "My notes on {about}:",
)  # fmt: skip
_LEADS = (
    "There is a neighbouring question, {about}.", "Connected with this: {about}.", "It also touches {about}.",
    "While you are at it, think of {about}.", "And so that nothing falls between two chairs, {about}:",
    "One step further lies {about}.", "The next thing that will come up is {about}.", "Do not forget {about}.",
    "For {it} there is also {about}.", "Close to it, and often mixed up with it: {about}.",
    "You did not ask, but {about} belongs here.", "Then, with {it}, {about}.", "Keep {about} in view as well.",
    "It leads on to {about}.", "With {it} comes {about}.", "Before it comes back to bite you: {about}.",
    "The other half of {it} is {about}.", "Worth a thought in this connection: {about}.",
    "Once that stands, {about}.", "I would look at {about} too.", "Beside it, {about}.",
    "A short detour to {about}.", "{It} also asks for {about}.", "And {about}, since {it} needs it.",
)  # fmt: skip


def is_new(text: str, said: str) -> bool:
    """Whether a text has not been said a short while ago."""
    return text not in said


def points_block(card: Card, fields: dict[str, str], said: str, rng: random.Random, *, lead: bool = False) -> str:
    """A card's points that are new, as list, bullets with bold beginnings, checklist or prose; empty if none is."""
    points = [p for p in card.points if is_new(fill(p.how, fields), said)]
    if not points:
        return ""
    rng.shuffle(points)
    about = lower_first(fill(lower_first(card.about), fields))
    it = fields["it"]
    names = {"about": about, "About": upper_first(about), "it": it, "It": upper_first(it)}
    head = rng.choice(_LEADS if lead else _HEADS).format(**names)
    texts = [
        advice(fill_low(p.do, fields), fill_low(p.why, fields), fill(p.how, fields), fields["it"], rng) for p in points
    ]
    form = rng.choice(("numbers", "bullets", "prose", "bold", "checklist", "numbers", "prose"))
    if form == "numbers" and len(points) > 1:
        body = "\n".join(f"{i}. {t}" for i, t in enumerate(texts, 1))
    elif form == "bullets" and len(points) > 1:
        body = "\n".join(f"- {t}" for t in texts)
    elif form == "bold":
        body = "\n".join(
            f"- **{capital(p.do, fields)}**{rng.choice((f': {fill_low(p.why, fields)}.', '.'))} "
            f"{example(fill(p.how, fields), it, rng)}"
            for p in points
        )
    elif form == "checklist" and len(points) > 1:
        body = "\n".join(f"- [ ] {capital(p.do, fields)}\n  {example(fill(p.how, fields), it, rng)}" for p in points)
    else:
        return f"{head}\n\n{' '.join(texts)}" if not lead else f"{head} {' '.join(texts)}"
    return f"{head}\n\n{body}"


def capital(template: str, fields: dict[str, str]) -> str:
    """Fill a clause that begins a sentence."""
    return upper_first(fill_low(template, fields))


def fill_low(template: str, fields: dict[str, str]) -> str:
    """Fill a clause that does not begin a sentence."""
    return lower_first(template.format(**fields))


_REMINDERS = (
    "What I said about {about} still holds for {it}: above all, {do}.",
    "For {it} I can only repeat myself: {do}, and then {then}.",
    "On {about} nothing has changed with {it}; {do} first, and {then} after that.",
    "With {it}, go back to {about}: {do}.",
    "The heart of {about} is the same for {it}: {do}, then {then}.",
    "You have most of it already for {it}; what counts is to {do}.",
)


def reminder(card: Card, fields: dict[str, str], rng: random.Random) -> str:
    """One sentence that goes back to what was said a short while ago."""
    first, second = rng.sample(list(card.points), 2)
    about = lower_first(fill(lower_first(card.about), fields))
    names = {**fields, "about": about, "do": fill_low(first.do, fields), "then": fill_low(second.do, fields)}
    return fill(rng.choice(_REMINDERS), names)


_LINKS = ("Also: ", "Besides: ", "Then again: ", "On top of that: ", "Not least: ", "And: ", "Apart from that: ")


def joined(texts: list[str], rng: random.Random) -> str:
    """Sentences one after the other, some of those behind the first with a link."""
    return " ".join([*texts[:1], *(rng.choice(_LINKS) + t for t in texts[1:])])


_WATCH_HEADS = (
    "A warning about {it}: ", "With {it}, be careful of this: ", "What usually goes wrong with {it}: ",
    "The trap with {it}: ", "Mind this with {it}: ", "Where {it} goes wrong: ", "Two things can spoil {it}: ",
    "What I have seen fail with {it}: ", "Before you are too happy with {it}: ", "The other side of {it}: ",
)  # fmt: skip
_CHECK_HEADS = (
    "How you can tell that {it} works out: ", "You are done with {it} when this is true: ", "As a test for {it}: ",
    "Signs that {it} is in order: ", "Ask yourself at the end of {it}: ", "To see whether {it} holds: ",
    "What should be true of {it} afterwards: ", "The proof for {it}: ", "Look at {it} like this afterwards: ",
)  # fmt: skip


def watch_block(card: Card, fields: dict[str, str], said: str, rng: random.Random) -> str:
    """What goes wrong, as far as it is new."""
    texts = [text for t in card.watch if is_new(text := fill(t, fields), said)]
    if not texts:
        return ""
    rng.shuffle(texts)
    return rng.choice(_WATCH_HEADS).format(it=fields["it"]) + joined(texts, rng)


def check_block(card: Card, fields: dict[str, str], said: str, rng: random.Random) -> str:
    """How one knows that it worked, as far as it is new."""
    texts = [text for t in card.check if is_new(text := fill(t, fields), said)]
    if not texts:
        return ""
    rng.shuffle(texts)
    head = rng.choice(_CHECK_HEADS).format(it=fields["it"])
    if head and len(texts) > 1 and rng.random() < 0.4:
        return head.strip() + "\n\n" + "\n".join(f"- {t}" for t in texts)
    return head + joined(texts, rng)


def neighbour_block(thread: Thread, card: Card, rng: random.Random) -> str:
    """A look at another strand of the story."""
    thing = rng.choice(thread.things) if thread.things else "this part"
    point = rng.choice(card.points)
    fields = {"it": thing}
    text = advice(fill_low(point.do, fields), fill_low(point.why, fields), fill(point.how, fields), thing, rng)
    about = lower_first(fill(lower_first(card.about), fields))
    head = rng.choice(
        (
            "The same thinking helps with {about}.",
            "You could treat {about} alike.",
            "A side note on {about}:",
            "This reminds me of {about}.",
            "A word on {about} while I think of it.",
            "It also bears on {about}.",
            "Something similar holds for {about}.",
            "Look at {about} in the same light.",
        )
    )
    return f"{head.format(about=about)} {text}"


# --- tables and drafts ----------------------------------------------------------------------------------------


_OPTION_LEADS = (
    "Your options for {it} side by side:", "To compare the ways you have with {it}:",
    "Here is how the ways differ for {it}:", "A small comparison for {it}:", "Three columns on {it}:",
    "What speaks for and against each way with {it}:", "The ways to go about {it}, weighed:",
    "For {it}, the choice looks like this:",
)  # fmt: skip
_SCHEDULE_LEADS = (
    "{it} as a schedule:", "Spread over the time you have for {it}:", "On the calendar, {it} could be:",
    "In dates, for {it}:", "If you want days for {it}:", "A possible order for {it}:",
    "Week by week, {it} might go like this:", "So that {it} does not pile up:",
)  # fmt: skip


_MONEY = (
    "In figures for {it}: of the {all}, keep {kept} back for surprises and plan with {left}, about {week} a week "
    "over four weeks.",
    "If {it} has {all}, I would act as if it were {left} and leave {kept} untouched.",
    "Of {all} for {it}, {kept} should stay in the drawer; {left} is what you really have, or {week} in each of "
    "four weeks.",
    "The sum for {it}: {all} less a reserve of {kept} makes {left}.",
)
_TIME = (
    "Broken down, {all} for {it} is {each} in each of {per} sittings.",
    "For {it}, {all} means {per} sittings of {each}, which is easier to find than one long stretch.",
    "Divide the {all} for {it} by {per}, and you get {each} at a time.",
)
_COUNT = (
    "With {all} in view for {it}, a first go at {part} shows you whether the way is right.",
    "Do {part} for {it} first; if that goes well, the rest of the {all} is only patience.",
    "{all} is a lot for {it} in one go, so begin with {part}.",
)


def options_table(thread: Thread, fields: dict[str, str], said: str, rng: random.Random) -> str:
    """The thread's ways compared, unless that was done a short while ago."""
    options: list[Option] = list(thread.options)
    if not is_new(fill_low(options[0].good, fields), said):
        return ""
    rng.shuffle(options)
    lead = fill(rng.choice(_OPTION_LEADS), fields)
    rows = [
        f"| {upper_first(fill_low(o.name, fields))} | {fill_low(o.good, fields)} | {fill_low(o.bad, fields)} |"
        for o in options
    ]
    pick = rng.choice(options)
    verdict = rng.choice(
        ("I lean towards {name}, {fits}.", "For you I would take {name}, {fits}.", "{Name} is right {fits}.")
    )
    name = fill_low(pick.name, fields)
    closing_ = verdict.format(name=name, Name=upper_first(name), fits=fill_low(pick.fits, fields).rstrip("."))
    columns = rng.choice(("Way | In its favour | Against it", "Option | Good | Bad", "What | For it | Against it"))
    table = "\n".join([f"| {columns} |", "| --- | --- | --- |", *rows])
    return f"{lead}\n\n{table}\n\n{closing_}"


def schedule_block(
    card: Card, fields: dict[str, str], today: dt.date, brief: BulletBrief | None, said: str, rng: random.Random
) -> str:
    """A card's points laid over the days that are left."""
    due = next(
        (f.value.date for f in (brief.facts if brief else ()) if f.value and f.value.date and f.value.date > today),
        None,
    )
    room = (due - today).days if due else rng.randint(9, 24)
    points = list(card.points)
    if room < len(points) or not is_new(f"| {capital(points[0].do, fields)} |", said):
        return ""
    rows = []
    for i, point in enumerate(points):
        day = today + dt.timedelta(days=max(1, room * (i + 1) // (len(points) + 1)))
        date = f"{values.weekday(day)}, {values.format_date(day, with_year=False)}"
        rows.append(f"| {date} | {capital(point.do, fields)} |")
    columns = rng.choice(("Day | What", "When | Step", "Date | To do"))
    table = "\n".join([f"| {columns} |", "| --- | --- |", *rows])
    end = f"\n\nThat leaves {fields['it']} a little air before {values.format_date(due)}." if due and room > 6 else ""
    return f"{fill(rng.choice(_SCHEDULE_LEADS), fields)}\n\n{table}{end}"


def numbers_block(brief: BulletBrief | None, thing: str, rng: random.Random) -> str:
    """A calculation with one of the user's amounts."""
    for line in brief.facts if brief else ():
        value = line.value
        if value is None or line.is_fixed or value.number is None or value.number <= 0:
            continue
        if value.kind is ValueKind.MONEY:
            reserve = round(value.number * rng.choice((0.1, 0.15, 0.2)))
            rest = value.number - reserve
            kept, left = values.money(reserve, value.unit).text, values.money(rest, value.unit).text
            week = values.money(round(rest / 4), value.unit).text
            return fill(rng.choice(_MONEY), {"it": thing, "all": value.text, "kept": kept, "left": left, "week": week})
        if value.kind is ValueKind.DURATION and value.unit in {"hours", "minutes"}:
            per = rng.choice((3, 4, 5))
            each = values.duration(round(value.number / per, 1), value.unit).text
            return fill(rng.choice(_TIME), {"it": thing, "all": value.text, "each": each, "per": str(per)})
        if value.kind is ValueKind.NUMBER and value.unit and value.number >= 6:
            part = values.number(round(value.number / 4), value.unit).text
            return fill(rng.choice(_COUNT), {"it": thing, "all": value.text, "part": part})
    return ""


def message_draft(
    thread: Thread, fields: dict[str, str], brief: BulletBrief | None, today: dt.date, rng: random.Random
) -> str:
    """A short message the user can send, when somebody else is part of it."""
    if brief is None or rng.random() < 0.5:
        return ""
    names = re.findall(r"\bmy (?:friend|colleague|partner|mother|father|son|daughter) ([A-Z][a-z]+)", brief.bullet.text)
    if not names:
        return ""
    ask = fill_low(rng.choice(rng.choice(thread.cards).points).do, fields)
    day = values.weekday(today + dt.timedelta(days=rng.randint(2, 5)))
    return (
        f"If you want to write to {names[0]}, something like this would do:\n\n"
        f"> Hi {names[0]}, a quick word about {fields['it']}. I plan to {ask}. "
        f"Could you tell me by {day} whether that suits you? Thank you!"
    )


# --- wishes ---------------------------------------------------------------------------------------------------


_IDLE_WORDS = frozenset(
    ("when", "whenever", "about", "asks", "talk", "talking", "come", "comes", "ever", "something", "anything", "with")
)


def concerns(condition: str, text: str) -> bool:
    """Whether a text is about what a condition names: they share a word that says something."""
    words = {w[:6] for w in re.findall(r"[a-z]{4,}", condition.casefold()) if w not in _IDLE_WORDS}
    return any(w[:6] in words for w in re.findall(r"[a-z]{4,}", text.casefold()))


def honour_of(pack: Pack, bullet: Bullet, thing: str, rng: random.Random) -> str:
    """A sentence that honours an instruction or preference, from the pack."""
    wishes: list[Standing] = [*pack.instructions, *pack.preferences]
    wishes += [p.later for p in pack.preferences if p.later]
    for wish in wishes:
        if wish.requirement == bullet.requirement and wish.condition == bullet.condition:
            return fill(rng.choice(wish.honour), {"it": thing})
    return ""


# --- follow-ups and endings -----------------------------------------------------------------------------------


def follow_up_answer(kind: str, card: Card, thread: Thread, fields: dict[str, str], rng: random.Random) -> str:
    """The direct answer to a follow-up of one kind."""
    first, second = rng.sample(list(card.points), 2)
    one, two = fill_low(first.do, fields), fill_low(second.do, fields)
    if kind == "order":
        return f"If it is only one, {one}: {fill_low(first.why, fields)}. Everything else on {fields['it']} can wait."
    if kind == "skip":
        return f"You can leave out the part where you {two}, at least for now. Do not skip this, though: {one}."
    if kind == "check":
        return " ".join(fill(t, fields) for t in card.check)
    if kind == "risk":
        return " ".join(fill(t, fields) for t in card.watch)
    if kind == "compare":
        option = rng.choice(thread.options)
        name = fill_low(option.name, fields)
        good, bad = fill_low(option.good, fields), fill_low(option.bad, fields)
        return f"There is: {name}. In its favour: {good}. Against it: {bad}."
    return f"To make {fields['it']} concrete: {one}. {example(fill(first.how, fields), fields['it'], rng)}"


_CLOSINGS = (
    "Tell me how {it} went once you have tried it.", "One step at a time; {it} will not run away.",
    "If something about {it} does not fit, say so and we change it.",
    "Come back with the result, and we will take {it} from there.", "That should carry {it} through the week.",
    "Write down what you decide about {it}; it is easily forgotten.",
    "Start {it} with the smallest of these today, {weekday} or not.",
    "I would do no more than that on {it} for the moment.",
    "You will see the difference on {it} sooner than you think.",
    "And leave a note for yourself where you stopped with {it}.", "Keep {it} small until it works.",
    "{it} deserves a fresh head, so stop when you are tired.", "By next {weekday} you will know more about {it}.",
    "Do the first of these for {it}, and let the rest wait.", "I am curious what {it} looks like afterwards.",
    "Be kind to yourself with {it}; it is a lot.", "There is no prize for finishing {it} in one go.",
    "When in doubt about {it}, take the simpler way.", "Give {it} two tries before you judge it.",
    "You know {it} better than I do, so leave out what does not fit.", "{it} will look different by {weekday}.",
    "Set a limit for {it} and keep it.", "Enough on {it} for one day, I think.",
    "Somebody else should look at {it} before you call it done.",
)  # fmt: skip


def closing(thing: str, today: dt.date, rng: random.Random) -> str:
    """A last line that is no question."""
    return fill(rng.choice(_CLOSINGS), {"it": thing, "weekday": values.weekday(today)})


# --- code and problems ----------------------------------------------------------------------------------------


def code_answer(snippet: Snippet, thing: str, rng: random.Random) -> Iterator[str]:
    """What is wrong with the code shown, and the code without the fault."""
    fixed = code_of(snippet, thing)
    lead = {
        "bug": ("I see it.", "Found it.", "The cause is in the code you sent.", "That symptom has one cause here."),
        "slow": (
            "The result is right, the way to it is long.",
            "This does more work than it needs.",
            "It can be faster.",
        ),
        "wanted": ("Here is a version to start from.", "This does what you describe.", "Something like this:"),
    }[snippet.kind]
    yield f"{rng.choice(lead)} {snippet.why.format(ident=identifier(thing))}"
    yield f"```{snippet.lang}\n{fixed}\n```"


def code_of(snippet: Snippet, thing: str) -> str:
    """The code without the fault."""
    return filled_code(snippet.fixed, thing)


def code_example(snippet: Snippet, thing: str, rng: random.Random) -> str:
    """A piece of code that belongs to the subject."""
    lead = rng.choice(
        (
            "A pattern that comes up around {it} sooner or later, when {fault}:",
            "Should it ever happen that {fault}, this is the shape of the answer for {it}:",
            "For reference, here is how I would write the part of {it} where {fault}:",
        )
    )
    fault = lower_first(snippet.fault.format(ident=identifier(thing)))
    return f"{fill(lead, {'it': thing, 'fault': fault})}\n\n```{snippet.lang}\n{code_of(snippet, thing)}\n```"


def worked_problem(problem: Problem, known: dict[str, str], rng: random.Random) -> Iterator[str]:
    """The mistake, the way, the result."""
    whole = shown_values(evaluate(problem.let, rng, given=known))
    lead = rng.choice(("Your attempt first.", "Let us look at your attempt.", ""))
    yield f"{lead} {problem.mistake.format(**whole)}".strip()
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    yield f"{rng.choice(('Step by step:', 'The way through:', 'Worked out:'))}\n\n{steps}"
    yield f"{rng.choice(('**Result:**', 'So the answer is:', '**Answer:**'))} {problem.answer.format(**whole)}"


def practice_problem(problem: Problem, rng: random.Random) -> str:
    """A problem of the same kind with its solution."""
    whole = shown_values(evaluate(problem.let, rng))
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    lead = rng.choice(
        ("One more to practise on.", "For comparison, a similar one.", "Try this one before you read on.")
    )
    return f"{lead} {problem.text.format(**whole)}\n\n{steps}\n\n{problem.answer.format(**whole)}"
