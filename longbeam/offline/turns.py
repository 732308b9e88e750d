"""The offline writer as the user: main questions, answers to the assistant, follow-ups."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from longbeam.keys import BulletId, TurnKey, plan_index_of
from longbeam.offline.arithmetic import evaluate, format_number
from longbeam.offline.chapters import BEGINNING
from longbeam.offline.dealing import dated, dealt, filled_up, joined_to, pasted, said_shortly
from longbeam.offline.language import (
    fill,
    identifier,
    is_new,
    lower_first,
    mention,
    names_of,
    pattern_of,
    phrase_groups,
    phrases,
    upper_first,
    within_sentence,
)
from longbeam.offline.packs import Beat, Card, Pack, Snippet, Thread, WorkedProblem, fields_of, fixed_words_of, pack_for
from longbeam.offline.planning import match_beat, thread_of
from longbeam.offline.story import people_thread
from longbeam.offline.telling import WHOLE
from longbeam.prompts.calls import (
    BulletBrief,
    LedgerLine,
    MoreTurnsReply,
    Opening,
    QuestionDetectorInputs,
    QuestionDetectorReply,
    Stage,
    TurnCard,
    TurnsSoFar,
    TurnState,
    UserReplyInputs,
    UserTurnDraft,
    UserTurnsInputs,
    UserTurnsReply,
)
from longbeam.schemas import CLOSING, Bullet, BulletKind
from longbeam.text import times

_LONG_AGO = phrases("turns", "long_ago")
"""Openers of an update of something from an earlier part of the story."""
_ABOUT_OPENERS = phrases("turns", "about_openers")
_VALUE_CLAUSES = phrases("turns", "value_clauses")
_LIMITS = phrases("turns", "limits")
_IN_PASSING = phrases("turns", "in_passing")
"""Templates of a wish that follows a question."""
_CLOSING_ASKS = phrases("turns", "closing_asks")
_LAST_ASKS = phrases("turns", "last_asks")
_BEHIND = phrases("turns", "behind")
_QUIET_ASKS = phrases("turns", "quiet_asks")
"""Questions behind a wish that wants no word about it."""
_BACK_TO_IT = phrases("turns", "back_to_it")
"""Words between a remark on something else and the question."""
_NO_ANSWER = (
    "", "", "", " No need to confirm.", " Just do it, that's all.", " You needn't mention it again.",
)  # fmt: skip
_WISH_ASKS = phrases("turns", "wish_asks")


WISHES = frozenset({BulletKind.INSTRUCTION, BulletKind.PREFERENCE})
PASSING_SHARE = 0.8
"""Share of the wishes that want no word which are said in passing, after a question on the current subject."""
MOST_STEPS = 20
"""Steps through the cards' questions for each further question, before one is taken that was asked before."""


@dataclass(frozen=True)
class Reading:
    """Thread, thing and beat of a bullet, found again in the pack."""

    pack: Pack
    thread: Thread
    thing: str
    beat: Beat | None
    fields: dict[str, str]
    bullet_id: str = ""


def read(pack: Pack, brief: BulletBrief) -> Reading | None:
    """Return a bullet's thread and beat; None for bullets without a thread (preferences, introduction)."""
    bullet = brief.bullet
    thread = thread_of(pack, bullet)
    if thread is None:
        return None
    fields = {"it": bullet.topic, "day": times.format_date(bullet.happens_on, with_year=False)}
    fields["weekday"] = times.weekday(bullet.happens_on)
    for name, slot in thread.slots.items():
        for line in brief.facts:
            if line.attribute == slot.attribute and line.value is not None:
                fields[name] = line.value.text
    for beat in thread.beats:
        for template in beat.tell:
            found = match_beat(template, bullet)
            if found is not None:
                return Reading(pack, thread, bullet.topic, beat, {**found, **fields}, bullet.bullet_id)
    return Reading(pack, thread, bullet.topic, None, fields, bullet.bullet_id)


