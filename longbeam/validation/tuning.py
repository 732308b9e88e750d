"""Tuning of `validation`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class CheckTuning(Record):
    """Thresholds and caps of the checks."""

    fit_messages: int = 3  # Messages that an order or a summary rests on, at least: BEAM's cite 5.8 and 7.1 at 128K.
    fit_named: float = 0.6  # Share of a question's content words in a message about it: below, they meet by chance.
    answers_reported: int = 3  # Places of a possible answer that a finding names: the closest ones.
    answer_covered: float = 0.7  # Share of a question's words, by weight, in an answer: below, it is another matter.
    abstention_terms: int = 3  # Words of its own that a question needs: with fewer, it is about too many things.
    answer_new: int = 2  # Words that such a sentence adds to the question's: without them it repeats the question.
    abstention_common: float = 0.3  # Share of the messages from which a word tells nothing: it stands everywhere.
    months_apart: int = 3  # Days by which months and days may be off: people count a month in several ways.
    most_dates: int = 12  # Things (dates) whose pairs are tried: more take quadratic time and match by chance.
    most_amounts: int = 24  # Things (amounts) whose pairs are tried: more take quadratic time, match by chance.
    counted_item_words: int = 6  # Words of an item of a counted list, at most: longer ones may hold commas.
    year_guesses: int = 4  # Days without a year for which all nearby years are tried: at most 3^4 combinations.
    contradiction_said: float = 0.5  # Share of a nugget's words on the side it retells: it has a frame of its own.
    contradiction_touched: float = 0.2  # Share of the denied words, by weight, in a statement: below, another thing.
    contradiction_common: float = 0.1  # Share of the user's messages from which a word tells nothing: everywhere.
    contradiction_told: int = 2  # Words of the denial that a sentence of the statement has: one is shared by chance.
    shingle_words: int = 5  # Words of a shingle: shorter runs are shared by all texts.
    near_similarity: float = 0.8  # Similarity (Jaccard) of shingles of nearly equal messages: some words differ.
    duplicate_characters: int = 60  # Characters of a repetition that is no info: shorter ones repeat in life.
    duplicate_nearby: int = 8  # Messages within which a user has no reason to repeat one: the exchanges of one turn.
    least_shingles: int = 8  # Things (shingles) of a message that is compared: a shorter one is like others by chance.
    sketch_hashes: int = 4  # Things (smallest hashes) of a message's sketch: nearly equal messages share one.
    sketch_bucket: int = 8  # Messages with one hash that are compared: boilerplate must not take quadratic time.
    cited_words: int = 3  # Words of a text that can be called unrelated to a message: fewer tell nothing.
    cited_of_wish: float = 0.25  # Share of a wish's words in a message cited for it: it may be worded otherwise.
    part_of_item: float = 0.3  # Share of an item's words, by weight, in its message: 18 of 20 swaps are found.
    part_clearly: float = 1.5  # Factor to the share of the next message: of 20 true orders 3 are called wrong.
    year_apart: int = 200  # Days by which a day must lie nearer in another year: half a year is in doubt.
    later_shared: float = 0.6  # Share of a value's naming words near another value: below, that is something else.
    later_words: int = 2  # Words of these, at least: one is shared by chance.
    later_window: int = 90  # Characters beside a value in which the words naming it are looked for: a sentence.
    retold_words: int = 3  # Words of a cited clause near another day that tell it again: two are chance.
    retold_share: float = 0.75  # Share of these words: a part of them is another clause.
    core_share: float = 0.75  # Share of a question's core, by weight, in a sentence: below, it is another matter.
    later_common: float = 0.3  # Share of the user's messages from which a word names nothing: it is everywhere.
    compressed_share: float = 0.10  # Share to which a looping text is compressed: prose .35 to .55, code above .15.
    compressed_characters: int = 3_000  # Characters from which that share is told: short texts compress badly.
    outweighs_share: float = 0.20  # Share of all tokens from which one message outweighs the rest: no message has it.
    outweighs_from: int = 16_000  # Tokens of a conversation for that: in a shorter one a long message is usual.
    cut_characters: int = 200  # Characters of a message that may be cut off: a short one may end without a point.
    subject_nearby: int = 64  # Messages before a reply that are searched first: its subject's words stand there.
    bullet_said: float = 0.5  # Share of a bullet's words that a message has to say it: half, as it is worded anew.
    headed: int = 2  # Things (headings, bold points) that make an assistant's style of an answer: one is emphasis.
    length_tolerance: float = 0.02  # Share by which a conversation may miss its length: what generation promises.
    strict_from: int = 128_000  # Tokens from which that share holds alone: below, an exchange may be longer than it.
    recounted: int = 64  # Messages that are counted again, evenly spread: 0.05 s at any length.
    adult: int = 18  # Years from which somebody is grown: partners and friends of a user are.
    parent_gap: tuple[int, int] = (18, 45)  # Years between a parent and a child, fewest and most: the usual bounds.
    friend_gap: int = 12  # Years between friends, at most: what generation promises.
    nugget_shared: float = 0.34  # Share of a nugget's words in gold, question or evidence: more than chance.
    nugget_words: int = 4  # Words of a nugget that can be called unrelated: fewer tell nothing.
    most_nugget_words: int = 45  # Words of a nugget, at most: a longer one asks for several things.
    similar_questions: float = 0.8  # Similarity (Jaccard) of questions of near-duplicates: a word or two differ.
    same_question: float = 0.5  # Share of the shorter question's words beside like golds: half, beside the gold.
    same_gold: float = 0.75  # Similarity (Jaccard) of the golds of such probes: a word or two differ.
    same_alone: float = 0.7  # Similarity (Jaccard) of questions alike without evidence: nothing else tells.
    same_evidence: float = 0.5  # Share of common quotes of two questions on the same evidence: most of it.
    small_number: int = 12  # Amount up to which a number is no sign: such numbers are in many questions by chance.
    copied_least: int = 5  # Words in a row of a wish that make a question its copy: all of a short one.
    copied_most: int = 8  # Words in a row that suffice: of a long wish nobody repeats so many by chance.
    repeats_wish: float = 0.8  # Share of a wish's own words in a question that repeats it: it is to be remembered.
    resembles_wish: float = 0.5  # Share of a wish's own words from which a question resembles it: half are a hint.
    frequent_sentence: float = 0.005  # Share of replies with a frequent sentence, two at least: 1 in 200 is noticed.
    sentence_words: int = 4  # Words of a sentence that is counted: shorter pieces of text repeat in any writing.


CHECKING = CheckTuning()
