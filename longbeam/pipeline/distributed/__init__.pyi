from . import worker as worker
from .jobs import Job as Job, JobEnd as JobEnd, JobResult as JobResult, share_of as share_of
from .worker import REPLIES_S as REPLIES_S, stop_path as stop_path, work as work, work_on as work_on
