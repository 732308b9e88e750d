"""The typed inputs and outputs of every prompt: the contract between generators, templates and models.

An input field is a variable of the prompt's template, but for three kinds: `history` fields, which become
messages of their own; `feedback`, which says what was wrong with the last attempt; and the fields that a
prompt declares as `offline_fields`, which only the offline writer reads, because it cannot read prose.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable
from enum import StrEnum
from functools import cache, cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import to_json

from longbeam.schemas.base import KeptJson, Record
from longbeam.schemas.people import Person, Profile
from longbeam.schemas.plans import Bullet, BulletKind, Narrative, PlanSeed, Stance, Value, ValueKind
from longbeam.schemas.probes import Difficulty
from longbeam.schemas.seeds import Category, Domain, Seed, Timeline
from longbeam.schemas.spec import ENGLISH, Strategy


def message_hash(role: str, content: str) -> bytes:
    """Return the SHA-256 of role, a zero byte and content. Raises UnicodeEncodeError for half a surrogate pair."""
    return hashlib.sha256(f"{role}\0{content}".encode()).digest()


def request_hash(messages: Iterable[bytes]) -> bytes:
    """Return the SHA-256 of the hashes of a request's messages, in order."""
    return hashlib.sha256(b"".join(messages)).digest()


class ChatMessage(KeptJson):
    """One message of a request to a model."""

    role: Literal["system", "user", "assistant"]
    content: str

    @cached_property
    def hash(self) -> bytes:
        """Under which a work log keeps the message."""
        return message_hash(self.role, self.content)

    @property
    def digest(self) -> str:
        """The same in hexadecimal."""
        return self.hash.hex()


class Tool(Record):
    """A tool that a reply may call instead of saying something."""

    name: str
    purpose: str
    """What it does, in a sentence for the model."""
    arguments: tuple[str, ...]
    """Fields of the reply's schema that are its arguments."""
    otherwise: str
    """Field that holds what was said where the tool was not called."""


class ModelReply(Record):
    """What came back from a model, before anything is made of it."""

    text: str
    finish_reason: str = "stop"
    """`stop`, `length`, `content_filter`, ..."""
    refusal: str = ""
    """What the model said in place of a reply; empty: it did not refuse."""
    model: str = ""
    """As the endpoint names the one that answered."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens, those that the endpoint had in its cache."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Of the output tokens, those thought and not said."""


class PromptInputs(KeptJson):
    """Base of every prompt's typed inputs."""

    feedback: str = ""
    """What was wrong with the last attempt; rendered after the prompt, never part of a template."""
    language: str = ENGLISH
    """Of the conversation. Set by the asker from the spec; `system` blocks may use it without declaring it."""

    @cached_property
    def kept_json(self) -> bytes:
        """Put together of the parts that many calls share, such as a sub-plan's context and a dialogue's messages."""
        parts: list[bytes] = []
        values = self.__dict__
        for name, opening in _openings(type(self)):
            parts += (opening, _json_of(values[name]))
        parts.append(b"}")
        return b"".join(parts)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the fields' JSON, where parts that many calls share stand as their own digests.

        A request of a dialogue holds 60 KB of such parts, and only its last message is new.
        """
        whole = hashlib.sha256()
        values = self.__dict__
        for name, opening in _openings(type(self)):
            whole.update(opening)
            whole.update(_digest_or_json_of(values[name]))
        return whole.hexdigest()


@cache
def _openings(inputs: type[PromptInputs]) -> tuple[tuple[str, bytes], ...]:
    """The fields of inputs, each with what stands before its value in their JSON."""
    return tuple(
        (name, b'%s"%s":' % (b"," if i else b"{", name.encode())) for i, name in enumerate(inputs.model_fields)
    )


def _digest_or_json_of(value: object) -> bytes:
    if isinstance(value, KeptJson):
        return value.digest.encode()
    if isinstance(value, tuple) and value and isinstance(value[0], KeptJson):
        return ",".join([part.digest for part in value]).encode()
    return _json_of(value)


def _json_of(value: object) -> bytes:
    if isinstance(value, KeptJson):
        return value.kept_json
    if isinstance(value, tuple) and value and isinstance(value[0], KeptJson):
        return b"[" + b",".join(part.kept_json for part in value) + b"]"
    if isinstance(value, StrEnum):
        value = str(value)  # reading an enum's `value` runs Python, for a tenth of what the JSON costs
    return to_json(value)


class ReplyModel(BaseModel):
    """Base of structured replies: unknown keys are ignored, because models add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