def can_fill(template: str, fields: dict[str, str]) -> bool:
    """Whether all fields of a template are known."""
    return fields_of(template) <= set(fields)


def user_turns(inputs: UserTurnsInputs, state: TurnsSoFar, rng: random.Random) -> UserTurnsReply:
    """Return one turn for each card; those without bullets ask about the others' bullets again."""
    pack = pack_for(inputs.seed)
    briefs = {b.bullet.bullet_id: b for b in inputs.batch}
    turns = []
    for card in inputs.cards:
        if group := [briefs[i] for i in card.bullet_ids]:
            turns.append(_voicing_turn(pack, group, _told_before(inputs, group[0]), card, rng))
    more = inputs.questions - len(turns)
    extra = _about_turns(inputs, inputs.batch, more, state, rng)
    return UserTurnsReply(turns=[*turns, *extra])


def _told_before(inputs: UserTurnsInputs, brief: BulletBrief) -> list[Bullet]:
    """Return the bullets told before one of the batch, newest last."""
    batch = [b.bullet for b in inputs.batch]
    return [*inputs.context, *batch[: batch.index(brief.bullet)]]


def more_turns(inputs: UserTurnsInputs, state: TurnsSoFar, rng: random.Random) -> MoreTurnsReply:
    """Return questions on bullets that were voiced already."""
    # The ordinals of the batches' questions count from zero; seven more keep these questions apart from them.
    apart = state.model_copy(update={"first_ordinal": 7 + state.first_ordinal})
    return MoreTurnsReply(turns=_about_turns(inputs, inputs.about, inputs.questions, apart, rng))


def _voicing_turn(
    pack: Pack, group: Sequence[BulletBrief], context: Sequence[Bullet], card: TurnCard, rng: random.Random
) -> UserTurnDraft:
    text, about = _told(pack, group, context, card, rng)
    voices = [b.bullet.bullet_id for b in _asked_last(group, card)]  # the reply is about the last of them
    return UserTurnDraft(text=said_shortly(text, card.days), voices=voices, asks_about=about)


def _asked_last(group: Sequence[BulletBrief], card: TurnCard) -> list[BulletBrief]:
    """Return a group with the bullet last that its question is about, which is no wish where there is anything else."""
    return sorted(group, key=lambda b: (b.bullet.kind not in WISHES, b.bullet.bullet_id == card.asks_about))


def _told(
    pack: Pack, group: Sequence[BulletBrief], context: Sequence[Bullet], card: TurnCard, rng: random.Random
) -> tuple[str, list[str]]:
    """Return a message that tells a group of bullets, with its days in full, and the bullets that it asks about."""
    last = next((b for b in reversed(_asked_last(group, card)) if b.bullet.kind not in WISHES), group[-1])
    texts = [dated(b.bullet.text, b.bullet.bullet_id, card, rng) for b in group]
    said = " ".join([texts[0], *(_joined(text, rng) for text in texts[1:])])
    reading = read(pack, last)
    kind = last.bullet.kind
    if kind in WISHES and len(group) == 1:
        return _wish_turn(pack, said, context, card, rng)
    if kind is BulletKind.PASTED:
        return said, []
    if kind is BulletKind.SIDE:
        return _on_the_side(pack, said, context, _stage_of(last), rng)
    is_first = card.opening is Opening.QUESTION and not card.callback
    # Behind another bullet's text "it" would be that one's thing.
    question = _question(pack, last, reading, rng, named="" if is_first or last is not group[-1] else said)
    if kind in {*WISHES, BulletKind.INTRODUCTION} or last.bullet.variety == CLOSING:
        return f"{said} {question}", []
    if kind is BulletKind.UPDATE and _is_of_earlier_plan(last.bullet):
        said = joined_to(rng.choice(_LONG_AGO), said)
    shown = ""
    if reading is not None and reading.beat is not None and reading.beat.show:
        shown = _shown(pack, reading, rng)
    text = filled_up(dealt(said, question, card, rng), _share_of(_LIMITS, _stage_of(last)), rng)
    return f"{text}{shown or pasted(card.paste, rng)}", []


