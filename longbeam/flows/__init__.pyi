from . import server as server
from .deployments import (
    FLOWS as FLOWS,
    Deploying as Deploying,
    deploy_flows as deploy_flows,
    serve_flows as serve_flows,
)
from .elsewhere import DaskRun as DaskRun
from .generate import generate_benchmark as generate_benchmark
from .opened import Begun as Begun, ClusterOptions as ClusterOptions
from .runner import HOME as HOME, run_with_prefect as run_with_prefect
from .server import (
    is_configured as is_configured,
    own_host as own_host,
    prefect_server as prefect_server,
    server_settings as server_settings,
)
