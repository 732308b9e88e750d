"""The probe pool of one conversation: candidates, wording, checks, selection; a unit per ability and per probe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from longbeam.generators.probes.candidates import ProbeCandidate
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.probes.selection import select_probes
from longbeam.generators.probes.writing import plan_candidates, planning_prompts, write_probe, writing_prompts
from longbeam.models.asking import Asker
from longbeam.pipeline.units import Blocked, Units, all_of
from longbeam.schemas.conversation import ConversationHead
from longbeam.schemas.dialogue import Message
from longbeam.schemas.findings import Severity
from longbeam.schemas.probes import Probe
from longbeam.schemas.spec import Role
from longbeam.store.spool import Spool
from longbeam.validation.index import ConversationIndex
from longbeam.validation.run import check_probes


async def write_probe_pool(
    units: Units, head: ConversationHead, messages: Iterable[Message], said: str
) -> tuple[Probe, ...]:
    """Return all probes that pass the checks, by ability and rank, the asked number of each selected.

    A probe that cannot be worded is a recorded failure and leaves its place to the next; one that a check finds
    an error in leaves the pool, one with a warning is selected last. `said` is a digest of the messages.
    """
    spooled = Spool(messages)
    material = ProbeMaterial.from_messages(head, spooled, language=units.spec.language)
    abilities = units.spec.abilities
    found = await all_of([_ability_pool(units, material, said, ability) for ability in abilities])
    index = ConversationIndex(head=head, messages=spooled)
    probes = [p for pool in found for p in pool]
    findings = check_probes(index, probes, language=units.spec.language)
    refused = {f.subject for f in findings if f.severity is Severity.ERROR}
    return tuple(
        select_probes(
            [p for p in probes if p.probe_id not in refused],
            per_ability=units.spec.probes_per_ability,
            positions=material.positions,
            total_messages=material.total_messages,
            prefers_wide=len(head.plans) > 1,
            doubted={f.subject for f in findings if f.severity is Severity.WARNING},
        )
    )


async def _ability_pool(units: Units, material: ProbeMaterial, said: str, ability: str) -> list[Probe]:
    head = material.head

    async def plan(asker: Asker) -> Sequence[ProbeCandidate]:
        return await plan_candidates(asker, material, ability)

    try:
        candidates = await units.run(
            "probes",
            f"{ability}.candidates",
            record=ProbeCandidate,
            needs=[head, said],
            prompts=planning_prompts(ability),
            roles=[Role.PROBER],
            work=plan,
        )
    except Blocked:
        return []
    written = await all_of([_probe(units, head, c) for c in candidates])
    return [p for p in written if p is not None]


async def _probe(units: Units, head: ConversationHead, candidate: ProbeCandidate) -> Probe | None:
    async def word(asker: Asker) -> Sequence[Probe]:
        return (await write_probe(asker, head, candidate),)

    try:
        records = await units.run(
            "probes",
            candidate.candidate_id,
            record=Probe,
            needs=[candidate, head.seed, str(head.seed.category)],
            prompts=writing_prompts(candidate.ability),
            roles=[Role.PROBER],
            work=word,
        )
    except Blocked:
        return None
    return records[0]