# --- seeds --------------------------------------------------------------------------------------------------


class SeedsInputs(PromptInputs):
    """New subjects for conversations of one domain."""

    domain: Domain
    subject: str
    """The domain's name in words."""
    count: int
    taken: tuple[str, ...]
    """Titles that there are already."""


class SeedDraft(ReplyModel):
    """A subject; code draws the year and the day on which it begins."""

    title: str = Field(min_length=1, max_length=120)
    theme: str = Field(min_length=1, max_length=300)
    subtopics: list[Annotated[str, Field(min_length=1, max_length=60)]] = Field(min_length=4, max_length=12)
    start_month: int = Field(ge=1, le=12)
    months: int = Field(ge=3, le=24)


class SeedsReply(ReplyModel):
    """The subjects; fewer than asked for, or none, when there are no more."""

    seeds: list[SeedDraft]


# --- persona and narratives -------------------------------------------------------------------------------


class PersonalityInputs(PromptInputs):
    """A paragraph on the character that six types make; no name, age or job."""

    gender: str
    traits: tuple[str, ...]
    """One description per MBTI type."""


class NarrativesInputs(PromptInputs):
    """Fifteen to twenty evolving aspects of a story."""

    seed: Seed
    at_least: int = 15
    at_most: int = 20


class NarrativesReply(ReplyModel):
    """The narratives, most central first."""

    narratives: list[Narrative]


# --- conversations of many plans ----------------------------------------------------------------------------


class LedgerLine(Record):
    """The state of one fact at some point of the story."""

    fact_id: str
    subject: str
    attribute: str
    kind: ValueKind
    is_fixed: bool
    value: Value | None
    """None when the last assertion denied it."""


class PlanSeedsInputs(PromptInputs):
    """What each plan of a conversation of many plans is about, and what it may and may not tell of."""

    seed: Seed
    """The conversation's own, with the timeline of the whole."""
    profile: Profile
    people: tuple[Person, ...]
    strategy: Strategy
    spans: tuple[Timeline, ...]
    """The days of each plan."""
    ideas: tuple[Seed, ...]
    """As many subjects as there are plans, the conversation's own first: the reply may use them or better ones."""


class PlanSeedDraft(ReplyModel):
    """One plan; its days are given by code."""

    domain: Domain
    touches: Domain | None = None
    topic: str
    theme: str
    subtopics: list[str] = Field(min_length=3)
    phase: str
    tense: str
    can_mention: list[str] = Field(min_length=1)
    cannot_mention: list[str] = Field(default_factory=list)


class PlanSeedsReply(ReplyModel):
    """One draft per plan, in the order of time."""

    plans: list[PlanSeedDraft]


class Chapter(Record):
    """Where a plan stands among the plans of its conversation, and what it is to know of those before it."""

    strategy: Strategy
    main: Seed
    """The conversation's own seed."""
    plan_seeds: tuple[PlanSeed, ...]
    """Of all plans, also of those to come."""
    plan_index: int
    summary: str
    """Of the plans before the previous one; empty for the first two."""
    previous: tuple[str, ...]
    """Texts of the previous plan's bullets, special ones included."""
    introduced: tuple[str, ...]
    """First names of the people who come in with this plan."""
    facts: tuple[LedgerLine, ...]
    """Facts of earlier plans that this one may come back to, with their values at its beginning."""
    standing: tuple[Bullet, ...]
    """Instructions and preferences of earlier plans that are in force."""

    @property
    def plan_seed(self) -> PlanSeed:
        """The plan's own bounds."""
        return self.plan_seeds[self.plan_index]


