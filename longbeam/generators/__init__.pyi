from .additions import AdditionInputs as AdditionInputs, with_additions as with_additions, with_asides as with_asides
from .advice import (
    ADVICE_PROMPTS as ADVICE_PROMPTS,
    Advised as Advised,
    StageToAdvise as StageToAdvise,
    advised_plan as advised_plan,
    write_advice as write_advice,
)
from .augmentation import (
    AUGMENT_PROMPTS as AUGMENT_PROMPTS,
    StageToAugment as StageToAugment,
    write_special_bullets as write_special_bullets,
)
from .augmented import (
    Augmented as Augmented,
    PassedOver as PassedOver,
    Targets as Targets,
    augmented_plan as augmented_plan,
)
from .budget import Budget as Budget
from .bullets import (
    Drafted as Drafted,
    Known as Known,
    assembled as assembled,
    faults_in_group as faults_in_group,
    faults_of as faults_of,
    new_slot as new_slot,
    repeated as repeated,
    typed_value as typed_value,
)
from .calibration import (
    CALIBRATION_PROMPT as CALIBRATION_PROMPT,
    MARKING_PROMPT as MARKING_PROMPT,
    calibration_items as calibration_items,
    fitness_of as fitness_of,
    measured_fitness as measured_fitness,
)
from .chat_advice import with_replies_advice as with_replies_advice
from .chat_conflicts import Opposed as Opposed, confirmed as confirmed, opposed_pairs as opposed_pairs
from .chat_ledger import (
    CHATS as CHATS,
    EXTRACT_PROMPT as EXTRACT_PROMPT,
    ChatStatement as ChatStatement,
    passages_of as passages_of,
    read_passage as read_passage,
    verified as verified,
    without_echoes as without_echoes,
)
from .choices import Choices as Choices, choose_targets as choose_targets
from .closed_world import ClosedWorld as ClosedWorld
from .demand import demand_of as demand_of
from .dialogue import Talk as Talk, extend as extend, talk as talk
from .dialogue_history import DialogueHistory as DialogueHistory, history_tokens as history_tokens
from .dialogue_material import SubPlanMaterial as SubPlanMaterial, context_of as context_of
from .dialogue_wording import (
    DETECTOR_PROMPTS as DETECTOR_PROMPTS,
    DIALOGUE_PROMPTS as DIALOGUE_PROMPTS,
    SPEAKING_PROMPTS as SPEAKING_PROMPTS,
    WORDING_PROMPTS as WORDING_PROMPTS,
)
from .entailment import (
    RuleAnswer as RuleAnswer,
    rule_on_contradiction as rule_on_contradiction,
    rule_on_message as rule_on_message,
    rule_on_update as rule_on_update,
)
from .entailment_judge import (
    CONTRADICTION_PROMPTS as CONTRADICTION_PROMPTS,
    Voicing as Voicing,
    contradiction_fault as contradiction_fault,
    unsaid_claims as unsaid_claims,
)
from .layout import (
    Layout as Layout,
    Pace as Pace,
    SpecialCounts as SpecialCounts,
    drawn_layout as drawn_layout,
    layout_for as layout_for,
    plan_lengths as plan_lengths,
    pool_for as pool_for,
)
from .ledger import (
    Ledger as Ledger,
    replaced_wishes as replaced_wishes,
    split_evenly as split_evenly,
    standing_bullets as standing_bullets,
)
from .mending import TurnPlace as TurnPlace, mend_turn as mend_turn, turn_key as turn_key, voice_bullet as voice_bullet
from .mentions import Mentions as Mentions
from .names import LOCALES as LOCALES, Names as Names, romanised as romanised
from .own_people import check_people as check_people, user_of as user_of
from .people import (
    CORE as CORE,
    MBTI_TRAITS as MBTI_TRAITS,
    aged as aged,
    birthdays as birthdays,
    circles_of as circles_of,
    cities as cities,
    draw_profile as draw_profile,
    draw_relationships as draw_relationships,
    people_of_plan as people_of_plan,
    professions as professions,
)
from .persona import (
    NARRATIVE_PROMPTS as NARRATIVE_PROMPTS,
    PERSONALITY_PROMPTS as PERSONALITY_PROMPTS,
    describe_unknown_subject as describe_unknown_subject,
    write_narratives as write_narratives,
    write_personality as write_personality,
)
from .plan_history import PLANS_IN_MEMORY as PLANS_IN_MEMORY, PlanHistory as PlanHistory
from .plan_seeds import (
    PLAN_SEEDS_PROMPTS as PLAN_SEEDS_PROMPTS,
    PLAN_SUMMARY_PROMPTS as PLAN_SUMMARY_PROMPTS,
    Storyline as Storyline,
    chapter_of as chapter_of,
    seed_of as seed_of,
    spans_of as spans_of,
    write_plan_seeds as write_plan_seeds,
    write_plan_summary as write_plan_summary,
)
from .plans import (
    EVENTS_PROMPTS as EVENTS_PROMPTS,
    OUTLINE_PROMPTS as OUTLINE_PROMPTS,
    Frame as Frame,
    PlanContext as PlanContext,
    outlined as outlined,
    write_events as write_events,
    write_outline as write_outline,
)
from .quotas import Quotas as Quotas
from .reply_excerpt import asking_part as asking_part, asks as asks, ends_asking as ends_asking
from .said_advice import advice_quote as advice_quote
from .said_plans import said_plans as said_plans
from .seeds import (
    CATALOGUE_DOMAINS as CATALOGUE_DOMAINS,
    WrittenSeeds as WrittenSeeds,
    are_near_duplicates as are_near_duplicates,
    draw_timeline as draw_timeline,
    ideas_for as ideas_for,
    load_catalogue as load_catalogue,
    seeds_as_json as seeds_as_json,
    seeds_for as seeds_for,
    sub_plans_of as sub_plans_of,
    timeline_of as timeline_of,
    write_seeds as write_seeds,
)
from .seeds_file import domain_of as domain_of, parse_seeds as parse_seeds, read_seeds_file as read_seeds_file
from .stages import (
    StageSize as StageSize,
    narratives_for as narratives_for,
    side_ordinals as side_ordinals,
    sizes_of as sizes_of,
    stages_of as stages_of,
    told_somewhere as told_somewhere,
    turns_told as turns_told,
    window_of as window_of,
)
from .story_graph import (
    DayConflict as DayConflict,
    Window as Window,
    event_faults as event_faults,
    relaxed as relaxed,
    unclosed as unclosed,
    with_days as with_days,
)
from .sub_plans import (
    SUB_PLAN_PROMPTS as SUB_PLAN_PROMPTS,
    Mender as Mender,
    ends_of as ends_of,
    ledger_of as ledger_of,
    write_sub_plan as write_sub_plan,
)
from .transcript import (
    FIRST_HOUR as FIRST_HOUR,
    LAST_HOUR as LAST_HOUR,
    Transcript as Transcript,
    TranscriptLine as TranscriptLine,
    sent_times as sent_times,
    turns_asked as turns_asked,
)
from .tuning import DIALOGUE as DIALOGUE, PLANNING as PLANNING, PROBING as PROBING
from .turn_cards import (
    DECILES as DECILES,
    OPENINGS as OPENINGS,
    PASTES as PASTES,
    REACTIONS as REACTIONS,
    TAKE_UPS as TAKE_UPS,
    WANTS as WANTS,
    Deck as Deck,
    draw_asks_back as draw_asks_back,
    draw_cards as draw_cards,
    draw_reaction as draw_reaction,
    draw_take_up as draw_take_up,
)
from .turn_loop import waiting_of as waiting_of
from .unasked import (
    Unasked as Unasked,
    items_in as items_in,
    listed_advice as listed_advice,
    said_once as said_once,
    unasked_advice as unasked_advice,
    uncontested as uncontested,
    with_advice as with_advice,
)
from .user_turns import (
    USER_TURNS_PROMPTS as USER_TURNS_PROMPTS,
    FurtherTurns as FurtherTurns,
    TurnBatch as TurnBatch,
    TurnScene as TurnScene,
    batches_of as batches_of,
    check_turns as check_turns,
    gist_of as gist_of,
    last_pasted as last_pasted,
    last_questions as last_questions,
    new_values_in as new_values_in,
    ordered_turns as ordered_turns,
    stepped_end as stepped_end,
    without_repeats as without_repeats,
    write_more_turns as write_more_turns,
    write_user_turns as write_user_turns,
)
from .voices import HABITS as HABITS, voice_of as voice_of