def _stage_of(brief: BulletBrief) -> int:
    return BulletId.parse(brief.bullet.bullet_id).sub_plan_index


def _wish_turn(
    pack: Pack, said: str, context: Sequence[Bullet], card: TurnCard, rng: random.Random
) -> tuple[str, list[str]]:
    """Return a message with a wish: it asks whether that is all right, or something else and no word on the wish."""
    if card.asks_to_confirm:
        return f"{said} {rng.choice(_WISH_ASKS)}", []
    subject = _going_on(pack, context) if rng.random() < PASSING_SHARE else None
    if subject is None:
        return f"{said} {rng.choice(_QUIET_ASKS)}", []
    ask = f"{_about_opener(rng)}{_card_question(subject, rng)}"
    wish = fill(rng.choice(_IN_PASSING), {"wish": lower_first(said)})
    return f"{ask} {wish}{rng.choice(_NO_ANSWER)}", [subject.bullet_id] if subject.bullet_id else []


def _on_the_side(
    pack: Pack, said: str, context: Sequence[Bullet], stage_index: int, rng: random.Random
) -> tuple[str, list[str]]:
    """Return a message that tells something of a side story along with a question on what goes on."""
    subject = _going_on(pack, context)
    if subject is None:
        return f"{said} {rng.choice(_QUIET_ASKS)}", []
    ask = f"{rng.choice(_BACK_TO_IT)}{_card_question(subject, rng)}"
    text = filled_up(f"{said} {ask}", _share_of(_LIMITS, stage_index), rng)
    return text, [subject.bullet_id] if subject.bullet_id else []


def _is_of_earlier_plan(bullet: Bullet) -> bool:
    target = bullet.target_bullet_id or bullet.bullet_id
    return plan_index_of(target) != plan_index_of(bullet.bullet_id)


def _going_on(pack: Pack, context: Sequence[Bullet]) -> Reading | None:
    """Return the subject of the last event before a wish, so that a question on it can lead to the wish."""
    for bullet in reversed(context):
        reading = read(pack, BulletBrief(bullet=bullet)) if bullet.kind is BulletKind.EVENT else None
        if reading is not None:
            return reading
    return None


def _about_opener(rng: random.Random) -> str:
    return rng.choice(("", "", "", "One more question. ", "Still on this: ", "Back to what we had: "))


def _card_question(reading: Reading, rng: random.Random) -> str:
    return fill(rng.choice(rng.choice(reading.thread.cards).ask), {"it": reading.thing})


def _joined(text: str, rng: random.Random) -> str:
    return joined_to(rng.choice(["Also, ", "And another thing: ", "On top of that, ", "By the way, ", ""]), text)


def _question(pack: Pack, brief: BulletBrief, reading: Reading | None, rng: random.Random, *, named: str) -> str:
    """Return the question of a turn; a thing that the text `named` contains gets a short name."""
    kind, thing = brief.bullet.kind, brief.bullet.topic
    asks: Sequence[str] = _WISH_ASKS
    fields = reading.fields if reading is not None else {"it": thing}
    if kind is BulletKind.INTRODUCTION or brief.bullet.narrative == BEGINNING:
        return rng.choice(pack.intro_ask).q
    elif brief.bullet.variety == CLOSING:
        asks = _LAST_ASKS if thing == WHOLE else _CLOSING_ASKS
    elif reading is not None:
        beat = [a.q for a in reading.beat.ask if can_fill(a.q, fields)] if reading.beat is not None else []
        # What changes or contradicts something is asked about as its thing is at other times: no form of its own.
        asks = beat or [q for card in reading.thread.cards for q in card.ask if can_fill(q, fields)] or _WISH_ASKS
    template = rng.choice(asks)
    is_person = reading is not None and reading.thread is people_thread()
    called = thing
    if thing.casefold() in named.casefold() and not is_person:
        called = mention(template, thing, rng)
    return fill(template, {**fields, "it": called})