class PlanSummaryInputs(PromptInputs):
    """Fold one more plan into the summary of those before it."""

    summary: str
    """Of the plans before; empty for the first."""
    plan_seed: PlanSeed
    bullets: tuple[str, ...]
    """Texts of the plan's bullets, in order."""
    state: tuple[LedgerLine, ...]
    """Values of its facts at its end."""
    max_tokens: int


# --- plans --------------------------------------------------------------------------------------------------


class Stage(Record):
    """One stage of a story as the outline has it; dates are given by code."""

    stage_index: int
    first_day: dt.date
    last_day: dt.date
    title: str = ""
    summary: str = ""


class OutlineInputs(PromptInputs):
    """What changes from stage to stage."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    """Without title and summary."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


class StageDraft(ReplyModel):
    """Title and summary of one stage."""

    title: str
    summary: str


class OutlineReply(ReplyModel):
    """One draft per stage, in order."""

    stages: list[StageDraft]


class SubPlanInputs(PromptInputs):
    """The bullets of one stage, after those of the stages before it."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    narratives: tuple[Narrative, ...]
    stages: tuple[Stage, ...]
    stage_index: int
    counts: dict[str, int]
    """Bullets asked for by kind: introduction, event, relationship, preference."""
    ledger: tuple[LedgerLine, ...]
    """Facts so far, with their current values."""
    earlier_bullets: tuple[Bullet, ...]
    """All bullets of the earlier stages, in order."""
    chapter: Chapter | None = None
    """None in a conversation of one plan."""


MAX_AMOUNT = 1e15
"""More than anybody counts, and little enough for exact sums of cents."""


def _without_the_impossible(value: object) -> object:
    """A value without a date that no calendar has, or an amount that nobody means: no grammar refuses these.

    The rest is usable, and the generators' checks ask for what is missing.
    """
    if not isinstance(value, dict):
        return value
    date, amount = value.get("date"), value.get("number")
    if isinstance(date, str):
        try:
            dt.date.fromisoformat(date)
        except ValueError:
            value = {**value, "date": None}
    if isinstance(amount, int | float) and not abs(amount) <= MAX_AMOUNT:
        value = {**value, "number": None}
    return value


def _is_blank(value: object) -> bool:
    return isinstance(value, dict) and not str(value.get("text") or "").strip()


def _with_values(drafts: object) -> object:
    """The drafts that say a value: one with a blank value says nothing about its fact."""
    if not isinstance(drafts, list):
        return drafts
    return [d for d in drafts if not (isinstance(d, dict) and _is_blank(d.get("value")))]


DraftedValue = Annotated[Value, BeforeValidator(_without_the_impossible)]


class FactDraft(ReplyModel):
    """What a drafted bullet does to a fact."""

    fact_id: str = ""
    """Of the ledger; empty for a new fact."""
    subject: str
    attribute: str
    stance: Stance = Stance.SETS
    value: DraftedValue
    is_fixed: bool = False


class BulletDraft(ReplyModel):
    """One bullet as a model drafts it; code gives it its id."""

    kind: BulletKind
    narrative: str
    topic: str
    text: str
    happens_on: dt.date
    facts: Annotated[list[FactDraft], BeforeValidator(_with_values)] = Field(default_factory=list)
    condition: str = ""
    requirement: str = ""
    variety: str = ""


class SubPlanReply(ReplyModel):
    """The bullets of one stage, in order."""

    bullets: list[BulletDraft]


class UpdateTarget(Record):
    """A fact that this stage is to change, and the bullet that set it."""

    target_id: str
    """`u0`, `u1`, ...: how the reply refers to it."""
    fact: LedgerLine
    bullet: Bullet


class ContradictionTarget(Record):
    """A statement that this stage is to contradict, and how."""

    target_id: str
    variety: str
    """`never_statement`, `other_value` or `not_yet`."""
    fact: LedgerLine | None
    bullet: Bullet


class AugmentInputs(PromptInputs):
    """Wording for the special bullets of one stage; what they are about was chosen by code."""

    seed: Seed
    profile: Profile
    stage: Stage
    updates: tuple[UpdateTarget, ...]
    contradictions: tuple[ContradictionTarget, ...]
    instructions: int
    """How many standing instructions to write."""
    instructions_before: int
    """How many the earlier stages were asked for: the offline writer's place in its list."""
    areas: tuple[str, ...] = ()
    """One narrative's label for each instruction: stages are written side by side and must not wish the same."""
    taken_conditions: tuple[str, ...] = ()
    """Of the user's preferences, in all stages."""


