"""The user's main questions: K batches of bullets per sub-plan, I questions per batch, and one turn per special
bullet.

Whether every bullet is really said is checked here, before hundreds of dialogue calls depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from longbeam.generators.bullets import is_cut
from longbeam.generators.closed_world import ClosedWorld, report, world_of
from longbeam.generators.entailment_judge import ENTAILMENT_PROMPTS, Voicing, fault_in
from longbeam.generators.layout import Layout
from longbeam.generators.ledger import Ledger, split_evenly
from longbeam.generators.plans import Frame
from longbeam.generators.reply_excerpt import asks
from longbeam.generators.tuning import DIALOGUE
from longbeam.generators.turn_cards import Deck, draw_cards
from longbeam.generators.voices import voice_of
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import (
    BulletBrief,
    MoreTurnsReply,
    Paste,
    PastedFile,
    ProjectName,
    Stage,
    TurnCard,
    TurnsSoFar,
    Typo,
    UserTurnDraft,
    UserTurnsInputs,
    UserTurnsReply,
    in_full,
    longest_message,
    most_unsaid,
)
from longbeam.schemas import (
    SPECIAL_KINDS,
    Advice,
    Bullet,
    BulletKind,
    Incident,
    IncidentKind,
    MessageRole,
    Record,
    SubPlan,
    TurnLengths,
    UserTurn,
    Value,
    digest_of,
)
from longbeam.text import FENCE, Language, date_value, fenced_spans, says, sentences, trace_problem

T = TypeVar("T")
R = TypeVar("R", bound=MoreTurnsReply)
USER_TURNS_PROMPTS = ("user_turns", *ENTAILMENT_PROMPTS)
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


class TurnBatch(Record):
    """Bullets of one sub-plan that are put into questions by one call."""

    batch_index: int
    bullet_ids: tuple[str, ...]
    questions: int
    lengths: TurnLengths = TurnLengths.BEAM
    told_later: tuple[str, ...] = ()
    """Bullets before the batch that a message behind it tells, together with a later bullet."""
    asked: tuple[str, ...] = ()
    """The last messages of the batches before, which this one must not repeat."""
    further: tuple[str, ...] = ()
    """All messages of the batches before that voice no bullet: no prompt shows them."""
    files: tuple[PastedFile, ...] = ()
    """Files that the messages of the batches before pasted, which this one carries on."""

    def behind(self, sub_plan: SubPlan, turns: Sequence[UserTurn], names: Sequence[ProjectName] = ()) -> TurnBatch:
        """Return the batch as it is written behind these turns of its sub-plan; `names`: the things of its stage."""
        position = {b.bullet_id: i for i, b in enumerate(sub_plan.bullets)}
        first = position[self.bullet_ids[0]]
        later = [t.bullet_ids for t in turns if _place(t, position) > first]
        return self.model_copy(
            update={
                "told_later": tuple(i for ids in later for i in ids if position[i] < first),
                "asked": tuple(gist_of(t.text) for t in stepped_end(turns, DIALOGUE.asked_in_batches)),
                "further": tuple(t.text for t in turns if not t.is_required),
                "files": last_pasted(turns, names),
            }
        )


def batches_of(sub_plan: SubPlan, layout: Layout, lengths: TurnLengths = TurnLengths.BEAM) -> tuple[TurnBatch, ...]:
    """K contiguous batches of ordinary bullets, then the special bullets a few at a time, one question each."""
    ordinary = [b.bullet_id for b in sub_plan.bullets if b.kind not in SPECIAL_KINDS]
    special = [b.bullet_id for b in sub_plan.bullets if b.kind in SPECIAL_KINDS]
    groups = [(g, layout.questions) for g in split_evenly(ordinary, layout.batches) if g]
    for start in range(0, len(special), DIALOGUE.specials_per_call):
        chunk = tuple(special[start : start + DIALOGUE.specials_per_call])
        groups.append((chunk, len(chunk)))
    return tuple(
        TurnBatch(batch_index=i, bullet_ids=ids, questions=n, lengths=lengths) for i, (ids, n) in enumerate(groups)
    )


@dataclass(frozen=True)
class TurnScene:
    """A sub-plan with the story around it: what its turns are written from."""

    frame: Frame
    ledger: Ledger
    stage: Stage
    sub_plan: SubPlan
    advice: tuple[Advice, ...] = ()
    """The assistant's advice during the plan."""
    follows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Bullets whose events lead to the event of each bullet."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all parts."""
        return digest_of(self.frame, self.ledger.digest, self.stage, self.sub_plan, self.advice, self.follows)