def _about_turns(
    inputs: UserTurnsInputs, briefs: Sequence[BulletBrief], count: int, state: TurnsSoFar, rng: random.Random
) -> list[UserTurnDraft]:
    """Return `count` questions that voice no bullet, spread over the bullets; each card's question once per thing.

    Where all of them were asked, one comes again in other words around it.
    """
    pack = pack_for(inputs.seed)
    readings = _askable(pack, briefs)
    if not readings:  # only wishes, outcomes or contradictions: ask about the bullets just before them
        own = BulletId.parse(briefs[0].bullet.bullet_id).sub_plan
        told = (b for b in inputs.context if BulletId.parse(b.bullet_id).sub_plan == own)
        readings = _askable(pack, [BulletBrief(bullet=b) for b in told])[-len(briefs) :]
    if not readings:
        subject = within_sentence(inputs.seed.subtopics[inputs.stage.stage_index % len(inputs.seed.subtopics)])
        readings = [(b, Reading(pack, pack.threads[0], subject, None, {})) for b in briefs]
    turns: list[UserTurnDraft] = []
    asked = [" ".join(t.split()) for t in (*inputs.asked_before, *state.asked)]
    step = state.first_ordinal
    while len(turns) < count:
        # The latest bullets first: people ask about what they have just told.
        brief, reading = readings[-1 - (len(turns) + rng.randrange(4)) % len(readings)]
        forms, text = _about_question(inputs, brief, reading, step, rng)
        step += 1
        if step - state.first_ordinal > MOST_STEPS * count:
            forms = [text]
        if all(is_new(form, earlier) for form in forms for earlier in asked):
            asked.append(text)
            turns.append(UserTurnDraft(text=text, voices=[], asks_about=[brief.bullet.bullet_id]))
    return turns


def _askable(pack: Pack, briefs: Sequence[BulletBrief]) -> list[tuple[BulletBrief, Reading]]:
    """Return the bullets that further questions can be about, with their readings; wishes are left out."""
    return [
        (b, r)
        for b in briefs
        if (r := read(pack, b)) is not None
        and b.bullet.kind not in {*WISHES, BulletKind.CONTRADICTION}
        and b.bullet.variety != CLOSING
    ]


def _around(stage_index: int, plan_index: int, rng: random.Random, *, again: bool) -> tuple[str, str]:
    """Return an opener and an ending for a question; two stages, of any plans, never draw the same pair."""
    openers, limits = _share_of(_ABOUT_OPENERS, stage_index + plan_index), _share_of(_LIMITS, stage_index)
    kind = 1.0 if again else rng.random()
    if kind < 0.4:
        return rng.choice(openers), ""
    if kind < 0.8:
        return "", rng.choice(limits)
    return rng.choice(openers), rng.choice(limits)


def _about_question(
    inputs: UserTurnsInputs, brief: BulletBrief, reading: Reading, step: int, rng: random.Random
) -> tuple[list[str], str]:
    """Return a message that asks a card's question, and that question with each name of its thing."""
    asks = [(c, q) for c in reading.thread.cards for q in c.ask]
    random.Random(f"{reading.thread.thread}/{reading.thing}").shuffle(asks)
    bullet_id = BulletId.parse(brief.bullet.bullet_id)
    position = bullet_id.ordinal * 3 + step
    _, template = asks[position % len(asks)]
    lines = [line for line in brief.facts if line.value is not None and not line.is_fixed]
    lead = ""
    if lines and rng.random() < 0.45:
        line = rng.choice(lines)
        lead = _value_clause(line, brief.bullet, inputs.stage, rng)
    again = bool(inputs.feedback) or bullet_id.plan_index > 0
    opener, limit = _around(inputs.stage.stage_index, bullet_id.plan_index, rng, again=again)
    named = "{it}" in opener and reading.thread is not people_thread()
    question = fill(template, {"it": mention(template, reading.thing, rng) if named else reading.thing})
    opener = fill(opener, {"it": reading.thing})
    if opener.endswith(": ") and lead:
        lead = lower_first(lead)
    forms = [fill(template, {"it": it}) for it in names_of(reading.thing)]
    text = f"{opener}{lead}{lower_first(question) if lead else question}{limit}"
    return forms, filled_up(text, _share_of(_LIMITS, inputs.stage.stage_index), rng)


