from .advice import SIDE_STORIES as SIDE_STORIES
from .arithmetic import fault_of_length as fault_of_length
from .base import (
    ERROR as ERROR,
    INFO as INFO,
    Check as Check,
    Problem as Problem,
    Scope as Scope,
    asks_assistant as asks_assistant,
    asks_for_past as asks_for_past,
    claim as claim,
)
from .duplicates import near_duplicates as near_duplicates
from .form import form_json as form_json, measure_form as measure_form, render_form as render_form
from .index import ConversationIndex as ConversationIndex, build_index as build_index
from .leaks import LEAKS as LEAKS
from .ledger import IMPORTS as IMPORTS
from .registry import CHECKS as CHECKS, all_checks as all_checks
from .repetition import (
    mask_of as mask_of,
    measure_repetition as measure_repetition,
    measure_sentences as measure_sentences,
    prose_sentences as prose_sentences,
)
from .run import (
    check_benchmark as check_benchmark,
    check_conversation as check_conversation,
    check_index as check_index,
    check_probes as check_probes,
    left_out as left_out,
)
from .statistics import (
    as_json as as_json,
    benchmark_statistics as benchmark_statistics,
    index_statistics as index_statistics,
    published_figures as published_figures,
    turn_shape as turn_shape,
)
from .statistics_page import render_page as render_page
from .statistics_text import render_text as render_text
from .tuning import CHECKING as CHECKING
