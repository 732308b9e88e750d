"""Commands of Prefect's deployments: flows serve, flows deploy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from longbeam.cli.app import DEFAULT_OUT, OK, Out, app
from longbeam.errors import UserError, require_extra

flows = typer.Typer(help="Deploy the Prefect flows, to start benchmarks from Prefect's pages.", no_args_is_help=True)
app.add_typer(flows, name="flows")

Cron = Annotated[
    str, typer.Option("--cron", help="Schedule of generate-benchmark, such as '0 2 * * *'.", show_default=False)
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PARAMETER=VALUE", help="Default parameter of generate-benchmark; may be repeated."),
]


@flows.command("serve")
def serve(
    out: Out = DEFAULT_OUT,
    cron: Cron = "",
    settings: Settings = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Runs at a time.", show_default=False)] = None,
) -> int:
    """Deploy the flows on the configured Prefect server, and run them in processes of this machine until Ctrl-C."""
    how = _deploying(out, cron, settings)
    from longbeam.flows import FLOWS, serve_flows

    print(
        f"serving {', '.join(FLOWS)}; start a run: prefect deployment run generate-benchmark/longbeam", file=sys.stderr
    )
    serve_flows(how, limit)
    return OK


@flows.command("deploy")
def deploy(
    pool: Annotated[str, typer.Option("--pool", help="Work pool, whose workers have longbeam.", show_default=False)],
    out: Out = DEFAULT_OUT,
    cron: Cron = "",
    settings: Settings = None,
) -> int:
    """Deploy the flows to a work pool; `prefect worker start --pool POOL` then runs them."""
    how = _deploying(out, cron, settings)
    from longbeam.flows import deploy_flows

    for name in deploy_flows(how, pool):
        print(name)
    return OK


def _deploying(out: Path, cron: str, settings: list[str] | None) -> Any:  # Any: its class needs Prefect
    from longbeam.flows import is_configured

    require_extra("flows", "longbeam flows", "prefect")
    if not is_configured():
        raise UserError(
            "no Prefect server is configured: `prefect server start`, then "
            "`prefect config set PREFECT_API_URL=http://127.0.0.1:4200/api`"
        )
    given: dict[str, str] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not equals:
            raise UserError(f"--set {setting!r}: write PARAMETER=VALUE")
        given[name] = value
    from longbeam.flows import Deploying, generate_benchmark

    if unknown := [name for name in given if name not in generate_benchmark.parameters.properties]:
        known = ", ".join(generate_benchmark.parameters.properties)
        raise UserError(f"--set {unknown[0]}: generate-benchmark has no such parameter; it has {known}")
    typed = generate_benchmark.validate_parameters(given)
    return Deploying(out, cron, {name: typed[name] for name in given})