def _value_clause(line: LedgerLine, bullet: Bullet, stage: Stage, rng: random.Random) -> str:
    """Return a clause with a value; empty for a date of which it is unclear whether it has passed."""
    assert line.value is not None
    fields = {"attribute": line.attribute, "value": line.value.text}
    if line.value.date is None or line.value.date > stage.last_day:
        return rng.choice(_VALUE_CLAUSES).format(**fields)
    if line.value.date < max(bullet.happens_on, stage.first_day):
        return rng.choice(_BEHIND).format(**fields)
    return ""


# --- showing work -------------------------------------------------------------------------------------------


def _shown(pack: Pack, reading: Reading, rng: random.Random) -> str:
    if reading.beat is not None and reading.beat.show == "snippet":
        fitting = [s for s in pack.snippets if s.thread in ("", reading.thread.thread)]
        if not fitting:
            return ""
        snippet = rng.choice(fitting)
        if snippet.kind == "wanted":
            return f"\n\nWhat I need is this: {snippet.fault}. I haven't written anything for it yet; can you?"
        code = filled_code(snippet.code, reading.thing)
        ask = "It works, but" if snippet.kind == "slow" else "The trouble:"
        return f"\n\nThis is what I have so far. {ask} {snippet.fault}.\n\n```{snippet.lang}\n{code}\n```"
    fitting_ = [p for p in pack.problems if p.thread in ("", reading.thread.thread)]
    if not fitting_:
        return ""
    problem = rng.choice(fitting_)
    known = shown_values(evaluate(problem.let, rng))
    return f"\n\nHere is one from {reading.thing}: {problem.text.format(**known)}\n\n{problem.attempt.format(**known)}"


def filled_code(code: str, thing: str) -> str:
    """Return a snippet's code with its identifier."""
    return code.format(ident=identifier(thing)).rstrip()


def shown_values(known: dict[str, object]) -> dict[str, str]:
    """Return a problem's parameters as text."""
    return {name: format_number(value) for name, value in known.items()}


def snippet_in(pack: Pack, text: str, thing: str) -> Snippet | None:
    """Return the snippet that a message shows or asks for; None if there is none."""
    for snippet in pack.snippets:
        needle = filled_code(snippet.code, thing) if snippet.code else snippet.fault
        if needle in text:
            return snippet
    return None


def problem_in(pack: Pack, text: str) -> tuple[WorkedProblem, dict[str, str]] | None:
    """Return the problem that a message states, with its drawn parameters; None if there is none."""
    for problem in pack.problems:
        found = pattern_of(problem.text, problem.forms).search(text)
        if found:
            return problem, found.groupdict()
    return None


# --- answers and follow-ups ---------------------------------------------------------------------------------

_FOLLOW_UPS = phrase_groups("turns", "follow_ups")
FOLLOW_UP_KINDS = tuple(_FOLLOW_UPS)
_REACTIONS = phrase_groups("turns", "reactions")
_THANKS = phrases("turns", "thanks")
_ANSWER_HEADS = phrases("turns", "answer_heads")
_ANSWER_TAILS = phrases("turns", "answer_tails")
_OWN_TAILS = [t for t in _ANSWER_TAILS if "{it}" in t or "{day}" in t]
_AS_OF = " That's how I see it on {day}."
_LONGER_TAILS = [t for t in _ANSWER_TAILS if t]
STAGES_AT_MOST = 10
"""Sub-plans of a plan. Each stage draws tails from its own part of the lists above, because stages are written
concurrently and must not repeat each other."""


