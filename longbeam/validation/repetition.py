"""How much a conversation repeats itself, as it stands and with its values masked.

A machine that writes from templates hides behind the values it fills in, so messages are compared a second time
with ledger values, names, dates and numbers masked, all by one sign: which of them stood there must not matter.
Messages are alike as `duplicates` has it; sentences are compared word for word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import groupby, takewhile

from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message, MessageRole
from longbeam.schemas.statistics import FrequentSentence, Repetition
from longbeam.store.lookups import Tally
from longbeam.store.spill import SpilledSequence
from longbeam.text.sentences import prose_spans, sentences_within
from longbeam.text.times import MONTHS, WEEKDAYS
from longbeam.validation.duplicates import digest, equal_messages, near_duplicates

MASK = "_"
"""A word to the shingles, and no abbreviation or initial to the sentence splitter."""
MAX_SENTENCE_SHARE = 0.005
"""A masked sentence in a larger share of the replies (and in two at least) counts as frequent."""
LEAST_WORDS = 4
"""Of a sentence; shorter pieces of text are bound to come back in any writing."""
WORST = 5
_WORD = re.compile(r"[^\W\d_]{2,}")
_MONTH = "|".join(MONTHS).lower()
_DATES = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:{_MONTH})(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}}\b)?",
    "|".join(WEEKDAYS).lower(),
)
_NUMBER = r"[$€£¥]?\d+(?:[.,:/–-]\d+)*(?:st\b|nd\b|rd\b|th\b|%)?"
_RUN = re.compile(rf"(?<!\w){MASK}(?:,? {MASK}(?!\w))+")
_LIST_NUMBER = re.compile(r"^([ \t>]*)\d{1,3}[.)](?=[ \t])", re.MULTILINE)
_NO_SENTENCE = re.compile(r"^[ \t>]*(?:#{1,6}[ \t].*|\|.*|(?:[-*+•][ \t]+)?\*\*[^*\n]+\*\*:?[ \t]*)$", re.MULTILINE)


class Mask:
    """Replaces ledger values and names, longest first, then dates and numbers outside code by `MASK`.

    Upper and lower case are equal, and a run such as `March 5, 2024` is one mask, so rather too much is masked
    than too little: `may` is a month here.
    """

    def __init__(self, names: Iterable[str], values: Iterable[str] = ()) -> None:
        known = sorted({text.strip().lower() for text in (*names, *values)} - {""})
        words = [rf"(?<!\w)(?:{_one_of(known)})(?!\w)"] if known else []
        dates = rf"(?<!\w)(?:{'|'.join(_DATES)})(?!\w)"
        self._pattern = re.compile("|".join((*words, dates, _NUMBER)))

    def apply(self, text: str) -> str:
        """Return the text with masks; numbers of list items become dashes, code stays as it is."""
        pieces, at = [], 0
        for start, end in prose_spans(text):
            pieces += [text[at:start], self._masked(text[start:end])]
            at = end
        return "".join((*pieces, text[at:]))

    def _masked(self, prose: str) -> str:
        prose = _LIST_NUMBER.sub(r"\1-", prose)
        folded = prose.lower()
        if len(folded) != len(prose):  # İ and its like: places would be off
            return _RUN.sub(MASK, self._pattern.sub(MASK, prose))
        pieces, at = [], 0
        for found in self._pattern.finditer(folded):
            pieces += [prose[at : found.start()], MASK]
            at = found.end()
        return _RUN.sub(MASK, "".join((*pieces, prose[at:])))


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
    """Return the sentence figures of the replies among messages that are masked already, and the most frequent ones."""
    tally, said = Tally(), 0  # of the sentences themselves, ten times as much would be held
    for message in messages:
        if message.role is MessageRole.ASSISTANT:
            for text in set(prose_sentences(message.content)):
                tally.add(digest(text))
            said += 1
    sizes = Counter(times for _, times in tally.items())
    figures: dict[str, float] = {
        "distinct_sentences": sizes.total(),
        "most_frequent_share": _share(max(sizes, default=0), said),
        "frequent_sentences": sum(n for times, n in sizes.items() if times > max(1, MAX_SENTENCE_SHARE * said)),
    }
    repeated = nlargest(WORST, (times for times, n in sizes.items() if times > 1 for _ in range(min(n, WORST))))
    wanted = {d: times for d, times in tally.items() if repeated and times >= repeated[-1]}
    worst = sorted(_texts_of(wanted, messages), key=lambda item: (-item[1], item[0]))[:WORST]
    shown = (FrequentSentence(text=text, replies=count, share=_share(count, said)) for text, count in worst)
    return figures, tuple(shown)


def _texts_of(wanted: dict[int, int], messages: Iterable[Message]) -> Iterator[tuple[str, int]]:
    """Yield the sentences of replies that have these digests, each once, with what their digests stand for."""
    replies = (m for m in messages if wanted and m.role is MessageRole.ASSISTANT)
    for text in (text for reply in replies for text in prose_sentences(reply.content)):
        if (found := wanted.pop(digest(text), None)) is not None:
            yield text, found
        if not wanted:
            return


def count_repetitions(messages: Sequence[Message]) -> dict[MessageRole, tuple[int, int]]:
    """Return by role how many messages equal an earlier one but for case and spacing, and how many others nearly do."""
    equals = equal_messages(messages)
    exact = Counter(messages[i].role for i in equals)

    def others(role: MessageRole) -> Iterator[Message]:
        return (m for i, m in enumerate(messages) if m.role is role and i not in equals)

    return {role: (exact[role], len(near_duplicates(others(role)))) for role in MessageRole}


def prose_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in lower case, without code, tables, headings and lines all in bold.

    What has fewer than four words (of two letters or more; masks, numbers and signs are none) is a label, a formula or
    an interjection and no sentence: `Chance: _ of _`, `Agreed.`
    """
    for start, end in prose_spans(text):
        prose = _NO_SENTENCE.sub("", text[start:end])
        for a, b in sentences_within(prose, (0, len(prose))):
            if len(_WORD.findall(prose[a:b])) >= LEAST_WORDS:
                yield " ".join(prose[a:b].casefold().split())


def _one_of(texts: Sequence[str]) -> str:
    """A pattern of the sorted texts as a tree of prefixes: thousands cost little more than one, longer ones win."""
    branches = []
    for first, group in groupby(texts, key=lambda text: text[:1]):
        if not first:
            continue
        same = list(group)
        # of sorted texts, what the first and the last share is shared by all
        prefix = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(same[0], same[-1], strict=False)))
        rest = [text[len(prefix) :] for text in same]
        tail = f"(?:{_one_of(rest)})" + ("?" if "" in rest else "") if any(rest) else ""
        branches.append(re.escape(prefix) + tail)
    return "|".join(branches)


def _share(count: int, total: int) -> float:
    return round(count / total, 4) if total else 0.0
