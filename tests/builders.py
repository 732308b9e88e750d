"""A small conversation that is right in every respect, made by hand, and ways to spoil it.

Maya Okafor opens a bakery: two stages, nine turns, eighteen messages, a ledger with one update and one
contradiction, and one probe per ability. Everything is derived from the tables below, so that a test changes one
thing and nothing else.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, replace

from longbeam.models import load_tokenizer
from longbeam.schemas import (
    Assertion,
    Author,
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
    UserTurn,
    Value,
    ValueKind,
)
from longbeam.text import date_value, money, name, number, quote_for


@dataclass(frozen=True)
class MemoryReader:
    """A `ConversationReader` over tuples; `said` and `asked` are what its methods give."""

    head: ConversationHead
    said: tuple[Message, ...]
    asked: tuple[Probe, ...]

    def messages(self) -> Iterator[Message]:
        yield from self.said

    def probes(self) -> Iterator[Probe]:
        yield from self.asked

    def with_head(self, **changes: object) -> MemoryReader:
        """The same with other fields in its head."""
        return replace(self, head=self.head.model_copy(update=changes))

    def with_message(self, position: int, **changes: object) -> MemoryReader:
        """The same with one message changed; its tokens are counted again unless given."""
        message = self.said[position].model_copy(update=changes)
        if "content" in changes and "tokens" not in changes:
            message = message.model_copy(update={"tokens": count_tokens(message.content)})
        return replace(self, said=(*self.said[:position], message, *self.said[position + 1 :]))

    def with_probe(self, ability: str, **changes: object) -> MemoryReader:
        """The same with the probe of one ability changed."""
        spoilt = (p.model_copy(update=changes) if p.ability == ability else p for p in self.asked)
        return replace(self, asked=tuple(spoilt))

    def with_details(self, ability: str, **changes: object) -> MemoryReader:
        """The same with details of one ability's probe changed."""
        return self.with_probe(ability, details=self.probe(ability).details.model_copy(update=changes))

    def with_bullet(self, which: str, /, **changes: object) -> MemoryReader:
        """The same with one bullet of the plan changed."""
        plan = self.head.plans[0]
        sub_plans = tuple(
            s.model_copy(
                update={
                    "bullets": tuple(b.model_copy(update=changes) if b.bullet_id == which else b for b in s.bullets)
                }
            )
            for s in plan.sub_plans
        )
        return self.with_plan(sub_plans=sub_plans)

    def with_plan(self, **changes: object) -> MemoryReader:
        """The same with fields of its plan changed."""
        return self.with_head(plans=(self.head.plans[0].model_copy(update=changes),))

    def with_assertion(self, *added: Assertion) -> MemoryReader:
        """The same with assertions added to its ledger."""
        return self.with_plan(assertions=(*self.head.plans[0].assertions, *added))

    def probe(self, ability: str) -> Probe:
        """The probe of an ability."""
        return next(p for p in self.asked if p.ability == ability)


def count_tokens(text: str) -> int:
    """Tokens in o200k_base."""
    return load_tokenizer("o200k_base").count(text)


def good_conversation(conversation_id: str = "c000") -> MemoryReader:
    """Return the conversation; no check finds an error or a warning in it."""
    said = _messages()
    head = ConversationHead(
        conversation_id=conversation_id,
        authors=(Author(role="assistant", model="offline"), Author(role="user", model="offline")),
        seed=Seed(
            domain=Domain.BUSINESS,
            title="Opening a small bakery",
            theme="From the lease to the first loaves",
            subtopics=("lease", "renovation", "suppliers"),
            timeline=Timeline(start=dt.date(2024, 3, 4), end=dt.date(2024, 5, 31)),
        ),
        profile=PROFILE,
        relationships=RelationshipGraph(people=PEOPLE, node_link=_node_link()),
        narratives=(Narrative(label="Premises", description="Lease and renovation", sub_labels=("lease", "works")),),
        plans=(plan(),),
        user_turns=tuple(
            UserTurn(turn_id=m.message_key.rpartition(".")[0], text=m.content, bullet_ids=m.bullet_ids)
            for m in said
            if m.kind is MessageKind.QUESTION
        ),
        target_tokens=sum(m.tokens for m in said),
    )
    return MemoryReader(head, said, _probes({m.message_key: m for m in said}))


