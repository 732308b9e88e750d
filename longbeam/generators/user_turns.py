"""The user's main questions: K batches of bullets per sub-plan, I questions per batch, and one turn per special
bullet.

Whether every bullet is really said is checked here, before hundreds of dialogue calls depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from longbeam.generators.layout import Layout
from longbeam.generators.ledger import Ledger, split_evenly
from longbeam.generators.plans import Frame
from longbeam.generators.probes.evidence import MIN_COVERAGE, coverage
from longbeam.models.asking import Asker
from longbeam.prompts.calls.plans import Stage
from longbeam.prompts.calls.user_turns import BatchState, BulletBrief, UserTurnsInputs, UserTurnsReply
from longbeam.schemas.base import Record
from longbeam.schemas.dialogue import MessageRole, UserTurn
from longbeam.schemas.plans import SPECIAL_KINDS, Bullet, BulletKind, SubPlan
from longbeam.schemas.spec import ENGLISH
from longbeam.text.matching import says
from longbeam.text.traces import trace_problem

T = TypeVar("T")
USER_TURNS_PROMPTS = ("user_turns",)
SPECIALS_PER_CALL = 4
LAST_ASKED = 40
"""Questions that a writer of further ones is shown; those that repeat an earlier one are left out."""
GIST = 240
"""Characters of an earlier question that are shown."""
CONTEXT_BULLETS = 40
"""Bullets before the batch that its writer sees; more would cost prompt tokens for nothing it needs."""
MIN_WORD_RECALL = 0.5
"""Share of a bullet's content words that a turn must hold to count as saying it, where it has no typed value."""
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD = re.compile(r"[a-z0-9']{4,}")


class Batch(Record):
    """Bullets of one sub-plan that are put into questions by one call."""

    batch_index: int
    bullet_ids: tuple[str, ...]
    questions: int


def batches_of(sub_plan: SubPlan, layout: Layout) -> tuple[Batch, ...]:
    """K contiguous batches of ordinary bullets, then the special bullets a few at a time, one question each."""
    ordinary = [b.bullet_id for b in sub_plan.bullets if b.kind not in SPECIAL_KINDS]
    special = [b.bullet_id for b in sub_plan.bullets if b.kind in SPECIAL_KINDS]
    groups = [(g, layout.questions) for g in split_evenly(ordinary, layout.batches) if g]
    for start in range(0, len(special), SPECIALS_PER_CALL):
        chunk = tuple(special[start : start + SPECIALS_PER_CALL])
        groups.append((chunk, len(chunk)))
    return tuple(Batch(batch_index=i, bullet_ids=ids, questions=n) for i, (ids, n) in enumerate(groups))


async def write_user_turns(
    asker: Asker, frame: Frame, ledger: Ledger, stage: Stage, sub_plan: SubPlan, batch: Batch, problem: str = ""
) -> tuple[UserTurn, ...]:
    """Return the turns of one batch; their ids hold the batch until `ordered_turns` numbers them.

    `problem` says what was wrong with these turns when they are asked for again.
    """
    bullets = [b for b in sub_plan.bullets if b.bullet_id in batch.bullet_ids]
    briefs = ledger.briefs(bullets)
    before = ledger.bullets[: ledger.position[bullets[0].bullet_id]]
    inputs = UserTurnsInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        stage=stage,
        batch=briefs,
        context=stepped_end(before, CONTEXT_BULLETS),
        questions=batch.questions,
        feedback=problem,
    )

    def check(reply: UserTurnsReply) -> str | None:
        language = asker.spec.language
        return check_turns(reply, briefs, batch.questions, language) or traces_in(reply, frame, language)

    reply: UserTurnsReply = await asker.structured(
        "user_turns",
        inputs,
        check=check,
        mend=lambda r: _mended(r, briefs),
        state=lambda: BatchState(first_ordinal=batch.batch_index * 100),
    )
    return tuple(
        UserTurn(
            turn_id=f"{sub_plan.key}.x{batch.batch_index}.{i}",
            text=turn.text.strip(),
            bullet_ids=tuple(turn.voices),
            about_bullet_ids=tuple(turn.asks_about),
        )
        for i, turn in enumerate(reply.turns)
    )


def check_turns(
    reply: UserTurnsReply, briefs: Sequence[BulletBrief], questions: int, language: str = ENGLISH
) -> str | None:
    """Say what is wrong: every bullet of the batch is voiced once, with its values; special bullets stand alone."""
    offered = {b.bullet.bullet_id: b for b in briefs}
    voiced = [bullet_id for turn in reply.turns for bullet_id in turn.voices]
    if unknown := sorted(set(voiced) - set(offered)):
        return f"a turn voices {unknown[0]!r}, which is not in this batch"
    if missing := [i for i in offered if i not in voiced]:
        return f"no turn voices {missing[0]}: {offered[missing[0]].bullet.text!r}"
    if len(voiced) != len(set(voiced)):
        return "a bullet is voiced by two turns"
    if len(reply.turns) != questions:
        return f"{len(reply.turns)} turns; exactly {questions} are asked for"
    texts = [normal_form(t.text) for t in reply.turns]
    if len(set(texts)) != len(texts):
        return "two turns are the same"
    for turn in reply.turns:
        for bullet_id in turn.voices:
            if problem := _unsaid(turn.text, offered[bullet_id], language):
                return problem
            if offered[bullet_id].bullet.kind is BulletKind.CONTRADICTION and len(turn.voices) > 1:
                return f"{bullet_id} must have a turn of its own"
    return None


def traces_in(reply: UserTurnsReply, frame: Frame, language: str) -> str | None:
    """Say which words of the machinery (ids, placeholders, words of the plan) a message has, or None."""
    found = (trace_problem(turn.text, MessageRole.USER, frame.seed.category, language) for turn in reply.turns)
    return next((problem for problem in found if problem), None)


