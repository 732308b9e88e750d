"""Advice of a reply: a card's points, what goes wrong, how one knows that it worked, answers to follow-ups.

Every block varies its words and its form by the generator it is given, and leaves out what was said a short while
ago.
"""

from __future__ import annotations

import random
import re

from longbeam.models.offline.language import (
    advice,
    capital,
    example,
    fill,
    fill_low,
    is_new,
    lower_first,
    upper_first,
)
from longbeam.models.offline.packs import Card, Thread


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
    # A heading sentence without what it announces says nothing.
    return " ".join(kept_) if len(kept_) > 1 else ""


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


_REMINDERS = (
    "What I said about {about} still holds for {it}: above all, {do}.",
    "For {it} I can only repeat myself: {do}, and then {then}.",
    "On {about} nothing has changed with {it}; {do}, and {then} after that.",
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


_WATCH_HEADS_OF_PEOPLE = (
    "A warning: ", "What usually goes wrong there: ", "The trap in it: ", "Mind this: ", "Two things can spoil it: ",
    "Before you go to {it}: ", "One caution: ", "What I would avoid: ",
)  # fmt: skip
_CHECK_HEADS_OF_PEOPLE = (
    "How you can tell that it went well: ", "As a test: ", "Afterwards, ask yourself this: ", "A good sign: ",
    "With {it} you will notice: ", "What should be true in the end: ", "To see whether it helped: ",
)  # fmt: skip


def watch_block(card: Card, fields: dict[str, str], said: str, rng: random.Random, *, is_person: bool = False) -> str:
    """What goes wrong, as far as it is new."""
    texts = [text for t in card.watch if is_new(text := fill(t, fields), said)]
    if not texts:
        return ""
    rng.shuffle(texts)
    heads = _WATCH_HEADS_OF_PEOPLE if is_person else _WATCH_HEADS
    return rng.choice(heads).format(it=fields["it"]) + joined(texts, rng)


def check_block(card: Card, fields: dict[str, str], said: str, rng: random.Random, *, is_person: bool = False) -> str:
    """How one knows that it worked, as far as it is new."""
    texts = [text for t in card.check if is_new(text := fill(t, fields), said)]
    if not texts:
        return ""
    rng.shuffle(texts)
    heads = _CHECK_HEADS_OF_PEOPLE if is_person else _CHECK_HEADS
    head = rng.choice(heads).format(it=fields["it"])
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
        return f"The other way would be {name}. In its favour: {good}. Against it: {bad}."
    return f"To make {fields['it']} concrete: {one}. {example(fill(first.how, fields), fields['it'], rng)}"
