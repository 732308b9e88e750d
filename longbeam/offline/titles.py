"""Seeds that the offline writer composes from its packs; their number is limited."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from longbeam.offline.packs import Pack, Thread, load_pack, pack_paths
from longbeam.prompts.calls import SeedDraft, SeedsInputs, SeedsReply

_SMALL = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})


def seeds(inputs: SeedsInputs) -> SeedsReply:
    """Return the next seeds whose titles are not taken; fewer than asked for if there are no more.

    Their order depends on the domain alone, so that a second request continues the first.
    """
    drafts = list(_drafts(inputs.domain))
    random.Random(f"titles/{inputs.domain}").shuffle(drafts)
    taken = {title.casefold() for title in inputs.taken}
    return SeedsReply(seeds=[d for d in drafts if d.title.casefold() not in taken][: inputs.count])


def _drafts(domain: str) -> Iterator[SeedDraft]:
    """Yield seeds of the packs of a domain; for one of the user's own those of any, which are about something else."""
    packs = [load_pack(path) for path in pack_paths()]
    for pack in [p for p in packs if p.domain == domain] or packs:
        yield from _of_pack(pack)


def _of_pack(pack: Pack) -> Iterator[SeedDraft]:
    """Yield seeds: two things of a thread make a title, the sub-labels of this and another thread the subtopics."""
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
