"""Cards of the user's messages: bullets, lengths, openings, slips and days."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from statistics import quantiles

import pytest

from longbeam.generators import (
    DECILES,
    DIALOGUE,
    OPENINGS,
    PASTES,
    REACTIONS,
    TAKE_UPS,
    WANTS,
    Deck,
    draw_asks_back,
    draw_cards,
    draw_reaction,
    draw_take_up,
)
from longbeam.prompts.calls import (
    BulletBrief,
    LedgerLine,
    Opening,
    Paste,
    Reaction,
    SpokenDay,
    TakeUp,
    TurnCard,
    in_full,
)
from longbeam.schemas import (
    CLOSING,
    OUTCOME,
    Advice,
    AdviceKind,
    Bullet,
    BulletKind,
    Category,
    MessageKind,
    TurnLengths,
    Value,
)
from longbeam.text import date_value, money

DAY = dt.date(2024, 3, 6)


def _brief(ordinal: int, topic: str = "paint", value: Value | None = None, kind: str = "event") -> BulletBrief:
    bullet = Bullet(
        bullet_id=f"p0.s0.b{ordinal}",
        kind=BulletKind(kind),
        narrative="n",
        topic=topic,
        text=f"Number {ordinal}.",
        happens_on=DAY,
    )
    if value is None:
        return BulletBrief(bullet=bullet)
    line = LedgerLine(fact_id="p0.f0", subject=topic, attribute="a", kind=value.kind, is_fixed=True, value=value)
    return BulletBrief(bullet=bullet, facts=(line,), old_values=(None,))


def _cards(
    count: int, lengths: TurnLengths = TurnLengths.BEAM, category: Category = Category.GENERAL
) -> list[TurnCard]:
    return [draw_cards((_brief(0),), 1, Deck(lengths, category, f"k{i}"))[0] for i in range(count)]


def test_each_message_tells_one_bullet_where_there_are_enough_messages() -> None:
    cards = draw_cards([_brief(i) for i in range(3)], 5, Deck(TurnLengths.BEAM, Category.GENERAL, "k"))
    assert [c.bullet_ids for c in cards] == [("p0.s0.b0",), ("p0.s0.b1",), ("p0.s0.b2",), (), ()]


def test_bullets_that_belong_together_share_a_message() -> None:
    topics = ["paint", "floor", "floor", "roof", "door"]
    cards = draw_cards([_brief(i, t) for i, t in enumerate(topics)], 4, Deck(TurnLengths.BEAM, Category.GENERAL, "k"))
    assert [len(c.bullet_ids) for c in cards] == [1, 2, 1, 1]


def test_two_matters_of_one_day_are_two_messages_unless_one_leads_to_the_other() -> None:
    briefs = [_brief(i) for i in range(3)]
    other = briefs[1].bullet.model_copy(update={"narrative": "another"})
    briefs[1] = BulletBrief(bullet=other)
    deck = Deck(TurnLengths.BEAM, Category.GENERAL, "k")
    assert [len(c.bullet_ids) for c in draw_cards(briefs, 2, deck)] == [1, 1, 1]
    follows = Deck(TurnLengths.BEAM, Category.GENERAL, "k", follows={"p0.s0.b1": ("p0.s0.b0",)})
    assert [len(c.bullet_ids) for c in draw_cards(briefs, 2, follows)] == [2, 1]


def test_news_from_life_shares_no_message() -> None:
    cards = draw_cards([_brief(0), _brief(1, kind="side")], 1, Deck(TurnLengths.BEAM, Category.GENERAL, "k"))
    assert [len(c.bullet_ids) for c in cards] == [1, 1]


def test_no_message_tells_three_bullets_where_two_are_enough() -> None:
    cards = draw_cards([_brief(i) for i in range(7)], 4, Deck(TurnLengths.BEAM, Category.GENERAL, "k"))
    assert sorted(len(c.bullet_ids) for c in cards) == [1, 2, 2, 2]


def test_a_bullet_whose_reply_brings_something_in_has_a_message_of_its_own() -> None:
    topics = ["paint", "paint", "floor", "roof"]
    briefs = [_brief(i, topic) for i, topic in enumerate(topics)]
    deck = Deck(TurnLengths.BEAM, Category.GENERAL, "k", due=("p0.s0.b2",))
    assert [c.bullet_ids for c in draw_cards(briefs[2:], 1, deck)] == [("p0.s0.b2", "p0.s0.b3")]
    assert [c.bullet_ids for c in draw_cards(briefs, 3, deck)][1:] == [("p0.s0.b2",), ("p0.s0.b3",)]
    of_one_thing = Deck(TurnLengths.BEAM, Category.GENERAL, "k", due=("p0.s0.b1",))
    assert draw_cards(briefs, 3, of_one_thing)[0].bullet_ids == ("p0.s0.b0", "p0.s0.b1")


def test_a_message_of_two_bullets_asks_about_the_one_whose_reply_brings_something_in() -> None:
    briefs = [_brief(0, "paint"), _brief(1, "floor")]
    deck = Deck(TurnLengths.BEAM, Category.GENERAL, "k", due=("p0.s0.b0",))
    (card,) = draw_cards(briefs, 1, deck)
    assert card.asks_about == "p0.s0.b0"
    assert [c.asks_about for c in draw_cards(briefs, 2, deck)] == ["", ""]
    (wish,) = draw_cards([briefs[0], _brief(1, "floor", kind="instruction")], 1, deck)
    assert wish.asks_about == ""  # its question is one to which the wish applies


def test_the_same_batch_gets_the_same_cards() -> None:
    deck = Deck(TurnLengths.BEAM, Category.CODING, "seed/c000/p0.s0/cards/1")
    assert draw_cards([_brief(0)], 3, deck) == draw_cards([_brief(0)], 3, deck)
    assert draw_cards([_brief(0)], 3, deck) != draw_cards([_brief(0)], 3, Deck(deck.lengths, deck.category, "other"))


@pytest.mark.parametrize("lengths", list(TurnLengths))
def test_lengths_follow_the_measured_distribution(lengths: TurnLengths) -> None:
    middles = [(c.least_words + c.most_words) / 2 for c in _cards(2_000, lengths)]
    fifth = DECILES[lengths][5]
    # The median of 2,000 draws lies within one tenth of that of the distribution.
    assert abs(quantiles(middles, n=10)[4] - fifth) < 0.1 * fifth


def test_shares_are_those_of_the_tables() -> None:
    cards = _cards(4_000, category=Category.CODING)
    shares = {o: sum(c.opening is o for c in cards) / len(cards) for o in Opening}
    # Four standard errors of a share of a half, of 4,000 cards: 0.032.
    assert all(abs(shares[o] - percent / 100) < 0.032 for o, percent in OPENINGS.items())
    assert abs(sum(bool(c.feeling) for c in cards) / len(cards) - DIALOGUE.feeling_share) < 0.032
    pasted = sum(c.paste is Paste.CODE for c in cards) / len(cards)
    assert abs(pasted - PASTES[Category.CODING][Paste.CODE]) < 0.032


def test_a_slip_is_another_amount_than_the_one_meant_and_no_special_bullet_has_one() -> None:
    def slips(kind: str) -> list[TurnCard]:
        drawn = (
            draw_cards([_brief(0, value=money(40), kind=kind)], 1, Deck(TurnLengths.BEAM, Category.GENERAL, f"s{i}"))[0]
            for i in range(1_000)
        )
        return [card for card in drawn if card.slip is not None]

    found = slips("event")
    assert found
    assert all(c.slip and c.slip.meant == money(40) and c.slip.said.number != 40 for c in found)
    assert slips("update") == slips("contradiction") == []


def test_a_wish_says_whether_it_is_to_be_acknowledged() -> None:
    wishes = [
        draw_cards([_brief(0, kind="instruction")], 1, Deck(TurnLengths.BEAM, Category.GENERAL, f"w{i}"))[0]
        for i in range(50)
    ]
    assert {c.asks_to_confirm for c in wishes} == {True, False}
    assert {c.asks_to_confirm for c in _cards(50)} == {None}


def test_a_wish_that_wants_a_yes_stands_alone_and_no_wish_begins_with_its_question() -> None:
    decks = [Deck(TurnLengths.BEAM, Category.GENERAL, f"w{i}") for i in range(200)]
    alone = [draw_cards([_brief(0, kind="preference")], 1, deck)[0] for deck in decks]
    paired = [draw_cards([_brief(0), _brief(1, kind="preference")], 1, deck)[0] for deck in decks]
    assert {c.asks_to_confirm for c in paired} == {False}
    assert Opening.QUESTION not in {c.opening for c in alone + paired}


def test_a_message_of_two_bullets_has_nothing_else_and_room_for_its_question() -> None:
    told = [b.model_copy(update={"text": "word " * 40}) for b in (_brief(0).bullet, _brief(1).bullet)]
    briefs = [BulletBrief(bullet=b) for b in told]
    cards = [draw_cards(briefs, 1, Deck(TurnLengths.CHAT, Category.CODING, f"p{i}"))[0] for i in range(300)]
    assert not any(c.paste or c.slip or c.callback or c.has_aside or c.feeling for c in cards)
    assert {c.opening for c in cards} <= {Opening.NEWS, Opening.QUESTION}
    # 80 words of bullets, 6 beside each, 12 of a question, and a quarter of room.
    assert all((c.least_words, c.most_words) == (92, 130) for c in cards)


def test_a_message_of_a_side_story_has_room_for_its_news_and_a_question_alone() -> None:
    decks = [Deck(TurnLengths.BEAM, Category.GENERAL, f"s{i}") for i in range(40)]
    cards = [draw_cards([_brief(0, kind="side")], 1, deck)[0] for deck in decks]
    # two words of the bullet, six beside it and twelve of a question, and a quarter more
    assert {c.most_words for c in cards} == {25}


def test_days_far_apart_and_what_is_said_between_are_two_messages_while_there_is_room() -> None:
    briefs = [_brief(0, "roof"), _brief(1, "roof")]
    earlier = BulletBrief(bullet=briefs[0].bullet.model_copy(update={"happens_on": DAY - dt.timedelta(days=3)}))
    deck = Deck(TurnLengths.BEAM, Category.GENERAL, "k")
    three = [earlier, briefs[1], _brief(2, "paint")]
    assert [len(c.bullet_ids) for c in draw_cards(three, 2, deck)] == [1, 1, 1]
    assert [len(c.bullet_ids) for c in draw_cards([*briefs, _brief(2, "paint")], 2, deck)] == [2, 1]
    assert len(draw_cards(three, 1, deck)) == 1  # a crowded batch
    between = Deck(TurnLengths.BEAM, Category.GENERAL, "k", apart=("p0.s0.b0",))
    assert [len(c.bullet_ids) for c in draw_cards(briefs, 1, between)] == [1, 1]


def test_a_bullet_told_days_later_has_its_day_on_the_card() -> None:
    earlier = _brief(0).bullet.model_copy(update={"happens_on": DAY - dt.timedelta(days=2)})
    deck = Deck(TurnLengths.BEAM, Category.GENERAL, "k")
    (card,) = draw_cards([BulletBrief(bullet=earlier), _brief(1)], 1, deck)
    assert [(t.bullet_id, t.day, t.said) for t in card.told_on] == [("p0.s0.b0", dt.date(2024, 3, 4), "the 4th")]


def test_how_an_announced_day_went_has_no_day_of_telling_on_the_card() -> None:
    told = _brief(0).bullet.model_copy(update={"happens_on": DAY - dt.timedelta(days=2), "variety": OUTCOME})
    deck = Deck(TurnLengths.BEAM, Category.GENERAL, "k")
    assert draw_cards([BulletBrief(bullet=told), _brief(1)], 1, deck)[0].told_on == ()


def test_no_card_speaks_of_an_answer_that_nobody_has_read_but_of_planned_advice() -> None:
    advice = Advice(
        advice_id="p0.s0.a0",
        kind=AdviceKind.STEPS,
        bullet_id="p0.s0.b9",
        narrative="n",
        topic="the roof",
        attribute="steps",
        text="1. look",
        items=("look",),
    )
    decks = [
        Deck(TurnLengths.BEAM, Category.GENERAL, f"c{i}", advised) for i in range(400) for advised in ((), (advice,))
    ]
    cards = [draw_cards([_brief(0)], 1, deck)[0] for deck in decks]
    assert {c.callback for c in cards[::2]} == {""}
    assert {c.callback for c in cards[1::2]} == {"", "the steps for the roof"}
    assert "reaction" not in set(Opening)


def test_messages_worded_in_the_dialogue_take_up_the_answer_at_the_measured_rate() -> None:
    drawn = [draw_take_up(f"t{i}", same_day=False, has_advice=False) for i in range(4_000)]
    # Four standard errors of a share of 27 %, of 4,000 draws: 0.028.
    assert abs(sum(bool(t) for t in drawn) / 4_000 - sum(TAKE_UPS.values()) / 100) < 0.028
    assert set(drawn) == set(TakeUp)
    assert TakeUp.OUTCOME not in {draw_take_up(f"t{i}", same_day=True, has_advice=False) for i in range(400)}
    assert TakeUp.DOUBT not in {draw_take_up(f"t{i}", same_day=False, has_advice=True) for i in range(400)}


def test_replies_ask_back_at_the_measured_rate_but_not_behind_wishes_endings_and_follow_ups() -> None:
    event, wish = _brief(0).bullet, _brief(0, kind="preference").bullet
    ending = event.model_copy(update={"variety": CLOSING})

    def share(told: list[Bullet], kind: MessageKind, exchange: int) -> float:
        return sum(draw_asks_back(f"t{i}", told, kind, exchange) for i in range(4_000)) / 4_000

    # Four standard errors of a share of a half, of 4,000 draws: 0.032.
    assert abs(share([event], MessageKind.QUESTION, 0) - DIALOGUE.asks_back) < 0.032
    assert abs(share([event], MessageKind.ANSWER, 1) - DIALOGUE.asks_again) < 0.032
    assert share([event], MessageKind.ANSWER, 2) == share([event], MessageKind.FOLLOW_UP, 1) == 0
    assert share([wish], MessageKind.QUESTION, 0) == share([ending], MessageKind.QUESTION, 0) == 0


def test_days_of_a_card_read_as_the_plan_writes_them() -> None:
    friday = date_value(dt.date(2024, 3, 8))
    decks = (Deck(TurnLengths.BEAM, Category.GENERAL, f"d{i}") for i in range(20))
    cards = [draw_cards([_brief(0, value=friday)], 1, deck)[0] for deck in decks]
    assert {d.said for c in cards for d in c.days} == {"Friday", "March 8"}
    assert {in_full(f"They come {c.days[0].said}.", c.days) for c in cards} == {"They come March 8, 2024."}


def test_last_friday_is_no_other_friday() -> None:
    day = SpokenDay(text="January 12, 2024", said="Friday")
    assert in_full("Last Friday I left, Friday they come.", (day,)) == "Last Friday I left, January 12, 2024 they come."


def test_one_card_has_no_weekday_for_two_days() -> None:
    last, coming = (date_value(DAY + dt.timedelta(days=n)) for n in (-5, 2))
    earlier = _brief(0).bullet.model_copy(update={"happens_on": last.date})
    for i in range(20):
        deck = Deck(TurnLengths.BEAM, Category.GENERAL, f"d{i}")
        (card,) = draw_cards([BulletBrief(bullet=earlier), _brief(1, value=coming)], 1, deck)
        assert [d.said for d in (*card.days, *card.told_on)] == ["March 8", "March 1"]


def test_a_short_day_may_begin_a_sentence() -> None:
    day = SpokenDay(text="December 1, 2021", said="last Wednesday")
    assert in_full("Last Wednesday I left.", (day,)) == "December 1, 2021 I left."


def test_reactions_have_beams_rates_and_none_follows_a_wish_or_an_ending() -> None:
    event = _brief(0).bullet
    wish = _brief(1, kind="instruction").bullet
    ending = event.model_copy(update={"variety": CLOSING})
    drawn = Counter(draw_reaction(f"t{i}", [event], 0) for i in range(4_000))
    for reaction, share in REACTIONS.items():
        # Four standard errors of a share of .11, of 4,000 draws: 0.02.
        assert abs(drawn[reaction] / 4_000 - share) < 0.02
    again = Counter(draw_reaction(f"t{i}", [event], 1) for i in range(4_000))
    assert abs(1 - again[None] / 4_000 - DIALOGUE.reacts_again) < 0.03
    assert again[Reaction.ACCEPTS] == 0
    assert {draw_reaction(f"t{i}", [told], 0) for i in range(400) for told in (wish, ending)} == {None}


def test_a_third_of_the_messages_on_events_ask_for_something_that_can_be_asked_for_later() -> None:
    def wanted(kind: str, variety: str = "") -> list[AdviceKind]:
        brief = _brief(0, kind=kind)
        brief = brief.model_copy(update={"bullet": brief.bullet.model_copy(update={"variety": variety})})
        decks = (Deck(TurnLengths.BEAM, Category.GENERAL, f"d{i}") for i in range(1_000))
        return [card.wants for deck in decks if (card := draw_cards([brief], 1, deck)[0]).wants]

    # Four standard errors of a share of .36, of 1,000 draws: 0.06.
    assert abs(len(wanted("event")) / 1_000 - sum(WANTS.values())) < 0.06
    assert set(wanted("update")) == set(WANTS)
    assert wanted("instruction") == wanted("side") == wanted("event", CLOSING) == []