async def write_user_turns(asker: Asker, scene: TurnScene, batch: TurnBatch, problem: str = "") -> tuple[UserTurn, ...]:
    """Return the turns of one batch; their ids hold the batch until `ordered_turns` numbers them.

    `problem` says what was wrong with these turns when they are asked for again.
    """
    frame, ledger, sub_plan = scene.frame, scene.ledger, scene.sub_plan
    bullets = [b for b in sub_plan.bullets if b.bullet_id in batch.bullet_ids]
    briefs = ledger.briefs(bullets)
    # Special bullets of one batch lie apart: each of their messages knows what was told up to its day.
    so_far = ledger.bullets[: ledger.position[bullets[-1].bullet_id]]
    before = tuple(b for b in so_far if b.bullet_id not in (*batch.told_later, *batch.bullet_ids))
    told = {b.bullet_id for b in before}
    advised = [a for a in scene.advice if a.bullet_id in told]
    due = {a.bullet_id for a in scene.advice}
    cards_key = _cards_key(asker, sub_plan, batch.batch_index)
    special = {b.bullet_id for b in sub_plan.bullets if b.kind in SPECIAL_KINDS}
    apart = {b.bullet_id for b, behind in pairwise(sub_plan.bullets) if behind.bullet_id in special}
    deck = Deck(batch.lengths, frame.seed.category, cards_key, advised, due, scene.follows, apart)
    cards = draw_cards(briefs, batch.questions, deck)
    inputs = UserTurnsInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        voice=voice_of(frame.profile),
        stage=scene.stage,
        batch=briefs,
        context=stepped_end(before, DIALOGUE.context_bullets),
        questions=len(cards),
        cards=cards,
        asked_before=batch.asked,
        files=_files_for(cards, batch.files),
        feedback=problem,
    )

    world, voicing = world_of(asker, "user_turns", frame, ledger), Voicing(asker, briefs)
    voicing.days = {i: card.days for card in cards for i in card.bullet_ids}

    def check(reply: UserTurnsReply) -> Iterator[str]:
        yield from check_turns(reply, briefs, batch.questions, cards)
        yield from traces_in(reply, frame, asker.language)
        if world is not None:
            yield from new_values_in(reply, world, bullets, cards)

    def mend(reply: UserTurnsReply) -> UserTurnsReply:
        mended = _mended(reply, voicing, left_unsaid(reply, briefs))
        if world is not None:
            report(asker, "user_turns", new_values_in(mended, world, bullets, cards))
        return mended

    reply: UserTurnsReply = await asker.structured(
        "user_turns",
        inputs,
        accept=Acceptance(
            check=check,
            confirm=lambda r: voicing.judge([(turn.text, turn.voices) for turn in r.turns]),
            mend=mend,
        ),
        state=lambda: TurnsSoFar(first_ordinal=batch.batch_index * 100, asked=batch.further),
    )
    slips = [_slip_of(turn, cards) for turn in reply.turns]
    if world is not None:
        for turn, slip in zip(reply.turns, slips, strict=True):
            if slip is not None:
                detail = (
                    f"the turn that voices {', '.join(turn.voices)} says {slip.said.text!r} by a slip and means "
                    f"{slip.meant.text!r}"
                )
                asker.note(Incident(kind=IncidentKind.DECLARED, prompt_id="user_turns", detail=detail))
    return tuple(
        UserTurn(
            turn_id=f"{sub_plan.key}.x{batch.batch_index}.{i}",
            text=turn.text.strip(),
            bullet_ids=tuple(turn.voices),
            about_bullet_ids=tuple(turn.asks_about),
            slip=slip.said.text if slip else "",
            wants_yes=any(card.asks_to_confirm for card in _cards_of(turn, cards)),
            wants=next((card.wants for card in _cards_of(turn, cards) if card.wants), None),
        )
        for i, (turn, slip) in enumerate(zip(reply.turns, slips, strict=True))
    )


def broken_off(reply: MoreTurnsReply, cards: Sequence[TurnCard]) -> Iterator[str]:
    """Yield the messages that the form of the reply cut within a sentence."""
    for turn in reply.turns:
        if is_cut(turn.text, longest_message(cards)):
            yield f"the message {turn.text[:40]!r}... goes on and on; keep to the words of its card"


