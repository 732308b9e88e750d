"""Tuning of `memory`: numbers that decide what is made, asked or flagged, with unit and reason (docs/tuning.md)."""

from __future__ import annotations

from longbeam.schemas import Record


class MemoryTuning(Record):
    """Numbers of the memory systems that no paper and no product prescribes."""

    first_wait_s: float = 0.5  # Seconds before the second attempt at a product: each later wait is four times as long.
    most_characters: int = 200_000  # Characters of a memory or an answer: 50,000 tokens are judged within seconds.
    least_traced: int = 20  # Characters of a message that its words can trace: "yes" would be found everywhere.
    ranked_units: int = 1_000  # Units to rank: more than any budget holds.
    rank_rounds: int = 40  # Rounds of PageRank: with a damping of .5 each halves what is left to spread.
    cluster_rounds: int = 10  # Rounds of k-means: a tree of 1,300 chunks settles within eight.
    bookmarked_at_once: int = 50  # Things (pages) of one call: those of ten million tokens fit no window.
    bookmarked_characters: int = 300  # Characters that a call shows of each turn: its matter stands at the beginning.
    sampled_messages: int = 100  # Messages of which every sentence is counted as not quoted: enough for its n-grams.
    learnt_conversations: int = 20  # Conversations that `templates` learns on, at most: 0.2 s each at 128K.
    least_to_learn: int = 4  # Conversations from which it learns on the others: of fewer it would learn their topics.
    kept_share: float = 0.1  # Share of the text that `templates` keeps: what planted facts take of a conversation.
    bookmarks_shown: int = 200  # Things (bookmarks of other pages) that `contextual` shows: the nearest.


MEMORIZING = MemoryTuning()
