from . import (
    event_ordering as event_ordering,
    information_extraction as information_extraction,
    knowledge_update as knowledge_update,
    multi_session_reasoning as multi_session_reasoning,
    selection as selection,
    temporal_reasoning as temporal_reasoning,
)
from .abstention import draft_candidates as draft_candidates, problem_of as problem_of, word_candidate as word_candidate
from .candidates import (
    AbilityGenerator as AbilityGenerator,
    OrderPayload as OrderPayload,
    ProbeCandidate as ProbeCandidate,
    Sketch as Sketch,
    cite as cite,
    deciles_of as deciles_of,
    difficulty_by_gap as difficulty_by_gap,
    is_narrow as is_narrow,
    thin_out as thin_out,
)
from .checks import (
    check_coverage as check_coverage,
    check_form as check_form,
    check_values as check_values,
    check_voice as check_voice,
    run_checks as run_checks,
    words_beyond as words_beyond,
)
from .event_ordering import lengths_for as lengths_for
from .evidence import (
    FactQuote as FactQuote,
    Quote as Quote,
    closest as closest,
    coverage as coverage,
    find_words as find_words,
    words_of as words_of,
)
from .histories import Histories as Histories, find_shared_names as find_shared_names
from .instruction_following import difficulty_by_age as difficulty_by_age
from .material import ProbeMaterial as ProbeMaterial
from .multi_session_reasoning import find_log_questions as find_log_questions
from .on_the_way import Moments as Moments, ask_on_the_way as ask_on_the_way
from .registry import check_generators as check_generators, generator_for as generator_for
from .selection import Interference as Interference, Places as Places, select_probes as select_probes
from .summarization import messages_for as messages_for
from .wishes import HeldWish as HeldWish, held_wishes as held_wishes, wishes_on as wishes_on
from .writing import (
    assemble_probe as assemble_probe,
    further_candidates as further_candidates,
    plan_candidates as plan_candidates,
    planning_prompts as planning_prompts,
    probe_inputs as probe_inputs,
    worded_by_code as worded_by_code,
    write_probe as write_probe,
    writing_prompts as writing_prompts,
)
