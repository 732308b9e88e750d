from . import times as times, values as values
from .claims import (
    DEED_OF_USER as DEED_OF_USER,
    INTENDED as INTENDED,
    NEGATOR as NEGATOR,
    UNREAL as UNREAL,
    Mood as Mood,
    Who as Who,
    echoed_denial as echoed_denial,
    framing_of as framing_of,
    is_asked_at as is_asked_at,
    is_denied_at as is_denied_at,
    is_planned as is_planned,
    is_result as is_result,
    is_supposed_at as is_supposed_at,
    read_claim as read_claim,
    side_of_day as side_of_day,
    taken_back as taken_back,
    words_of_denials as words_of_denials,
)
from .currencies import SIGNS as SIGNS, currency_of as currency_of
from .days import (
    Hours as Hours,
    greeted_hours as greeted_hours,
    is_day_meant as is_day_meant,
    is_day_named as is_day_named,
    says_day as says_day,
    spell_out as spell_out,
    spoken as spoken,
)
from .extraction import (
    distinct_values as distinct_values,
    named_value as named_value,
    normalize_values as normalize_values,
    parse_value as parse_value,
    stated_in as stated_in,
    values_in as values_in,
)
from .grounding import (
    Key as Key,
    asked_keys as asked_keys,
    counted_keys as counted_keys,
    is_derivable as is_derivable,
    loose_keys as loose_keys,
    nearest_day as nearest_day,
    own_words as own_words,
    stated_values as stated_values,
    unrecorded_values as unrecorded_values,
    value_keys as value_keys,
    values_with_keys as values_with_keys,
)
from .languages import (
    ENGLISH as ENGLISH,
    WITH_SMALL_WORDS as WITH_SMALL_WORDS,
    Language as Language,
    language_of as language_of,
)
from .later_evidence import (
    CHANGE as CHANGE,
    CHANGE_VERBS as CHANGE_VERBS,
    CHANGED_TO as CHANGED_TO,
    MOVED as MOVED,
    LaterPassage as LaterPassage,
    Piece as Piece,
    Postings as Postings,
    Sign as Sign,
    Subject as Subject,
    find_evidence as find_evidence,
    is_recalled as is_recalled,
    passages_of as passages_of,
    rank_passages as rank_passages,
)
from .masks import MASK as MASK, Mask as Mask, form_words as form_words
from .matching import (
    in_days as in_days,
    quote_for as quote_for,
    says as says,
    says_equivalent as says_equivalent,
    use_quote as use_quote,
    value_pattern as value_pattern,
)
from .numbers import (
    COUNT as COUNT,
    NUMBER_WORDS as NUMBER_WORDS,
    ORDINAL_WORDS as ORDINAL_WORDS,
    SMALL_NUMBER as SMALL_NUMBER,
    VAGUE_COUNTS as VAGUE_COUNTS,
    exact as exact,
    format_amount as format_amount,
    listed as listed,
    number_word as number_word,
    read_amount as read_amount,
    read_count as read_count,
    unit_name as unit_name,
)
from .reading import disagreement as disagreement, read_value as read_value
from .redaction import KINDS as KINDS, Found as Found, Redaction as Redaction, render_found as render_found
from .sentences import (
    FENCE as FENCE,
    Span as Span,
    fenced_spans as fenced_spans,
    prose_spans as prose_spans,
    quotable as quotable,
    sentences as sentences,
    sentences_within as sentences_within,
)
from .side_texts import (
    COMPANION as COMPANION,
    FIGURE as FIGURE,
    FORGET as FORGET,
    KEEP_FROM as KEEP_FROM,
    PLACE as PLACE,
    POISONS as POISONS,
    QUANTITY as QUANTITY,
    SOURCE as SOURCE,
    attribute_of as attribute_of,
    day_of as day_of,
    relation_words as relation_words,
    role_of as role_of,
)
from .time_spans import (
    CALENDAR as CALENDAR,
    TimeExpression as TimeExpression,
    TimeRules as TimeRules,
    TimeSpan as TimeSpan,
    day_span as day_span,
    find_times as find_times,
    weekday_near as weekday_near,
)
from .times import (
    CALENDAR_UNITS as CALENDAR_UNITS,
    DAY_WORD as DAY_WORD,
    MONTH as MONTH,
    MONTHS as MONTHS,
    ORDINAL as ORDINAL,
    SEASONS as SEASONS,
    TIME_UNITS as TIME_UNITS,
    WEEKDAY as WEEKDAY,
    WEEKDAYS as WEEKDAYS,
    format_date as format_date,
    month_number as month_number,
    months_between as months_between,
    weekday as weekday,
)
from .traces import (
    ENGLISH_KINDS as ENGLISH_KINDS,
    find_traces as find_traces,
    is_of_machinery as is_of_machinery,
    trace_problem as trace_problem,
    without_code as without_code,
)
from .tuning import READING as READING
from .values import (
    COMPUTATIONS as COMPUTATIONS,
    amount_like as amount_like,
    date_value as date_value,
    duration as duration,
    money as money,
    name as name,
    number as number,
    plain as plain,
    ratio as ratio,
    recompute as recompute,
    version as version,
)
from .words import (
    ASKING_WORDS as ASKING_WORDS,
    bare_words as bare_words,
    content_words as content_words,
    overlapping as overlapping,
    stand_together as stand_together,
    within_reach as within_reach,
    words_of as words_of,
)
