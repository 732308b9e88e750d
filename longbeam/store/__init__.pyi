from . import duck as duck, group_commit as group_commit, journal as journal, lease as lease, spill as spill
from .artifact_schema import SEALED_CONVERSATION as SEALED_CONVERSATION
from .artifacts import (
    SealedConversation as SealedConversation,
    digest_of_said as digest_of_said,
    seal_conversation as seal_conversation,
)
from .benchmark import (
    BENCHMARK as BENCHMARK,
    is_sound as is_sound,
    read_findings as read_findings,
    read_statistics as read_statistics,
    write_benchmark as write_benchmark,
)
from .digests import (
    COPY_SUFFIX as COPY_SUFFIX,
    SUFFIX as SUFFIX,
    is_recorded as is_recorded,
    put_with_digest as put_with_digest,
    record_digest as record_digest,
    require_recorded as require_recorded,
    restore_copy as restore_copy,
    write_recorded as write_recorded,
    write_with_copy as write_with_copy,
)
from .duck import (
    Kind as Kind,
    Loader as Loader,
    attach_read_only as attach_read_only,
    connect as connect,
    explain as explain,
    read_whole as read_whole,
    replaced_file as replaced_file,
)
from .files import (
    delete_file as delete_file,
    describe_os_error as describe_os_error,
    is_alive as is_alive,
    put_in_place as put_in_place,
    read_text as read_text,
    scratch_beside as scratch_beside,
    sha256_of as sha256_of,
    sync_file as sync_file,
    write_atomically as write_atomically,
)
from .group_commit import ROOM_BYTES as ROOM_BYTES
from .journal import RecordedRequest as RecordedRequest
from .layout import (
    SEEDS as SEEDS,
    SPEC as SPEC,
    Benchmark as Benchmark,
    benchmark_names as benchmark_names,
    create_benchmark as create_benchmark,
    open_benchmark as open_benchmark,
    write_spec as write_spec,
)
from .lease import (
    BEAT_S as BEAT_S,
    LEASE_S as LEASE_S,
    LOCK_SUFFIX as LOCK_SUFFIX,
    HeldElsewhere as HeldElsewhere,
    Holder as Holder,
    Lease as Lease,
    LeaseLost as LeaseLost,
    SharedLease as SharedLease,
    living_holder as living_holder,
    position_of_holder as position_of_holder,
    worker_name as worker_name,
)
from .reply_files import (
    HELD as HELD,
    BatchFiles as BatchFiles,
    CopiedJournal as CopiedJournal,
    ReplyFiles as ReplyFiles,
    faults_of_replies as faults_of_replies,
    has_replies as has_replies,
    merge_replies as merge_replies,
    remove_replies as remove_replies,
    take_back as take_back,
)
from .reviews import (
    ReviewStore as ReviewStore,
    StoredLease as StoredLease,
    backup_reviews as backup_reviews,
    has_reviews as has_reviews,
    in_order as in_order,
    stored_events as stored_events,
)
from .salvage import Salvage as Salvage, salvage_reviews as salvage_reviews, salvage_work_log as salvage_work_log
from .spill import (
    BLOCK as BLOCK,
    FOLDED_BLOCK as FOLDED_BLOCK,
    HELD_BLOCKS as HELD_BLOCKS,
    KEPT_BLOCKS as KEPT_BLOCKS,
    MAPPING_CACHE_KB as MAPPING_CACHE_KB,
    TALLY_PARTS as TALLY_PARTS,
    WRITTEN_AT_ONCE as WRITTEN_AT_ONCE,
    FoldedTexts as FoldedTexts,
    Grouped as Grouped,
    Keyed as Keyed,
    LazySequence as LazySequence,
    Ordinals as Ordinals,
    SpilledBytes as SpilledBytes,
    SpilledMapping as SpilledMapping,
    SpilledSequence as SpilledSequence,
    Tally as Tally,
    previous_equals as previous_equals,
)
from .sqlite import (
    FileFormat as FileFormat,
    open_for_reading as open_for_reading,
    open_for_writing as open_for_writing,
    transaction as transaction,
)
from .units import Failure as Failure, Unit as Unit, UnitStatus as UnitStatus
from .worklog import WorkLog as WorkLog
from .worklog_schema import WORK_LOG as WORK_LOG