class UpdateDraft(ReplyModel):
    """A changed value and how the user says so."""

    target_id: str
    value: DraftedValue
    text: str


class ContradictionDraft(ReplyModel):
    """A statement that cannot be true beside its target; `value` only for `other_value`."""

    target_id: str
    text: str
    value: Annotated[DraftedValue | None, BeforeValidator(lambda v: None if _is_blank(v) else v)] = None
    variety: str = ""
    """Set when another variety than the target's suits the statement better."""


class InstructionDraft(ReplyModel):
    """A standing instruction."""

    condition: str
    requirement: str
    text: str
    topic: str


class AugmentReply(ReplyModel):
    """One draft per target, and the instructions asked for."""

    updates: Annotated[list[UpdateDraft], BeforeValidator(_with_values)]
    contradictions: list[ContradictionDraft]
    instructions: list[InstructionDraft]


# --- user turns ---------------------------------------------------------------------------------------------


class BulletBrief(Record):
    """A bullet with what it asserts, as turn writers and repliers see it."""

    bullet: Bullet
    facts: tuple[LedgerLine, ...] = ()
    """Facts it sets, updates or denies; `value` is the asserted one."""
    old_values: tuple[Value | None, ...] = ()
    """For each fact the value before, or None."""


class UserTurnsInputs(PromptInputs):
    """The user's questions for one batch of bullets."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    stage: Stage
    batch: tuple[BulletBrief, ...]
    """Bullets to voice, each exactly once; empty when only more questions are asked for."""
    about: tuple[BulletBrief, ...] = ()
    """Bullets voiced already, that more questions may be about."""
    context: tuple[Bullet, ...] = ()
    """Bullets before the batch, newest last."""
    questions: int
    """Turns asked for."""
    asked_before: tuple[str, ...] = ()
    """The last questions, not to be repeated."""
    first_ordinal: int = 0
    """Ordinal of the first of these turns in the sub-plan."""


class UserTurnDraft(ReplyModel):
    """One question; `voices` are the bullets it says, `asks_about` those it only asks about."""

    text: str
    voices: list[str] = Field(default_factory=list)
    asks_about: list[str] = Field(default_factory=list)


class UserTurnsReply(ReplyModel):
    """The turns, in the order in which they are asked."""

    turns: list[UserTurnDraft]


# --- dialogue -----------------------------------------------------------------------------------------------


class DialogueContext(KeptJson):
    """What is fixed for one sub-plan; the assistant's prompt and the user's show different parts of it."""

    seed: Seed
    profile: Profile
    people: tuple[Person, ...]
    stage: Stage
    earlier_bullets: tuple[str, ...]
    """Texts of the bullets of the plan's earlier sub-plans, oldest first."""
    current_bullets: tuple[str, ...]
    """Texts of this sub-plan's bullets; only the user's prompts show them."""
    state: tuple[LedgerLine, ...]
    """Facts that were changed before the sub-plan begins, with the values they have then; the earlier bullets have the
    others, and repeating them would double what every call of the sub-plan sends."""
    instructions: tuple[str, ...]
    """The newest standing instructions and preferences voiced in earlier sub-plans, also of earlier plans."""
    earlier_plans: str = ""
    """Summary of the plans before this one; empty in the first."""


class TurnHints(KeptJson):
    """What the offline writer is told of the present turn, because it cannot read prose."""

    turn_id: str
    today: dt.date
    bullets: tuple[BulletBrief, ...]
    """Voiced by this turn, or asked about."""
    standing: tuple[Bullet, ...] = ()
    """Instructions and preferences in force, oldest first."""
    known: tuple[LedgerLine, ...] = ()
    """All that has been said so far of the subject of the last bullet, with current values, oldest first."""
    ordinal: int = 0
    """Messages so far in this turn."""
    kind: str = "question"
    """Kind of the user message that is answered or written."""
    previous_reply: str = ""


