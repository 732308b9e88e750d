from . import worker as worker
from .distributing import (
    RunControls as RunControls,
    WorkerDied as WorkerDied,
    distribute as distribute,
    share_of as share_of,
)
from .jobs import Job as Job, JobEnd as JobEnd, JobResult as JobResult, WorkerSetup as WorkerSetup
from .worker import stop_path as stop_path, work as work, work_on as work_on