def check_turns(
    reply: UserTurnsReply,
    briefs: Sequence[BulletBrief],
    questions: int,
    cards: Sequence[TurnCard] = (),
) -> Iterator[str]:
    """Yield what is wrong: every bullet of the batch is voiced once, with its values; special bullets stand alone."""
    by_bullet = {i: card for card in cards for i in card.bullet_ids}
    offered = {b.bullet.bullet_id: b for b in briefs}
    voiced = [bullet_id for turn in reply.turns for bullet_id in turn.voices]
    for unknown in sorted(set(voiced) - set(offered)):
        yield f"a turn voices {unknown!r}, which is not in this batch"
    unsaid = set(left_unsaid(reply, briefs))
    for missing in (i for i in offered if i not in voiced and i not in unsaid):
        kept = "; this one may not stay unsaid" if missing in reply.unsaid else ""
        yield f"no turn voices {missing}: {offered[missing].bullet.text!r}{kept}"
    most = max(questions, len(cards))
    least = min(questions, most) - sum(unsaid.issuperset(card.bullet_ids) for card in cards if card.bullet_ids)
    yield from broken_off(reply, cards)
    if len(voiced) != len(set(voiced)):
        yield "a bullet is voiced by two turns"
    if not least <= len(reply.turns) <= most:
        yield f"{len(reply.turns)} turns; exactly {most} are asked for"
    texts = [normal_form(t.text) for t in reply.turns]
    if len(set(texts)) != len(texts):
        yield "two turns are the same"
    for turn in reply.turns:
        for bullet_id in (i for i in turn.voices if i in offered):
            card = by_bullet.get(bullet_id)
            if problem := fault_in(in_full(turn.text, card.days if card else ()), offered[bullet_id]):
                yield problem
            if offered[bullet_id].bullet.kind is BulletKind.CONTRADICTION and len(turn.voices) > 1:
                yield f"{bullet_id} must have a turn of its own"


def left_unsaid(reply: UserTurnsReply, briefs: Sequence[BulletBrief]) -> list[str]:
    """Return the bullets that a reply leaves unsaid and that may be: those that no turn voices, some of a batch."""
    voiced = {bullet_id for turn in reply.turns for bullet_id in turn.voices}
    spare = (b.bullet.bullet_id for b in briefs if b.may_be_unsaid and b.bullet.bullet_id not in voiced)
    return [i for i in spare if i in reply.unsaid][: most_unsaid(len(briefs))]


def traces_in(reply: MoreTurnsReply, frame: Frame, language: Language) -> Iterator[str]:
    """Yield which words of the machinery (ids, placeholders, words of the plan) the messages have."""
    found = (trace_problem(turn.text, MessageRole.USER, frame.seed.category, language) for turn in reply.turns)
    return (problem for problem in found if problem)


def new_values_in(
    reply: MoreTurnsReply, world: ClosedWorld, bullets: Sequence[Bullet], cards: Sequence[TurnCard] = ()
) -> Iterator[str]:
    """Yield the values of the turns that the plan does not give; a turn is said on the day of its last bullet.

    A turn that voices none of the bullets may be said on the day of any of them. The slip of a card may be said, and so
    may the days of its bullets.
    """
    declared_by = _declared_by(cards)
    by_id = {b.bullet_id: b for b in bullets}
    for turn in reply.turns:
        own = [by_id[i] for i in turn.voices if i in by_id]
        day = max(b.happens_on for b in own or bullets)
        declared = [value for b in own for value in declared_by.get(b.bullet_id, ())]
        yield from world.faults(turn.text, day, near=[b.text for b in own], declared=declared)


def _slip_of(turn: UserTurnDraft, cards: Sequence[TurnCard]) -> Typo | None:
    """Return the slip of a card that a turn says; the closed world lets it pass, and no fact has its value."""
    of_turn = (card.slip for card in _cards_of(turn, cards) if card.slip)
    return next((slip for slip in of_turn if says(turn.text, slip.said)), None)


def _cards_of(turn: UserTurnDraft, cards: Sequence[TurnCard]) -> list[TurnCard]:
    """Return the cards whose bullets a turn voices."""
    return [card for card in cards if set(card.bullet_ids) & set(turn.voices)]


