from .analyze import (
    BUCKETS as BUCKETS,
    TrimmableBytes as TrimmableBytes,
    analyze as analyze,
    break_even as break_even,
    outlook as outlook,
    render_analysis as render_analysis,
    render_types as render_types,
    tree_json as tree_json,
    tree_lines as tree_lines,
    trimmed_tokens as trimmed_tokens,
    types_of as types_of,
)
from .session import (
    blocks_of as blocks_of,
    choose_session as choose_session,
    content_holder as content_holder,
    find_sessions as find_sessions,
    folder_of as folder_of,
    is_compaction as is_compaction,
    parse_line as parse_line,
    read_lines as read_lines,
    speaker_of as speaker_of,
)
from .store import CmvStore as CmvStore, export_snapshot as export_snapshot, import_snapshot as import_snapshot
from .survival import measure as measure, render_survival as render_survival
from .system import Cmv as Cmv, CmvSettings as CmvSettings, contents_of as contents_of, lines_of as lines_of
from .trim import (
    BACKUPS as BACKUPS,
    TrimMetrics as TrimMetrics,
    TrimSettings as TrimSettings,
    Variant as Variant,
    back_up as back_up,
    run_hook as run_hook,
    since_compaction as since_compaction,
    trim_file as trim_file,
    trim_lines as trim_lines,
)