def _share_of(items: Sequence[str], stage_index: int) -> Sequence[str]:
    return items[stage_index % STAGES_AT_MOST :: STAGES_AT_MOST]


def detect_question(inputs: QuestionDetectorInputs) -> QuestionDetectorReply:
    """Return whether the reply ends with a question to the user; an offer of more help is no question."""
    last = inputs.reply.rstrip().rsplit("\n", 1)[-1]
    asks = last.endswith("?") and not last.casefold().startswith(("would you like me", "shall i", "do you want me"))
    return QuestionDetectorReply(reason=f"The last line is: {last[:120]}", asks_user=asks)


def user_answer(inputs: UserReplyInputs, state: TurnState, rng: random.Random) -> str:
    """Return the answer to the assistant's last question, from the thread that has the question."""
    pack = pack_for(inputs.context.seed)
    last = state.previous_reply.rstrip().rsplit("\n", 1)[-1]
    brief = state.bullets[-1] if state.bullets else None
    thing = brief.bullet.topic if brief else "it"
    today = state.today
    fields = {
        "it": thing,
        "weekday": times.weekday(today),
        "day": times.format_date(today, with_year=False),
    }
    if is_left_open(last):
        day = times.format_date(today, with_year=False)
        return f"{rng.choice(_LEFT_OPEN)} Let's leave {thing} as it is on this {times.weekday(today)}, {day}."
    head = "As I said, " if inputs.feedback else rng.choice(_ANSWER_HEADS)
    tails = [t for t in _share_of(_ANSWER_TAILS, inputs.context.stage.stage_index) if can_fill(t, fields)]
    if inputs.context.earlier_plans:
        # The same answer may have come in the same stage of another plan. A tail that names the thing or the day is
        # specific to this plan, and the parts of the plans are shifted.
        part = inputs.context.stage.stage_index + TurnKey.parse(state.turn_id).plan_index
        tails = list(_share_of(_OWN_TAILS, part))
    # A thing of an earlier plan may be of another pack, and with it the question.
    told = thread_of(pack, brief.bullet) if brief else None
    for thread in (*pack.threads, people_thread(), *([told] if told else ())):
        for back in thread.ask_back:
            found = pattern_of(back.q).search(last)
            if found is not None:
                asked = found.groupdict().get("it", thing)
                fields["it"] = thing if asked.casefold() == thing.casefold() else asked
                # Keyed by question and thing, so that every stage gives the same answer without shared state.
                remembered = random.Random(f"{inputs.context.profile.name}/{back.q}/{fields['it']}")
                answer = fill(remembered.choice(back.a), fields)
                answer = f"{head}{lower_first(answer) if head.endswith(', ') else answer}"
                if inputs.feedback:  # The answer was said before, word for word: make it longer.
                    answer += "".join(fill(t, fields) for t in rng.sample(_LONGER_TAILS, 2))
                return upper_first(f"{answer}{fill(rng.choice(tails or ['']), fields)}")
    return upper_first(f"{head}I can't say for {thing} yet.{fill(rng.choice(tails or ['']), fields)}")


_LEFT_OPEN = phrases("turns", "left_open")


def is_left_open(question: str) -> bool:
    """Return whether a question asks which of two statements is right, which the user leaves open."""
    return question.endswith("Which of the two is right?")


def ask_back_for(thread: Thread, thing: str, stage_index: int, asked: Collection[str]) -> str:
    """Return the thread's question to the user in this stage; empty if it is one of those `asked` in it before.

    Stages are written concurrently. Each thing's questions are distributed over them, so that none repeats soon.
    """
    first = sum(map(ord, thing))
    question = fill(thread.ask_back[(first + stage_index) % len(thread.ask_back)].q, {"it": thing})
    return "" if question in asked else question


