"""Repetition within a conversation, as it stands and with its values masked.

Text from templates differs in the values that are filled in. So messages are compared a second time with ledger
values, names, dates and numbers masked, all by one sign: which value stood there must not matter. Messages are compared
as in `duplicates`, sentences word for word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest

from longbeam.schemas import ConversationHead, FrequentSentence, Message, MessageRole, Repetition
from longbeam.store import SpilledSequence, Tally
from longbeam.text import Mask, prose_spans, sentences_within
from longbeam.validation.duplicates import digest, equal_messages, near_duplicates
from longbeam.validation.tuning import CHECKING

WORST = 5
"""Most frequent sentences that are shown."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_SENTENCE = re.compile(r"^[ \t>]*(?:#{1,6}[ \t].*|\|.*|(?:[-*+•][ \t]+)?\*\*[^*\n]+\*\*:?[ \t]*)$", re.MULTILINE)


def mask_of(head: ConversationHead) -> Mask:
    """Return the mask of a conversation: its ledger's values, the user's name, the people around the user."""
    names = {p.first_name for p in head.relationships.people}
    if (profile := head.profile) is not None:
        parts = (part for part in profile.name.split() if part[0].isupper())
        names |= {profile.name, profile.first_name, *parts}
    return Mask(names, {a.value.text for plan in head.plans for a in plan.assertions if a.value is not None})


def measure_repetition(messages: Sequence[Message], mask: Mask) -> Repetition:
    """Return the figures of a conversation; shares are of the messages of a role, sentences of the replies."""
    figures: dict[str, float] = {}
    masked = SpilledSequence(m.model_copy(update={"content": mask.apply(m.content)}) for m in messages)
    said = Counter(m.role for m in messages)
    as_said, as_masked = count_repetitions(messages), count_repetitions(masked)
    for role, name in ((MessageRole.USER, "user"), (MessageRole.ASSISTANT, "reply")):
        exact, near = as_said[role]
        figures[f"{name}_duplicates"] = exact
        figures[f"{name}_near_share"] = _share(exact + near, said[role])
        figures[f"{name}_masked_share"] = _share(sum(as_masked[role]), said[role])
    sentences, worst = measure_sentences(masked)
    return Repetition(figures=figures | sentences, worst=worst)


def measure_sentences(messages: Sequence[Message]) -> tuple[dict[str, float], tuple[FrequentSentence, ...]]:
    """Return sentence figures of the replies, and their most frequent sentences; the messages are masked already."""
    tally, replies = Tally(), 0  # counts of hashes: the sentences themselves would take ten times the memory
    for message in _replies(messages):
        for text in set(prose_sentences(message.content)):
            tally.add(digest(text))
        replies += 1
    sizes = Counter(times for _, times in tally.items())
    figures: dict[str, float] = {
        "distinct_sentences": sizes.total(),
        "most_frequent_share": _share(max(sizes, default=0), replies),
        "frequent_sentences": sum(
            n for times, n in sizes.items() if times > max(1, CHECKING.frequent_sentence * replies)
        ),
    }
    found = _texts_of(_most_frequent(tally, sizes), messages)
    worst = sorted(found, key=lambda item: (-item[1], item[0]))[:WORST]
    shown = (FrequentSentence(text=text, replies=count, share=_share(count, replies)) for text, count in worst)
    return figures, tuple(shown)


def _most_frequent(tally: Tally, sizes: Counter[int]) -> dict[int, int]:
    """Return hash and count of the `WORST` most frequent repeated sentences, and of all that are as frequent."""
    repeated = nlargest(WORST, (times for times, n in sizes.items() if times > 1 for _ in range(min(n, WORST))))
    return {d: times for d, times in tally.items() if times >= repeated[-1]} if repeated else {}


def _replies(messages: Iterable[Message]) -> Iterator[Message]:
    return (m for m in messages if m.role is MessageRole.ASSISTANT)


def _texts_of(counts: dict[int, int], messages: Iterable[Message]) -> Iterator[tuple[str, int]]:
    """Yield the sentences of replies that have these hashes, each once, with their counts."""
    left = dict(counts)
    for text in (text for reply in _replies(messages) for text in prose_sentences(reply.content)):
        if not left:
            return
        if (found := left.pop(digest(text), None)) is not None:
            yield text, found


def count_repetitions(messages: Sequence[Message]) -> dict[MessageRole, tuple[int, int]]:
    """Return by role how many messages equal an earlier one, and how many others are near-duplicates of one."""
    equals = equal_messages(messages)
    exact = Counter(messages[i].role for i in equals)

    def others(role: MessageRole) -> Iterator[Message]:
        return (m for i, m in enumerate(messages) if m.role is role and i not in equals)

    return {role: (exact[role], len(near_duplicates(others(role)))) for role in MessageRole}


def prose_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in lower case, without code, tables, headings and lines all in bold.

    A piece of fewer than four words (of two letters or more; masks, numbers and signs do not count) is a label, a
    formula or an interjection and no sentence: `Chance: _ of _`, `Agreed.`
    """
    for start, end in prose_spans(text):
        prose = _NO_SENTENCE.sub("", text[start:end])
        for a, b in sentences_within(prose, (0, len(prose))):
            if len(_WORD.findall(prose[a:b])) >= CHECKING.sentence_words:
                yield " ".join(prose[a:b].casefold().split())


def _share(count: int, total: int) -> float:
    return round(count / total, 4) if total else 0.0