class AssistantReplyInputs(PromptInputs):
    """The assistant's next message."""

    context: DialogueContext
    summary: str
    """What the older part of this sub-plan's dialogue said; empty while all of it is in `history`."""
    history: tuple[ChatMessage, ...]
    """Recent messages, ending with the user's."""
    target_tokens: int
    today: dt.date
    hints: TurnHints


class QuestionDetectorInputs(PromptInputs):
    """Does this reply ask the user for something?"""

    reply: str


class QuestionDetectorReply(ReplyModel):
    """Reason first, then the verdict."""

    reason: str
    asks_user: bool


class FollowUpDetectorInputs(PromptInputs):
    """Would this user ask on?"""

    title: str
    question: str
    reply: str
    follow_ups: int
    """Follow-ups asked already in this turn."""
    hints: TurnHints


class FollowUpDetectorReply(ReplyModel):
    """Reason first, then the verdict."""

    reason: str
    asks_on: bool


class UserReplyInputs(PromptInputs):
    """The user's answer to the assistant's question, or a follow-up; `history` has the roles exchanged."""

    context: DialogueContext
    summary: str
    history: tuple[ChatMessage, ...]
    """The newest messages: the rest the user knows from the plan."""
    today: dt.date
    told: tuple[int, ...]
    """Numbers, from 1, of the `current_bullets` that have been told so far."""
    hints: TurnHints


class CompactInputs(PromptInputs):
    """Fold the older messages of a sub-plan into its summary; begins as the assistant's calls do."""

    context: DialogueContext
    summary: str
    messages: tuple[ChatMessage, ...]
    """The oldest ones of the assistant's history, which are about to be dropped."""
    max_tokens: int


# --- probes -------------------------------------------------------------------------------------------------


class Excerpt(Record):
    """A cited message as a probe writer sees it."""

    ordinal: int
    """How the reply refers to it."""
    said_on: dt.date
    quote: str
    """Verbatim."""
    part: str
    group: int | None = None
    topic: str = ""
    subject: str = ""
    attribute: str = ""
    value: Value | None = None


class ProbeInputs(PromptInputs):
    """Write one probe; what it asks, its answer's values and its evidence are given."""

    ability: str
    difficulty: Difficulty
    variety: str
    category: Category
    title: str
    excerpts: tuple[Excerpt, ...]
    topic: str
    """What the probe is about, in a few words."""
    computed_value: str = ""
    """The answer, where code has computed it."""
    condition: str = ""
    requirement: str = ""
    items: tuple[str, ...] = ()
    """The ordered items, for event ordering."""


class NuggetDraft(ReplyModel):
    """A criterion and the excerpts that make it true."""

    text: str
    excerpts: list[int] = Field(default_factory=list)


class ProbeReply(ReplyModel):
    """Question, gold answer, rubric."""

    question: str
    gold_answer: str
    nuggets: list[NuggetDraft]


class AbstentionInputs(PromptInputs):
    """Questions that sound as if the conversation answered them, and it does not."""

    seed: Seed
    people: tuple[Person, ...]
    bullets: tuple[Bullet, ...]
    """A spread of what the conversation says."""
    count: int


class AbstentionDraft(ReplyModel):
    """One unanswerable question; `search_terms` would appear in any message that answered it."""

    question: str
    missing: str
    bullet_id: str
    """The bullet that the question is close to."""
    search_terms: list[str]
    difficulty: Difficulty
    answer: str = ""
    """That nothing was said about it, in one sentence; asked for where the conversation is not in English."""


class AbstentionReply(ReplyModel):
    """The questions."""

    items: list[AbstentionDraft]


class CandidateOption(Record):
    """A candidate that code found in the ledger, in one line."""

    candidate_id: str
    difficulty: Difficulty
    summary: str


class CandidatesInputs(PromptInputs):
    """Choose the candidates that make the best questions."""

    ability: str
    title: str
    options: tuple[CandidateOption, ...]
    count: int


class CandidatesReply(ReplyModel):
    """Ids of the chosen candidates, best first."""

    chosen: list[str]
