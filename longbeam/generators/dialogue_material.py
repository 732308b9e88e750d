"""Inputs of one sub-plan's dialogue, and the parts of its prompts that are computed from them.

The context is the same in all turns of a sub-plan; the state follows the bullets that were voiced before a turn.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.generators.ledger import Ledger, replaced_wishes, standing_bullets
from longbeam.generators.plans import Frame
from longbeam.generators.tuning import DIALOGUE
from longbeam.generators.user_turns import TurnScene
from longbeam.generators.voices import voice_of
from longbeam.keys import plan_index_of
from longbeam.prompts.calls import BulletBrief, DialogueContext, ProjectName, Stage, TurnState
from longbeam.schemas import (
    CLOSING,
    Advice,
    AdviceKind,
    Bullet,
    BulletKind,
    Category,
    OnContradiction,
    Person,
    SubPlan,
    UserTurn,
    digest_of,
)


@dataclass(frozen=True)
class SubPlanMaterial:
    """Inputs of one sub-plan's dialogue."""

    frame: Frame
    ledger: Ledger
    stage: Stage
    sub_plan: SubPlan
    turns: tuple[UserTurn, ...]
    share: int
    """Tokens that the dialogue of this sub-plan should have."""
    first_session: int = 0
    """Session of the plan's first sub-plan."""
    earlier_plans: str = ""
    """Summary of the plans before this one."""
    advice: tuple[Advice, ...] = ()
    """The assistant's advice during the plan."""
    asked: tuple[str, ...] = ()
    """The last questions of the plan's earlier sub-plans, in short."""

    @cached_property
    def scene(self) -> TurnScene:
        """The sub-plan with the story around it."""
        return TurnScene(self.frame, self.ledger, self.stage, self.sub_plan)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of everything that the dialogue is made from."""
        fixed = self.share, self.first_session, self.earlier_plans, self.advice, self.asked
        return digest_of(self.scene.digest, self.turns, *fixed)


def context_of(material: SubPlanMaterial, on_contradiction: OnContradiction) -> DialogueContext:
    """Return the part of the prompts that is the same in all turns of a sub-plan.

    It has the earlier bullets of the plan, the bullets of the sub-plan, and the state of the facts before them.
    """
    ledger, earlier = material.ledger, _told_earlier(material)
    return DialogueContext(
        seed=material.frame.seed,
        profile=material.frame.profile,
        stage=material.stage,
        earlier_bullets=tuple(b.text for b in earlier),
        state=ledger.changed_lines(before=material.sub_plan.bullets[0].bullet_id),
        instructions=tuple(b.text for b in carried_wishes(material)),
        slips=tuple(b.text for b in earlier if b.kind is BulletKind.CONTRADICTION),
        replaced=tuple(b.text for b in replaced_wishes(earlier)),
        earlier_plans=material.earlier_plans,
        asked=material.asked,
        voice=voice_of(material.frame.profile),
        names=_names_heard(material, earlier),
        on_contradiction=on_contradiction,
    )


def carried_wishes(material: SubPlanMaterial) -> tuple[Bullet, ...]:
    """Return the newest wishes in force before a sub-plan: a prompt must not grow with the number of plans."""
    chapter = material.frame.chapter
    standing = standing_bullets([*(chapter.standing if chapter else ()), *_told_earlier(material)])
    return tuple(sorted(standing, key=lambda b: plan_index_of(b.bullet_id))[-DIALOGUE.carried_wishes :])


def fill_until(material: SubPlanMaterial) -> dt.date:
    """The last day for turns that are put in behind the planned ones; before an ending days are left free."""
    bullets = material.sub_plan.bullets
    ending = next((b.happens_on for b in bullets if b.variety == CLOSING), None)
    told = [b.happens_on for b in bullets if b.variety != CLOSING]
    if ending is None or not told:
        return material.stage.last_day
    return told[-1] + (ending - told[-1]) / 5


def turn_state(material: SubPlanMaterial, turn: UserTurn, day: dt.date, heard: Sequence[Bullet]) -> TurnState:
    """Return the state of a turn on its day; `heard`: the bullets voiced before it, oldest first."""
    now = _now(material, turn, heard)
    briefs = _briefs(material.ledger, turn, now)
    return TurnState(
        turn_id=turn.turn_id,
        today=day,
        bullets=briefs,
        standing=standing_bullets(heard),
        known=material.ledger.known_about(briefs[-1].bullet.topic, now) if briefs else (),
        listed=tuple(a.topic for a in material.advice if a.kind is AdviceKind.OPTIONS),
        due=tuple(a for a in material.advice if a.bullet_id in turn.bullet_ids),
    )


def _names_heard(material: SubPlanMaterial, earlier: Sequence[Bullet]) -> tuple[ProjectName, ...]:
    """Return the names that the assistant may use: those told in earlier parts, and those of code that nobody tells.

    A name that a bullet of this part or of a later one has comes with its message.
    """
    told = " ".join(b.text for b in earlier)
    first = material.ledger.position[material.sub_plan.bullets[0].bullet_id]
    to_come = " ".join(b.text for b in material.ledger.bullets[first:])
    is_coding = material.frame.seed.category is Category.CODING

    def is_heard(thing: ProjectName) -> bool:
        return says_name(told, thing.name) or (is_coding and not says_name(to_come, thing.name))

    return tuple(thing for thing in material.stage.names_known if is_heard(thing))


class Appeared:
    """People and named things of a story that its messages so far name: the user's side speaks of no others."""

    def __init__(self, material: SubPlanMaterial) -> None:
        self._people, self._names = material.frame.relationships.people, material.stage.names_known
        self._unmet = {*(p.first_name for p in self._people), *(thing.name for thing in self._names)}
        self.hear(" ".join([material.earlier_plans, *(b.text for b in _told_earlier(material))]))

    def hear(self, text: str) -> None:
        """Take in a text of what is told."""
        folded = text.casefold()
        self._unmet -= {name for name in self._unmet if name.casefold() in folded and says_name(text, name)}

    @property
    def people(self) -> tuple[Person, ...]:
        """Return the people named so far."""
        return tuple(p for p in self._people if p.first_name not in self._unmet)

    @property
    def names(self) -> tuple[ProjectName, ...]:
        """Return the names of things that were told so far."""
        return tuple(thing for thing in self._names if thing.name not in self._unmet)


def says_name(text: str, name: str) -> bool:
    """Return whether a text has a name as a whole, in any case."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _told_earlier(material: SubPlanMaterial) -> tuple[Bullet, ...]:
    """Return the bullets of the plan's earlier sub-plans, oldest first."""
    ledger, sub_plan = material.ledger, material.sub_plan
    before = ledger.bullets[: ledger.position[sub_plan.bullets[0].bullet_id]]
    own = f"p{sub_plan.plan_index}."
    return tuple(b for b in before if b.bullet_id.startswith(own))


def _now(material: SubPlanMaterial, turn: UserTurn, heard: Sequence[Bullet]) -> str:
    """The latest bullet said so far, this turn's included: facts have the values they have after it."""
    position = material.ledger.position
    candidates = [*(b.bullet_id for b in heard), *turn.bullet_ids]
    if not candidates:
        return material.sub_plan.bullets[0].bullet_id
    return max(candidates, key=lambda i: position[i])


def _briefs(ledger: Ledger, turn: UserTurn, now: str) -> tuple[BulletBrief, ...]:
    voiced = ledger.briefs(ledger.bullet[i] for i in turn.bullet_ids)
    about = tuple(ledger.current_brief(ledger.bullet[i], now) for i in turn.about_bullet_ids if i in ledger.bullet)
    return (*voiced, *about)
