"""BEAM's ten abilities, in the order of its files.

The values follow mohammadtavakoli78/BEAM@b2a3ee8: names of abilities and the keys of each one's JSON.
"""

from __future__ import annotations

from longbeam.abilities.record import Ability, BeamKeys, EvidenceRole, Trait
from longbeam.schemas import EvidencePart

ABSTENTION = Ability(
    name="abstention",
    traits=frozenset({Trait.ABSTAINS}),
    generator="longbeam.generators.probes.abstention:GENERATOR",
    prompt_id="probe_abstention",
    evidence_rules="longbeam.validation.abstention:CHECK",
    panel="longbeam.annotation_ui.aids:ABSENCE",
    beam=BeamKeys(
        answer="ideal_response",
        further=("abstention_type", "why_unanswerable", "plan_reference"),
        optional=frozenset({"plan_reference"}),
    ),
    locomo_category=5,
    reads_locomo=(5,),
    longmemeval_type="single-session-user",
)
CONTRADICTION_RESOLUTION = Ability(
    name="contradiction_resolution",
    traits=frozenset({Trait.RESOLVES_CONTRADICTION, Trait.CITES_SUBJECT, Trait.WORDS_NUGGETS_FREELY}),
    evidence=(
        EvidenceRole(part=EvidencePart.STATEMENT, beam_side="first_statement"),
        EvidenceRole(part=EvidencePart.DENIAL, apart_from=EvidencePart.STATEMENT, beam_side="second_statement"),
    ),
    generator="longbeam.generators.probes.contradiction_resolution:GENERATOR",
    prompt_id="probe_contradiction_resolution",
    evidence_rules="longbeam.validation.contradiction:CONTRADICTION",
    beam=BeamKeys(
        answer="ideal_answer",
        further=("contradiction_type", "topic_questioned", "conversation_references", "tests_for"),
    ),
    locomo_category=1,
    longmemeval_type="multi-session",
)
EVENT_ORDERING = Ability(
    name="event_ordering",
    traits=frozenset({Trait.ORDERS_ITEMS, Trait.RETELLS_HISTORY, Trait.WORDS_NUGGETS_FREELY}),
    evidence=(EvidenceRole(part=EvidencePart.ITEM, is_of_user=False),),
    generator="longbeam.generators.probes.event_ordering:GENERATOR",
    prompt_id="probe_event_ordering",
    scorer="longbeam.evaluation.scoring:ORDER",
    panel="longbeam.annotation_ui.aids:ORDER",
    beam=BeamKeys(further=("ordering_type", "total_mentions", "conversation_references", "ordering_tested")),
    locomo_category=2,
    longmemeval_type="temporal-reasoning",
)
INFORMATION_EXTRACTION = Ability(
    name="information_extraction",
    traits=frozenset({Trait.RECALLS, Trait.ASKS_NEWEST_VALUE, Trait.CITES_SUBJECT, Trait.GIVES_STATED_DAYS}),
    generator="longbeam.generators.probes.information_extraction:GENERATOR",
    prompt_id="probe_information_extraction",
    beam=BeamKeys(further=("question_type", "conversation_reference", "key_facts_tested")),
    locomo_category=4,
    reads_locomo=(3, 4),
    longmemeval_type="single-session-user",
    reads_longmemeval=("single-session-user", "single-session-assistant"),
)
INSTRUCTION_FOLLOWING = Ability(
    name="instruction_following",
    traits=frozenset({Trait.GUIDES_ANSWERS, Trait.SHAPES_ANSWERS}),
    evidence=(EvidenceRole(part=EvidencePart.INSTRUCTION),),
    generator="longbeam.generators.probes.instruction_following:GENERATOR",
    prompt_id="probe_instruction_following",
    beam=BeamKeys(
        answer="expected_compliance",
        further=("instruction_being_tested", "compliance_indicators", "non_compliance_signs", "instruction_type"),
    ),
    locomo_category=3,
    longmemeval_type="single-session-preference",
)
KNOWLEDGE_UPDATE = Ability(
    name="knowledge_update",
    traits=frozenset(
        {
            Trait.RECALLS,
            Trait.ASKS_NEWEST_VALUE,
            Trait.ASKS_UPDATED_VALUE,
            Trait.CITES_SUBJECT,
            Trait.GIVES_STATED_DAYS,
        }
    ),
    evidence=(
        EvidenceRole(part=EvidencePart.ORIGINAL, is_of_user=False, beam_side="original_info"),
        EvidenceRole(
            part=EvidencePart.UPDATED, is_of_user=False, apart_from=EvidencePart.ORIGINAL, beam_side="updated_info"
        ),
    ),
    generator="longbeam.generators.probes.knowledge_update:GENERATOR",
    prompt_id="probe_knowledge_update",
    evidence_rules="longbeam.validation.contradiction:KNOWLEDGE_UPDATE",
    beam=BeamKeys(further=("update_type", "tests_retention_of", "conversation_references", "potential_confusion")),
    locomo_category=4,
    longmemeval_type="knowledge-update",
    reads_longmemeval=("knowledge-update",),
)
MULTI_SESSION_REASONING = Ability(
    name="multi_session_reasoning",
    traits=frozenset({Trait.RECALLS}),
    generator="longbeam.generators.probes.multi_session_reasoning:GENERATOR",
    prompt_id="probe_multi_session_reasoning",
    panel="longbeam.annotation_ui.aids:SESSIONS",
    beam=BeamKeys(further=("reasoning_type", "sessions_required", "conversation_references", "reasoning_steps")),
    locomo_category=1,
    reads_locomo=(1,),
    longmemeval_type="multi-session",
    reads_longmemeval=("multi-session",),
)
PREFERENCE_FOLLOWING = Ability(
    name="preference_following",
    traits=frozenset({Trait.GUIDES_ANSWERS}),
    evidence=(
        EvidenceRole(part=EvidencePart.ORIGINAL, is_required=False),
        EvidenceRole(part=EvidencePart.PREFERENCE),
    ),
    generator="longbeam.generators.probes.preference_following:GENERATOR",
    prompt_id="probe_preference_following",
    beam=BeamKeys(
        answer="expected_compliance",
        further=("preference_being_tested", "compliance_indicators", "non_compliance_signs", "preference_type"),
    ),
    locomo_category=3,
    longmemeval_type="single-session-preference",
    reads_longmemeval=("single-session-preference",),
)
SUMMARIZATION = Ability(
    name="summarization",
    traits=frozenset({Trait.RETELLS_HISTORY, Trait.GIVES_STATED_DAYS}),
    generator="longbeam.generators.probes.summarization:GENERATOR",
    prompt_id="probe_summarization",
    beam=BeamKeys(
        answer="ideal_summary",
        further=(
            "summarization_type",
            "bullet_points_covered",
            "conversation_sessions",
            "key_elements_tested",
            "synthesis_required",
        ),
    ),
    locomo_category=1,
    longmemeval_type="multi-session",
)
TEMPORAL_REASONING = Ability(
    name="temporal_reasoning",
    traits=frozenset({Trait.RECALLS, Trait.CITES_SUBJECT}),
    evidence=(
        EvidenceRole(part=EvidencePart.FIRST, is_required=False, is_of_user=False, beam_side="first_event"),
        EvidenceRole(
            part=EvidencePart.SECOND,
            is_required=False,
            is_of_user=False,
            apart_from=EvidencePart.FIRST,
            beam_side="second_event",
        ),
    ),
    generator="longbeam.generators.probes.temporal_reasoning:GENERATOR",
    prompt_id="probe_temporal_reasoning",
    panel="longbeam.annotation_ui.aids:DATES",
    beam=BeamKeys(further=("temporal_type", "time_points", "conversation_references", "calculation_required")),
    locomo_category=2,
    reads_locomo=(2,),
    longmemeval_type="temporal-reasoning",
    reads_longmemeval=("temporal-reasoning",),
)

BEAM_ABILITIES = (
    ABSTENTION,
    CONTRADICTION_RESOLUTION,
    EVENT_ORDERING,
    INFORMATION_EXTRACTION,
    INSTRUCTION_FOLLOWING,
    KNOWLEDGE_UPDATE,
    MULTI_SESSION_REASONING,
    PREFERENCE_FOLLOWING,
    SUMMARIZATION,
    TEMPORAL_REASONING,
)
