from . import reading as reading
from .beam import CHAT as CHAT, TRUNCATED as TRUNCATED, export_beam as export_beam, import_beam as import_beam
from .beam_json import export_beam_json as export_beam_json
from .beam_text import read_index as read_index, read_labels as read_labels, split_marker as split_marker
from .card_sections import UNREVIEWED_LIMIT as UNREVIEWED_LIMIT, making_section as making_section
from .chat import import_chat as import_chat
from .dataset_card import features_of as features_of, who_wrote_it as who_wrote_it
from .dates import (
    LOCOMO_SESSIONS as LOCOMO_SESSIONS,
    beam_day as beam_day,
    find_day as find_day,
    locomo_time as locomo_time,
    longmemeval_time as longmemeval_time,
    read_locomo_time as read_locomo_time,
    read_longmemeval_time as read_longmemeval_time,
)
from .exporting import (
    CANARY as CANARY,
    CARD as CARD,
    UNREVIEWED as UNREVIEWED,
    UNSETTLED as UNSETTLED,
    WRITTEN as WRITTEN,
    Exporter as Exporter,
    ExportOptions as ExportOptions,
    ExportReport as ExportReport,
    public_spec as public_spec,
)
from .folders import replaced_folder as replaced_folder
from .huggingface import export_huggingface as export_huggingface
from .jsonl import export_jsonl as export_jsonl, export_parquet as export_parquet
from .jsonl_lines import LINES as LINES, DetailColumns as DetailColumns, EvidenceColumns as EvidenceColumns
from .jsonl_read import import_jsonl as import_jsonl
from .lmeb import export_lmeb as export_lmeb
from .locomo import CATEGORIES as CATEGORIES, export_locomo as export_locomo, import_locomo as import_locomo
from .longmemeval import export_longmemeval as export_longmemeval, import_longmemeval as import_longmemeval
from .parquet_files import read_parquet as read_parquet
from .reading import (
    Importer as Importer,
    ImportOptions as ImportOptions,
    Notes as Notes,
    read_json as read_json,
    read_text as read_text,
    stream_list as stream_list,
    want as want,
)
from .registry import (
    ENTRY_POINTS as ENTRY_POINTS,
    EXPORTS as EXPORTS,
    IMPORTS as IMPORTS,
    advice_without_probes as advice_without_probes,
    exporter as exporter,
    importer as importer,
)
from .session_reading import (
    GivenQuestion as GivenQuestion,
    SessionDate as SessionDate,
    exported_fields as exported_fields,
    json_files as json_files,
    numbered_elements as numbered_elements,
    session_times as session_times,
)
