"""Advice of the offline writer's assistant, in words that fit any domain, and the user's choices from it.

`understanding` reads the same templates back.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from longbeam.offline.language import fill, phrases, shuffled
from longbeam.offline.packs import Thread, pack_for, read_yaml
from longbeam.offline.planning import thread_of
from longbeam.offline.story import people_thread
from longbeam.prompts.calls import (
    MOST_ITEM_WORDS,
    AdviceDraft,
    AdviceInputs,
    AdviceLine,
    AdviceReply,
    ChoiceDraft,
    ChoiceLine,
)
from longbeam.schemas import Advice, AdviceKind, ValueKind
from longbeam.text import content_words

PURPOSES = Path(__file__).parent / "data" / "purposes.yaml"
FIGURES = phrases("advising", "figures")
DAYS = phrases("advising", "days")
CORRECTIONS = phrases("advising", "corrections")
LISTS = {
    AdviceKind.OPTIONS: (
        "For {it}, I see three options:\n{list}",
        "There are three options for {it}, as far as I can see:\n{list}",
        "These are your options for {it}:\n{list}",
    ),
    AdviceKind.STEPS: (
        "My plan for {it} has four steps:\n{list}",
        "For {it}, I would take these four steps, in this order:\n{list}",
        "The steps for {it}, one after the other:\n{list}",
    ),
}
USES = phrases("advising", "uses")
LEADS = phrases("advising", "leads")
"""Sentences before advice on a thing that the message does not speak of."""
CHOICES = phrases("advising", "choices")
ITEMS = {AdviceKind.OPTIONS: 3, AdviceKind.STEPS: 4}
"""Items of the lists, which the templates name."""
NTH = ("first", "second", "third")
ATTRIBUTES = {
    "safety margin": ValueKind.MONEY,
    "time limit": ValueKind.DURATION,
    "review day": ValueKind.DATE,
}
"""Attributes that the advice gives of a thing, with the kind of their values."""
_FURTHER_OPTION = "leaving it as it is for another month"


@lru_cache(maxsize=1)
def purposes() -> Mapping[str, dict[str, tuple[float, float]]]:
    """Return what an amount of money may be for, with the least and the most of it, by pack; `any` fits every pack."""
    known: Mapping[str, dict[str, tuple[float, float]]] = read_yaml(PURPOSES)
    return known


def advise(inputs: AdviceInputs, rng: random.Random) -> AdviceReply:
    """Return words for each line: values as they are given, options and steps from the thread's knowledge."""
    pack = pack_for(inputs.seed)
    drafts: list[AdviceDraft] = []
    for line in inputs.advice:
        if line.kind is AdviceKind.USE:
            taken = {*inputs.uses_before, *(item for draft in drafts for item in draft.items)}
            drafts.append(_with_use(line, pack.pack, taken, rng))
        else:
            thread = thread_of(pack, line.bullet) or rng.choice(pack.threads)
            drafts.append(_draft(line, thread, rng))
    return AdviceReply(advice=drafts, choices=[_choice(line, rng) for line in inputs.choices])


def _with_use(line: AdviceLine, pack: str, taken: Collection[str], rng: random.Random) -> AdviceDraft:
    """Return words for an amount, with a use that fits it, no word of which names the thing; that of the pack first."""
    assert line.value is not None  # a use has an amount
    amount, told = line.value.number or 0, content_words(f"{line.topic} {line.bullet.text}")
    known = purposes()
    own, general = (shuffled(list(pool.items()), rng) for pool in (known.get(pack, {}), known["any"]))
    free = [(use, bounds) for use, bounds in (*own, *general) if use not in taken]
    fitting = [use for use, (least, most) in free if least <= amount <= most and not content_words(use) & told]
    use = (fitting or [use for use, _ in free])[0]
    text = fill(rng.choice(USES), {"it": line.topic, "new": line.value.text, "use": use})
    return AdviceDraft(line_id=line.line_id, text=text, items=[use])


def _draft(line: AdviceLine, thread: Thread, rng: random.Random) -> AdviceDraft:
    fields = {"it": line.topic, "attribute": line.attribute, "new": line.value.text if line.value else ""}
    if line.kind in LISTS:
        items = _items(line, thread, rng)
        listed = "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1))
        text = fill(rng.choice(LISTS[line.kind]), {**fields, "list": listed})
        return AdviceDraft(line_id=line.line_id, text=text, items=items)
    forms = {AdviceKind.FIGURE: FIGURES, AdviceKind.DAY: DAYS, AdviceKind.CORRECTION: CORRECTIONS}[line.kind]
    return AdviceDraft(line_id=line.line_id, text=fill(rng.choice(forms), fields))


def _items(line: AdviceLine, thread: Thread, rng: random.Random) -> list[str]:
    fields = {"it": line.topic, "matter": "the visit" if thread is people_thread() else line.topic}
    if line.kind is AdviceKind.OPTIONS:
        names = [option.name for option in thread.options]
        rng.shuffle(names)
        known = [*names, _FURTHER_OPTION]
    else:
        known = [point.do for point in rng.choice(thread.cards).points]
    return [_short(template, fields) for template in known[: line.count]]


def _short(template: str, fields: Mapping[str, str]) -> str:
    """Return a filled template; a thing whose name makes the item too long is `it`."""
    item = template.format(**fields)
    return item if len(item.split()) <= MOST_ITEM_WORDS else template.format(**dict.fromkeys(fields, "it"))


def _choice(line: ChoiceLine, rng: random.Random) -> ChoiceDraft:
    fields = {"it": line.options.topic, "nth": NTH[line.ordinal - 1]}
    return ChoiceDraft(line_id=line.line_id, text=fill(rng.choice(CHOICES), fields))


def placed(reply: str, statements: Sequence[str], apart: Sequence[str]) -> str:
    """Return a reply with statements behind its first paragraph, and those on other things apart at its end."""
    first, gap, rest = reply.partition("\n\n")
    return "\n\n".join((first, *statements)) + gap + "\n\n".join((rest, *apart) if gap else ("", *apart))


def led_over(advice: Advice, rng: random.Random) -> str:
    """Return advice on another thing than the message's, behind a sentence that leads over to it."""
    return f"{fill(rng.choice(LEADS), {'it': advice.topic})} {advice.text}"
