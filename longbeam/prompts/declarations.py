"""All prompts: which template takes which inputs and gives which reply.

`fixed` names the fields of the system message. A field that changes from call to call must not be among them, because
it would cost the server's prefix cache with every call.
"""

from __future__ import annotations

from functools import cache

from longbeam.abilities import abilities, resolve
from longbeam.prompts import narrowing
from longbeam.prompts.calls import (
    chats as chat_calls,
    checks as check_calls,
    evaluation as evaluation_calls,
    memory as memory_calls,
)
from longbeam.prompts.calls.advice import AdviceInputs, AdviceReply
from longbeam.prompts.calls.dialogue import (
    AssistantReplyInputs,
    CompactInputs,
    QuestionDetectorInputs,
    QuestionDetectorReply,
    UserReplyInputs,
    WordTurnInputs,
)
from longbeam.prompts.calls.plans import (
    AugmentInputs,
    AugmentReply,
    EventsInputs,
    EventsReply,
    OutlineInputs,
    OutlineReply,
    PlanSeedsInputs,
    PlanSeedsReply,
    PlanSummaryInputs,
    SubPlanInputs,
    SubPlanReply,
)
from longbeam.prompts.calls.probes import (
    AbstentionInputs,
    AbstentionReply,
    CandidatesInputs,
    CandidatesReply,
    OrderReply,
    ProbeInputs,
    ProbeReply,
)
from longbeam.prompts.calls.scaffold import (
    NarrativesInputs,
    NarrativesReply,
    PersonalityInputs,
    SeedsInputs,
    SeedsReply,
)
from longbeam.prompts.calls.user_turns import UserTurnsInputs, UserTurnsReply
from longbeam.prompts.registry import Prompt, PromptRegistry
from longbeam.schemas import NeutralInputs, NeutralReply, Role, Tool

_STAGE = ("seed", "profile", "people", "stage")
_DIALOGUE = ("context", "summary")


def _probe(ability: str, version: int, output: type[ProbeReply] = ProbeReply) -> Prompt:
    return Prompt(f"probe_{ability}", version, Role.PROBER, ProbeInputs, output, narrow=narrowing.probe)


RECALL = Tool(
    name="recall",
    purpose="Brings pages of the conversation back, whole, by the numbers of their bookmarks.",
    arguments=("page_ids",),
    otherwise="answer",
)

