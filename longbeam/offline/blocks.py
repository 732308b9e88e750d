"""Advice in a reply: a card's points, common mistakes, signs of success, answers to follow-ups.

Every block draws its words and its form at random, and leaves out what was said recently.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longbeam.offline.arithmetic import evaluate
from longbeam.offline.language import fill, fill_low, has_word, identifier, is_new, lower_first, phrases, upper_first
from longbeam.offline.packs import Card, Point, Snippet, Thread, WorkedProblem
from longbeam.offline.phrasing import PhrasePiece, advice, example, labelled, openers, piece_of, reason
from longbeam.offline.turns import filled_code, shown_values
from longbeam.prompts.calls import BulletBrief
from longbeam.text import times

HEADINGS = ("**{}**", "### {}", "**{}**")
"""Forms of headings; a reply uses one of them."""


def shortened(text: str, room: int) -> str:
    """Return as many whole lines or sentences of a block as fit; code and tables only whole. Empty if none fits."""
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
    # A heading sentence alone says nothing.
    return " ".join(kept_) if len(kept_) > 1 else ""


_LEADS = phrases("blocks", "leads")
_TITLES = ("{About}", "{About}", "{About}: what counts", "{About}, step by step", "{About}, in short")
_TITLES_WITH_THING = ("{About} for {it}", "{About}: {it}", "{About}", "{About} with {it}")
_ALSO_TITLES = ("{About}", "{About}", "Also: {about}", "Next to it: {about}", "{About} as well")


@dataclass(frozen=True)
class ReplyFrame:
    """Setting of a block: the fields of its texts, the recent text, the form of headings, and the random draws."""

    fields: dict[str, str]
    said: str
    """Recent text, which the block does not repeat."""
    rng: random.Random
    heading: str = HEADINGS[0]


def points_block(card: Card, frame: ReplyFrame, *, also: bool = False, at_most: int = 5) -> str:
    """Return the new points of a card as list, table, checklist or prose; empty if all were said recently.

    `also`: whether the card is another than the one asked for; the block has at most `at_most` points.
    """
    points = new_points(card, frame.fields, frame.said)
    if not points:
        return ""
    frame.rng.shuffle(points)
    pieces = [piece_of(p, frame.fields) for p in points[:at_most]]
    return f"{_head(card, frame, also=also)}\n\n{_formed(pieces, frame.fields['matter'], frame.rng)}"


def new_points(card: Card, fields: dict[str, str], said: str) -> list[Point]:
    """Return the points of a card that were not said recently."""
    return [p for p in card.points if is_new(fill(p.how, fields), said) and is_new(fill_low(p.do, fields), said)]


def _head(card: Card, frame: ReplyFrame, *, also: bool) -> str:
    fields, rng = frame.fields, frame.rng
    about, it = lower_first(fill(lower_first(card.about), fields)), fields["matter"]
    names = {"about": about, "About": upper_first(about), "it": it}
    if also:
        return frame.heading.format(rng.choice(_ALSO_TITLES).format(**names))
    if rng.random() < 0.45:
        named = about if has_word(about, it) else f"{about} with {it}"
        return rng.choice(_LEADS).format(about=named)
    titles = _TITLES if has_word(about, it) else _TITLES_WITH_THING
    return frame.heading.format(rng.choice(titles).format(**names))


def _formed(pieces: Sequence[PhrasePiece], it: str, rng: random.Random) -> str:
    form = rng.choice(("numbers", "bullets", "numbers", "titled", "checklist", "prose", "table"))
    opened = openers(rng)
    if form == "table" and len(pieces) > 2 and not any("|" in p.do + p.why + p.how for p in pieces):
        return _table(pieces, rng)
    if form == "titled":
        return "\n".join(f"- **{upper_first(p.do)}**\n  {_beside(p, it, rng)}" for p in pieces)
    if form == "checklist" and len(pieces) > 1:
        return "\n".join(f"- [ ] {upper_first(p.do)}\n  {_beside(p, it, rng)}" for p in pieces)
    texts = [advice(p, it, opened, rng) for p in pieces]
    if form == "prose" or len(pieces) == 1:
        half = (len(texts) + 1) // 2
        return "\n\n".join(" ".join(part) for part in (texts[:half], texts[half:]) if part)
    return "\n".join(f"{i}. {t}" if form == "numbers" else f"- {t}" for i, t in enumerate(texts, 1))


def _beside(piece: PhrasePiece, it: str, rng: random.Random) -> str:
    """Return the text below a piece of advice that is a title: its example, its reason, or both."""
    kind = rng.random()
    if kind < 0.12:
        return reason(piece.why, it, rng)
    if kind < 0.3:
        return example(piece.how, it, rng)
    return f"{reason(piece.why, it, rng)} {example(piece.how, it, rng)}"


def _table(pieces: Sequence[PhrasePiece], rng: random.Random) -> str:
    columns, of_piece = rng.choice(
        (
            ("Step | Why | How", lambda p: f"{upper_first(p.why)} | {p.how}"),
            ("What | Reason | In practice", lambda p: f"{upper_first(p.why)} | {p.how}"),
            ("Do this | In practice", lambda p: p.how),
        )
    )
    rows = [f"| {upper_first(p.do)} | {of_piece(p)} |" for p in pieces]
    return "\n".join([f"| {columns} |", "| --- " * (columns.count("|") + 1) + "|", *rows])


_REMINDERS = phrases("blocks", "reminders")


def reminder(card: Card, fields: dict[str, str], rng: random.Random) -> str:
    """Return one sentence that refers back to recent advice."""
    first, second = rng.sample(list(card.points), 2)
    about, it = lower_first(fill(lower_first(card.about), fields)), fields["matter"]
    names = {"about": about if has_word(about, it) else f"{about} with {it}"}
    names |= {"do": fill_low(first.do, fields), "then": fill_low(second.do, fields)}
    return fill(rng.choice(_REMINDERS), names)


_WATCH_TITLES = ("What to watch out for", "Pitfalls", "Where it goes wrong", "Common mistakes", "A word of caution")
_CHECK_TITLES = ("How you can tell", "Signs that it works", "A quick test", "Done when", "How to check")
_WATCH = phrases("blocks", "watch")
_WATCH_WITH_THING = phrases("blocks", "watch_with_thing")
_CHECK = phrases("blocks", "check")
_CHECK_WITH_THING = phrases("blocks", "check_with_thing")


def watch_block(card: Card, frame: ReplyFrame) -> str:
    """Return one or two common mistakes that were not said recently."""
    return _short_block(card.watch, _WATCH_TITLES, (_WATCH, _WATCH_WITH_THING), frame)


def check_block(card: Card, frame: ReplyFrame) -> str:
    """Return one or two signs of success that were not said recently."""
    return _short_block(card.check, _CHECK_TITLES, (_CHECK, _CHECK_WITH_THING), frame)


def _short_block(
    sentences: Sequence[str], titles: Sequence[str], labels: tuple[Sequence[str], Sequence[str]], frame: ReplyFrame
) -> str:
    rng = frame.rng
    texts = [text for t in sentences if is_new(text := fill(t, frame.fields), frame.said)]
    if not texts:
        return ""
    rng.shuffle(texts)
    it = frame.fields["matter"]
    if len(texts) > 1 and rng.random() < 0.4:
        title = frame.heading.format(rng.choice(titles))
        return "\n".join([title, "", *(f"- {t}" for t in labelled(texts[:2], *labels, it, rng))])
    return " ".join(labelled(texts[: rng.choice((1, 1, 2))], *labels, it, rng))


_NEIGHBOUR_TITLES = phrases("blocks", "neighbour_titles")


def neighbour_block(card: Card, frame: ReplyFrame) -> str:
    """Return two points on another thing of the user's, which the frame's fields name; empty if they are not new."""
    thing, rng = frame.fields["it"], frame.rng
    points = new_points(card, frame.fields, frame.said)
    if len(points) < 2:
        return ""
    about = lower_first(fill(lower_first(card.about), frame.fields))
    named = about if has_word(about, thing) else f"{about} for {thing}"
    title = rng.choice(_NEIGHBOUR_TITLES).format(about=named, About=upper_first(named))
    pieces = [piece_of(p, frame.fields) for p in rng.sample(points, 2)]
    return f"{frame.heading.format(title)}\n\n{_formed(pieces, thing, rng)}"


_ORDER = phrases("blocks", "order")
_SKIP = phrases("blocks", "skip")
_OTHER_WAY = phrases("blocks", "other_way")
_CONCRETE = phrases("blocks", "concrete")


def follow_up_answer(kind: str, card: Card, thread: Thread, fields: dict[str, str], rng: random.Random) -> str:
    """Return the direct answer to a follow-up of one kind."""
    first, second = (piece_of(p, fields) for p in rng.sample(list(card.points), 2))
    it = fields["matter"]
    names = {"one": first.do, "two": second.do, "why": first.why, "it": it}
    if kind == "order":
        return fill(rng.choice(_ORDER), names)
    if kind == "skip":
        return fill(rng.choice(_SKIP), names)
    if kind == "check":
        return " ".join(labelled([fill(t, fields) for t in card.check[:2]], _CHECK, _CHECK_WITH_THING, it, rng))
    if kind == "risk":
        return " ".join(labelled([fill(t, fields) for t in card.watch[:2]], _WATCH, _WATCH_WITH_THING, it, rng))
    if kind == "compare":
        option = rng.choice(thread.options)
        names |= {"name": fill_low(option.name, fields), "good": fill_low(option.good, fields)}
        return fill(rng.choice(_OTHER_WAY), {**names, "bad": fill_low(option.bad, fields)})
    return fill(rng.choice(_CONCRETE), {**names, "example": example(first.how, it, rng)})


_NAMED = re.compile(r"\bmy (?:friend|colleague|partner|mother|father|son|daughter) ([A-Z][a-z]+)")
_DRAFT_LEADS = phrases("figures", "draft_leads")
_DRAFTS = phrases("figures", "drafts")


def message_draft(
    thread: Thread, fields: dict[str, str], brief: BulletBrief | None, today: dt.date, rng: random.Random
) -> str:
    """Return a short message that the user can send to the person involved."""
    named = _NAMED.search(brief.bullet.text) if brief is not None else None
    if named is None or named[1] in fields["it"]:
        return ""
    do = fill_low(rng.choice(rng.choice(thread.cards).points).do, fields)
    day = times.weekday(today + dt.timedelta(days=rng.randint(2, 5)))
    names = {"name": named[1], "it": fields["it"], "do": do, "day": day}
    return f"{rng.choice(_DRAFT_LEADS).format(**names)}\n\n{rng.choice(_DRAFTS).format(**names)}"


def code_answer(snippet: Snippet, thing: str, rng: random.Random) -> Iterator[str]:
    """Yield the fault of the user's code, and the corrected code."""
    fixed = code_of(snippet, thing)
    lead = {
        "bug": (
            "I see it.",
            "Found it.",
            "The cause is in the code you sent.",
            "That symptom has one cause here.",
            f"So {snippet.fault}, and I can see why.",
            "One line of it does not do what it seems to do.",
            "Reading it slowly is enough to find the fault.",
            "Your description fits what the code does.",
            "It is a small slip with a large effect.",
            "The rest is sound; one spot is not.",
        ),
        "slow": (
            "The result is right, the way to it is long.",
            "This does more work than it needs.",
            "It can be faster.",
            f"No wonder that {snippet.fault}.",
            "Nothing is wrong with it but the time it takes.",
        ),
        "wanted": (
            "Here is a version to start from.",
            "This does what you describe.",
            "Something like this:",
            "A short one, to be changed as you like:",
            "Try this one first.",
        ),
    }[snippet.kind]
    yield f"{rng.choice(lead)} {snippet.why.format(ident=identifier(thing))}"
    yield f"```{snippet.lang}\n{fixed}\n```"


