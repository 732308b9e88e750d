"""Seeds of the offline writer's own: what its packs can tell, put together anew. It has a limited number of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from longbeam.offline.packs import Pack, Thread, load_pack, pack_paths
from longbeam.prompts.calls.seeds import SeedDraft, SeedsInputs, SeedsReply
from longbeam.schemas.seeds import Domain

_SMALL = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})


def seeds(inputs: SeedsInputs) -> SeedsReply:
    """As many as are asked for of those that are not taken; fewer, or none, where there are no more.

    Their order depends on the domain alone, so that whoever asks again is given the next ones.
    """
    drafts = list(_drafts(inputs.domain))
    random.Random(f"titles/{inputs.domain.value}").shuffle(drafts)
    taken = {title.casefold() for title in inputs.taken}
    return SeedsReply(seeds=[d for d in drafts if d.title.casefold() not in taken][: inputs.count])


def _drafts(domain: Domain) -> Iterator[SeedDraft]:
    for path in pack_paths():
        pack = load_pack(path)
        if pack.domain is domain:
            yield from _of_pack(pack)


def _of_pack(pack: Pack) -> Iterator[SeedDraft]:
    """Two things of one thread make a title; its own small matters and those of another thread are the subtopics."""
    threads = [t for t in pack.threads if t.things]
    for i, thread in enumerate(threads):
        for j, (first, second) in enumerate(pairwise(thread.things)):
            if j % 2:
                continue  # each thing is in one title
            other = threads[(i + j // 2 + 1) % len(threads)]
            rng = random.Random(f"{pack.pack}/{thread.thread}/{j}")
            yield SeedDraft(
                title=f"{thread.narrative}: from {_titled(first)} to {_titled(second)}",
                theme=thread.about,
                subtopics=_subtopics(thread, other),
                start_month=rng.randint(1, 12),
                months=rng.randint(4, 9),
            )


def _subtopics(thread: Thread, other: Thread) -> list[str]:
    return list(dict.fromkeys((*thread.sub_labels, *other.sub_labels)))


def _titled(thing: str) -> str:
    first, *rest = thing.split()
    return " ".join([first, *(w if w in _SMALL else w[:1].upper() + w[1:] for w in rest)])
