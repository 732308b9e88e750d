"""A hand-written conversation in memory: eight messages, three probes; small enough to count by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longbeam.schemas import (
    Assertion,
    Bullet,
    BulletKind,
    ConversationHead,
    Difficulty,
    Domain,
    Evidence,
    Fact,
    Gender,
    Message,
    MessageKind,
    MessageRole,
    Narrative,
    Nugget,
    Person,
    Plan,
    Probe,
    ProbeDetails,
    Profile,
    Relation,
    RelationshipGraph,
    Seed,
    Stance,
    SubPlan,
    Timeline,
    Value,
    ValueKind,
)

FIRST_DAY = dt.date(2024, 3, 4)


@dataclass(frozen=True)
class TinyConversation:
    """A `ConversationReader` over lists."""

    head: ConversationHead
    said: Sequence[Message]
    asked: Sequence[Probe]

    def messages(self) -> Iterator[Message]:
        yield from self.said

    def probes(self) -> Iterator[Probe]:
        yield from self.asked


def tiny_conversation(conversation_id: str = "c000", *, domain: Domain = Domain.TRIP) -> TinyConversation:
    """Two turns with an answer and a follow-up, a third without; a selected probe, an abstention, a spare."""
    said = (
        message(0, "p0.s0.t0.n0", "question", "We fly to Oslo on 3 May.", 10, ("p0.s0.b0",)),
        message(1, "p0.s0.t0.n1", "reply", "Good. Which hotel?", 40),
        message(2, "p0.s0.t0.n2", "answer", "Hotel Fjord.", 4),
        message(3, "p0.s0.t0.n3", "reply", "Noted: Hotel Fjord.", 60),
        message(4, "p0.s1.t1.n0", "question", "The budget is 900 euros.", 12, ("p0.s1.b0",)),
        message(5, "p0.s1.t1.n1", "reply", "That is enough for “five” days.\nUse trams.", 80),
        message(6, "p0.s1.t1.n2", "follow_up", "And museums?", 4),
        message(7, "p0.s1.t1.n3", "reply", "Two of them are free.", 20),
    )
    asked = (
        probe("abstention.0", "abstention", (), selected=True, difficulty=Difficulty.HARD),
        probe("information_extraction.0", "information_extraction", (said[0], said[4]), selected=True),
        probe("information_extraction.1", "information_extraction", (said[2],), selected=False),
    )
    return TinyConversation(tiny_head(conversation_id, domain), said, asked)


def message(
    message_id: int, key: str, kind: str, content: str, tokens: int, bullet_ids: tuple[str, ...] = ()
) -> Message:
    plan, sub_plan, turn, _ = (int(part[1:]) for part in key.split("."))
    role = MessageRole.ASSISTANT if kind == "reply" else MessageRole.USER
    return Message(
        message_key=key,
        message_id=message_id,
        role=role,
        speaker=role.value,
        kind=MessageKind(kind),
        session=sub_plan,
        plan_index=plan,
        sub_plan_index=sub_plan,
        turn_index=turn,
        bullet_ids=bullet_ids,
        sent_at=dt.datetime.combine(FIRST_DAY, dt.time(9, message_id)),
        content=content,
        tokens=tokens,
    )


def probe(
    probe_id: str,
    ability: str,
    cited: Sequence[Message],
    *,
    selected: bool,
    difficulty: Difficulty = Difficulty.EASY,
) -> Probe:
    return Probe(
        probe_id=probe_id,
        ability=ability,
        question=f"What of {probe_id}?",
        gold_answer="3 May; 900 euros",
        difficulty=difficulty,
        rubric=tuple(Nugget(nugget_id=f"{probe_id}.n{i}", text=f"says {m.content}") for i, m in enumerate(cited))
        or (Nugget(nugget_id=f"{probe_id}.n0", text="says that it was never said"),),
        evidence=tuple(
            Evidence(message_key=m.message_key, quote=m.content[:8], nugget_ids=(f"{probe_id}.n{i}",))
            for i, m in enumerate(cited)
        ),
        details=ProbeDetails(variety="plain"),
        is_selected=selected,
    )


def tiny_head(conversation_id: str, domain: Domain) -> ConversationHead:
    person = Person(person_id="n1", first_name="Ida", gender=Gender.FEMALE, age=31, relation=Relation.FRIEND)
    return ConversationHead(
        conversation_id=conversation_id,
        seed=Seed(
            domain=domain,
            title="Five days in Oslo",
            theme="A short trip",
            subtopics=("flights", "hotel"),
            timeline=Timeline(start=FIRST_DAY, end=dt.date(2024, 5, 9)),
            source="/home/somebody/seeds.json#3",
        ),
        profile=Profile(
            name="Mara Lind",
            first_name="Mara",
            gender=Gender.FEMALE,
            age=33,
            city="Turku",
            country="Finland",
            profession="Surveyor",
            mbti=("ENFJ", "ENFP", "ENTJ", "ENTP", "ESFJ", "ESFP"),
            personality="She plans ahead.",
        ),
        relationships=RelationshipGraph(
            people=(person,),
            node_link={
                "directed": True,
                "nodes": [{"id": "user"}, {"id": "n1"}],
                "edges": [{"source": "user", "target": "n1", "relation": "friend"}],
            },
        ),
        narratives=(Narrative(label="travel", description="The trip", sub_labels=("flights",)),),
        plans=(tiny_plan(),),
        target_tokens=230,
    )


def tiny_plan() -> Plan:
    bullets = [
        Bullet(
            bullet_id=f"p0.s{i}.b0",
            kind=BulletKind.EVENT,
            narrative="travel",
            topic="the trip",
            text=text,
            happens_on=FIRST_DAY + dt.timedelta(days=i),
        )
        for i, text in enumerate(("We fly on 3 May.", "The budget is 900 euros."))
    ]
    return Plan(
        plan_index=0,
        sub_plans=tuple(
            SubPlan(plan_index=0, sub_plan_index=i, anchor=FIRST_DAY + dt.timedelta(days=i), bullets=(bullet,))
            for i, bullet in enumerate(bullets)
        ),
        facts=(Fact(fact_id="p0.f0", subject="the trip", attribute="budget", kind=ValueKind.MONEY),),
        assertions=(
            Assertion(
                bullet_id="p0.s1.b0",
                fact_id="p0.f0",
                stance=Stance.SETS,
                value=Value(kind=ValueKind.MONEY, text="900 euros", number=900, unit="EUR"),
            ),
        ),
    )
