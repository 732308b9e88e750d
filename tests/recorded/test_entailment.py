"""Entailment rules on the words of a very good model: nothing good is refused, and few messages need a judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from longbeam.generators import Ledger, RuleAnswer, rule_on_contradiction, rule_on_message, rule_on_update
from longbeam.prompts.calls import BulletBrief, ContradictionKind, ContradictionTarget, Place, UpdateTarget
from longbeam.schemas import BulletKind
from longbeam.text import says, sentences
from tests.recorded import recording

CALLS, MOST_JUDGED = 223, 0.1
"""Calls of the recorded run, and the share of calls that the judge of messages may add."""
LEDGER = Ledger.of(recording.sealed().head.plans[0])
BRIEFS = {brief.bullet.bullet_id: brief for brief in LEDGER.briefs(LEDGER.bullets)}
VOICING = [m for m in recording.sealed().messages if m.bullet_ids]


def test_no_message_is_refused_and_few_need_a_judge() -> None:
    rulings = [[rule_on_message(m.content, BRIEFS[i]) for i in m.bullet_ids] for m in VOICING]
    assert [r.reason for own in rulings for r in own if r.answer is RuleAnswer.NO] == []
    judged = sum(any(r.answer is RuleAnswer.UNSURE for r in own) for own in rulings)
    assert (len(VOICING), judged) == (70, 30)
    asked_before = 9  # when rules decided most wordings
    assert judged - asked_before <= MOST_JUDGED * CALLS


SLIPS = {
    "never_statement": ContradictionKind.ONCE,
    "not_yet": ContradictionKind.ONCE,
    "other_value": ContradictionKind.DAY,
}
"""Slips of the varieties of a former version."""


def test_the_rules_accept_every_update_and_leave_every_contradiction_to_the_checker() -> None:
    answers: Counter[tuple[BulletKind, RuleAnswer]] = Counter()
    for bullet in LEDGER.bullets:
        if bullet.kind not in (BulletKind.UPDATE, BulletKind.CONTRADICTION) or bullet.target_bullet_id is None:
            continue
        (assertion,), told = LEDGER.by_bullet[bullet.bullet_id], LEDGER.bullet[bullet.target_bullet_id]
        value, place = assertion.value, Place(after="", day=bullet.happens_on)
        (line,) = (f for f in LEDGER.briefs([told])[0].facts if f.fact_id == assertion.fact_id)
        if bullet.kind is BulletKind.UPDATE and value is not None:
            ruling = rule_on_update(
                bullet.text, value, UpdateTarget(target_id="u0", fact=line, bullet=told, place=place)
            )
        else:
            against = ContradictionTarget(
                target_id="c0", slip=SLIPS[bullet.variety], fact=line, bullet=told, place=place
            )
            ruling = rule_on_contradiction(bullet.text, value, against)
        answers[bullet.kind, ruling.answer] += 1
    assert answers == {(BulletKind.UPDATE, RuleAnswer.YES): 10, (BulletKind.CONTRADICTION, RuleAnswer.UNSURE): 10}


# --- planted faults ---------------------------------------------------------------------------------------------

MOST_MISSED = 0.05
THINGS = sorted({re.sub(r"^(?:the|a) ", "", fact.subject) for fact in LEDGER.facts})


def _said(brief: BulletBrief) -> list[str]:
    return [line.value.text for line in brief.facts if line.value is not None]


def _in_sentence(text: str, brief: BulletBrief, change: Callable[[str], str]) -> str:
    """Return the text with the sentence changed that says the bullet's first value; unchanged where there is none."""
    for line in brief.facts:
        for a, b in sentences(text):
            if line.value is not None and says(text[a:b], line.value):
                return f"{text[:a]}{change(text[a:b])}{text[b:]}"
    return text


def _with_another_thing(text: str, brief: BulletBrief) -> str:
    for line in brief.facts:
        thing = re.sub(r"^(?:the|a) ", "", line.subject)
        if re.search(rf"\b{re.escape(thing)}\b", text, re.IGNORECASE):
            other = THINGS[(THINGS.index(thing) + 7) % len(THINGS)]
            return re.sub(rf"\b{re.escape(thing)}\b", other, text, flags=re.IGNORECASE)
    return text


def _with_values_exchanged(text: str, brief: BulletBrief) -> str:
    values = [v for v in _said(brief) if v in text]
    if len(values) < 2:
        return text
    return values[0].join(part.replace(values[0], values[1]) for part in text.split(values[1]))


def _without_denial(text: str, brief: BulletBrief) -> str:
    """Return the text without the first denial that the bullet has, too, in what it claims."""
    claims = brief.bullet.text.rpartition(". ")[0] or brief.bullet.text
    found = next((m for m in re.finditer(r"\b(?:never|not|no longer) \w+", text) if m[0] in claims), None)
    return text if found is None else text[: found.start()] + text[found.start() :].split(" ", 1)[1]


def _denying(text: str, brief: BulletBrief) -> str:
    """Return the text with the first verb denied that the bullet claims with the same words around it."""
    claims = brief.bullet.text.rpartition(". ")[0] or brief.bullet.text
    verbs = re.finditer(r"\w+ (?:is|are|was|were|has|have|had|will)(?= \w+)", text)
    found = next((m for m in verbs if text[m.start() : m.end() + 6] in claims), None)
    return text if found is None else f"{text[: found.end()]} not{text[found.end() :]}"


PLANTED: dict[str, Callable[[str, BulletBrief], str]] = {
    "only asked": lambda text, b: f"Is {_said(b)[0]} too much for a pizza?" if _said(b) else text,
    "value denied": lambda text, b: text.replace(_said(b)[0], f"not {_said(b)[0]}") if _said(b) else text,
    "claim denied": _denying,
    "denial dropped": _without_denial,
    "taken back": lambda text, b: _in_sentence(text, b, lambda s: f"{s} No, I was wrong about that."),
    "supposed": lambda text, b: _in_sentence(text, b, lambda s: f"Imagine {s[0].lower()}{s[1:]}"),
    "hearsay": lambda text, b: _in_sentence(text, b, lambda s: f"My neighbour claims that {s}"),
    "another thing": _with_another_thing,
    "values exchanged": _with_values_exchanged,
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_faults_are_refused_or_judged(kind: str) -> None:
    spoiled = [
        (PLANTED[kind](m.content, BRIEFS[i]), m.bullet_ids)
        for m in VOICING
        for i in m.bullet_ids
        if PLANTED[kind](m.content, BRIEFS[i]) != m.content
    ]
    missed = [t for t, ids in spoiled if all(rule_on_message(t, BRIEFS[i]).answer is RuleAnswer.YES for i in ids)]
    assert len(spoiled) > 10
    assert len(missed) <= MOST_MISSED * len(spoiled), missed[0]
