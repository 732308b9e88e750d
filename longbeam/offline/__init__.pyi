from . import memorizing as memorizing, openings as openings, tables as tables
from .advising import ATTRIBUTES as ATTRIBUTES, USES as USES, advise as advise, purposes as purposes
from .arithmetic import CHOICE as CHOICE, compute as compute, evaluate as evaluate, format_number as format_number
from .blocks import ReplyFrame as ReplyFrame
from .chapters import SIDES_OF_LIFE as SIDES_OF_LIFE, bounds_of as bounds_of, plan_seeds as plan_seeds, seeds as seeds
from .drawing import Span as Span, changed as changed, draw as draw, misremembered as misremembered
from .extras import STATES as STATES, WriterExtras as WriterExtras
from .fact_wording import pronoun as pronoun, slots_of as slots_of
from .judging import judge as judge
from .language import fill as fill, names_of as names_of, upper_first as upper_first, within_sentence as within_sentence
from .meaning import SimilarityJudge as SimilarityJudge
from .memorizing import extract_facts as extract_facts
from .openings import concerns as concerns
from .own_logs import asides as asides
from .packs import (
    AMOUNTS as AMOUNTS,
    Beat as Beat,
    Card as Card,
    Pack as Pack,
    PackSlot as PackSlot,
    Point as Point,
    Snippet as Snippet,
    Thread as Thread,
    WorkedProblem as WorkedProblem,
    fields_of as fields_of,
    load_pack as load_pack,
    pack_for as pack_for,
    pack_paths as pack_paths,
    tells as tells,
    threads_elsewhere as threads_elsewhere,
    wishes as wishes,
)
from .phrasing import (
    PhrasePiece as PhrasePiece,
    advice as advice,
    cycle as cycle,
    example as example,
    in_short as in_short,
    labelled as labelled,
    openers as openers,
    piece_of as piece_of,
    reason as reason,
)
from .planning import (
    ENDING_LABEL as ENDING_LABEL,
    INTRODUCTION_LABEL as INTRODUCTION_LABEL,
    PREFERENCES_LABEL as PREFERENCES_LABEL,
    augment as augment,
    events as events,
    match_beat as match_beat,
    narratives as narratives,
    thread_of as thread_of,
)
from .probe_wording import (
    clause_for as clause_for,
    day_named as day_named,
    of_user as of_user,
    plural as plural,
    question_clauses as question_clauses,
    standing_question as standing_question,
    to_you as to_you,
)
from .probing import answer_probe_prompt as answer_probe_prompt
from .reading import answer_over as answer_over
from .replies import assemble as assemble, assistant_reply as assistant_reply
from .rules import rule_files as rule_files, rules_digest as rules_digest
from .story import (
    Script as Script,
    StoryInputs as StoryInputs,
    draft_of as draft_of,
    people_thread as people_thread,
    scenes_of as scenes_of,
    script_of as script_of,
)
from .telling import COST_SLOT as COST_SLOT, WHOLE as WHOLE, StoryScene as StoryScene, without_remark as without_remark
from .turns import (
    ask_back_for as ask_back_for,
    asked_card as asked_card,
    detect_question as detect_question,
    filled_code as filled_code,
    follow_up_kind as follow_up_kind,
    more_turns as more_turns,
    problem_in as problem_in,
    shown_values as shown_values,
    user_answer as user_answer,
    user_follow_up as user_follow_up,
    user_turns as user_turns,
)
from .understanding import How as How, understand as understand
from .writer import OfflineWriter as OfflineWriter
