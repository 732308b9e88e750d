"""Tuning of `text`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class ReadingTuning(Record):
    """Thresholds of the reading of sentences and of later evidence."""

    negated_words: int = 6  # Words behind a negator that it may deny: a clause has about as many.
    echo: float = 0.8  # Share of a denial's words that a question has to repeat it: the rest is grammar.
    least_echoed: int = 4  # Words of its own of a denial that can be repeated: shorter ones have to be named.
    week: int = 6  # Days ahead or back within which a weekday names one day: a week later it names another.
    half_year: int = 182  # Days to a day without its year: further off it may be of either year.
    weekday_reach: int = 14  # Days to a day that is called by the weekday: "next Friday" may be the second one.
    vague_slack: int = 2  # Units by which a vague count may be off: `a few` is 3 here, and up to 5 when people say it.
    most_spelled: int = 12  # Amount up to which a number stays in words: they count things as often as facts.
    telling_number: int = 20  # Amount that is compared without its noun: small ones are in every text.
    passage_characters: int = 800  # Characters of a passage, at most: a page shares words with every question.
    sign_window: int = 160  # Characters on either side of the shared words in which a sign counts: about two sentences.
    signs_read: int = 300  # Passages of a subject in which signs are looked for: the others hardly touch it.
    of_assistant: float = 0.6  # Factor of the assistant's passages: the user states facts, replies repeat them.
    drawn_parts: float = 0.34  # Share of parts (`Get`, `42`) to characters of a drawn text: chance .47, names .2 to .3.
    card_groups: int = 7  # Groups in which people write a card: 4-4-4-4-3 has most, and a slip or two.
    reach: int = 400  # Characters between the words of one statement: a paragraph, or a line with its heading.
    most_shared: float = 0.5  # Share of the words of two conditions from which they overlap: half are one matter.


READING = ReadingTuning()
