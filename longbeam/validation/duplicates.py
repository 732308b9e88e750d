"""Messages that say the same again, to the letter or nearly so.

Near-duplicates are pairs of one role whose word 5-grams have a Jaccard similarity of at least 0.8 outside code.
Candidates share one of their four smallest shingle hashes (bottom-k sketch: a pair at 0.8 is missed with
probability 0.2^4 at most), and the similarity of each is then computed exactly.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest

from longbeam.schemas.dialogue import Message, Role
from longbeam.schemas.sentences import prose_spans
from longbeam.store.spool import Pieces
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem, shorten
from longbeam.validation.index import ConversationIndex

SHINGLE_WORDS = 5
MIN_SIMILARITY = 0.8
MIN_DUPLICATE_CHARACTERS = 60
"""Shorter messages repeat in real life (`Thanks, that helps!`): worth knowing, no fault."""
MAX_NEAR_SHARE = {Role.USER: 0.02, Role.ASSISTANT: 0.02}
"""Share of near-duplicates among a role's messages above which somebody should look."""
NEARBY = 8
"""Messages within which a user who nearly repeats himself does so for no reason: the rounds of one turn."""
BOTTOM = 4
BUCKET = 8
"""Earlier messages of one bucket that a message is compared with: boilerplate must not cost quadratic time."""
WORST = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Pair:
    """A message that is nearly an earlier one, by their keys."""

    similarity: float
    is_contained: bool
    """Whether the shorter one stands in the longer."""
    earlier: str
    later: str


def find_problems(index: ConversationIndex) -> Iterator[Problem]:
    """Yield exact duplicates one by one, and near-duplicates of each role as one problem."""
    for role in Role:
        exact: list[Problem] = []
        near = near_duplicates(_unlike_earlier(index, role, exact))
        yield from exact
        if near:
            said = sum(m.role is role for m in index.messages)
            share = len(near) / said
            kind = "near_share" if share > MAX_NEAR_SHARE[role] else "near"
            worst = sorted(near, key=lambda p: -p.similarity)[:WORST]
            pairs = ", ".join(f"{p.later} like {p.earlier} ({p.similarity:.2f})" for p in worst)
            text = f"{len(near)} of {said} {role.value} messages ({share:.1%}) are near-duplicates: {pairs}"
            keys = tuple(k for p in worst for k in (p.earlier, p.later))
            yield Problem(kind, "conversation", text, keys)
        for pair in near if role is Role.USER else ():
            if pair.is_contained or index.position[pair.later] - index.position[pair.earlier] <= NEARBY:
                text = f"nearly the same as {pair.earlier} ({pair.similarity:.2f})"
                yield Problem("near_user", pair.later, text, (pair.earlier, pair.later))


def _unlike_earlier(index: ConversationIndex, role: Role, exact: list[Problem]) -> Iterator[Message]:
    """Yield the messages of a role but those that equal an earlier one, which go to `exact` as problems."""
    first: dict[bytes, str] = {}
    for message in index.messages:
        if message.role is not role:
            continue
        text, later = plain(message.content), message.message_key
        earlier = first.setdefault(digest(text), later) if text else later
        if earlier is later:
            yield message
            continue
        kind = f"same_{role.value}" if len(text) >= MIN_DUPLICATE_CHARACTERS else "same_short"
        exact.append(Problem(kind, later, f"the same as {earlier}: {shorten(text)}", (earlier, later)))


def plain(text: str) -> str:
    """Return a text without what does not count between two that are equal: case and spacing."""
    return " ".join(text.casefold().split())


def digest(text: str) -> bytes:
    """Return what is kept of a text to know it again: 16 bytes, whatever its length."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def near_duplicates(messages: Iterable[Message]) -> list[Pair]:
    """Return each message that is nearly an earlier one, with the most similar of those compared.

    Messages of fewer than 12 words outside code are left out: their 5-grams say little.
    """
    words: dict[str, int] = {}
    keys: list[str] = []
    shingles = Pieces()  # 8 bytes a word: more than the text
    buckets: dict[int, tuple[int, ...]] = {}
    found: list[Pair] = []
    for at, message in enumerate(messages):
        own = _shingles(message.content, words)
        keys.append(message.message_key)
        shingles.append(array("q", own).tobytes())
        if len(own) < 8:
            continue
        smallest = nsmallest(BOTTOM, own)
        earlier = sorted({other for h in smallest for other in buckets.get(h, ())})
        best = max(((_jaccard(own, shingles, o), -o) for o in earlier), default=(0.0, 0))
        if best[0] >= MIN_SIMILARITY:
            is_contained = _share_of_shorter(own, shingles, -best[1]) == 1
            found.append(Pair(best[0], is_contained, keys[-best[1]], message.message_key))
        for h in smallest:
            buckets[h] = (*buckets.get(h, ()), at)[
                -BUCKET:
            ]  # nearly all hold one: a deque would take ten times as much
    return found


def _share_of_shorter(own: set[int], shingles: Pieces, ordinal: int) -> float:
    other = array("q", shingles.between(ordinal, ordinal + 1))
    return len(own.intersection(other)) / min(len(own), len(other))


def _shingles(content: str, words: dict[str, int]) -> set[int]:
    prose = " ".join(content[a:b] for a, b in prose_spans(content))
    # Words become small integers in order of appearance: unlike those of strings, hashes of tuples of integers
    # are the same in every process.
    ids = [words.setdefault(w, len(words)) for w in _WORD.findall(prose.casefold())]
    return set(map(hash, zip(*(ids[i:] for i in range(SHINGLE_WORDS)), strict=False)))


def _jaccard(own: set[int], shingles: Pieces, ordinal: int) -> float:
    """Return how alike two messages are; 0 for those that cannot be alike enough."""
    count = (shingles.start(ordinal + 1) - shingles.start(ordinal)) // 8
    small, large = sorted((len(own), count))
    if small < MIN_SIMILARITY * large:
        return 0.0  # even a subset would not reach it
    other = array("q", shingles.between(ordinal, ordinal + 1))
    # Most pairs share little but boilerplate, and lack too much of each other in the first part already.
    spare = count - MIN_SIMILARITY / (1 + MIN_SIMILARITY) * (small + large) + 1
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