# --- people -----------------------------------------------------------------------------------------------

PROFILE = Profile(
    name="Maya Okafor",
    first_name="Maya",
    gender=Gender.FEMALE,
    age=34,
    city="Bristol",
    country="United Kingdom",
    profession="baker",
    mbti=("ENFJ", "ENTJ", "INFP", "INTJ", "ISFJ", "ISTP"),
)
PEOPLE = (
    Person(person_id="n1", first_name="Grace", gender=Gender.FEMALE, age=61, relation=Relation.PARENT),
    Person(person_id="n2", first_name="Tom", gender=Gender.MALE, age=38, relation=Relation.FRIEND),
    Person(person_id="n3", first_name="Leo", gender=Gender.MALE, age=7, relation=Relation.CHILD),
)


def _node_link() -> dict[str, object]:
    nodes = [{"id": "user"}, *({"id": p.person_id} for p in PEOPLE)]
    edges = [{"source": "user", "target": p.person_id, "relation": p.relation.value} for p in PEOPLE]
    return {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges}


# --- plan and ledger --------------------------------------------------------------------------------------

LEASE_DAY = date_value(dt.date(2024, 3, 6))
INSPECTION_DAY = date_value(dt.date(2024, 4, 17))
FACTS = (
    ("p0.f0", "the bakery", "name", ValueKind.NAME, True),
    ("p0.f1", "the lease", "signing date", ValueKind.DATE, True),
    ("p0.f2", "the renovation", "budget", ValueKind.MONEY, False),
    ("p0.f3", "the shop front", "price of painting", ValueKind.MONEY, False),
    ("p0.f4", "the deck oven", "price", ValueKind.MONEY, False),
    ("p0.f5", "the inspection", "date", ValueKind.DATE, True),
    ("p0.f6", "the electrician", "name", ValueKind.NAME, True),
    ("p0.f7", "the soft opening", "loaves sold", ValueKind.NUMBER, True),
)
# bullet, kind, day, topic, text, fact, stance, value, other fields
BULLETS: tuple[
    tuple[str, str, dt.date, str, str, str | None, str, Value | None, dict[str, str]], ...
] = (
    ("p0.s0.b0", "introduction", dt.date(2024, 3, 4), "the bakery",
     "I'm Maya and I'm opening a small bakery called Rye and Shine.", "p0.f0", "sets", name("Rye and Shine"), {}),
    ("p0.s0.b1", "event", dt.date(2024, 3, 7), "the lease",
     "I signed the lease on March 6, 2024.", "p0.f1", "sets", LEASE_DAY, {}),
    ("p0.s0.b2", "event", dt.date(2024, 3, 8), "the renovation",
     "The renovation budget is $18,000.", "p0.f2", "sets", money(18_000), {}),
    ("p0.s0.b3", "relationship", dt.date(2024, 3, 11), "the shop front",
     "My friend Tom will paint the shop front for $900.", "p0.f3", "sets", money(900), {}),
    ("p0.s0.b4", "preference", dt.date(2024, 3, 12), "suppliers",
     "I prefer suppliers within walking distance over cheaper ones.", None, "", None,
     {"condition": "when I ask about suppliers", "requirement": "names walking distance as a reason"}),
    ("p0.s0.b5", "instruction", dt.date(2024, 3, 14), "costs",
     "Always show costs as a markdown table.", None, "", None,
     {"condition": "when I ask about costs", "requirement": "shows amounts in a markdown table"}),
    ("p0.s0.b6", "event", dt.date(2024, 3, 15), "the electrician",
     "I hired an electrician called Priya.", "p0.f6", "sets", name("Priya"), {}),
    ("p0.s1.b0", "event", dt.date(2024, 4, 16), "the deck oven",
     "I ordered a deck oven for $7,400.", "p0.f4", "sets", money(7_400), {}),
    ("p0.s1.b2", "update", dt.date(2024, 4, 17), "the renovation",
     "The renovation budget is $21,500 now.", "p0.f2", "updates", money(21_500),
     {"target_bullet_id": "p0.s0.b2"}),
    ("p0.s1.b1", "event", dt.date(2024, 4, 18), "the inspection",
     "The inspection took place on April 17, 2024.", "p0.f5", "sets", INSPECTION_DAY, {}),
    ("p0.s1.b3", "contradiction", dt.date(2024, 4, 20), "the electrician",
     "I have never hired an electrician.", "p0.f6", "denies", None,
     {"target_bullet_id": "p0.s0.b6", "variety": "never_statement"}),
    ("p0.s1.b4", "event", dt.date(2024, 4, 28), "the soft opening",
     "At the soft opening we sold 140 loaves.", "p0.f7", "sets", number(140, "loaves"), {}),
)  # fmt: skip
ANCHORS = (dt.date(2024, 3, 4), dt.date(2024, 4, 15))


