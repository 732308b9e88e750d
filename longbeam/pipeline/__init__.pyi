from .chat_probing import (
    PROBING_FIELDS as PROBING_FIELDS,
    chats_of as chats_of,
    probe_chats as probe_chats,
    probing_spec as probing_spec,
)
from .chat_redaction import private_texts as private_texts, redact_chats as redact_chats
from .checking import (
    MOST_MESSAGES as MOST_MESSAGES,
    check_and_store as check_and_store,
    count_and_store as count_and_store,
    findings_json as findings_json,
    findings_page as findings_page,
    make_again as make_again,
    measure_form_and_store as measure_form_and_store,
    render_findings as render_findings,
    render_left_out as render_left_out,
    sealed_conversations as sealed_conversations,
    stored_form as stored_form,
    write_findings_page as write_findings_page,
)
from .importing import GivenReport as GivenReport, Origin as Origin, import_benchmark as import_benchmark
from .preflight import check_ability as check_ability, check_spec as check_spec
from .purging import holds as holds, purge as purge
from .recording import Recording as Recording
from .samples import (
    REVIEWS as REVIEWS,
    SAMPLES as SAMPLES,
    Sample as Sample,
    SampleAbout as SampleAbout,
    pack as pack,
    refuse_large as refuse_large,
    sample_named as sample_named,
    samples as samples,
    unpack as unpack,
)
from .seeding import domains_of as domains_of, make_seeds as make_seeds, render_report as render_report
from .services import Services as Services, load_services as load_services
from .spec_file import (
    EVALUATION_FIELDS as EVALUATION_FIELDS,
    OPTIONS as OPTIONS,
    load_evaluation_spec as load_evaluation_spec,
    load_spec as load_spec,
    with_evaluation_fields as with_evaluation_fields,
    with_models as with_models,
    with_overrides as with_overrides,
)
from .splitting import (
    Split as Split,
    form_by_part as form_by_part,
    in_part as in_part,
    read_split as read_split,
    render_split as render_split,
    split_benchmark as split_benchmark,
)
from .status import (
    benchmark_status as benchmark_status,
    describe_failure as describe_failure,
    describe_failures as describe_failures,
    describe_making as describe_making,
    finished_ids as finished_ids,
    kept_line as kept_line,
    render_evaluations as render_evaluations,
    render_status as render_status,
    render_used as render_used,
)
from .story_page import (
    PlannedStory as PlannedStory,
    read_stories as read_stories,
    story_lines as story_lines,
    story_page as story_page,
)
from .suites import SuiteBenchmark as SuiteBenchmark, make_suite as make_suite
from .tuning import RUNNING as RUNNING
from .verifying import render_reports as render_reports, verify as verify
