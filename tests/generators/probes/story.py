"""A small hand-made story: its ledger, and messages that voice it, without any writer."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from longbeam.generators.probes import ProbeMaterial
from longbeam.keys import UnitKey
from longbeam.models import Asker, ModelCall
from longbeam.offline import answer_probe_prompt
from longbeam.prompts.calls import AbstentionReply, CandidatesReply, NuggetDraft, OrderReply, ProbeReply
from longbeam.schemas import (
    Advice,
    AdviceKind,
    Assertion,
    BenchmarkSpec,
    Bullet,
    BulletKind,
    ChatMessage,
    ConversationHead,
    Domain,
    Fact,
    Gender,
    Message,
    MessageKind,
    MessageRole,
    ModelReply,
    Person,
    Plan,
    Profile,
    PromptInputs,
    Relation,
    RelationshipGraph,
    Retry,
    Role,
    Seed,
    Stance,
    SubPlan,
    Value,
)
from longbeam.text import date_value, money, name
from tests.wired import answered_by

START = dt.date(2024, 3, 1)


def day(offset: int) -> Value:
    """A date, days after the first of March 2024."""
    return date_value(START + dt.timedelta(days=offset))


@dataclass
class Story:
    """Bullets are told in the order of the calls; each has a user message and a reply of its own."""

    bullets: list[list[Bullet]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    assertions: list[Assertion] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)

    def tell(
        self,
        session: int,
        topic: str,
        text: str,
        *facts: tuple[str, str, Value | None],
        kind: BulletKind = BulletKind.EVENT,
        stance: Stance = Stance.SETS,
        said: str | None = None,
        narrative: str = "Renovation",
        **fields: Any,
    ) -> str:
        """Add a bullet and the message that voices it (`said`, or the bullet's text); returns the bullet's id."""
        while len(self.bullets) <= session:
            self.bullets.append([])
        bullet_id = f"p0.s{session}.b{len(self.bullets[session])}"
        happens_on = START + dt.timedelta(days=10 * session)
        self.bullets[session].append(
            Bullet(
                bullet_id=bullet_id,
                kind=kind,
                narrative=narrative,
                topic=topic,
                text=text,
                happens_on=happens_on,
                **fields,
            )
        )
        for subject, attribute, value in facts:
            fact = self._fact(subject, attribute, value)
            self.assertions.append(Assertion(bullet_id=bullet_id, fact_id=fact.fact_id, stance=stance, value=value))
        self._say(session, said if said is not None else f"Hello again. {text} What do you think?", (bullet_id,))
        return bullet_id

    def bring_in(self, bullet_id: str, kind: AdviceKind, attribute: str, text: str, **fields: Any) -> str:
        """Have the reply to a bullet's message bring something in; returns its id."""
        bullet = next(b for bullets in self.bullets for b in bullets if b.bullet_id == bullet_id)
        advice_id = f"{bullet_id.rpartition('.')[0]}.a{len(self.advice)}"
        self.advice.append(
            Advice(
                **{"topic": bullet.topic, "narrative": bullet.narrative, **fields},
                advice_id=advice_id,
                kind=kind,
                bullet_id=bullet_id,
                attribute=attribute,
                text=text,
            )
        )
        place = next(i for i, m in enumerate(self.messages) if bullet_id in m.bullet_ids) + 1
        said = {"content": f"I see. {text} Good luck.", "bullet_ids": (advice_id,)}
        self.messages[place] = self.messages[place].model_copy(update=said)
        return advice_id

    def _fact(self, subject: str, attribute: str, value: Value | None) -> Fact:
        for fact in self.facts:
            if (fact.subject, fact.attribute) == (subject, attribute):
                return fact
        assert value is not None
        fact = Fact(fact_id=f"p0.f{len(self.facts)}", subject=subject, attribute=attribute, kind=value.kind)
        self.facts.append(fact)
        return fact

    def _say(self, session: int, text: str, bullet_ids: tuple[str, ...]) -> None:
        turn = len(self.messages) // 2
        sent_at = dt.datetime.combine(START, dt.time(9)) + dt.timedelta(days=10 * session, minutes=turn)
        for n, (role, kind, content) in enumerate(
            (
                (MessageRole.USER, MessageKind.QUESTION, text),
                (MessageRole.ASSISTANT, MessageKind.REPLY, "Let me think about it."),
            )
        ):
            self.messages.append(
                Message(
                    message_key=f"p0.s{session}.t{turn}.n{n}",
                    role=role,
                    speaker=role.value,
                    kind=kind,
                    session=session,
                    bullet_ids=bullet_ids if n == 0 else (),
                    sent_at=sent_at,
                    content=content,
                    tokens=len(content.split()),
                )
            )

    def head(self) -> ConversationHead:
        """The story as a conversation's head."""
        sub_plans = tuple(
            SubPlan(plan_index=0, sub_plan_index=i, anchor=START + dt.timedelta(days=10 * i), bullets=tuple(bullets))
            for i, bullets in enumerate(self.bullets)
        )
        plan = Plan(plan_index=0, sub_plans=sub_plans, facts=tuple(self.facts), assertions=tuple(self.assertions))
        plan = plan.model_copy(update={"advice": tuple(self.advice)})
        people = tuple(
            Person(person_id=f"n{i}", first_name=n, gender=Gender.FEMALE, age=40, relation=Relation.FRIEND)
            for i, n in enumerate(("Dana", "Ruth", "Olga"))
        )
        return ConversationHead(
            conversation_id="c000",
            seed=Seed(domain=Domain.HOME, title="Renovating a house", theme="a house", subtopics=("kitchen",)),
            profile=Profile(
                name="Ann Lee",
                first_name="Ann",
                gender=Gender.FEMALE,
                age=40,
                city="Oslo",
                country="Norway",
                profession="Nurse",
                mbti=("ENFJ", "ENFP", "ENTJ", "ENTP", "ESFJ", "ESFP"),
            ),
            relationships=RelationshipGraph(people=people, node_link={}),
            narratives=(),
            plans=(plan,),
            target_tokens=0,
        )

    def material(self) -> ProbeMaterial:
        """What probe generators are given."""
        return ProbeMaterial.from_messages(self.head(), sorted(self.messages, key=lambda m: m.session))


THINGS = (
    "the kitchen", "the bathroom", "my bedroom", "the hallway", "the attic", "the cellar", "the garden",
    "the garage", "the balcony", "the staircase", "the roof", "the porch",
)  # fmt: skip
FIRMS = ("Aldgate", "Bramble", "Corvid", "Dovecote", "Elmwood", "Foxglove", "Gorse", "Hazel", "Ivybridge", "Juniper",
         "Kestrel", "Larch")  # fmt: skip
ROOMS, OUTSIDE, REST = "Rooms", "Outside", "Rest of the house"


def full_story() -> Story:
    """Twelve things over ten sessions, ten of each special kind: what a 128K plan has at least."""
    story = Story()
    firsts: list[str] = []
    for session in range(10):
        for i, thing in enumerate(THINGS):
            narrative = (ROOMS, OUTSIDE, REST)[i % 3]
            if i % 10 == session:
                firsts.append(_begin(story, session, i, thing, narrative))
            if (i + 2) % 10 == session:
                price = money(1000 + 137 * i)
                told = (thing, "price", price)
                story.tell(session, thing, f"The price of {thing} is {price.text}.", told, narrative=narrative)
            if (i + 3) % 10 == session and i < 10:
                _finish(story, session, i, thing, narrative)
        _standing(story, session)
    return story


def _begin(story: Story, session: int, i: int, thing: str, narrative: str) -> str:
    firm = name(FIRMS[i])
    story.tell(
        session, thing, f"I booked {firm.text} as the builder of {thing}.", (thing, "builder", firm),
        narrative=narrative,
    )  # fmt: skip
    start = day(17 * i + 40)
    return story.tell(
        session, thing, f"The start date of {thing} is {start.text}.", (thing, "start date", start),
        narrative=narrative,
    )  # fmt: skip


def _finish(story: Story, session: int, i: int, thing: str, narrative: str) -> None:
    """The warranty is set and moved; an inspection is told and denied."""
    years = money(50 + i)
    story.tell(
        session, thing, f"The deposit of {thing} is {years.text}.", (thing, "deposit", years), narrative=narrative
    )
    later = money(80 + i)
    target = story.bullets[session][-1].bullet_id
    session_after = min(session + 1, 9)
    story.tell(
        session_after, thing, f"For {thing} the deposit is {later.text} instead.", (thing, "deposit", later),
        kind=BulletKind.UPDATE, stance=Stance.UPDATES, target_bullet_id=target, narrative=narrative,
    )  # fmt: skip
    inspected = story.tell(session, f"the inspection of {thing}", f"I had {thing} inspected by the town today.",
                           narrative=narrative)  # fmt: skip
    story.tell(
        session_after, thing, f"I have never had {thing} inspected by the town.", kind=BulletKind.CONTRADICTION,
        target_bullet_id=inspected, variety="never_statement", narrative=narrative,
    )  # fmt: skip


def _standing(story: Story, session: int) -> None:
    subjects = ("costs", "dates", "colours", "paint", "tools", "permits", "neighbours", "noise", "waste", "lighting")
    wishes = (
        "gives a total at the end", "names the weekday", "lists three options", "mentions drying times",
        "includes metric sizes", "cites the office hours", "suggests a polite note", "states decibel limits",
        "names a recycling point", "compares wattage",
    )  # fmt: skip
    subject, wish = subjects[session], wishes[session]
    story.tell(
        session, subject, f"When I ask about {subject}, please write an answer that {wish}.",
        kind=BulletKind.INSTRUCTION, condition=f"when I ask about {subject}", requirement=wish, narrative="Rules",
    )  # fmt: skip
    story.tell(
        session, f"planning {subject}", f"I like advice on planning {subject} that begins with sketch number one.",
        kind=BulletKind.PREFERENCE, condition=f"when I plan {subject}",
        requirement="begins with sketch number one", narrative="Rules",
    )  # fmt: skip


@dataclass(frozen=True)
class BarePrompt:
    """A prompt declaration that renders to nothing: the offline writer reads the inputs."""

    prompt_id: str
    output: type[BaseModel] | None
    version: int = 1
    role: Role = Role.PROBER

    def render(self, inputs: PromptInputs, retry: Retry | None = None) -> tuple[ChatMessage, ...]:
        return (ChatMessage(role="user", content=inputs.model_dump_json()),)


class BarePrompts:
    """Every probe prompt."""

    def __getitem__(self, prompt_id: str) -> BarePrompt:
        outputs = {
            "probe_abstention": AbstentionReply,
            "probe_candidates": CandidatesReply,
            "probe_event_ordering": OrderReply,
        }
        return BarePrompt(prompt_id, outputs.get(prompt_id, ProbeReply))

    def find_passage(self, prompt_id: str, text: str, known: Iterable[str]) -> str | None:
        return None

    def find_copied(self, text: str, known: Iterable[str]) -> str | None:
        return None


class OfflineModel:
    """Answers with the offline prober, or with what `replies` holds for a prompt."""

    def __init__(self, replies: dict[str, BaseModel] | None = None) -> None:
        self.replies = replies or {}
        self.calls: list[ModelCall] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        reply = self.replies.get(call.prompt.prompt_id)
        if reply is None:
            rng = random.Random(f"{call.unit_key}/{call.generation}")
            reply = answer_probe_prompt(call.prompt.prompt_id, call.inputs, rng)
        return ModelReply(text=reply.model_dump_json())


def asker(model: OfflineModel | None = None) -> Asker:
    """The real asker on the offline prober."""
    return Asker(
        answered_by(model or OfflineModel()), BarePrompts(), BenchmarkSpec(name="t"), UnitKey("c000", "probes", "unit")
    )


def reply(question: str, gold: str, *nuggets: tuple[str, list[int]]) -> ProbeReply:
    """A draft as a model might write it."""
    return ProbeReply(
        question=question, gold_answer=gold, nuggets=[NuggetDraft(text=t, excerpts=e) for t, e in nuggets]
    )


def update(story: Story, session: int, thing: str, attribute: str, value: Value, target: str) -> str:
    """Tell that a value has changed."""
    return story.tell(
        session, thing, f"For {thing} the {attribute} is {value.text} after all.", (thing, attribute, value),
        kind=BulletKind.UPDATE, stance=Stance.UPDATES, target_bullet_id=target,
    )  # fmt: skip


def contradict(story: Story, session: int, thing: str, text: str, target: str, **fields: Any) -> str:
    """Tell what cannot be true beside the target."""
    return story.tell(
        session, thing, text, kind=BulletKind.CONTRADICTION, target_bullet_id=target,
        **{"variety": "never_statement", **fields},
    )  # fmt: skip