def plan() -> Plan:
    """The plan with its ledger. Ids of augmented bullets are out of order, as augmentation leaves them."""
    bullets = [
        Bullet(
            bullet_id=bullet_id, kind=BulletKind(kind), narrative="Premises", topic=topic, text=text,
            happens_on=day, **more,
        )
        for bullet_id, kind, day, topic, text, _, _, _, more in BULLETS
    ]  # fmt: skip
    sub_plans = tuple(
        SubPlan(
            plan_index=0,
            sub_plan_index=i,
            anchor=anchor,
            bullets=tuple(b for b in bullets if b.bullet_id.startswith(f"p0.s{i}.")),
        )
        for i, anchor in enumerate(ANCHORS)
    )
    facts = (Fact(fact_id=f, subject=s, attribute=a, kind=k, is_fixed=x) for f, s, a, k, x in FACTS)
    assertions = (
        Assertion(bullet_id=row[0], fact_id=row[5], stance=Stance(row[6]), value=row[7])
        for row in BULLETS
        if row[5] is not None
    )
    return Plan(plan_index=0, sub_plans=sub_plans, facts=tuple(facts), assertions=tuple(assertions))


# --- messages ---------------------------------------------------------------------------------------------

# key, kind, day, bullets, content
SAID: tuple[tuple[str, str, dt.date, str, str], ...] = (
    ("p0.s0.t0.n0", "question", dt.date(2024, 3, 4), "p0.s0.b0",
     "Hi! I'm Maya and I'm opening a small bakery called Rye and Shine. Where would you start?"),
    ("p0.s0.t0.n1", "reply", dt.date(2024, 3, 4), "",
     "Congratulations, Maya. I would start with the premises, because every other decision follows from them."),
    ("p0.s0.t1.n0", "question", dt.date(2024, 3, 8), "p0.s0.b1 p0.s0.b2",
     "Good news: I signed the lease on March 6, 2024. The renovation budget is $18,000. What comes first?"),
    ("p0.s0.t1.n1", "reply", dt.date(2024, 3, 8), "",
     "Begin with what lies behind the walls.\n\n1. Wiring\n2. Plumbing\n3. Plaster\n\nWho does the front?"),
    ("p0.s0.t1.n2", "answer", dt.date(2024, 3, 11), "p0.s0.b3",
     "Yes, my friend Tom will paint the shop front for $900."),
    ("p0.s0.t1.n3", "reply", dt.date(2024, 3, 11), "",
     "Then ask Tom to wait until the windows are in, or the fresh paint will suffer."),
    ("p0.s0.t2.n0", "question", dt.date(2024, 3, 12), "p0.s0.b4",
     "Who should deliver my flour? I prefer suppliers within walking distance over cheaper ones."),
    ("p0.s0.t2.n1", "reply", dt.date(2024, 3, 12), "",
     "The mill on Stokes Croft is close enough to walk to, and it grinds to order every Thursday."),
    ("p0.s0.t3.n0", "question", dt.date(2024, 3, 15), "p0.s0.b5 p0.s0.b6",
     "One wish: always show costs as a markdown table. By the way, I hired an electrician called Priya."),
    ("p0.s0.t3.n1", "reply", dt.date(2024, 3, 15), "",
     "Understood. Ask Priya for separate circuits for ovens and lights before she closes the walls."),
    ("p0.s1.t0.n0", "question", dt.date(2024, 4, 17), "p0.s1.b0 p0.s1.b2",
     "I ordered a deck oven for $7,400. The renovation budget is $21,500 now. Is that still sensible?"),
    ("p0.s1.t0.n1", "reply", dt.date(2024, 4, 17), "",
     "| Item | Cost |\n|---|---|\n| Oven | $7,400 |\n\nIt leaves room for the counter, so yes."),
    ("p0.s1.t1.n0", "question", dt.date(2024, 4, 18), "p0.s1.b1",
     "The inspection took place on April 17, 2024. What papers should I keep from it?"),
    ("p0.s1.t1.n1", "reply", dt.date(2024, 4, 18), "",
     "Keep the signed report, the list of defects and the name of the inspector, each as a scan."),
    ("p0.s1.t2.n0", "question", dt.date(2024, 4, 20), "p0.s1.b3",
     "I have never hired an electrician. How do people usually find a good one?"),
    ("p0.s1.t2.n1", "reply", dt.date(2024, 4, 20), "",
     "Mostly through neighbours who had work done within the last year. Did something come up?"),
    ("p0.s1.t3.n0", "question", dt.date(2024, 4, 28), "p0.s1.b4",
     "At the soft opening we sold 140 loaves! How many should we bake next Saturday?"),
    ("p0.s1.t3.n1", "reply", dt.date(2024, 4, 28), "",
     "Bake a tenth more and stop taking orders at noon; a queue is better advertising than leftovers."),
)  # fmt: skip


