"""One realistic inputs object for every prompt: somebody who opens a pottery studio, as far as the spring of 2023.

`SAMPLES[prompt_id]` is what the pipeline could ask in the second stage; `in_category` turns one into coding or math.
"""

from __future__ import annotations

import datetime as dt

from longbeam.offline import WriterExtras
from longbeam.prompts.calls import (
    AbstentionInputs,
    AdviceInputs,
    AdviceLine,
    AssistantReplyInputs,
    AugmentInputs,
    BulletBrief,
    CandidateOption,
    CandidatesInputs,
    Chapter,
    ChoiceLine,
    CompactInputs,
    ContradictionKind,
    ContradictionTarget,
    DialogueContext,
    EventsInputs,
    Excerpt,
    LedgerLine,
    Link,
    NarrativesInputs,
    OutlineInputs,
    PersonalityInputs,
    Place,
    PlanSeedsInputs,
    PlanSummaryInputs,
    ProbeInputs,
    ProjectName,
    QuestionDetectorInputs,
    Quota,
    Reaction,
    SeedsInputs,
    Stage,
    StageStory,
    StoryEvent,
    StoryGraph,
    StoryLine,
    SubPlanInputs,
    TurnsSoFar,
    TurnState,
    UpdateTarget,
    UserReplyInputs,
    UserTurnsInputs,
    WishTarget,
    WordTurnInputs,
    chats as chat_calls,
    checks as check_calls,
    evaluation as evaluation_calls,
    memory as memory_calls,
)
from longbeam.schemas import (
    Advice,
    AdviceKind,
    Bullet,
    BulletKind,
    Category,
    ChatMessage,
    Difficulty,
    Domain,
    Gender,
    KeptJson,
    MessageRole,
    Narrative,
    NeutralInputs,
    Person,
    PlanSeed,
    Profile,
    PromptInputs,
    Relation,
    Seed,
    Strategy,
    Timeline,
    Value,
    ValueKind,
)
from longbeam.text import date_value, duration, money, number

SEED = Seed(
    domain=Domain.BUSINESS,
    title="Opening a Pottery Studio in an Old Dairy",
    theme="From the lease to the first evening courses, with a kiln that has to be paid off",
    subtopics=("Lease and landlord", "Buying a used kiln", "Course prices", "Permits", "Opening night"),
    timeline=Timeline(start=dt.date(2022, 11, 7), end=dt.date(2023, 6, 18)),
)
PROFILE = Profile(
    name="Marit Solheim",
    first_name="Marit",
    gender=Gender.FEMALE,
    age=41,
    city="Trondheim",
    country="Norway",
    profession="Ceramics teacher",
    mbti=("ENFP", "ENTJ", "INFJ", "INTP", "ISFP", "ISTJ"),
    personality="She plans in lists and then follows the one thing that was not on them.",
)
PEOPLE = (
    Person(person_id="n1", first_name="Gunnar", gender=Gender.MALE, age=68, relation=Relation.PARENT),
    Person(person_id="n2", first_name="Selma", gender=Gender.FEMALE, age=39, relation=Relation.FRIEND),
)
NARRATIVES = (
    Narrative(
        label="Kiln and equipment",
        description="From a first look at used kilns to one that fires reliably.",
        sub_labels=("used kilns", "wiring", "test firings"),
    ),
    Narrative(
        label="Money and lease",
        description="What the studio costs and when it carries itself.",
        sub_labels=("rent", "loan", "course prices"),
    ),
)
NAMES = (
    ProjectName(name="Skumring", what="the pottery studio", stage=1),
    ProjectName(name="Bolla", what="the studio cat", stage=2),
)
STAGES = (
    Stage(
        stage_index=0,
        first_day=dt.date(2022, 11, 7),
        last_day=dt.date(2023, 2, 26),
        cast=("Gunnar", "Selma"),
        narratives=("Kiln and equipment", "Money and lease"),
        title="A dairy with three-phase power",
        summary="Marit signs the lease and looks for a kiln she can afford.",
        wants=("wants to see the contract first", "wants to teach the first course"),
        names=NAMES,
    ),
    Stage(
        stage_index=1,
        first_day=dt.date(2023, 2, 27),
        last_day=dt.date(2023, 6, 18),
        cast=("Selma", "Gunnar"),
        narratives=("Money and lease", "Kiln and equipment"),
        title="The kiln and the first courses",
        summary="The kiln is wired, prices are set and the first courses fill.",
        wants=("wants to be paid for her hours", "wants his trailer back"),
        names=NAMES,
    ),
)
RENT, NEW_RENT, LOAN = money(9_500, "NOK"), money(10_200, "NOK"), money(60_000, "NOK")
OPENING = date_value(dt.date(2023, 5, 12))
SIGNED = date_value(dt.date(2022, 12, 1))


