"""Deployments of the flows, started from pages, by a schedule or an automation; run by `serve` or by a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from prefect import Flow, serve
from prefect.client.orchestration import get_client
from prefect.deployments.runner import RunnerDeployment

from longbeam.errors import UserError
from longbeam.flows.elsewhere import DEPLOYMENT
from longbeam.flows.generate import generate_benchmark, make_conversation
from longbeam.flows.measure import evaluate_benchmark, repair_benchmark, validate_benchmark

FLOWS: dict[str, Flow[Any, Any]] = {
    flow.name: cast("Flow[Any, Any]", flow)
    for flow in (generate_benchmark, make_conversation, validate_benchmark, repair_benchmark, evaluate_benchmark)
}


@dataclass(frozen=True)
class Deploying:
    """Settings of the deployments."""

    out: Path
    """Folder of the benchmarks of runs that name none."""
    cron: str = ""
    """Schedule of `generate-benchmark`."""
    parameters: dict[str, Any] | None = None
    """Parameters of `generate-benchmark` that runs take where they name no others."""


def serve_flows(how: Deploying, limit: int | None) -> None:
    """Deploy the flows and run what is asked for, at most `limit` runs at a time, until Ctrl-C."""
    serve(*_deployments(how, None), limit=limit, print_starting_message=False)


def deploy_flows(how: Deploying, work_pool: str) -> list[str]:
    """Deploy the flows to a work pool whose workers have longbeam installed, and return the deployments' names."""
    with get_client(sync_client=True) as client:
        pools = [pool.name for pool in client.read_work_pools()]
        if work_pool not in pools:
            known = ", ".join(pools) or "none"
            raise UserError(f"no work pool {work_pool!r} (there are: {known}): prefect work-pool create {work_pool}")
    deployments = _deployments(how, work_pool)
    for deployment in deployments:
        deployment.apply()
    return [f"{deployment.flow_name}/{deployment.name}" for deployment in deployments]


def _deployments(how: Deploying, work_pool: str | None) -> list[RunnerDeployment]:
    found = []
    for name, flow in FLOWS.items():
        parameters: dict[str, Any] = {} if name == make_conversation.name else {"out": str(how.out.resolve())}
        is_main = name == generate_benchmark.name
        make = cast("Callable[..., RunnerDeployment]", flow.to_deployment)
        found.append(
            make(
                DEPLOYMENT,
                cron=how.cron or None if is_main else None,
                parameters={**parameters, **(how.parameters or {})} if is_main else parameters,
                description=flow.description,
                work_pool_name=work_pool,
            )
        )
    return found
