"""The ledger: what is so, at which point of the story."""

from __future__ import annotations

from longbeam.generators import Ledger, replaced_wishes, split_evenly
from longbeam.schemas import BulletKind
from tests.builders import good_conversation


def _ledger() -> Ledger:
    return Ledger.of(good_conversation().head.plans[0])


def test_state_holds_the_latest_value_and_denials_change_nothing() -> None:
    ledger = _ledger()
    last = {line.fact_id: line.value for line in ledger.lines()}
    for fact_id, assertions in ledger.by_fact.items():
        said = [a.value for a in assertions if a.value is not None and a.stance.value != "denies"]
        assert last[fact_id] == said[-1]


def test_state_before_a_bullet_leaves_out_what_comes_later() -> None:
    ledger = _ledger()
    assert ledger.lines(before=ledger.bullets[0].bullet_id) == ()
    updated = next(a for a in ledger.assertions if a.stance.value == "updates")
    before = ledger.value_before(updated.fact_id, updated.bullet_id)
    assert before is not None
    assert updated.value is not None
    assert not before.means_same_as(updated.value)
    brief = next(b for b in ledger.briefs(ledger.bullets) if b.bullet.bullet_id == updated.bullet_id)
    assert brief.old_values == (before,)


def test_changed_lines_are_those_of_updated_facts_with_their_values_then() -> None:
    ledger = _ledger()
    updated = next(a for a in ledger.assertions if a.stance.value == "updates")
    after = ledger.bullets[ledger.position[updated.bullet_id] + 1].bullet_id
    assert updated.fact_id not in {line.fact_id for line in ledger.changed_lines(before=updated.bullet_id)}
    changed = {line.fact_id: line.value for line in ledger.changed_lines(before=after)}
    assert changed[updated.fact_id] == updated.value
    assert len(changed) < len(ledger.lines(before=after))


def test_current_brief_has_the_values_of_now_not_of_then() -> None:
    ledger = _ledger()
    updated = next(a for a in ledger.assertions if a.stance.value == "updates")
    setter = ledger.by_fact[updated.fact_id][0]
    bullet = ledger.bullets[ledger.position[setter.bullet_id]]
    now = ledger.current_brief(bullet, ledger.bullets[-1].bullet_id)
    assert updated.value in [line.value for line in now.facts]
    assert now.is_outdated
    assert not ledger.current_brief(bullet, bullet.bullet_id).is_outdated


def test_lines_updated_by_bullets_hold_what_these_bullets_change() -> None:
    ledger = _ledger()
    updated = next(a for a in ledger.assertions if a.stance.value == "updates")
    place = ledger.position[updated.bullet_id]
    assert updated.fact_id not in {line.fact_id for line in ledger.lines_updated_by(ledger.bullets[:place])}
    lines = {line.fact_id: line.value for line in ledger.lines_updated_by([ledger.bullets[place]])}
    assert lines[updated.fact_id] == updated.value


def test_a_wish_that_a_later_one_replaces_no_longer_stands() -> None:
    wish = (
        _ledger()
        .bullets[0]
        .model_copy(update={"kind": BulletKind.PREFERENCE, "topic": "lists", "condition": "when I ask for lists"})
    )
    later = wish.model_copy(update={"bullet_id": "p0.s1.b9", "text": "Shorter lists now."})
    assert replaced_wishes([wish, later]) == (wish,)
    assert replaced_wishes([later]) == ()


def test_known_about_has_a_subject_s_facts_as_they_are_then() -> None:
    ledger = _ledger()
    updated = next(a for a in ledger.assertions if a.stance.value == "updates")
    subject = ledger.fact[updated.fact_id].subject
    before = ledger.bullets[ledger.position[updated.bullet_id] - 1].bullet_id
    then = {line.fact_id: line.value for line in ledger.known_about(subject, before)}
    now = {line.fact_id: line.value for line in ledger.known_about(subject, updated.bullet_id)}
    assert then[updated.fact_id] == ledger.value_before(updated.fact_id, updated.bullet_id)
    assert now[updated.fact_id] == updated.value
    assert {ledger.fact[fact_id].subject for fact_id in now} == {subject}
    assert ledger.known_about("nobody", updated.bullet_id) == ()


def test_split_evenly_sizes_differ_by_one_at_most() -> None:
    assert split_evenly("abcdefg", 3) == [("a", "b", "c"), ("d", "e"), ("f", "g")]
    assert split_evenly("ab", 3) == [("a",), ("b",), ()]
