"""From material to probes: candidates are found once per ability, and then each one is worded as its own unit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from textwrap import shorten

from longbeam.abilities import find_ability, is_kind
from longbeam.generators.probes.candidates import ProbeCandidate, WordedPayload
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.probes.registry import generator_for
from longbeam.generators.probes.wishes import wishes_on
from longbeam.generators.tuning import PROBING
from longbeam.keys import NuggetId
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import (
    CandidateOption,
    CandidatesInputs,
    CandidatesReply,
    NuggetDraft,
    OrderReply,
    ProbeInputs,
    ProbeReply,
)
from longbeam.schemas import ConversationHead, Evidence, Nugget, Probe


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


CHOICE_PROMPT = "probe_candidates"


def planning_prompts(ability: str) -> tuple[str, ...]:
    """Return the prompts that `plan_candidates` may use; they are part of its unit's fingerprint."""
    return (find_ability(ability).prompt_id,) if generator_for(ability).draft else (CHOICE_PROMPT,)


def writing_prompts(ability: str) -> tuple[str, ...]:
    """Return the prompts that `write_probe` may use; they are part of its unit's fingerprint."""
    return () if generator_for(ability).word else (find_ability(ability).prompt_id,)


async def plan_candidates(
    asker: Asker, material: ProbeMaterial, ability: str, count: int = PROBING.default_count
) -> list[ProbeCandidate]:
    """Return up to `count` candidates of an ability, ranked; the model chooses where code finds more.

    Fewer, or none, come back where the ledger holds fewer. Raises ReplyError when the model's choice does not fit.
    """
    generator = generator_for(ability)
    if generator.draft is not None:
        chosen = await generator.draft(asker, material, count)
    else:
        offered = _offered(generator.candidates(material), count)
        chosen = await _choose(asker, material, ability, offered, count) if offered else []
    return _ranked(material, chosen, 0)


