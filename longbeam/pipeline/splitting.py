"""Splits of a benchmark: train, validation and test by conversation, for those who tune a memory on one part.

Never by probe: the probes of a conversation share its facts. Conversations of one seed tell one story, so they stay in
one part; those of a domain are spread over the parts. Written to `split.json` beside the spec.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from pydantic import ValidationError

from longbeam.errors import UserError
from longbeam.pipeline.checking import form_of, sealed_conversations
from longbeam.schemas import FormFigure, Record
from longbeam.store import Benchmark, require_recorded, write_recorded

FILE = "split.json"
PARTS = ("train", "validation", "test")
SHARES = (0.6, 0.2, 0.2)
"""Shares of the parts; a test part of a fifth is as small as intervals over conversations allow."""


class Split(Record):
    """Conversations of each part."""

    seed: int
    shares: dict[str, float]
    parts: dict[str, tuple[str, ...]]


def split_benchmark(benchmark: Benchmark, shares: Sequence[float], seed: int) -> Split:
    """Deal the finished conversations and write the split; the same for the same benchmark, shares and seed.

    Raises UserError for shares that are none, and for fewer stories than parts.
    """
    if len(shares) != len(PARTS) or not all(0 <= share < math.inf for share in shares) or not sum(shares):
        raise UserError("--shares: write three numbers, as in 60,20,20; 0 leaves a part out")
    wanted = {part: share / sum(shares) for part, share in zip(PARTS, shares, strict=True) if share}
    stories = _stories(benchmark, random.Random(f"{seed}/split"))
    if len(stories) < len(wanted):
        raise UserError(
            f"{benchmark.spec.name}: {len(stories)} stories make no {len(wanted)} parts; generate more, or "
            "leave a part out, as in --shares 50,0,50"
        )
    parts: dict[str, list[str]] = {part: [] for part in wanted}
    dealt = 0
    for place, story in enumerate(stories):
        dealt += len(story)
        empty = [part for part in wanted if not parts[part]]
        # The last stories go where nothing is yet, so that a small share of few conversations is one of them.
        open_parts = empty if len(stories) - place <= len(empty) else list(wanted)
        parts[max(open_parts, key=lambda part: wanted[part] * dealt - len(parts[part]))] += story
    found = Split(seed=seed, shares=wanted, parts={part: tuple(sorted(ids)) for part, ids in parts.items()})
    write_recorded(benchmark.root / FILE, found.model_dump_json(indent=1) + "\n")
    return found


def _stories(benchmark: Benchmark, rng: random.Random) -> list[list[str]]:
    """Return the conversations by seed, shuffled within their domains, and the domains one behind the other."""
    with sealed_conversations(benchmark) as readers:
        told = [(str(r.head.seed.domain), r.head.seed.title, r.head.conversation_id) for r in readers]
    stories = [(domain, [one[2] for one in of]) for (domain, _), of in groupby(sorted(told), key=lambda one: one[:2])]
    rng.shuffle(stories)
    return [ids for _, ids in sorted(stories, key=lambda story: story[0])]


def read_split(benchmark: Benchmark) -> Split:
    """Return the benchmark's split; UserError where none was made, or its file was changed."""
    path, advice = benchmark.root / FILE, f"make it with `longbeam split {benchmark.spec.name}`"
    if not path.exists():
        raise UserError(f"{path}: there is no split; {advice}")
    require_recorded(path, advice)
    try:
        return Split.model_validate_json(path.read_bytes())
    except ValidationError as exc:
        raise UserError(f"{path}: is no split; {advice}") from exc


def in_part(benchmark: Benchmark, part: str) -> Benchmark:
    """Return the benchmark with the finished conversations of one part alone; all of it for no part."""
    if not part:
        return benchmark
    parts = read_split(benchmark).parts
    if part not in parts:
        raise UserError(f"--split {part!r}: the parts of {benchmark.spec.name} are {', '.join(parts)}")
    return replace(benchmark, part=part, in_part=frozenset(parts[part]))


def form_by_part(benchmark: Benchmark, split: Split) -> dict[str, tuple[FormFigure, ...]]:
    """Return what the form of each part gives away; UserError without scikit-learn."""
    return {part: form_of(in_part(benchmark, part)) for part in split.parts}


def render_split(split: Split, form: Mapping[str, Sequence[FormFigure]]) -> str:
    """Return a line for each part, with its conversations, and its AUCs by task; ends a line."""
    lines = []
    for part, ids in split.parts.items():
        figures = ", ".join(f"{f.task} {f.auc:.3f}" for f in form.get(part, ()))
        lines.append(f"{part:<11} {len(ids):>4}  {split.shares[part]:.0%}  {' '.join(ids)}")
        if part in form:
            lines.append(f"{'':11}       form: {figures or 'too few conversations to measure'}")
    return "\n".join(lines) + "\n"
