"""The rules of entailment: what they refuse, what they accept, and what they leave to a judge."""

from __future__ import annotations

import datetime as dt

import pytest

from longbeam.generators import RuleAnswer, rule_on_contradiction, rule_on_message, rule_on_update
from longbeam.prompts.calls import BulletBrief, ContradictionKind, ContradictionTarget, LedgerLine, Place, UpdateTarget
from longbeam.schemas import Bullet, BulletKind, Value
from longbeam.text import date_value, money, number

RENT = "The parish has set the hall rent at $85 for the winter play. Can we bargain?"


def _bullet(text: str, kind: BulletKind = BulletKind.EVENT) -> Bullet:
    return Bullet(
        bullet_id="p0.s0.b1", kind=kind, narrative="Money", topic="the hall", text=text, happens_on=dt.date(2022, 3, 1)
    )


def _line(subject: str, attribute: str, value: Value | None) -> LedgerLine:
    kind = value.kind if value else money(1).kind
    return LedgerLine(fact_id="p0.f1", subject=subject, attribute=attribute, kind=kind, is_fixed=False, value=value)


def _rent(text: str = RENT, value: Value | None = None) -> BulletBrief:
    return BulletBrief(bullet=_bullet(text), facts=(_line("the hall rent", "price", value or money(85)),))


def test_a_message_without_the_value_is_refused() -> None:
    assert rule_on_message("The parish has set the hall rent for the winter play.", _rent()).answer is RuleAnswer.NO
    assert rule_on_message(RENT.replace("$85", "$300"), _rent()).answer is RuleAnswer.NO


@pytest.mark.parametrize(
    "message",
    [
        f"Hi again. {RENT}",
        "Can we bargain? The parish has set the hall rent at $85 for the winter play, and I don't want to beg.",
        "We have a day. And the parish has set the hall rent at $85 for the winter play, so should I bargain?",
    ],
)
def test_the_claim_in_its_own_words_is_accepted(message: str) -> None:
    assert rule_on_message(message, _rent()).answer is RuleAnswer.YES


@pytest.mark.parametrize(
    "message",
    [
        f"{RENT} Scratch that.",
        "Is it true that the parish has set the hall rent at $85 for the winter play?",
        "Suppose the parish has set the hall rent at $85 for the winter play.",
        "My neighbour claims that the parish has set the hall rent at $85 for the winter play.",
        "The parish has set the lamp rent at $85 for the winter play.",
        "The parish hasn't set the hall rent at $85 for the winter play.",
        "The hall rent is $85.",
        "ok so the parish set the hall rent for our winter play: $85!! how do I bargain?",
        "If the parish has set the hall rent at $85 for the winter play, can we bargain?",
        f"Nobody will believe this: {RENT}",
        "I'm trying to find out whether the parish has set the hall rent at $85 for the winter play. Can we bargain?",
        "The parish has set the hall rent at $85 for the winter play. Can we bargain? But I was wrong about that.",
        "Is $85 too much for a pizza?",
        "The hall rent is not $85, I was wrong, it is $300.",
        "For the winter play the parish has set the hall rent at not $85 but something else.",
        "I bought a lamp for $85 yesterday.",
    ],
)
def test_all_other_wordings_are_left_to_the_judge(message: str) -> None:
    assert rule_on_message(message, _rent()).answer is RuleAnswer.UNSURE


def test_values_that_changed_places_are_left_to_the_judge() -> None:
    text = "It is a wet grinder at $749 or a strong blender at $529."
    facts = (_line("the wet grinder", "price", money(749)), _line("the blender", "price", money(529)))
    brief = BulletBrief(bullet=_bullet(text), facts=facts)
    assert (
        rule_on_message("Well, it is a wet grinder at $749 or a strong blender at $529", brief).answer is RuleAnswer.YES
    )
    exchanged = rule_on_message("So it is a wet grinder at $529 or a strong blender at $749.", brief)
    assert exchanged.answer is RuleAnswer.UNSURE


def test_a_name_that_is_gone_and_a_denial_that_is_gone_are_left_to_the_judge() -> None:
    brief = BulletBrief(bullet=_bullet("I have never shown a play to Tim, nor to his sister."))
    assert rule_on_message("I have never shown a play to Tim, nor to his sister!", brief).answer is RuleAnswer.YES
    assert rule_on_message("I have never shown a play to Bob, nor to his sister!", brief).answer is RuleAnswer.UNSURE
    assert rule_on_message("I have shown a play to Tim, and to his sister!", brief).answer is RuleAnswer.UNSURE


def test_a_bullet_without_values_is_refused_where_its_words_are_missing() -> None:
    brief = BulletBrief(bullet=_bullet("Yrsa lends me her board as long as I fix her porch light."))
    assert rule_on_message("What is the weather like?", brief).answer is RuleAnswer.NO
    said = "Guess what, Yrsa lends me her board as long as I fix her porch light, so where do I begin?"
    assert rule_on_message(said, brief).answer is RuleAnswer.YES
    assert rule_on_message("Yrsa lends me the board if I fix the porch light.", brief).answer is RuleAnswer.UNSURE


