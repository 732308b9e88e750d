"""Abstention: questions that sound as if the conversation answered them, although nothing in it does.

Here the model words the question first, and code proves it afterwards: no message of the whole conversation, the
assistant's included, may hold all search terms of the question close together, or all words of what is missing. The
model gives the level of each question: how close it comes to something that was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from longbeam.abilities import ABSTENTION
from longbeam.generators.probes.candidates import AbilityGenerator, ProbeCandidate, WordedPayload
from longbeam.generators.probes.checks import check_form, check_voice, neutral, run_checks
from longbeam.generators.probes.evidence import coverage, words_of
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.tuning import PROBING
from longbeam.keys import ProbeId
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import AbstentionDraft, AbstentionInputs, AbstentionReply, NuggetDraft, ProbeReply
from longbeam.schemas import Bullet, BulletKind, MessageRole, ProbeDetails

ABILITY = ABSTENTION.name
PROMPT_ID = ABSTENTION.prompt_id
_ASKABLE = (BulletKind.EVENT, BulletKind.RELATIONSHIP)


async def draft_candidates(asker: Asker, material: ProbeMaterial, count: int) -> list[ProbeCandidate]:
    """Return up to `count` unanswerable questions, each proved by a search; raises ReplyError if there is none.

    A story of which no message tells anything is asked nothing.
    """
    bullets = _spread(material)
    if not bullets:
        return []
    by_id = {b.bullet_id: b for b in bullets}
    found: dict[str, str | None] = {}

    def problem(item: AbstentionDraft) -> str | None:
        key = item.model_dump_json()
        if key not in found:  # a search reads the whole conversation
            found[key] = problem_of(material, by_id, item)
        return found[key]

    def check_reply(reply: AbstentionReply) -> Iterator[str]:
        enough = min(count, PROBING.abstention_proved)
        if len(list(islice((item for item in reply.items if problem(item) is None), enough))) == enough:
            return
        refused = [p for p in map(problem, reply.items) if p is not None]
        yield f"only {len(reply.items) - len(refused)} of {len(reply.items)} questions can be used"
        yield from refused

    def keep_some(reply: AbstentionReply) -> AbstentionReply:
        if all(problem(item) for item in reply.items):
            raise ValueError("; ".join(check_reply(reply)))
        return reply

    inputs = AbstentionInputs(
        seed=material.head.seed,
        # Of somebody whom no message names, a question is no question about this conversation.
        people=tuple(
            p for p in material.head.relationships.people if any(material.search.close_together([p.first_name]))
        ),
        bullets=bullets,
        count=count + PROBING.abstention_spare,
    )
    reply: AbstentionReply = await asker.structured(
        PROMPT_ID, inputs, place="questions", accept=Acceptance(check=check_reply, mend=keep_some)
    )
    proved = islice((d for d in _distinct(reply.items) if problem(d) is None), count)
    return [_candidate(i, draft, by_id[draft.bullet_id]) for i, draft in enumerate(proved)]


def _spread(material: ProbeMaterial) -> tuple[Bullet, ...]:
    """Return bullets on different topics that the user voices, evenly over the story."""
    by_topic: dict[str, Bullet] = {}
    for bullet in material.histories.bullets():
        voicing = (message for _, message in material.voices.of_bullet(bullet.bullet_id))
        # In imported chats the assistant voices bullets, too, and the model is shown what the user told.
        if bullet.kind in _ASKABLE and any(message.role is MessageRole.USER for message in voicing):
            by_topic.setdefault(bullet.topic.casefold(), bullet)
    bullets = list(by_topic.values())
    kept = min(len(bullets), PROBING.abstention_bullets)
    return tuple(bullets[i * len(bullets) // kept] for i in range(kept))


def _distinct(drafts: Sequence[AbstentionDraft]) -> list[AbstentionDraft]:
    return list({frozenset(words_of(d.missing)): d for d in reversed(drafts)}.values())[::-1]


def problem_of(material: ProbeMaterial, bullets: dict[str, Bullet], draft: AbstentionDraft) -> str | None:
    """Return why a drafted question cannot be used, or None."""
    name = repr(draft.question[:60])
    if not draft.question.strip() or not draft.missing.strip():
        return "a question or its `missing` is empty"
    if not material.language.writes and not draft.answer.strip():
        return f"{name} has no `answer`"
    if draft.bullet_id not in bullets:
        return f"{name} names bullet {draft.bullet_id!r}, which was not offered"
    bullet = bullets[draft.bullet_id]
    # A topic is the plan's name: "Harbour Row" is the lot shortlist to nobody.
    if coverage(bullet.topic, draft.question) < 0.5 and len(words_of(bullet.text) & words_of(draft.question)) < 2:
        return f"{name} is not close to its bullet: it names neither {neutral(bullet.topic)!r} nor a thing of its words"
    terms = [t for t in draft.search_terms if len(t.strip()) >= 3]
    if not 2 <= len(terms) <= 6:
        return f"{name} needs 2 to 6 search terms of three letters or more"
    # Any word that nobody ever says would make an answered question look unanswered.
    if strange := [t for t in terms if coverage(t, f"{draft.question} {draft.missing}") < 1]:
        return f"{name}: search term {strange[0]!r} has words that stand neither in the question nor in `missing`"
    for searched in (terms, [draft.missing]):
        words = [word for text in searched for word in sorted(words_of(text))]
        found = next(material.search.close_together(words), None)
        if found is not None:
            return f"{name}: message {found.message_key} holds all of {', '.join(searched)}, so it may answer it"
    return None


def _candidate(ordinal: int, draft: AbstentionDraft, bullet: Bullet) -> ProbeCandidate:
    missing = draft.missing.strip().rstrip(".")
    return ProbeCandidate(
        candidate_id=str(ProbeId(ABILITY, str(ordinal))),
        ability=ABILITY,
        difficulty=draft.difficulty,
        variety=bullet.kind.value,
        topic=bullet.topic,
        summary=missing,
        bullet_ids=(bullet.bullet_id,),
        payload=WordedPayload(question=draft.question.strip(), gold_answer=draft.answer.strip()),
        details=ProbeDetails(
            variety="missing_detail", missing=missing, searches=tuple(t.strip() for t in draft.search_terms)
        ),
        rank=ordinal,
    )


def word_candidate(candidate: ProbeCandidate) -> ProbeReply:
    """Return the wording of a drafted question, whose answer is always that the conversation has nothing about it."""
    missing, worded = candidate.details.missing, candidate.given(WordedPayload)
    if not candidate.language.writes:
        answer = worded.gold_answer
        demand = f"States this, in these words or others: {answer}"
        return ProbeReply(question=worded.question, gold_answer=answer, nuggets=[NuggetDraft(text=demand)])
    return ProbeReply(
        question=worded.question,
        gold_answer=f"Based on our conversation, there is no information about {missing}.",
        nuggets=[NuggetDraft(text=f"States that the conversation has no information about {missing}")],
    )


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(candidate, reply, (check_form, check_voice))


GENERATOR = AbilityGenerator(lambda material: [], check, draft=draft_candidates, word=word_candidate)