def _offered(pool: Sequence[ProbeCandidate], count: int) -> list[ProbeCandidate]:
    """Return the candidates to choose from, those first that are worded where nobody chooses.

    What the assistant brought in has places of its own, as a selection needs a share of it; so have the further kinds
    of question.
    """
    told, given, kinds = _parted(pool)
    kinds = kinds[: max(count // PROBING.own_part, count - len(told) - len(given))]
    given = given[: max(count // PROBING.own_part, count - len(told) - len(kinds))]
    left = count - len(given) - len(kinds)
    return [*told[:left], *given, *kinds, *told[left:]]


def _ranked(material: ProbeMaterial, chosen: Sequence[ProbeCandidate], first: int) -> list[ProbeCandidate]:
    return [
        c.model_copy(update={"rank": rank, "language": material.language, "wishes": _wishes(material, c)})
        for rank, c in enumerate(chosen, first)
    ]


def _wishes(material: ProbeMaterial, candidate: ProbeCandidate) -> tuple[str, ...]:
    """Return the wishes that may apply to a candidate's question."""
    quoted = (text for e in candidate.excerpts for text in (e.quote, e.subject, e.attribute))
    return wishes_on(material.wishes, candidate.topic, candidate.summary, candidate.purpose, *quoted)


def _parted(pool: Sequence[ProbeCandidate]) -> tuple[list[ProbeCandidate], ...]:
    """Return the plain candidates, those that need a reply, and those of the further kinds, these kinds in turn."""
    kinds: dict[str, list[ProbeCandidate]] = {}
    for candidate in (c for c in pool if is_kind(c.variety)):
        kinds.setdefault(candidate.variety, []).append(candidate)
    turns = zip_longest(*kinds.values())
    plain = [c for c in pool if not is_kind(c.variety)]
    told, given = ([c for c in plain if c.needs_reply is of_reply] for of_reply in (False, True))
    return told, given, [c for turn in turns for c in turn if c is not None]


def further_candidates(
    material: ProbeMaterial, ability: str, known: Collection[ProbeCandidate], count: int = PROBING.default_count
) -> list[ProbeCandidate]:
    """Return the candidates of the pool that are not `known`, ranked behind these; none where a model drafts them.

    What a model that gives purposes was offered and left out stays unused: no purpose of this user's fits it.
    """
    generator = generator_for(ability)
    pool = [] if generator.draft is not None else generator.candidates(material)
    passed = {c.candidate_id for c in known}
    if not known or any(c.purpose for c in known):
        passed |= {c.candidate_id for c in _offered(pool, count)}
    return _ranked(material, [c for c in pool if c.candidate_id not in passed], len(known))


async def _choose(
    asker: Asker, material: ProbeMaterial, ability: str, pool: Sequence[ProbeCandidate], count: int
) -> list[ProbeCandidate]:
    """Return the candidates that this user would want to know at the end, best first, each with its purpose."""
    by_id = {c.candidate_id: c for c in pool}

    def check(reply: CandidatesReply) -> Iterator[str]:
        if unknown := [i for i in reply.chosen if i not in by_id]:
            yield f"no candidates are {', '.join(map(repr, unknown))}; there are {', '.join(by_id)}"
        if len(set(reply.chosen)) != len(reply.chosen):
            yield "a candidate is chosen twice"
        if len(reply.purposes) != len(reply.chosen):
            yield f"{len(reply.purposes)} purposes are given for {len(reply.chosen)} candidates; give one for each"
        if len(reply.chosen) > count:
            yield f"{len(reply.chosen)} are chosen; at most {count} are asked for"

    options = tuple(
        CandidateOption(
            candidate_id=c.candidate_id,
            difficulty=c.difficulty,
            summary=c.summary,
            said=tuple(shorten(e.quote, PROBING.option_characters) for e in c.excerpts[: PROBING.option_quotes]),
        )
        for c in pool
    )
    inputs = CandidatesInputs(
        ability=ability,
        title=material.head.seed.title,
        situation=material.situation,
        options=options,
        count=min(count, len(pool)),
    )

    def mend(reply: CandidatesReply) -> CandidatesReply:
        known = [i for i in reply.chosen if i in by_id]
        chosen = list(dict.fromkeys([*known, *by_id]))[:count]
        return CandidatesReply(chosen=chosen, purposes=[""] * len(chosen))

    reply = await asker.structured(CHOICE_PROMPT, inputs, place="choice", accept=Acceptance(check=check, mend=mend))
    pairs = zip(reply.chosen, reply.purposes, strict=True)
    return [by_id[i].model_copy(update={"purpose": purpose.strip()}) for i, purpose in pairs]


async def write_probe(asker: Asker, head: ConversationHead, candidate: ProbeCandidate, problem: str = "") -> Probe:
    """Return the probe of one candidate; raises ReplyError when no wording passes the ability's checks.

    `problem` says what was wrong with an earlier wording.
    """
    generator = generator_for(candidate.ability)
    if generator.word is not None:
        return assemble_probe(candidate, generator.word(candidate))
    if isinstance(candidate.payload, WordedPayload):
        return assemble_probe(candidate, worded_by_code(candidate))
    check = partial(generator.check, candidate)
    reply: ProbeReply = await asker.structured(
        find_ability(candidate.ability).prompt_id,
        probe_inputs(head, candidate).model_copy(update={"feedback": problem}),
        place=candidate.candidate_id,
        accept=Acceptance(check=check),
    )
    return assemble_probe(candidate, reply)


def worded_by_code(candidate: ProbeCandidate) -> ProbeReply:
    """Return the wording of a candidate that code has worded whole."""
    worded = candidate.given(WordedPayload)
    nugget = NuggetDraft(text=worded.nugget, excerpts=list(candidate.cited))
    return ProbeReply(question=worded.question, gold_answer=worded.gold_answer, nuggets=[nugget])


def probe_inputs(head: ConversationHead, candidate: ProbeCandidate) -> ProbeInputs:
    """Return what the prompt shows of a candidate: all that they call by one name, and what is worked out."""
    of_probe, payload = ProbeInputs.model_fields.keys(), candidate.payload
    given = {name: getattr(payload, name) for name in of_probe & type(payload).model_fields.keys()}
    given |= {n: getattr(candidate, n) for n in (of_probe & ProbeCandidate.model_fields.keys()) - {"language"}}
    return ProbeInputs(
        category=head.seed.category,
        title=head.seed.title,
        language=candidate.language.name,
        computed_value=candidate.details.computed_value,
        **given,
    )
