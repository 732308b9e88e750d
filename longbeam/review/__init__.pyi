from . import queue as queue
from .acts import Act as Act, act_on_item as act_on_item, open_item as open_item, redo as redo, undo as undo
from .anchors import (
    Anchor as Anchor,
    AnchoredQuote as AnchoredQuote,
    Attachment as Attachment,
    anchor_at as anchor_at,
    anchor_report as anchor_report,
    cited_quotes as cited_quotes,
    content_hash as content_hash,
    evidence_id_of as evidence_id_of,
    find_anchor as find_anchor,
    find_quote as find_quote,
)
from .archive import (
    Archive as Archive,
    ArchiveLine as ArchiveLine,
    OpenConversation as OpenConversation,
    stamp_of as stamp_of,
)
from .checks import (
    WORST_FIRST as WORST_FIRST,
    Checker as Checker,
    CheckRow as CheckRow,
    check_item as check_item,
    check_rows as check_rows,
    gates_of as gates_of,
    known_findings as known_findings,
)
from .counter_evidence import CounterEvidence as CounterEvidence, counter_evidence as counter_evidence
from .dates import DatesView as DatesView, dates_view as dates_view
from .decisions import (
    Bulk as Bulk,
    Decision as Decision,
    Draft as Draft,
    GuidelineText as GuidelineText,
    act_on_items as act_on_items,
    adjudicate as adjudicate,
    configure as configure,
    set_gold as set_gold,
    write_guideline as write_guideline,
    write_probe as write_probe,
)
from .guidelines import (
    changed_since as changed_since,
    current_version as current_version,
    decided_under as decided_under,
    guidelines_in_force as guidelines_in_force,
    section_name as section_name,
)
from .log import (
    UI_BUILD as UI_BUILD,
    ActContent as ActContent,
    ReviewLog as ReviewLog,
    SeenVersions as SeenVersions,
    as_jsonl as as_jsonl,
    export_log as export_log,
    from_jsonl as from_jsonl,
    import_log as import_log,
    new_event as new_event,
    next_redo as next_redo,
    next_undo as next_undo,
    take_back_import as take_back_import,
    undoable as undoable,
)
from .names import (
    ChangeView as ChangeView,
    DiffPart as DiffPart,
    act_name as act_name,
    change_view as change_view,
    field_name as field_name,
    item_name as item_name,
    probe_name as probe_name,
    shown_value as shown_value,
    word_diff as word_diff,
)
from .outcomes import (
    UNFIT as UNFIT,
    item_states as item_states,
    rejections_of as rejections_of,
    reviewed_conversations as reviewed_conversations,
    reviewed_probes as reviewed_probes,
    shown_conversations as shown_conversations,
    status_of as status_of,
)
from .people import (
    READER as READER,
    Body as Body,
    PeopleProblem as PeopleProblem,
    Refusal as Refusal,
    Viewer as Viewer,
    forbidden as forbidden,
    not_found as not_found,
)
from .queue import (
    VIEWS as VIEWS,
    QueueFilter as QueueFilter,
    QueueItem as QueueItem,
    all_items as all_items,
    is_in_view as is_in_view,
    lease_of as lease_of,
    resume_at as resume_at,
    shown_status as shown_status,
    take_lease as take_lease,
    wanted_items as wanted_items,
)
from .rubric_trial import RubricJudge as RubricJudge, RubricTrial as RubricTrial, try_rubric as try_rubric
from .search import (
    AbsenceView as AbsenceView,
    SearchFilter as SearchFilter,
    absence_view as absence_view,
    count_hits as count_hits,
    places_of as places_of,
)
from .state import (
    FINAL as FINAL,
    Adjudication as Adjudication,
    ItemState as ItemState,
    ItemStatus as ItemStatus,
    Opinion as Opinion,
    TypedText as TypedText,
    fold_opinion as fold_opinion,
    in_force as in_force,
    is_field as is_field,
    probe_changes as probe_changes,
    probe_version as probe_version,
    text_at as text_at,
)
from .statistics import (
    AgreementPage as AgreementPage,
    ProgressPage as ProgressPage,
    Rating as Rating,
    RatingsPage as RatingsPage,
    agreement_over as agreement_over,
    agreement_page as agreement_page,
    is_rating_open as is_rating_open,
    label_of as label_of,
    percent_agreement as percent_agreement,
    progress_page as progress_page,
    rate as rate,
    ratings_of as ratings_of,
    ratings_page as ratings_page,
)
from .training import (
    TRAINING_FILE as TRAINING_FILE,
    TrainingResult as TrainingResult,
    keep_training as keep_training,
    plant_faults as plant_faults,
    planted_faults as planted_faults,
    training_result as training_result,
)
from .tuning import REVIEWING as REVIEWING
from .workspace import (
    SETTINGS_OWNER as SETTINGS_OWNER,
    Entry as Entry,
    Workspace as Workspace,
    entries_of as entries_of,
    open_workspace as open_workspace,
)