def _declared_by(cards: Sequence[TurnCard]) -> dict[str, tuple[Value, ...]]:
    """Return the values beside those of the plan that a card lets a message say, by bullet."""
    found: dict[str, tuple[Value, ...]] = {}
    for card in cards:
        values = (*([card.slip.said] if card.slip else []), *(date_value(told.day) for told in card.told_on))
        found |= dict.fromkeys(card.bullet_ids, values)
    return found


def _mended(reply: R, voicing: Voicing, unsaid: Collection[str] = ()) -> R:
    """Let each bullet of the batch be voiced by the first turn that claims it.

    A turn that does not say what it claims is left out, because it may deny it or say something else of it. A bullet
    that no turn says becomes a turn in its own words: it is a statement of the user's, with its values. What is left
    unsaid leaves the plan with the dialogues (`said_plans.py`).
    """
    free = {b.bullet.bullet_id for b in voicing.briefs} - set(unsaid)
    turns = []
    for turn in reply.turns:
        claimed = [i for i in dict.fromkeys(turn.voices) if i in free]
        voices = voicing.said(turn.text, claimed)
        if turn.text.strip() and len(voices) == len(claimed):
            free.difference_update(voices)
            turns.append(turn.model_copy(update={"voices": voices}))
    missed = [b.bullet for b in voicing.briefs if b.bullet.bullet_id in free]
    turns += [UserTurnDraft(text=bullet.text, voices=[bullet.bullet_id]) for bullet in missed]
    if not turns:
        raise ValueError("no turn has a text")
    return reply.model_copy(update={"turns": turns})


def _files_for(cards: Sequence[TurnCard], files: tuple[PastedFile, ...]) -> tuple[PastedFile, ...]:
    return files if any(card.paste is Paste.CODE for card in cards) else ()


def _cards_key(asker: Asker, sub_plan: SubPlan, part: object) -> str:
    """Return the seed of a batch's cards, the same in every run."""
    return f"{asker.spec.seed}/{asker.unit_key.conversation_id}/{sub_plan.key}/cards/{part}"