def _messages() -> tuple[Message, ...]:
    messages = []
    for i, (key, kind, day, bullets, content) in enumerate(SAID):
        plan_index, sub_plan, turn, _ = (int(part[1:]) for part in key.split("."))
        is_reply = kind == "reply"
        messages.append(
            Message(
                message_key=key,
                message_id=i,
                role=MessageRole.ASSISTANT if is_reply else MessageRole.USER,
                speaker="assistant" if is_reply else "user",
                kind=MessageKind(kind),
                session=sub_plan,
                plan_index=plan_index,
                sub_plan_index=sub_plan,
                turn_index=turn,
                bullet_ids=tuple(bullets.split()),
                sent_at=dt.datetime.combine(day, dt.time(9)) + dt.timedelta(minutes=i),
                content=content,
                tokens=count_tokens(content),
            )
        )
    return tuple(messages)


# --- probes -----------------------------------------------------------------------------------------------


def _probes(messages: dict[str, Message]) -> tuple[Probe, ...]:
    turn = {i: f"p0.s{i // 4}.t{i % 4}.n0" for i in range(8)}

    def cite(key: str, value: Value | str, part: str = "support", group: int | None = None) -> Evidence:
        said = value if isinstance(value, str) else quote_for(messages[key].content, [value])
        assert said is not None
        return Evidence(message_key=key, quote=said, part=part, group=group)

    front, oven = cite("p0.s0.t1.n2", money(900)), cite(turn[4], money(7_400))
    lease = cite(turn[1], LEASE_DAY)
    return (
        probe(
            "abstention", "What interest rate does the bank charge on the equipment loan?",
            "The conversation does not say anything about an equipment loan or its interest rate.",
            ("States that the interest rate is not mentioned",), (), difficulty=Difficulty.HARD,
            details=ProbeDetails(missing="equipment loan", searches=("interest", "loan")),
        ),
        probe(
            "contradiction_resolution", "Have I ever hired an electrician?",
            "You said that you hired an electrician called Priya, and also that you never hired one. Which is right?",
            ("Says that an electrician called Priya was hired", "Says that the user denied it"),
            (
                cite(turn[3], "By the way, I hired an electrician called Priya.", "statement"),
                cite(turn[6], "I have never hired an electrician.", "denial"),
            ),
            bullet_ids=("p0.s0.b6", "p0.s1.b3"), fact_ids=("p0.f6",),
        ),
        probe(
            "event_ordering", "In which order did I tell you about the lease, the oven and the painting?",
            "First the lease, then the painting of the shop front, then the deck oven.",
            ("The lease comes first", "The painting comes second", "The deck oven comes third"),
            tuple(
                e.model_copy(update={"part": "item", "group": i}) for i, e in enumerate((lease, front, oven))
            ),
            bullet_ids=("p0.s0.b1", "p0.s0.b3", "p0.s1.b0"), difficulty=Difficulty.EASY,
            details=ProbeDetails(items=("the lease", "the painting", "the deck oven")),
        ),
        probe(
            "information_extraction", "What does Tom ask for painting the front of the shop?",
            "Tom paints the shop front for $900.", ("States that Tom asks for $900",), (front,),
            bullet_ids=("p0.s0.b3",), fact_ids=("p0.f3",), difficulty=Difficulty.EASY,
        ),
        probe(
            "instruction_following", "What have I spent on equipment so far, by item?",
            "| Item | Cost |\n|---|---|\n| Deck oven | $7,400 |", ("Shows the amounts in a markdown table",),
            (cite(turn[3], "One wish: always show costs as a markdown table.", "instruction"),),
            bullet_ids=("p0.s0.b5",), details=ProbeDetails(instruction="always show costs as a markdown table"),
        ),
        probe(
            "knowledge_update", "How much money is set aside for renovating the premises?",
            "$21,500 are set aside for the renovation.", ("States that $21,500 are set aside",),
            (cite(turn[1], money(18_000), "original"), cite(turn[4], money(21_500), "updated")),
            bullet_ids=("p0.s0.b2", "p0.s1.b2"), fact_ids=("p0.f2",),
            details=ProbeDetails(old_value="$18,000", new_value="$21,500"),
        ),
        probe(
            "multi_session_reasoning", "What do the painting of the front and the oven cost together?",
            "Together they cost $8,300: $900 for the painting and $7,400 for the oven.",
            ("Says that both cost $8,300", "Counts $900 for the painting", "Counts $7,400 for the oven"), (front, oven),
            bullet_ids=("p0.s0.b3", "p0.s1.b0"), fact_ids=("p0.f3", "p0.f4"), difficulty=Difficulty.HARD,
            # 900 + 7,400 = 8,300
            details=ProbeDetails(
                computed_from=("$900", "$7,400"), computation="sum", computed_value="$8,300"
            ),
        ),
        probe(
            "preference_following", "Can you suggest somebody for butter and eggs?",
            "The dairy on the corner, because it is within walking distance, even if it costs more.",
            ("Gives walking distance as a reason",),
            (cite(turn[2], "I prefer suppliers within walking distance over cheaper ones.", "preference"),),
            bullet_ids=("p0.s0.b4",), details=ProbeDetails(preference="suppliers within walking distance"),
        ),
        probe(
            "summarization", "How did the opening of my bakery go from the premises to the first customers?",
            "You signed the lease, ordered a deck oven, passed an inspection and sold 140 loaves at the opening.",
            ("Mentions the lease", "Mentions the oven", "Mentions that 140 loaves were sold"),
            (lease, oven, cite(turn[7], number(140, "loaves"))),
            bullet_ids=("p0.s0.b1", "p0.s1.b0", "p0.s1.b4"), fact_ids=("p0.f1", "p0.f4", "p0.f7"),
        ),
        probe(
            "temporal_reasoning", "How many days passed between signing the lease and the inspection?",
            "42 days, from March 6, 2024 to April 17, 2024.", ("States that 42 days passed",),
            (
                lease.model_copy(update={"part": "first"}),
                cite(turn[5], INSPECTION_DAY, "second"),
            ),
            bullet_ids=("p0.s0.b1", "p0.s1.b1"), fact_ids=("p0.f1", "p0.f5"),
            # March 6 to April 6 is 31 days, to April 17 another 11
            details=ProbeDetails(
                computed_from=("March 6, 2024", "April 17, 2024"), computation="days_between", computed_value="42 days"
            ),
        ),
    )  # fmt: skip


def probe(
    ability: str,
    question: str,
    gold_answer: str,
    nuggets: tuple[str, ...],
    evidence: tuple[Evidence, ...],
    *,
    difficulty: Difficulty = Difficulty.MEDIUM,
    details: ProbeDetails | None = None,
    bullet_ids: tuple[str, ...] = (),
    fact_ids: tuple[str, ...] = (),
) -> Probe:
    """Return a selected probe; every nugget is supported by all of its evidence."""
    probe_id = f"{ability}.0"
    rubric = tuple(Nugget(nugget_id=f"{probe_id}.n{i}", text=text) for i, text in enumerate(nuggets))
    ids = tuple(n.nugget_id for n in rubric)
    return Probe(
        probe_id=probe_id,
        ability=ability,
        question=question,
        gold_answer=gold_answer,
        difficulty=difficulty,
        rubric=rubric,
        evidence=tuple(e.model_copy(update={"nugget_ids": ids}) for e in evidence),
        bullet_ids=bullet_ids,
        fact_ids=fact_ids,
        details=details or ProbeDetails(),
        is_selected=True,
    )