def test_a_plan_does_not_entail_that_the_thing_is_done() -> None:
    brief = BulletBrief(
        bullet=_bullet("Added account lockout after 5 failed login attempts, with Redis for rate limiting.")
    )
    planned = "I'm trying to add account lockout after 5 failed login attempts, with Redis for rate limiting. Any help?"
    assert rule_on_message(planned, brief).answer is RuleAnswer.UNSURE
    done = "I've added account lockout after 5 failed login attempts, with Redis for rate limiting. Any help?"
    assert rule_on_message(done, brief).answer is RuleAnswer.YES


def test_a_statement_behind_and_is_no_wish_that_a_message_may_leave_out() -> None:
    told = "The booklet went to the printer under her name, and is to be ready on January 14, 2022. Is that late?"
    brief = BulletBrief(bullet=_bullet(told), facts=(_line("the booklet", "ready", date_value(dt.date(2022, 1, 14))),))
    turned = "Is that late? The booklet went to the printer under her name, and is not to be ready on January 14, 2022."
    assert rule_on_message(turned, brief).answer is not RuleAnswer.YES
    assert rule_on_message(turned.replace("not ", ""), brief).answer is RuleAnswer.YES


def test_other_languages_are_judged_unless_the_bullet_stands_there_word_for_word() -> None:
    brief = BulletBrief(bullet=_bullet("Die Saalmiete liegt bei 85 Euro."))
    assert rule_on_message("Hallo. Die Saalmiete liegt bei 85 Euro. Geht das?", brief).answer is RuleAnswer.YES
    assert rule_on_message("Guten Morgen, wie geht es weiter?", brief).answer is RuleAnswer.NO
    assert rule_on_message("Die Saalmiete beträgt 85 Euro.", brief).answer is RuleAnswer.UNSURE


PLACE = Place(after="p0.s0.b0", day=dt.date(2022, 5, 6))


def _update(value: Value, subject: str = "the hall rent", attribute: str = "price") -> UpdateTarget:
    return UpdateTarget(target_id="u0", fact=_line(subject, attribute, value), bullet=_bullet(RENT), place=PLACE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The pizza now costs €3, it was $85 before.", money(3, "EUR")),
        ("The pizza now costs $3.", money(3)),
        ("The hall rent is €110 now.", money(110, "EUR")),
        ("The hall rent went from $85 to $110.", money(110)),
        ("The hall rent is not $110.", money(110)),
    ],
)
def test_an_update_of_another_thing_or_currency_is_refused(text: str, value: Value) -> None:
    """Found 3: a price of a pizza passed as an update of the hall rent."""
    assert rule_on_update(text, value, _update(money(85))).answer is RuleAnswer.NO


def test_an_update_names_its_thing_and_unit() -> None:
    assert rule_on_update("The parish asks $110 as hall rent.", money(110), _update(money(85))).answer is RuleAnswer.YES
    assert rule_on_update("The rent is $110.", money(110), _update(money(85))).answer is RuleAnswer.UNSURE
    jars = _update(number(3, "jars"), "the spice shelf", "jar count")
    assert rule_on_update("The spice shelf has 14 jars.", number(14, "jars"), jars).answer is RuleAnswer.YES
    assert rule_on_update("The spice shelf has 14 spices.", number(14, "spices"), jars).answer is RuleAnswer.UNSURE


def _denial(statement: str, slip: ContradictionKind, line: LedgerLine | None = None) -> ContradictionTarget:
    return ContradictionTarget(target_id="c0", slip=slip, fact=line, bullet=_bullet(statement), place=PLACE)


def test_a_contradiction_has_to_do_with_its_statement() -> None:
    """Found 3: `I like pizza a lot` passed as a contradiction."""
    target = _denial(
        "I made paneer on March 4, 2022.", ContradictionKind.ONCE, _line("the paneer", "yield", number(310))
    )
    assert rule_on_contradiction("I like pizza a lot.", None, target).answer is RuleAnswer.NO
    assert rule_on_contradiction("I have never made paneer, is it hard?", None, target).answer is RuleAnswer.UNSURE


def test_a_contradiction_with_another_value_claims_that_value() -> None:
    line = _line("the notebook", "start day", date_value(dt.date(2022, 3, 25)))
    target, day = (
        _denial("On March 25, 2022, I started a notebook.", ContradictionKind.DAY, line),
        date_value(dt.date(2022, 3, 12)),
    )
    kept = "I have kept my notebook since March 12, 2022, so how do I index it?"
    assert rule_on_contradiction(kept, day, target).answer is RuleAnswer.UNSURE
    assert rule_on_contradiction("I met Tim on March 12, 2022.", day, target).answer is RuleAnswer.NO
    assert rule_on_contradiction("Is my notebook from March 12, 2022?", day, target).answer is RuleAnswer.UNSURE