def bullet(
    number_: int, kind: BulletKind, topic: str, text: str, day: dt.date, *, stage: int = 0, **more: str
) -> Bullet:
    return Bullet(
        bullet_id=f"p0.s{stage}.b{number_}",
        kind=kind,
        narrative=NARRATIVES[1].label,
        topic=topic,
        text=text,
        happens_on=day,
        **more,  # type: ignore[arg-type]
    )


INTRODUCTION = bullet(
    0, BulletKind.INTRODUCTION, "the studio", "I'm Marit, I teach ceramics and open a studio.", dt.date(2022, 11, 8)
)
SIGNING = bullet(
    1,
    BulletKind.EVENT,
    "the lease",
    "I signed the lease for the dairy on December 1, 2022; the rent is 9,500 NOK.",
    dt.date(2022, 12, 2),
)
PREFERENCE = bullet(
    2,
    BulletKind.PREFERENCE,
    "glazes",
    "For glazes I like recipes that can be mixed without lead.",
    dt.date(2023, 1, 9),
    condition="when I ask about glazes",
    requirement="the recipes contain no lead",
)
OPENING_DAY = bullet(
    0,
    BulletKind.EVENT,
    "the opening night",
    "The opening night will be on May 12, 2023, and Selma invites her whole choir.",
    dt.date(2023, 3, 3),
    stage=1,
)
CONTRADICTION = bullet(
    1,
    BulletKind.CONTRADICTION,
    "the lease",
    "I have never signed a lease for the dairy, so what should stand in one?",
    dt.date(2023, 3, 20),
    stage=1,
    target_bullet_id=SIGNING.bullet_id,
    variety="never_statement",
)
INSTRUCTION = bullet(
    2,
    BulletKind.INSTRUCTION,
    "amounts",
    "When I ask about costs, always give the amounts with and without tax.",
    dt.date(2023, 4, 4),
    stage=1,
    condition="when I ask about costs",
    requirement="amounts are given with and without tax",
)


def line(fact_id: str, subject: str, attribute: str, value: Value | None, *, is_fixed: bool = False) -> LedgerLine:
    kind = value.kind if value else ValueKind.TEXT
    return LedgerLine(fact_id=fact_id, subject=subject, attribute=attribute, kind=kind, is_fixed=is_fixed, value=value)


