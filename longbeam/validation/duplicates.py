"""Messages that repeat an earlier message, exactly or nearly.

Near-duplicates are pairs of one role whose word 5-grams have a Jaccard similarity of at least 0.8 outside code.
Candidates share one of their four smallest shingle hashes (bottom-k sketch: a pair at 0.8 is missed with
probability 0.2^4 at most), and the similarity of each is then computed exactly.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from longbeam.schemas import Message, MessageRole
from longbeam.store import SpilledBytes, previous_equals
from longbeam.text import prose_spans
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

MAX_NEAR_SHARE = {MessageRole.USER: 0.02, MessageRole.ASSISTANT: 0.02}
"""Share of near-duplicates among a role's messages above which a person should look."""
WORST = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two near-duplicates, by their message keys."""

    similarity: float
    is_contained: bool
    """Whether all shingles of the shorter message are in the longer one."""
    earlier: str
    later: str


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield exact duplicates one by one, and near-duplicates of each role as one problem."""
    equals = equal_messages(index.messages)
    said = Counter(m.role for m in index.messages)
    for role in MessageRole:
        exact: list[Problem] = []
        near = near_duplicates(_unlike_earlier(index, role, equals, exact))
        yield from exact
        if near:
            share = len(near) / said[role]
            kind = "near_share" if share > MAX_NEAR_SHARE[role] else "near"
            # Replies repeat phrases by nature, so their near-duplicates are one finding with a few examples.
            worst = sorted(near, key=lambda p: -p.similarity)[:WORST]
            pairs = ", ".join(f"{p.later} like {p.earlier} ({p.similarity:.2f})" for p in worst)
            text = f"{len(near)} of {said[role]} {role.value} messages ({share:.1%}) are near-duplicates: {pairs}"
            keys = tuple(k for p in worst for k in (p.earlier, p.later))
            yield Problem(kind, "conversation", text, keys)
        for pair in near if role is MessageRole.USER else ():
            if (
                pair.is_contained
                or index.position[pair.later] - index.position[pair.earlier] <= CHECKING.duplicate_nearby
            ):
                text = f"nearly the same as {pair.earlier} ({pair.similarity:.2f})"
                yield Problem("near_user", pair.later, text, (pair.earlier, pair.later))


def _unlike_earlier(
    index: ConversationIndex, role: MessageRole, equals: Mapping[int, int], exact: list[Problem]
) -> Iterator[Message]:
    """Yield the messages of a role that equal no earlier one; append a problem to `exact` for each of the others."""
    for ordinal, message in enumerate(index.messages):
        if message.role is not role:
            continue
        if ordinal not in equals or not (text := normalized(message.content)):
            yield message
            continue
        earlier, later = index.messages[equals[ordinal]].message_key, message.message_key
        kind = f"same_{role.value}" if len(text) >= CHECKING.duplicate_characters else "same_short"
        exact.append(Problem(kind, later, f"the same as {earlier}: {shorten(text)}", (earlier, later)))


def equal_messages(messages: Iterable[Message]) -> dict[int, int]:
    """Return ordinals of messages that equal an earlier one of their role, with the ordinal of the first such one."""
    digests = array("Q", (digest(m.role.value + normalized(m.content)) for m in messages))
    first: dict[int, int] = {}
    for later, earlier in enumerate(previous_equals(digests)):
        if earlier >= 0:
            first[later] = first.get(earlier, earlier)
    return first


def normalized(text: str) -> str:
    """Return a text in one case and spacing; messages that differ only in these are equal."""
    return " ".join(text.casefold().split())


def digest(text: str) -> int:
    """Return a 64-bit hash that identifies a text."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def near_duplicates(messages: Iterable[Message]) -> list[Pair]:
    """Return each message that nearly repeats an earlier one, paired with the most similar message found.

    Messages of fewer than 12 words outside code are left out: their 5-grams say little.
    """
    keys, shingles = SpilledBytes(), SpilledBytes()  # shingles are 8 bytes a word: more than the text
    sketched, sketches = array("I"), array("q")
    for at, (message, own) in enumerate(_with_shingles(messages)):
        keys.append(message.message_key.encode("utf-8", "surrogatepass"))
        shingles.append(array("q", own).tobytes())
        if len(own) >= CHECKING.least_shingles:
            sketched.append(at)
            sketches.extend(nsmallest(CHECKING.sketch_hashes, own))
    found: list[Pair] = []
    for at, earlier in _alike(sketched, sketches):
        own = set(_read(shingles, at))
        similarity, other = max((_jaccard(own, shingles, o), -o) for o in earlier)
        if similarity >= CHECKING.near_similarity:
            is_contained = _share_of_shorter(own, shingles, -other) == 1
            pair = (keys.between(i, i + 1).decode("utf-8", "surrogatepass") for i in (-other, at))
            found.append(Pair(similarity, is_contained, *pair))
    return found


def _alike(sketched: Sequence[int], sketches: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield the ordinal of each message with the ordinals of earlier messages that share a hash of its sketch."""
    previous = previous_equals(sketches)
    for number, ordinal in enumerate(sketched):
        earlier: set[int] = set()
        for place in range(number * CHECKING.sketch_hashes, (number + 1) * CHECKING.sketch_hashes):
            for _ in range(CHECKING.sketch_bucket):
                place = previous[place]
                if place < 0:
                    break
                earlier.add(sketched[place // CHECKING.sketch_hashes])
        if earlier:
            yield ordinal, sorted(earlier)


def _read(shingles: SpilledBytes, ordinal: int) -> array[int]:
    return array("q", shingles.between(ordinal, ordinal + 1))


def _share_of_shorter(own: set[int], shingles: SpilledBytes, ordinal: int) -> float:
    other = _read(shingles, ordinal)
    return len(own.intersection(other)) / min(len(own), len(other))


def _with_shingles(messages: Iterable[Message]) -> Iterator[tuple[Message, set[int]]]:
    words: dict[str, int] = {}
    for message in messages:
        yield message, _shingles(message.content, words)


def _shingles(content: str, words: dict[str, int]) -> set[int]:
    prose = " ".join(content[a:b] for a, b in prose_spans(content))
    # Words become small integers in order of appearance: unlike those of strings, hashes of tuples of integers
    # are the same in every process.
    ids = [words.setdefault(w, len(words)) for w in _WORD.findall(prose.casefold())]
    return set(map(hash, zip(*(ids[i:] for i in range(CHECKING.shingle_words)), strict=False)))


def _jaccard(own: set[int], shingles: SpilledBytes, ordinal: int) -> float:
    """Return the Jaccard similarity of two messages; 0 where it cannot reach `CHECKING.near_similarity`."""
    count = (shingles.start(ordinal + 1) - shingles.start(ordinal)) // 8
    small, large = sorted((len(own), count))
    if small < CHECKING.near_similarity * large:
        return 0.0  # even a subset would not reach it
    other = _read(shingles, ordinal)
    # Most pairs share little but boilerplate: the first part of the shingles rules them out.
    spare = count - CHECKING.near_similarity / (1 + CHECKING.near_similarity) * (small + large) + 1
    part = other[: 2 * int(spare)]
    if len(part) - len(own.intersection(part)) > spare:
        return 0.0
    common = len(own.intersection(other))
    return common / (small + large - common)


CHECK = Check(
    name="duplicates",
    doc="No user message and no reply repeats another; near-duplicates stay rare.",
    severities={
        "same_user": ERROR,
        "same_assistant": ERROR,
        "same_short": INFO,
        "near_user": WARNING,
        "near_share": WARNING,
        "near": INFO,
    },
    on_conversation=find_problems,
)
