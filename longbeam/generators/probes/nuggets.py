"""From a checked reply to a probe: its nuggets get ids, and each piece of evidence the nuggets that it supports."""

from __future__ import annotations

from longbeam.generators.probes.candidates import ProbeCandidate
from longbeam.keys import NuggetId
from longbeam.prompts.calls import OrderReply, ProbeReply
from longbeam.schemas import Evidence, Nugget, Probe


def assemble_probe(candidate: ProbeCandidate, reply: ProbeReply) -> Probe:
    """Return the probe; evidence is in the order of the conversation, each message and quote once per group."""
    details = candidate.details
    if isinstance(reply, OrderReply):
        details = details.model_copy(update={"items": tuple(item.strip() for item in reply.items)})
    return Probe(
        probe_id=candidate.candidate_id,
        ability=candidate.ability,
        question=reply.question.strip(),
        gold_answer=reply.gold_answer.strip(),
        difficulty=candidate.difficulty,
        rubric=tuple(
            Nugget(nugget_id=str(NuggetId(candidate.candidate_id, i)), text=n.text.strip())
            for i, n in enumerate(reply.nuggets)
        ),
        evidence=_evidence(candidate, reply),
        bullet_ids=candidate.bullet_ids,
        fact_ids=candidate.fact_ids,
        details=details,
        rank=candidate.rank,
    )


def _evidence(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[Evidence, ...]:
    supported: dict[tuple[str, str, str, int | None], list[str]] = {}
    for excerpt, message_key in zip(candidate.excerpts, candidate.message_keys, strict=True):
        nuggets = [
            str(NuggetId(candidate.candidate_id, i))
            for i, n in enumerate(reply.nuggets)
            if excerpt.ordinal in n.excerpts
        ]
        key = (message_key, excerpt.quote, excerpt.part, excerpt.group)
        supported.setdefault(key, []).extend(nuggets)
    return tuple(
        Evidence(
            message_key=message_key,
            quote=quote,
            part=part,
            group=group,
            nugget_ids=tuple(sorted(set(nuggets), key=NuggetId.parse)),
        )
        for (message_key, quote, part, group), nuggets in supported.items()
    )