LEDGER = (
    line("p0.f0", "the lease", "signing day", SIGNED, is_fixed=True),
    line("p0.f1", "the lease", "monthly rent", RENT),
    line("p0.f2", "the kiln", "seller", None),
)
BRIEFS = (
    BulletBrief(bullet=OPENING_DAY, facts=(line("p0.f3", "the opening night", "day", OPENING),), old_values=(None,)),
    BulletBrief(bullet=CONTRADICTION),
    BulletBrief(bullet=INSTRUCTION),
)
MARGIN = Advice(
    advice_id="p0.s0.a0",
    kind=AdviceKind.FIGURE,
    bullet_id=SIGNING.bullet_id,
    narrative=SIGNING.narrative,
    topic="the lease",
    attribute="safety margin",
    text="For the lease, I would set the safety margin at 1,400 NOK.",
    value=money(1_400, "NOK"),
)
GLAZES = Advice(
    advice_id="p0.s0.a1",
    kind=AdviceKind.OPTIONS,
    bullet_id=PREFERENCE.bullet_id,
    narrative=PREFERENCE.narrative,
    topic="glazes",
    attribute="options",
    text="For glazes, I see three options:\n1. wood ash\n2. a bought frit\n3. slip alone",
    items=("wood ash", "a bought frit", "slip alone"),
)
CURRENT_BULLETS = (OPENING_DAY.text, CONTRADICTION.text, INSTRUCTION.text)
"""Texts of the bullets of the sub-plan whose dialogue is held."""
CONTEXT = DialogueContext(
    seed=SEED,
    profile=PROFILE,
    stage=STAGES[1],
    earlier_bullets=(INTRODUCTION.text, SIGNING.text, PREFERENCE.text),
    state=LEDGER,
    instructions=(PREFERENCE.text,),
    names=NAMES,
)
HISTORY = (
    ChatMessage(role="user", content="The opening night will be on May 12, 2023. What do I need by then?"),
    ChatMessage(role="assistant", content="Fire a first load in April. Do you have a liquor licence?"),
)
ASKED = ChatMessage(role="user", content="No. And how many chairs does a room of that size take?")
TURN_STATE = TurnState(
    turn_id="p0.s1.t0", today=BRIEFS[0].bullet.happens_on, bullets=BRIEFS[:1], standing=(PREFERENCE,)
)
TODAY = TURN_STATE.today
SUMMARY = "User: the first test firing reached 1,040 degrees on March 9, 2023."


