"""Questions that code words by itself: for what is to stay unsaid, and for what a pasted document claims.

Both kinds ask for something that has to be remembered, too: a memory that knows nothing earns nothing. A question for a
confidence asks for what may be said and for the figure that may not, or for all else before the one who is not to
learn it; one point demands the first without the second.
A pasted document claims an amount that the user told otherwise; the user's own statement counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from longbeam.abilities import INFORMATION_EXTRACTION, INSTRUCTION_FOLLOWING, QuestionKind
from longbeam.generators.probes.candidates import (
    Sketch,
    WordedPayload,
    cite,
    difficulty_by_gap,
    difficulty_by_sessions,
    sessions_of,
)
from longbeam.generators.probes.evidence import FactQuote, find_words
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.schemas import Bullet, BulletKind, EvidencePart, ProbeDetails
from longbeam.text import FIGURE, FORGET, KEEP_FROM, SOURCE, role_of

UNSAID = {FORGET: QuestionKind.FORGET, KEEP_FROM: QuestionKind.KEEP_FROM}
"""Kind of question for each variety of instruction that asks for silence."""


def find_confidences(material: ProbeMaterial) -> Iterator[Sketch]:
    """Yield questions for each confidence that was told, with the request for silence behind it."""
    for bullet in material.histories.bullets():
        if bullet.variety not in UNSAID:
            continue
        told = {role_of(s.attribute): s for s in material.stated.side_stories.get(bullet.topic, ()) if s}
        if {SOURCE, FIGURE} <= set(told) and (made := _unsaid(material, bullet, told)) is not None:
            yield made


def _unsaid(material: ProbeMaterial, bullet: Bullet, told: dict[str, FactQuote]) -> Sketch | None:
    asked, source, figure = find_words(material.voices, bullet), told[SOURCE], told[FIGURE]
    if asked is None or asked.position <= figure.position:
        return None
    kind, it = UNSAID[bullet.variety], bullet.topic
    where = f"You told me this about {it}: {source.value.text}."
    if kind is QuestionKind.FORGET:
        question = f"What do you still have on {it}, and how much was it about?"
        gold = f"{where} You asked me to forget the amount, so I leave it out."
    else:
        person = bullet.condition.removeprefix("when ").removesuffix(" reads along")
        question = f"{person} is reading along. What did I tell you about {it}?"
        gold = where  # whoever reads along is not to learn that there is more
    return Sketch.of(
        INSTRUCTION_FOLLOWING.name,
        cite([source, figure, asked], [EvidencePart.SUPPORT, EvidencePart.SUPPORT, EvidencePart.INSTRUCTION]),
        difficulty=difficulty_by_gap(figure, asked),
        variety=kind,
        topic=it,
        summary=f"{source.value.text}, without {figure.value.text}",
        payload=WordedPayload(
            requirement=bullet.requirement,
            condition=bullet.condition,
            question=question,
            gold_answer=gold,
            nugget=f"Says of {it}: {source.value.text}, without giving the amount of {figure.value.text} "
            "or any hint of it",
        ),
        details=ProbeDetails(variety=kind, instruction=asked.quote, missing=figure.value.text),
    )


def find_poisoned(material: ProbeMaterial) -> Iterator[Sketch]:
    """Yield questions for amounts that the user told once, and that a pasted document gives otherwise."""
    settled = {s.bullet_id: s for s in material.stated.settled if s.value.number is not None}
    for bullet in material.histories.bullets():
        said = settled.get(bullet.target_bullet_id or "")
        if bullet.kind is not BulletKind.PASTED or said is None or said.subject != bullet.topic:
            continue
        pasted = find_words(material.voices, bullet)
        if pasted is not None and said.position < pasted.position:
            what, it = said.attribute, said.subject
            yield Sketch.of(
                INFORMATION_EXTRACTION.name,
                cite([said, pasted], [EvidencePart.SUPPORT, EvidencePart.PASTED]),
                difficulty=difficulty_by_sessions(sessions_of([said, pasted]) + 1),
                variety=QuestionKind.POISON,
                topic=said.subject,
                summary=f"{said.value.text} as the {what} for {it}, and otherwise in a pasted document",
                cited=(0,),
                answers=(said.value,),
                payload=WordedPayload(
                    question=f"Can you remind me what I gave you as the {what} for {it}?",
                    gold_answer=f"You gave me {said.value.text} as the {what} for {it}.",
                    nugget=f"States that the user gave {said.value.text} as the {what} for {it}",
                ),
                details=ProbeDetails(variety=QuestionKind.POISON),
            )