def _mended(reply: UserTurnsReply, briefs: Sequence[BulletBrief]) -> UserTurnsReply:
    """Let each bullet of the batch be voiced by the first turn that claims it; validation finds what none says."""
    free = {b.bullet.bullet_id for b in briefs}
    turns = []
    for turn in reply.turns:
        voices = [i for i in dict.fromkeys(turn.voices) if i in free]
        free.difference_update(voices)
        if turn.text.strip():
            turns.append(turn.model_copy(update={"voices": voices}))
    if not turns:
        raise ValueError("no turn has a text")
    return UserTurnsReply(turns=turns)


def _unsaid(text: str, brief: BulletBrief, language: str) -> str | None:
    for line in brief.facts:
        if line.value is not None and not says(text, line.value):
            return f"the turn that voices {brief.bullet.bullet_id} does not say {line.value.text!r}"
    if not any(line.value for line in brief.facts) and not _resembles(text, brief.bullet.text, language):
        return f"the turn that voices {brief.bullet.bullet_id} does not say it: {brief.bullet.text!r}"
    return None


def _resembles(text: str, wanted: str, language: str) -> bool:
    if language != ENGLISH:
        # Words bend in most languages, and some are not divided: as much as the search for evidence asks for.
        return coverage(wanted, text) >= MIN_COVERAGE
    words = set(_WORD.findall(wanted.casefold()))
    return len(words & set(_WORD.findall(text.casefold()))) >= MIN_WORD_RECALL * len(words)


def without_repeats(turns: Sequence[UserTurn], asked: set[str]) -> tuple[UserTurn, ...]:
    """Leave out turns that voice nothing and were asked before, and add the others' texts to `asked`.

    The batches are written side by side, so two of them may hit on the same question.
    """
    kept = []
    for turn in turns:
        text = normal_form(turn.text)
        if turn.is_required or text not in asked:
            kept.append(turn)
        asked.add(text)
    return tuple(kept)


def gist_of(text: str) -> str:
    """Return a question as it is when it is short, else its end without code: that is where people ask.

    Forty questions with forty lines of code each would be most of what a call sends.
    """
    if len(text) <= GIST:
        return text
    prose = " ".join(_CODE.sub(" ", text).split())
    if len(prose) <= GIST:
        return prose
    return f"... {prose[-GIST:].partition(' ')[2]}"


def stepped_end(items: Sequence[T], count: int) -> tuple[T, ...]:
    """Return the last `count` items or up to half as many more.

    The first of them stays the same for a while, so that a longer list begins like the one before it and a server's
    prefix cache serves it.
    """
    step = count // 2
    return tuple(items[max(0, (len(items) - count) // step * step) :])


def normal_form(text: str) -> str:
    """A text without differences of case and white space."""
    return " ".join(text.casefold().split())


def ordered_turns(sub_plan: SubPlan, turns: Sequence[UserTurn]) -> tuple[UserTurn, ...]:
    """Number the turns of a sub-plan in the order of the story.

    A turn stands where the last bullet it voices or asks about stands; ties keep the order of writing.
    """
    position = {b.bullet_id: i for i, b in enumerate(sub_plan.bullets)}

    def place(turn: UserTurn) -> int:
        # Questions about bullets of earlier stages come first: their subject is known already.
        return max((position.get(i, -1) for i in (*turn.bullet_ids, *turn.about_bullet_ids)), default=-1)

    ordered = sorted(turns, key=place)
    return tuple(t.model_copy(update={"turn_id": f"{sub_plan.key}.t{i}"}) for i, t in enumerate(ordered))


async def write_more_turns(
    asker: Asker,
    frame: Frame,
    ledger: Ledger,
    stage: Stage,
    sub_plan: SubPlan,
    heard: Sequence[Bullet],
    asked: Sequence[UserTurn],
    count: int,
    problem: str = "",
) -> tuple[UserTurn, ...]:
    """Return up to `count` further questions about the bullets heard so far, at least one; they voice nothing new."""
    now = max((b.bullet_id for b in heard), key=lambda i: ledger.position[i], default=sub_plan.bullets[-1].bullet_id)
    told = [b for b in heard if b.kind is BulletKind.EVENT] or list(heard)
    about = tuple(ledger.current_brief(b, now) for b in told)
    before = {normal_form(t.text) for t in asked}
    inputs = UserTurnsInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        stage=stage,
        batch=(),
        about=about,
        context=(),
        questions=count,
        asked_before=tuple(gist_of(t.text) for t in stepped_end(asked, LAST_ASKED)),
        feedback=problem,
    )

    def check(reply: UserTurnsReply) -> str | None:
        if any(t.voices for t in reply.turns):
            return "these turns must not voice bullets; name what they are about in asks_about"
        if len(reply.turns) != count:
            return f"{len(reply.turns)} turns; exactly {count} are asked for"
        if all(normal_form(turn.text) in before for turn in reply.turns):
            return f"all of this was asked before, such as: {reply.turns[0].text!r}"
        return traces_in(reply, frame, asker.spec.language)

    reply: UserTurnsReply = await asker.structured(
        "more_turns",
        inputs,
        check=check,
        mend=lambda r: _mended(r, ()),
        state=lambda: BatchState(first_ordinal=len(asked)),
    )
    known = {b.bullet_id for b in sub_plan.bullets}
    fresh = [turn for turn in reply.turns if normal_form(turn.text) not in before]
    return tuple(
        UserTurn(
            turn_id=f"{sub_plan.key}.t{len(asked) + i}",
            text=turn.text.strip(),
            bullet_ids=(),
            about_bullet_ids=tuple(b for b in turn.asks_about if b in known),
        )
        for i, turn in enumerate(fresh)
    )
