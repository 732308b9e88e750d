from . import server as server
from .clusters import (
    ClusterOptions as ClusterOptions,
    WorkerFacts as WorkerFacts,
    facts_here as facts_here,
    own_host as own_host,
    refuse_unfit as refuse_unfit,
    without_longbeam as without_longbeam,
)
from .runner import (
    HOME as HOME,
    STOPPED_AT_END as STOPPED_AT_END,
    WAITING_AT_END as WAITING_AT_END,
    run_on_cluster as run_on_cluster,
    run_with_prefect as run_with_prefect,
)
from .server import prefect_server as prefect_server, server_settings as server_settings