def code_of(snippet: Snippet, thing: str) -> str:
    """Return the corrected code."""
    return filled_code(snippet.fixed, thing)


_CODE_LEADS = phrases("figures", "code_leads")


_WANTED_LEADS = phrases("figures", "wanted_leads")


def code_example(snippet: Snippet, thing: str, rng: random.Random) -> str:
    """Return an example of code on the subject."""
    names = {"it": thing, "fault": lower_first(snippet.fault.format(ident=identifier(thing)))}
    lead = fill(rng.choice(_WANTED_LEADS if snippet.kind == "wanted" else _CODE_LEADS), names)
    return f"{lead}\n\n```{snippet.lang}\n{code_of(snippet, thing)}\n```"


_ATTEMPT_LEADS = phrases("figures", "attempt_leads")


def worked_problem(problem: WorkedProblem, known: dict[str, str], thing: str, rng: random.Random) -> Iterator[str]:
    """Yield the mistake, the steps and the result."""
    whole = shown_values(evaluate(problem.let, rng, given=known))
    lead = rng.choice(_ATTEMPT_LEADS).format(it=thing)
    yield f"{lead} {problem.mistake.format(**whole)}".strip()
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    yield f"{rng.choice(('Step by step:', 'The way through:', 'Worked out:'))}\n\n{steps}"
    yield f"{rng.choice(('**Result:**', 'So the answer is:', '**Answer:**'))} {problem.answer.format(**whole)}"


_PRACTICE = phrases("figures", "practice")


def practice_problem(problem: WorkedProblem, thing: str, rng: random.Random) -> str:
    """Return a problem of the same kind with its solution."""
    whole = shown_values(evaluate(problem.let, rng))
    steps = "\n".join(f"{i}. {s.format(**whole)}" for i, s in enumerate(problem.steps, 1))
    lead = rng.choice(_PRACTICE).format(it=thing, text=problem.text.format(**whole))
    return f"{lead}\n\n{steps}\n\n{problem.answer.format(**whole)}"
