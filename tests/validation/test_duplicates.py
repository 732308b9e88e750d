from __future__ import annotations

import random

from longbeam.schemas import Message
from longbeam.validation import near_duplicates
from tests.builders import good_conversation


def texts(*contents: str) -> list[Message]:
    base = good_conversation().said[1]
    return [base.model_copy(update={"message_key": f"m{i}", "content": c}) for i, c in enumerate(contents)]


def words(seed: str, count: int) -> list[str]:
    return random.Random(seed).choices([f"w{i}" for i in range(5_000)], k=count)


def test_near_duplicates_have_their_exact_similarity() -> None:
    base = words("a", 104)
    changed = [*base[:50], "other", *base[51:]]
    # 104 words have 100 shingles; one changed word touches 5: 95 common of 105.
    found = near_duplicates(texts(" ".join(base), " ".join(words("b", 104)), " ".join(changed)))

    assert [(p.earlier, p.later, round(p.similarity, 4)) for p in found] == [("m0", "m2", round(95 / 105, 4))]


def test_pairs_close_to_the_limit_are_told_as_their_shingles_are() -> None:
    for seed in range(40):
        base = words(f"base{seed}", 60 + 5 * seed)
        other = words(f"other{seed}", len(base))
        kept = len(base) - len(base) * (5 + seed % 12) // 100
        changed = base[:kept] + other[kept:] + other[: seed % 7]
        first, second = (set(zip(*(t[i:] for i in range(5)), strict=False)) for t in (base, changed))
        similarity = len(first & second) / len(first | second)
        found = [p.similarity for p in near_duplicates(texts(" ".join(base), " ".join(changed)))]
        assert found == ([similarity] if similarity >= 0.8 else [])


def test_texts_below_the_similarity_or_short_or_only_alike_in_code_are_none() -> None:
    base = words("a", 104)
    # Four changed words far apart: 80 common of 120 shingles, 0.67.
    changed = [w if i not in (10, 30, 50, 70) else f"other{i}" for i, w in enumerate(base)]
    code = "```\n" + " ".join(base) + "\n```\n"
    assert near_duplicates(texts(" ".join(base), " ".join(changed))) == []
    assert near_duplicates(texts("thank you so much for this", "thank you so much for this too")) == []
    assert near_duplicates(texts(code + "how does it work", code + "why does it fail")) == []


def test_boilerplate_does_not_hide_duplicates() -> None:
    opening = " ".join(words("opening", 30))
    contents = [f"{opening} {' '.join(words(str(i), 100))}" for i in range(60)]
    contents.append(f"{contents[3]} again")

    assert [(p.earlier, p.later) for p in near_duplicates(texts(*contents))] == [("m3", "m60")]