def user_follow_up(inputs: UserReplyInputs, state: TurnState, rng: random.Random) -> str:
    """Return a short question that follows from the reply, an objection to it, or what the user will do with it."""
    brief = state.bullets[-1] if state.bullets else None
    reading = read(pack_for(inputs.context.seed), brief) if brief else None
    thing = reading.thing if reading else "this"
    heads = _share_of(_THANKS, inputs.context.stage.stage_index)
    turn_key = TurnKey.parse(state.turn_id)
    if forms := _REACTIONS.get(inputs.reaction):
        # Plans draw from the same words, so only the day makes their reactions to one thing different.
        is_later = turn_key.plan_index > 0
        fields = {"it": thing, "day": times.format_date(state.today, with_year=is_later)}
        form = rng.choice(forms)
        dated = form if "{day}" in form or not is_later else f"{form}{_AS_OF}"
        return f"{rng.choice(heads)}{fill(dated, fields)}"
    again, thanks, template = _distributed(2 * turn_key.turn_index + state.ordinal, heads)
    if (
        inputs.feedback
    ):  # The question was asked before, word for word: a stage of many turns runs through all combinations.
        thanks, template = rng.choice(heads), rng.choice(_FOLLOW_UPS[rng.choice(FOLLOW_UP_KINDS)])
    is_person = reading is not None and reading.thread is people_thread()
    called = "this" if is_person else mention(template, thing, rng)
    if again or turn_key.plan_index:
        called = thing  # Plans draw from the same words, so only the name makes their follow-ups different.
    return f"{thanks}{fill(template, {'it': called})}"


def _distributed(number: int, heads: Sequence[str]) -> tuple[int, str, str]:
    """Return the round, the opening and the question of a stage's follow-up with this number.

    No two numbers of a round have the same opening and question, and neighbours differ in both: they are questions of
    one turn. From the second round on a further opening stands in front, another one in each round.
    """
    forms = [(head, template) for head in heads for templates in zip(*_FOLLOW_UPS.values(), strict=True)
             for template in templates]  # fmt: skip
    again, place = divmod(number, len(forms))
    head, template = forms[(place * _STRIDE) % len(forms)]
    further = heads[(again - 1) % len(heads)] if again else ""
    return again, f"{'Well. ' if further == head else further}{head}", template


_STRIDE = 29
"""Step through the forms of follow-ups: it has no factor in common with their number, so that each comes once."""


def follow_up_kind(text: str, thing: str) -> str | None:
    """Return the kind of a follow-up message; None if it is none."""
    for kind, templates in _FOLLOW_UPS.items():
        if any(fill(t, {"it": it}) in text for t in templates for it in names_of(thing)):
            return kind
    return None


_DATE = re.compile(rf"{times.MONTH} \d{{1,2}}(?:, {times.YEAR})?", re.IGNORECASE)


def _in_other_days(question: str, days: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of a question that says its days in whatever words: `the 27th` of a message, `next Friday`."""
    pattern = re.escape(question)
    for day in days:
        pattern = pattern.replace(re.escape(day.casefold()), r"[\w, ]+?")
    return re.compile(pattern)


def asked_card(thread: Thread, text: str, fields: dict[str, str]) -> Card | None:
    """Return the card that answers the question in a message; None if none does."""
    folded = text.casefold()
    named = [{**fields, "it": it} for it in names_of(fields.get("it", ""))]
    days = {name: value for name, value in fields.items() if _DATE.fullmatch(value)}

    def is_asked(question: str) -> bool:
        if fixed_words_of(question) not in folded or not can_fill(question, fields):
            return False
        forms = [fill(question, f).casefold() for f in named]
        if days.keys().isdisjoint(fields_of(question)):
            return any(form in folded for form in forms)
        return any(_in_other_days(form, days.values()).search(folded) for form in forms)

    for ask in (a for b in thread.beats for a in b.ask):
        if is_asked(ask.q):
            return next((c for c in thread.cards if c.card == ask.card), None)
    return next((card for card in thread.cards if any(is_asked(q) for q in card.ask)), None)