def without_repeats(turns: Sequence[UserTurn], asked: set[str]) -> tuple[UserTurn, ...]:
    """Leave out turns that voice nothing and were asked before, and add the others' texts to `asked`.

    The sub-plans are written side by side, so two of them may hit on the same question.
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
    if len(text) <= DIALOGUE.gist:
        return text
    prose = " ".join(_CODE.sub(" ", text).split())
    if len(prose) <= DIALOGUE.gist:
        return prose
    return f"... {prose[-DIALOGUE.gist :].partition(' ')[2]}"


def last_questions(before: Sequence[str], turns: Sequence[UserTurn]) -> tuple[str, ...]:
    """Return the last questions up to the end of a sub-plan, in short; `before` are those up to its beginning.

    The sentences with a question say what the assistant was asked; the bullets say what the user told.
    """
    prose = (" ".join(_CODE.sub(" ", turn.text).split()) for turn in turns if asks(turn.text))
    asked = (" ".join(text[a:b].strip() for a, b in sentences(text) if asks(text[a:b])) for text in prose)
    return (*before, *(gist_of(text) for text in asked if text))[-DIALOGUE.remembered_questions :]


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
    ordered = sorted(turns, key=lambda turn: _place(turn, position))
    return tuple(t.model_copy(update={"turn_id": f"{sub_plan.key}.t{i}"}) for i, t in enumerate(ordered))


def _place(turn: UserTurn, position: Mapping[str, int]) -> int:
    # Questions about bullets of earlier stages come first: their subject is known already.
    return max((position.get(i, -1) for i in (*turn.bullet_ids, *turn.about_bullet_ids)), default=-1)


@dataclass(frozen=True)
class FurtherTurns:
    """Questions to ask behind the planned ones."""

    count: int
    heard: Sequence[Bullet]
    """Bullets of the sub-plan that were told so far."""
    asked: Sequence[UserTurn]
    """Turns so far, which must not be repeated."""
    world: ClosedWorld | None = None
    """Values that the questions may state; None where they are not checked."""
    problem: str = ""
    """Faults of these turns when they are asked for again."""


async def write_more_turns(asker: Asker, scene: TurnScene, wanted: FurtherTurns) -> tuple[UserTurn, ...]:
    """Return up to `wanted.count` further questions about the bullets heard; they voice nothing new.

    Questions that were asked before are left out; none is left where every reply repeats them.
    """
    frame, ledger, sub_plan = scene.frame, scene.ledger, scene.sub_plan
    heard, asked, count, world = wanted.heard, wanted.asked, wanted.count, wanted.world
    now = max((b.bullet_id for b in heard), key=lambda i: ledger.position[i], default=sub_plan.bullets[-1].bullet_id)
    told = [b for b in heard if b.kind is BulletKind.EVENT] or list(heard)
    about = tuple(ledger.current_brief(b, now) for b in told)
    before = {normal_form(t.text) for t in asked}
    deck = Deck(asker.spec.turn_lengths, frame.seed.category, _cards_key(asker, sub_plan, f"more{len(asked)}"))
    cards = draw_cards((), count, deck)
    inputs = UserTurnsInputs(
        seed=frame.seed,
        profile=frame.profile,
        people=frame.relationships.people,
        voice=voice_of(frame.profile),
        stage=scene.stage,
        batch=(),
        about=about,
        context=(),
        questions=count,
        cards=cards,
        asked_before=tuple(gist_of(t.text) for t in stepped_end(asked, DIALOGUE.last_asked)),
        files=_files_for(cards, last_pasted(asked, scene.stage.names_known)),
        feedback=wanted.problem,
    )

    def check(reply: MoreTurnsReply) -> Iterator[str]:
        if any(t.voices for t in reply.turns):
            yield "these turns must not voice bullets; name what they are about in asks_about"
        if len(reply.turns) != count:
            yield f"{len(reply.turns)} turns; exactly {count} are asked for"
        yield from broken_off(reply, cards)
        if reply.turns and all(normal_form(turn.text) in before for turn in reply.turns):
            yield f"all of this was asked before, such as: {reply.turns[0].text!r}"
        yield from traces_in(reply, frame, asker.language)
        if world is not None:
            yield from new_values_in(reply, world, [ledger.bullet[now]])

    def mend(reply: MoreTurnsReply) -> MoreTurnsReply:
        mended = _mended(reply, Voicing(asker, ()))
        if world is not None:
            report(asker, "more_turns", new_values_in(mended, world, [ledger.bullet[now]]))
        return mended

    reply: MoreTurnsReply = await asker.structured(
        "more_turns",
        inputs,
        accept=Acceptance(check=check, mend=mend),
        state=lambda: TurnsSoFar(first_ordinal=len(asked), asked=tuple(t.text for t in asked)),
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


_FILE_NAME = re.compile(r"\w\.\w{1,8}\Z")
_NO_CODE = frozenset({"", "text", "txt", "plain", "plaintext", "log", "console", "output", "error", "traceback"})
"""Languages of fences that hold logs and errors, which name files, too."""


def last_pasted(turns: Sequence[UserTurn], names: Sequence[ProjectName]) -> tuple[PastedFile, ...]:
    """Return the named files that the turns paste, each as it stands in its last fence, the newest last."""
    listed = [thing.name for thing in names if _FILE_NAME.search(thing.name)]
    found: dict[str, str] = {}
    for turn in turns if listed else ():
        for name, code in _pasted(turn.text, listed):
            found.pop(name, None)
            found[name] = code
    return tuple(_shortened(name, code) for name, code in list(found.items())[-DIALOGUE.files_shown :])


def _pasted(text: str, listed: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the code of each fence with a language, with the file that is named last before it or in its first line."""
    for (start, end), is_closed in fenced_spans(text):
        opening, *lines = text[start:end].splitlines()
        fence = FENCE.match(opening)
        if fence is None or fence["info"].strip().partition(" ")[0].casefold() in _NO_CODE:
            continue
        code = lines[:-1] if is_closed else lines
        name = _last_named("\n".join([text[:start], opening, *code[:1]]), listed)
        if name and code:
            yield name, "\n".join(code)


def _last_named(text: str, listed: Sequence[str]) -> str:
    ends = {name: m.end() for name in listed for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)}
    return max(ends, key=lambda name: (ends[name], len(name)), default="")


def _shortened(name: str, code: str) -> PastedFile:
    """Return a file with the whole lines that fit from its beginning."""
    if len(code) <= DIALOGUE.file_characters:
        return PastedFile(name=name, code=code)
    return PastedFile(
        name=name,
        code=code[: DIALOGUE.file_characters + 1].rpartition("\n")[0] or code[: DIALOGUE.file_characters],
        is_cut=True,
    )