PROMPTS: tuple[Prompt, ...] = (
    # Before everything else.
    Prompt("seeds", 1, Role.PLANNER, SeedsInputs, SeedsReply, fixed=("domain",), narrow=narrowing.seeds),
    # The scaffold.
    Prompt("personality", 2, Role.WRITER, PersonalityInputs),
    Prompt(
        "narratives", 6, Role.WRITER, NarrativesInputs, NarrativesReply, fixed=("seed",), narrow=narrowing.narratives
    ),
    Prompt("plan_seeds", 3, Role.PLANNER, PlanSeedsInputs, PlanSeedsReply, fixed=("strategy",)),
    Prompt("plan_summary", 1, Role.PLANNER, PlanSummaryInputs),
    Prompt("outline", 11, Role.PLANNER, OutlineInputs, OutlineReply, fixed=("seed",), narrow=narrowing.outline),
    Prompt(
        "events",
        1,
        Role.PLANNER,
        EventsInputs,
        EventsReply,
        fixed=("seed", "profile", "people", "narratives", "stages", "chapter"),
        narrow=narrowing.events,
    ),
    Prompt(
        "sub_plan",
        18,
        Role.PLANNER,
        SubPlanInputs,
        SubPlanReply,
        fixed=("seed", "profile", "people", "narratives", "stages", "chapter"),
        narrow=narrowing.sub_plan,
    ),
    Prompt(
        "augment",
        13,
        Role.PLANNER,
        AugmentInputs,
        AugmentReply,
        fixed=("seed",),
        narrow=narrowing.augment,
    ),
    Prompt("advise", 8, Role.PLANNER, AdviceInputs, AdviceReply, fixed=("seed",)),
    # The user's questions.
    Prompt(
        "user_turns",
        15,
        Role.WRITER,
        UserTurnsInputs,
        UserTurnsReply,
        fixed=(*_STAGE, "voice"),
        narrow=narrowing.user_turns,
    ),
    Prompt(
        "more_turns",
        11,
        Role.WRITER,
        UserTurnsInputs,
        UserTurnsReply,
        fixed=(*_STAGE, "voice"),
        narrow=narrowing.user_turns,
    ),
    # The dialogue.
    Prompt(
        "assistant_reply",
        15,
        Role.ASSISTANT,
        AssistantReplyInputs,
        fixed=_DIALOGUE,
        history="history",
    ),
    Prompt(
        "question_detector", 3, Role.DETECTOR, QuestionDetectorInputs, QuestionDetectorReply, narrow=narrowing.verdict
    ),
    Prompt(
        "user_answer",
        10,
        Role.USER,
        UserReplyInputs,
        fixed=_DIALOGUE,
        history="history",
    ),
    Prompt(
        "user_follow_up",
        9,
        Role.USER,
        UserReplyInputs,
        fixed=_DIALOGUE,
        history="history",
    ),
    Prompt("word_turn", 7, Role.USER, WordTurnInputs, fixed=_DIALOGUE, history="history"),
    Prompt("compact_memory", 13, Role.ASSISTANT, CompactInputs, fixed=_DIALOGUE, history="messages"),
    # The probes.
    Prompt("probe_candidates", 5, Role.PROBER, CandidatesInputs, CandidatesReply, narrow=narrowing.candidates),
    _probe("information_extraction", 9),
    _probe("multi_session_reasoning", 8),
    _probe("knowledge_update", 6),
    _probe("temporal_reasoning", 8),
    _probe("event_ordering", 9, OrderReply),
    _probe("contradiction_resolution", 7),
    _probe("summarization", 9),
    _probe("preference_following", 5),
    _probe("instruction_following", 5),
    Prompt("probe_abstention", 5, Role.PROBER, AbstentionInputs, AbstentionReply, narrow=narrowing.abstention),
    # Somebody's own chats.
    Prompt(
        "extract_facts",
        4,
        Role.CHECKER,
        chat_calls.ExtractFactsInputs,
        chat_calls.ExtractFactsReply,
        fixed=("reads_lists",),
    ),
    # Memory systems.
    Prompt("extract_keys", 1, Role.EXTRACTOR, memory_calls.ExtractKeysInputs, memory_calls.ExtractKeysReply),
    Prompt("take_notes", 1, Role.EXTRACTOR, memory_calls.TakeNotesInputs, memory_calls.TakeNotesReply),
    Prompt("compress_notes", 1, Role.EXTRACTOR, memory_calls.CompressNotesInputs),
    Prompt("notes_relevant", 1, Role.EXTRACTOR, memory_calls.NotesRelevantInputs, memory_calls.NotesRelevantReply),
    Prompt("select_notes", 1, Role.EXTRACTOR, memory_calls.SelectNotesInputs, memory_calls.SelectNotesReply),
    Prompt("update_summary", 1, Role.EXTRACTOR, memory_calls.UpdateSummaryInputs),
    Prompt("extract_artifacts", 1, Role.EXTRACTOR, memory_calls.ExtractArtifactsInputs, memory_calls.ArtifactsReply),
    Prompt("glean_artifacts", 1, Role.EXTRACTOR, memory_calls.GleanArtifactsInputs, memory_calls.ArtifactsReply),
    Prompt("answer_by_reasoning", 1, Role.READER, memory_calls.ReasonedAnswerInputs, memory_calls.ReasonedAnswerReply),
    Prompt("search_step", 1, Role.READER, memory_calls.SearchStepInputs, memory_calls.SearchStepReply),
    Prompt(
        "bookmark_pages",
        1,
        Role.EXTRACTOR,
        memory_calls.BookmarkPagesInputs,
        memory_calls.BookmarkPagesReply,
        narrow=narrowing.bookmark_pages,
    ),
    Prompt(
        "recall_step",
        1,
        Role.READER,
        memory_calls.RecallStepInputs,
        memory_calls.RecallStepReply,
        narrow=narrowing.recall_step,
        tool=RECALL,
    ),
    # Evaluation.
    Prompt("answer", 1, Role.READER, evaluation_calls.AnswerInputs),
    Prompt(
        "judge_nugget",
        2,
        Role.JUDGE,
        evaluation_calls.JudgeInputs,
        evaluation_calls.JudgeReply,
        narrow=narrowing.verdict,
    ),
    Prompt(
        "align_event",
        1,
        Role.JUDGE,
        evaluation_calls.AlignInputs,
        evaluation_calls.AlignReply,
        narrow=narrowing.verdict,
    ),
    # Checks of what was written, while the benchmark is made.
    Prompt(
        "check_entailment",
        1,
        Role.CHECKER,
        check_calls.EntailmentInputs,
        check_calls.EntailmentReply,
        narrow=narrowing.entailment,
    ),
    Prompt("check_contradiction", 3, Role.CHECKER, check_calls.ContradictionInputs, check_calls.ContradictionReply),
    # Any request that a content filter withheld.
    Prompt("neutral_words", 1, Role.WRITER, NeutralInputs, NeutralReply),
    # The gate of probes. The passages come first, so that its readers and its critic share them as a prefix.
    Prompt("read_passages", 1, Role.CHECKER, check_calls.ReadInputs, check_calls.ReadReply, fixed=("passages",)),
    Prompt(
        "criticise_probes",
        2,
        Role.CHECKER,
        check_calls.CriticInputs,
        check_calls.CriticReply,
        fixed=("passages",),
        narrow=narrowing.verdict,
    ),
    Prompt("mark_answers", 1, Role.CHECKER, check_calls.MarkInputs, check_calls.MarkReply),
)


@cache
def default_registry() -> PromptRegistry:
    """Return the registry of all prompts, those of plug-ins' abilities included, checked once per process."""
    brought = (resolve(ability.prompt) for ability in abilities() if ability.prompt)
    return PromptRegistry((*PROMPTS, *brought))