def exchanged(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """The dialogue as the user's prompts see it."""
    return tuple(
        ChatMessage(role="user" if m.role == "assistant" else "assistant", content=m.content) for m in messages
    )


def excerpt(ordinal: int, part: str, quote: str, fact: LedgerLine | None = None, **more: object) -> Excerpt:
    return Excerpt(
        ordinal=ordinal,
        said_on=dt.date(2022, 12, 2) + dt.timedelta(days=40 * ordinal),
        quote=quote,
        part=part,
        subject=fact.subject if fact else "",
        attribute=fact.attribute if fact else "",
        value=fact.value if fact else None,
        **more,  # type: ignore[arg-type]
    )


def probe(ability: str, topic: str, excerpts: tuple[Excerpt, ...], **more: object) -> ProbeInputs:
    values = {"difficulty": Difficulty.MEDIUM, "variety": "", "category": SEED.category, "title": SEED.title, **more}
    return ProbeInputs(ability=ability, topic=topic, excerpts=excerpts, **values)  # type: ignore[arg-type]


_RENT = "the rent is 9,500 NOK, which is more than I hoped"
_RENT_SAID = excerpt(0, "support", _RENT, LEDGER[1])
_LOAN_SAID = excerpt(1, "support", "the bank gives me 60,000 NOK", line("p0.f4", "the loan", "amount", LOAN))
_SIGNED_SAID = excerpt(0, "first", "I signed the lease on December 1, 2022!", LEDGER[0])
_OPENING_SAID = excerpt(1, "second", "opening night is May 12, 2023", BRIEFS[0].facts[0])
_STAGE_INPUTS = {"seed": SEED, "profile": PROFILE, "people": PEOPLE, "stage": STAGES[1]}

PLAN_SEEDS = tuple(
    PlanSeed(
        plan_index=i,
        domain=Domain.BUSINESS,
        touches=touches,
        topic=topic,
        theme="Whether one person can carry a studio",
        subtopics=("rent", "courses", "helpers"),
        timeline=Timeline(start=dt.date(2022 + i, 11, 7), end=dt.date(2023 + i, 11, 6)),
        phase=phase,
        tense="The lease is signed; the courses go on; nobody knows whether they will last.",
        can_mention=(own,),
        cannot_mention=(other,),
    )
    for i, (topic, touches, phase, own, other) in enumerate(
        (
            ("The first year in the dairy", None, "the first year", "the opening night", "the second teacher"),
            ("A studio of two", Domain.LEGAL, "the second year", "the second teacher", "the opening night"),
        )
    )
)
CHAPTER = Chapter(
    strategy=Strategy.HIERARCHICAL,
    main=SEED,
    plan_seeds=PLAN_SEEDS,
    plan_index=1,
    summary="Before all this Marit taught at two schools.",
    previous=(INTRODUCTION.text, SIGNING.text),
    introduced=("Selma",),
    facts=LEDGER,
    standing=(PREFERENCE,),
)
PLACE = Place(after=PREFERENCE.bullet_id, day=PREFERENCE.happens_on)
SAID = "user: The oven costs 900 euros.\nassistant: That is a fair price."
COUNTS, ENDINGS = (12, 12), 3


def _event(number_: int) -> StoryEvent:
    stage = STAGES[number_ > COUNTS[0]]
    day = stage.first_day + dt.timedelta(days=4 * ((number_ - 1) % COUNTS[0]))
    return StoryEvent(
        event_id=f"e{number_}",
        narrative=NARRATIVES[number_ % 2].label,
        thing="the kiln" if number_ % 2 else "the lease",
        what=f"Something moves because of what Selma said about it ({number_}).",
        people=("Selma",) if number_ % 3 else (),
        after=(Link(event=f"e{number_ - 1}", least=1, most=20),) if number_ > 1 else (),
        part="opening" if number_ == 1 else "closing" if number_ > sum(COUNTS) - ENDINGS else "",
        opens=("the lease",) if number_ == 2 else (),
        closes=("the lease",) if number_ == 14 else (),
        day=day,
    )


EVENTS = tuple(_event(n) for n in range(1, sum(COUNTS) + 1))
GRAPH = StoryGraph(
    stages=(
        StageStory(stage_index=0, events=EVENTS[: COUNTS[0]]),
        StageStory(stage_index=1, events=EVENTS[COUNTS[0] :], stays_open=("the courses",)),
    ),
    counts=COUNTS,
    endings=ENDINGS,
)
"""The events of the plan whose second stage is worded."""


USER_REPLY = UserReplyInputs(
    context=CONTEXT,
    summary=SUMMARY,
    history=exchanged(HISTORY),
    today=TODAY,
    told=(OPENING_DAY.text,),
    changed=LEDGER,
    people=PEOPLE[:1],
    names=NAMES,
)
KILN_SAID = (
    check_calls.DatedMessage(number=1, said_on=dt.date(2023, 3, 7), text="It costs 4,200 euros."),
    check_calls.DatedMessage(number=2, said_on=dt.date(2023, 4, 2), text="They raised the price to 4,400 euros."),
)
SAMPLES: dict[str, PromptInputs] = {
    "personality": PersonalityInputs(
        gender=Gender.FEMALE,
        traits=(
            "Drawn to new ideas and people; starts more than can be finished.",
            "Sees what has to be done and gets others to do it.",
            "Quietly stubborn about what matters.",
            "Takes things apart to see why they work.",
            "Follows the eye and the hand before the plan.",
            "Keeps promises and receipts.",
        ),
    ),
    "narratives": NarrativesInputs(seed=SEED, profile=PROFILE, people=PEOPLE, at_least=15, at_most=20),
    "plan_seeds": PlanSeedsInputs(
        seed=SEED,
        profile=PROFILE,
        people=PEOPLE[:1],
        strategy=Strategy.HIERARCHICAL,
        spans=tuple(s.timeline for s in PLAN_SEEDS),
        ideas=(SEED, SEED.model_copy(update={"title": "A Studio of Two", "domain": Domain.LEGAL})),
    ),
    "plan_summary": PlanSummaryInputs(
        summary="In the winter of 2021 Marit taught at two schools and grew tired of both.",
        plan_seed=PLAN_SEEDS[0],
        bullets=(INTRODUCTION.text, SIGNING.text),
        state=LEDGER,
        max_tokens=600,
    ),
    "outline": OutlineInputs(
        seed=SEED,
        profile=PROFILE,
        people=PEOPLE,
        narratives=NARRATIVES,
        stages=tuple(s.model_copy(update={"title": "", "summary": ""}) for s in STAGES),
        chapter=CHAPTER,
    ),
    "sub_plan": SubPlanInputs(
        seed=SEED,
        profile=PROFILE,
        people=PEOPLE,
        narratives=NARRATIVES,
        stages=STAGES,
        stage_index=1,
        earlier_bullets=(INTRODUCTION, SIGNING, PREFERENCE),
        events=EVENTS[12:18],
        following=EVENTS[18:20],
        slots=LEDGER,
        quotas=(
            Quota(least=2, wording="days"),
            Quota(
                least=1, wording="amount of a name and unit to compare with the monthly rent of the lease (9,500 NOK)"
            ),
        ),
        chapter=CHAPTER,
    ),
    "events": EventsInputs(
        seed=SEED,
        profile=PROFILE,
        people=PEOPLE,
        narratives=NARRATIVES,
        stages=tuple(s.model_copy(update={"turns": s.narratives[:1]}) for s in STAGES),
        stage_index=1,
        earlier=EVENTS[: COUNTS[0]],
        open_matters=("the lease",),
        numbers=tuple(range(13, 25)),
        side=(2, 6, 10, 15, 18, 21),
        side_things=("the lost cat of Ragna",),
        counts=COUNTS,
        endings=ENDINGS,
        going_on_until=STAGES[1].first_day + dt.timedelta(days=20),
        closing_from=STAGES[1].last_day - dt.timedelta(days=3),
        chapter=CHAPTER,
    ),
    "seeds": SeedsInputs(
        domain=Domain.BUSINESS,
        subject="business entrepreneurship",
        count=3,
        taken=("A Software Start-Up for Beekeepers", SEED.title),
    ),
    "augment": AugmentInputs(
        seed=SEED,
        profile=PROFILE,
        stage=STAGES[1],
        people=PEOPLE,
        changed=LEDGER[:1],
        lines=(StoryLine(bullet=SIGNING), StoryLine(bullet=PREFERENCE, then=("c0", "w1", "u0"))),
        updates=(
            UpdateTarget(
                target_id="u0",
                fact=LEDGER[1],
                bullet=SIGNING,
                place=PLACE,
                related=(INTRODUCTION,),
            ),
        ),
        contradictions=(
            ContradictionTarget(
                target_id="c0",
                slip=ContradictionKind.ONCE,
                fact=LEDGER[0],
                bullet=SIGNING,
                place=PLACE,
                related=(INTRODUCTION,),
            ),
        ),
        wishes=(
            WishTarget(
                target_id="w1",
                kind=BulletKind.INSTRUCTION,
                aspect="Money and lease",
                narrative="Money and lease",
                place=PLACE,
                uses=(EVENTS[15].what, EVENTS[17].what),
                unlike=EVENTS[16].what,
                lines=(1, 2),
            ),
        ),
        replaceable=(PREFERENCE,),
        taken_conditions=("when I ask about permits",),
    ),
    "advise": AdviceInputs(
        seed=SEED,
        stage=STAGES[1],
        advice=(
            AdviceLine(
                line_id="a0",
                kind=AdviceKind.FIGURE,
                bullet=SIGNING,
                topic="the lease",
                attribute="safety margin",
                base=LEDGER[1],
                value=MARGIN.value,
            ),
            AdviceLine(
                line_id="a1",
                kind=AdviceKind.OPTIONS,
                bullet=OPENING_DAY,
                topic="the opening night",
                attribute="options",
                count=3,
            ),
            AdviceLine(
                line_id="a2",
                kind=AdviceKind.CORRECTION,
                bullet=OPENING_DAY,
                topic="the lease",
                attribute="safety margin",
                value=money(1_800, "NOK"),
                former=MARGIN,
            ),
            AdviceLine(
                line_id="a3",
                kind=AdviceKind.USE,
                bullet=SIGNING,
                topic="the lease",
                attribute="use of the money",
                base=LEDGER[1],
                value=money(900, "NOK"),
                count=1,
            ),
        ),
        uses_before=("a spare key for the yard",),
        choices=(
            ChoiceLine(
                line_id="c0", after=OPENING_DAY.bullet_id, day=OPENING_DAY.happens_on, options=GLAZES, ordinal=2
            ),
        ),
    ),
    "user_turns": UserTurnsInputs(
        **_STAGE_INPUTS,  # type: ignore[arg-type]
        batch=BRIEFS,
        context=(SIGNING, PREFERENCE),
        questions=3,
    ),
    "more_turns": UserTurnsInputs(
        **_STAGE_INPUTS,  # type: ignore[arg-type]
        batch=(),
        about=BRIEFS[:1],
        questions=2,
        asked_before=("What do I need for the opening night?",),
    ),
    "assistant_reply": AssistantReplyInputs(
        context=CONTEXT, summary=SUMMARY, history=(*HISTORY, ASKED), target_tokens=640, today=TODAY
    ),
    "question_detector": QuestionDetectorInputs(reply=HISTORY[1].content),
    "user_answer": USER_REPLY,
    "user_follow_up": USER_REPLY.model_copy(update={"summary": "", "reaction": Reaction.OBJECTS}),
    "word_turn": WordTurnInputs(
        context=CONTEXT,
        summary="",
        history=exchanged(HISTORY),
        today=TODAY,
        told=(OPENING_DAY.text,),
        people=PEOPLE[:1],
        names=NAMES,
        draft="That worked. The shop opens on Friday. What is left to do?",
    ),
    "compact_memory": CompactInputs(context=CONTEXT, summary=SUMMARY, messages=HISTORY, max_tokens=600),
    "probe_candidates": CandidatesInputs(
        ability="knowledge_update",
        title=SEED.title,
        options=(
            CandidateOption(
                candidate_id="knowledge_update.0",
                difficulty=Difficulty.EASY,
                summary="the monthly rent of the lease: 9,500 NOK, then 10,200 NOK",
            ),
        ),
        count=1,
    ),
    "probe_information_extraction": probe(
        "information_extraction", "the lease", (_RENT_SAID,), variety="direct", difficulty=Difficulty.EASY
    ),
    "probe_multi_session_reasoning": probe(
        "multi_session_reasoning",
        "amount of the rent and the loan",
        (_RENT_SAID, _LOAN_SAID),
        variety="sum",
        computed_value=money(69_500, "NOK").text,
    ),
    "probe_knowledge_update": probe(
        "knowledge_update",
        "the lease",
        (
            excerpt(0, "original", "the rent is 9,500 NOK", LEDGER[1]),
            excerpt(
                1,
                "updated",
                "they want 10,200 NOK rent from April",
                line("p0.f1", "the lease", "monthly rent", NEW_RENT),
            ),
        ),
        variety="money",
    ),
    "probe_temporal_reasoning": probe(
        "temporal_reasoning",
        "the signing day of the lease and the day of the opening night",
        (_SIGNED_SAID, _OPENING_SAID),
        variety="duration",
        computed_value=duration(162, "days").text,
    ),
    "probe_event_ordering": probe(
        "event_ordering",
        "Money and lease",
        tuple(
            excerpt(i, "item", f"something about the {n}", group=i)
            for i, n in enumerate(("lease", "loan", "kiln", "permit"))
        ),
        variety="told",
        listed_as=(2, 0, 3, 1),
    ),
    "probe_contradiction_resolution": probe(
        "contradiction_resolution",
        "the lease",
        (
            excerpt(0, "statement", "I signed the lease on December 1, 2022!", topic="the lease"),
            excerpt(1, "denial", "I have never signed a lease for the dairy", topic="the lease"),
        ),
        variety="never_statement",
    ),
    "probe_summarization": probe(
        "summarization",
        "the lease",
        (_SIGNED_SAID, excerpt(1, "support", _RENT, LEDGER[1])),
        variety="thing",
        beside=("the lease, deposit: the user's messages disagree",),
        wishes=("when I ask about rent: the answer gives it by the week",),
    ),
    "probe_preference_following": probe(
        "preference_following",
        "glazes",
        (excerpt(0, "preference", PREFERENCE.text, topic="glazes"),),
        condition=PREFERENCE.condition,
        requirement=PREFERENCE.requirement,
    ),
    "probe_instruction_following": probe(
        "instruction_following",
        "amounts",
        (excerpt(0, "instruction", INSTRUCTION.text, topic="amounts"),),
        condition=INSTRUCTION.condition,
        requirement=INSTRUCTION.requirement,
    ),
    "probe_abstention": AbstentionInputs(
        seed=SEED, people=PEOPLE, bullets=(INTRODUCTION, SIGNING, OPENING_DAY), count=14
    ),
    "extract_facts": chat_calls.ExtractFactsInputs(
        messages=(
            chat_calls.ReadMessage(
                number=0,
                role=MessageRole.USER,
                said_on=dt.date(2023, 3, 3),
                content="The kiln for the studio costs 2,400 euros, and the power line is booked for March 20, 2023.",
            ),
            chat_calls.ReadMessage(
                number=1,
                role=MessageRole.ASSISTANT,
                said_on=dt.date(2023, 3, 3),
                content="I would set 300 euros aside.",
            ),
        ),
        known=("user: the old dairy, rent: 900 euros",),
        reads_lists=True,
    ),
    "extract_keys": memory_calls.ExtractKeysInputs(before="user: Is the oven old?", exchange=SAID),
    "take_notes": memory_calls.TakeNotesInputs(before="user: Is it old?", exchange=SAID, said_on=dt.date(2023, 3, 7)),
    "compress_notes": memory_calls.CompressNotesInputs(notes="7 March 2023: The oven costs 900 euros.", max_tokens=400),
    "notes_relevant": memory_calls.NotesRelevantInputs(
        question="What does the oven cost?", notes="7 March 2023: The oven costs 900 euros."
    ),
    "select_notes": memory_calls.SelectNotesInputs(
        question="What does the oven cost?", pieces=("7 March 2023: The oven costs 900 euros.", "Ida likes blue.")
    ),
    "update_summary": memory_calls.UpdateSummaryInputs(summary="The user opens a studio.", said=SAID, max_tokens=400),
    "extract_artifacts": memory_calls.ExtractArtifactsInputs(
        known=("decision: The studio opens in June.",), exchange=SAID, said_on=dt.date(2023, 3, 7)
    ),
    "glean_artifacts": memory_calls.GleanArtifactsInputs(
        found=("key_fact: The oven costs 900 euros.",), exchange=SAID, said_on=dt.date(2023, 3, 7)
    ),
    "answer_by_reasoning": memory_calls.ReasonedAnswerInputs(
        context="[F] **March 7, 2023**: The oven costs 900 euros.",
        question="What does the oven cost?",
        asked_on=dt.date(2023, 7, 1),
    ),
    "search_step": memory_calls.SearchStepInputs(
        question="What does the oven cost?",
        asked_on=dt.date(2023, 7, 1),
        found=SAID,
        searches=("oven price",),
        searches_left=1,
    ),
    "bookmark_pages": memory_calls.BookmarkPagesInputs(
        pages=(memory_calls.PageToBookmark(page_id=1, text=SAID),), others=("p2: lease, June",), most=5
    ),
    "recall_step": memory_calls.RecallStepInputs(
        question="What does the oven cost?",
        asked_on=dt.date(2023, 7, 1),
        context=f"[p1:oven,900]\n{SAID}",
        page_ids=(1,),
        recalled=(),
        recalls_left=2,
    ),
    "answer": evaluation_calls.AnswerInputs(
        context="[Tuesday, 07 March 2023, 10:00]\nuser: The kiln costs 4,200 euros.",
        question="What does the kiln cost?",
        asked_on=dt.date(2023, 7, 1),
    ),
    "judge_nugget": evaluation_calls.JudgeInputs(
        question="What does the kiln cost?", nugget="States that the kiln costs 4,200 euros", answer="4,200 euros."
    ),
    "trial_answer": evaluation_calls.TrialAnswerInputs(
        question="What does the kiln cost?",
        gold_answer="The kiln costs 4,200 euros.",
        criteria=("States that the kiln costs 4,200 euros",),
        form="denied",
    ),
    "align_event": evaluation_calls.AlignInputs(item="the lease", events=("signing of the lease", "opening night")),
    "check_entailment": check_calls.EntailmentInputs(
        message="The kiln is 4,200 euros, and it comes in May. Where do I put it?",
        claims=("The kiln costs 4,200 euros.", "The kiln comes in April."),
    ),
    "neutral_words": NeutralInputs(texts=("He was hurt in the knee.", "Take the ferry on Friday.")),
    "check_contradiction": check_calls.ContradictionInputs(
        earlier=check_calls.ToldRemark(text="I fired my first kiln on March 7.", day=dt.date(2022, 3, 8)),
        later=check_calls.ToldRemark(
            text="I have never fired a kiln, so how hot does it get?", day=dt.date(2022, 5, 20)
        ),
    ),
    "guess_answers": check_calls.GuessInputs(
        questions=(check_calls.AskedQuestion(number=1, question="What does the kiln cost?"),)
    ),
    "read_passages": check_calls.ReadInputs(
        passages=KILN_SAID,
        questions=(check_calls.AskedQuestion(number=1, question="What does the kiln cost?", passages=(1, 2)),),
        is_brief=True,
    ),
    "criticise_probes": check_calls.CriticInputs(
        passages=KILN_SAID,
        probes=(
            check_calls.JudgedProbe(
                number=1,
                ability="knowledge_update",
                question="What does the kiln cost?",
                gold_answer="4,400 euros.",
                nuggets=("States that the kiln costs 4,400 euros",),
                cited=(1,),
                passages=(1, 2),
            ),
        ),
        wishes=("when I ask about money: the answer is in euros",),
    ),
    "mark_answers": check_calls.MarkInputs(
        probes=(
            check_calls.MarkedProbe(
                number=1,
                question="What does the kiln cost?",
                nuggets=("States that the kiln costs 4,400 euros",),
                answers=("4,400 euros", "no information"),
            ),
        ),
    ),
}

_DOMAINS = {Category.GENERAL: SEED.domain, Category.CODING: Domain.CODING, Category.MATH: Domain.MATH}


def in_category(inputs: PromptInputs, category: Category) -> PromptInputs:
    """The same inputs in a conversation of another family of domains."""
    seed = SEED.model_copy(update={"domain": _DOMAINS[category]})
    changes: dict[str, object] = {}
    for name in type(inputs).model_fields:
        if name == "seed":
            changes[name] = seed
        elif isinstance(getattr(inputs, name), DialogueContext):
            changes[name] = CONTEXT.model_copy(update={"seed": seed})
        elif name == "category":
            changes[name] = category
    return inputs.model_copy(update=changes)


def many_bullets(count: int) -> DialogueContext:
    """A context with this many earlier bullets, as at the end of a long conversation."""
    texts = tuple(f"Load {i} came out on a {number(i, 'pots').text} shelf, and {SIGNING.text}" for i in range(count))
    return CONTEXT.model_copy(update={"earlier_bullets": texts})


STATES: dict[str, KeptJson] = {
    "sub_plan": GRAPH,
    "user_turns": TurnsSoFar(first_ordinal=100),
    "more_turns": TurnsSoFar(first_ordinal=23),
    "assistant_reply": TURN_STATE,
    "user_answer": TURN_STATE,
    "user_follow_up": TURN_STATE,
}
"""The states that the samples' calls are made from."""


def extras_of(prompt_id: str, inputs: PromptInputs) -> WriterExtras:
    """Return the extras of a call of a prompt, with the state of its sample."""
    return WriterExtras(inputs, STATES.get(prompt_id))
