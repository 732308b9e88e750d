"""All prompts: which template takes which inputs and gives which reply.

`fixed` names the fields of the system message. A field that changes from call to call must not be among them, because
it would cost the server's prefix cache with every call.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from jinja2 import TemplateError, TemplateSyntaxError

from longbeam.abilities import abilities, resolve
from longbeam.errors import UserError
from longbeam.prompts import narrowing
from longbeam.prompts.calls import (
    chats as chat_calls,
    checks as check_calls,
    evaluation as evaluation_calls,
    memory as memory_calls,
)
from longbeam.prompts.calls.advice import AdviceInputs, AdviceReply
from longbeam.prompts.calls.augmentation import AugmentInputs, AugmentReply
from longbeam.prompts.calls.dialogue import (
    AssistantReplyInputs,
    CompactInputs,
    QuestionDetectorInputs,
    QuestionDetectorReply,
    UserReplyInputs,
    WordTurnInputs,
)
from longbeam.prompts.calls.plans import (
    EventsInputs,
    EventsReply,
    OutlineInputs,
    OutlineReply,
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
    PlanSeedsInputs,
    PlanSeedsReply,
    SeedsInputs,
    SeedsReply,
)
from longbeam.prompts.calls.user_turns import MoreTurnsReply, UserTurnsInputs, UserTurnsReply
from longbeam.prompts.environment import TEMPLATES
from longbeam.prompts.registry import Prompt, PromptRegistry
from longbeam.schemas import BenchmarkSpec, NeutralInputs, NeutralReply, Role, Tool

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
    Prompt("seeds", 2, Role.PLANNER, SeedsInputs, SeedsReply, fixed=("domain",), narrow=narrowing.seeds),
    # The scaffold.
    Prompt("personality", 2, Role.WRITER, PersonalityInputs),
    Prompt(
        "narratives", 7, Role.WRITER, NarrativesInputs, NarrativesReply, fixed=("seed",), narrow=narrowing.narratives
    ),
    Prompt("plan_seeds", 4, Role.PLANNER, PlanSeedsInputs, PlanSeedsReply, fixed=("strategy",)),
    Prompt("plan_summary", 1, Role.PLANNER, PlanSummaryInputs),
    Prompt("outline", 15, Role.PLANNER, OutlineInputs, OutlineReply, fixed=("seed",), narrow=narrowing.outline),
    Prompt(
        "events",
        7,
        Role.PLANNER,
        EventsInputs,
        EventsReply,
        fixed=("seed", "profile", "people", "narratives", "stages", "chapter"),
        narrow=narrowing.events,
    ),
    Prompt(
        "sub_plan",
        24,
        Role.PLANNER,
        SubPlanInputs,
        SubPlanReply,
        fixed=("seed", "profile", "people", "narratives", "stages", "chapter"),
        narrow=narrowing.sub_plan,
    ),
    Prompt(
        "augment",
        16,
        Role.PLANNER,
        AugmentInputs,
        AugmentReply,
        fixed=("seed",),
        narrow=narrowing.augment,
    ),
    Prompt("advise", 9, Role.PLANNER, AdviceInputs, AdviceReply, fixed=("seed",)),
    # The user's questions.
    Prompt(
        "user_turns",
        19,
        Role.WRITER,
        UserTurnsInputs,
        UserTurnsReply,
        fixed=(*_STAGE, "voice"),
        narrow=narrowing.user_turns,
    ),
    Prompt(
        "more_turns",
        14,
        Role.WRITER,
        UserTurnsInputs,
        MoreTurnsReply,
        fixed=(*_STAGE, "voice"),
        narrow=narrowing.user_turns,
    ),
    # The dialogue.
    Prompt(
        "assistant_reply",
        16,
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
        12,
        Role.USER,
        UserReplyInputs,
        fixed=_DIALOGUE,
        history="history",
    ),
    Prompt(
        "user_follow_up",
        11,
        Role.USER,
        UserReplyInputs,
        fixed=_DIALOGUE,
        history="history",
    ),
    Prompt("word_turn", 9, Role.USER, WordTurnInputs, fixed=_DIALOGUE, history="history"),
    Prompt("compact_memory", 13, Role.ASSISTANT, CompactInputs, fixed=_DIALOGUE, history="messages"),
    # The probes.
    Prompt("probe_candidates", 8, Role.PROBER, CandidatesInputs, CandidatesReply, narrow=narrowing.candidates),
    _probe("information_extraction", 14),
    _probe("multi_session_reasoning", 13),
    _probe("knowledge_update", 11),
    _probe("temporal_reasoning", 15),
    _probe("event_ordering", 14, OrderReply),
    _probe("contradiction_resolution", 12),
    _probe("summarization", 14),
    _probe("preference_following", 9),
    _probe("instruction_following", 9),
    Prompt("probe_abstention", 8, Role.PROBER, AbstentionInputs, AbstentionReply, narrow=narrowing.abstention),
    # Somebody's own chats.
    Prompt(
        "extract_facts",
        4,
        Role.CHECKER,
        chat_calls.ExtractFactsInputs,
        chat_calls.ExtractFactsReply,
        fixed=("reads_lists",),
        narrow=narrowing.statements,
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
        3,
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
    Prompt("trial_answer", 1, Role.JUDGE, evaluation_calls.TrialAnswerInputs),
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
    Prompt("guess_answers", 1, Role.CHECKER, check_calls.GuessInputs, check_calls.GuessReply),
    Prompt("read_passages", 5, Role.CHECKER, check_calls.ReadInputs, check_calls.ReadReply, fixed=("passages",)),
    Prompt(
        "criticise_probes",
        8,
        Role.CHECKER,
        check_calls.CriticInputs,
        check_calls.CriticReply,
        fixed=("passages",),
        narrow=narrowing.verdict,
    ),
    Prompt("mark_answers", 2, Role.CHECKER, check_calls.MarkInputs, check_calls.MarkReply),
)


def registry_for(spec: BenchmarkSpec) -> PromptRegistry:
    """Return the prompts of a benchmark: longbeam's own, with the templates of the spec's folder in place of theirs."""
    folder = spec.prompts.folder
    return _overridden(Path(folder)) if folder else default_registry()


@cache
def _overridden(folder: Path) -> PromptRegistry:
    """Return the registry with the templates of a folder; UserError for one that cannot be used."""
    try:
        found = sorted(path.name for path in folder.iterdir() if path.suffix == ".j2")
    except OSError as exc:
        raise UserError(f"[prompts] folder {str(folder)!r}: cannot be read: {exc.strerror}") from exc
    if not found:
        raise UserError(
            f"[prompts] folder {str(folder)!r}: holds no template; its files are named like longbeam's, *.j2"
        )
    for name in found:
        if not (TEMPLATES / name).exists():
            close = get_close_matches(name, [path.name for path in TEMPLATES.glob("*.j2")], n=3)
            meant = f"; did you mean {', '.join(close)}?" if close else ""
            raise UserError(f"[prompts] folder {str(folder)!r}: {name}: longbeam has no such template{meant}")
    try:
        return PromptRegistry(_with_folder(prompt, folder) for prompt in default_registry())
    except TemplateSyntaxError as exc:
        raise UserError(f"[prompts] folder {str(folder)!r}: {exc.name}, line {exc.lineno}: {exc.message}") from exc
    except (ValueError, TemplateError) as exc:
        raise UserError(f"[prompts] folder {str(folder)!r}: {exc}") from exc


def _with_folder(prompt: Prompt, folder: Path) -> Prompt:
    """Return the prompt with templates of the folder before longbeam's; parts such as `_profile.j2` are in many."""
    if prompt.directory != TEMPLATES:
        return prompt
    changed = replace(prompt, directory=folder, is_override=True)
    return changed if changed.digest != prompt.digest else prompt


def overridden_prompts(spec: BenchmarkSpec) -> dict[str, str]:
    """Return the digest of each prompt that the spec's folder changes, by prompt id."""
    return {p.prompt_id: p.digest for p in registry_for(spec) if p.is_override}


@cache
def default_registry() -> PromptRegistry:
    """Return the registry of all prompts, those of plug-ins' abilities included, checked once per process."""
    brought = (resolve(ability.prompt) for ability in abilities() if ability.prompt)
    return PromptRegistry((*PROMPTS, *brought))
