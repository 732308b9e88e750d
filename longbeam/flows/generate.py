"""The flows of generation: a benchmark, its conversations, and a task for each stage.

Tasks hand references to one another (`opened.Reference`). The work log decides what is done: a stage that ran before
finds its units there and costs no call, so a retry, a resumed run and `longbeam resume` agree. Model calls are no
tasks: a stage has thousands of them, under limits of our own. `--runner inline` runs the same stages without Prefect.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial, wraps
from pathlib import Path
from typing import Any, Literal

from prefect import flow, get_run_logger, runtime, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.concurrency.asyncio import concurrency
from prefect.states import Completed, Failed

from longbeam.flows.artifacts import show_findings, show_usage
from longbeam.flows.control import (
    RunCancelled,
    StageFailed,
    cancelled,
    carry_out,
    is_of_prefect,
    may_help,
    raise_escaped,
    stoppable,
)
from longbeam.flows.elsewhere import DaskRun, make_by_deployment
from longbeam.flows.opened import (
    ClusterOptions,
    OpenBenchmark,
    OpenedPart,
    Reference,
    opened_benchmark,
    opened_conversation,
)
from longbeam.pipeline import check_and_store, check_spec, load_spec
from longbeam.pipeline.run import all_of, conversations_of, write_missing_seeds
from longbeam.store import SPEC, Benchmark, create_benchmark, open_benchmark
from longbeam.terminal import counted
from longbeam.wiring import services

NAME = "generate-benchmark"
RETRIES, RETRY_AFTER_S = 1, 10
"""Retries of a stage, and the wait before: the models' own retries, which take minutes, have failed by then."""
Where = Literal["here", "dask", "deployment"]
"""Where conversations are made: in this process, on Dask's workers, or in runs of the deployment of their flow."""
Stage = Callable[..., Coroutine[Any, Any, Reference]]


def stage(work: Stage) -> Any:  # Any: Prefect's type of a task loses that it is a coroutine
    """Make a task of a stage; its tag names a limit on all runs of this stage (`prefect concurrency-limit create`)."""
    name = work.__name__
    settings = {"cache_policy": NO_CACHE, "persist_result": False, "retry_condition_fn": may_help}
    retries = {"retries": RETRIES, "retry_delay_seconds": RETRY_AFTER_S}
    return task(work, name=name, task_run_name="{of.place}/" + name, tags=[f"longbeam-{name}"], **settings, **retries)  # type: ignore[call-overload]


@stage
async def seeds(of: Reference) -> Reference:
    """Date the seed."""
    return await carry_out(of, "seeds", lambda run: run.seeds())


@stage
async def profile(of: Reference) -> Reference:
    """Draw the user; a model writes the personality."""
    return await carry_out(of, "profile", lambda run: run.profile())


@stage
async def relationships(of: Reference) -> Reference:
    """Draw the user's people."""
    return await carry_out(of, "relationships", lambda run: run.relationships())


@stage
async def narratives(of: Reference) -> Reference:
    """Write the threads of the story."""
    return await carry_out(of, "narratives", lambda run: run.narratives())


@stage
async def plan(of: Reference) -> Reference:
    """Write one plan."""
    return await carry_out(of, "plan", lambda run: run.plan(of.plan_index or 0))


@stage
async def user_turns(of: Reference) -> Reference:
    """Write what the user says in one plan."""
    return await carry_out(of, "user_turns", lambda run: run.user_turns(of.plan_index or 0))


@stage
async def dialogue(of: Reference) -> Reference:
    """Have one plan talked."""
    return await carry_out(of, "dialogue", lambda run: run.dialogue(of.plan_index or 0))


@stage
async def probes(of: Reference) -> Reference:
    """Word the probes."""
    return await carry_out(of, "probes", lambda run: run.probes())


@stage
async def checks(of: Reference) -> Reference:
    """Check the probes and select."""
    return await carry_out(of, "checks", lambda run: run.checks())


@stage
async def seal(of: Reference) -> Reference:
    """Write the finished file."""
    return await carry_out(of, "seal", lambda run: run.seal())


@flow(name="make-conversation", flow_run_name="{conversation_id}", persist_result=False, validate_parameters=False)
async def make_conversation(
    benchmark: str, conversation_id: str, limit: str = "", places: int = 1, max_cost_usd: float | None = None
) -> State[Any]:
    """Make one conversation of the benchmark in a folder, or go on with it.

    `limit`: Prefect concurrency limit of which the conversation holds a slot. `places`: processes that share the limits
    of the spec, each of which makes a conversation. `max_cost_usd`: USD that this one may spend.
    """
    start = Reference(benchmark=benchmark, conversation_id=conversation_id)
    try:
        async with (
            stoppable(benchmark),
            _slot(limit),
            opened_conversation(benchmark, conversation_id, OpenedPart(places, max_cost_usd)) as opened,
        ):
            try:
                await _by_tasks(start, opened.plans)
            except Exception as exc:
                if not is_of_prefect(exc):
                    raise
                get_run_logger().warning("Prefect failed (%r); what is left is made without its tasks", exc)
                await seal.fn(start)
    except StageFailed as exc:
        return Failed(message=str(exc))
    except RunCancelled as exc:
        return cancelled(exc)
    return Completed(message=f"{conversation_id} is sealed")


async def _by_tasks(start: Reference, plans: int) -> None:
    seed = await seeds(start)
    persona = await all_of([profile(seed), relationships(seed), narratives(seed)])
    talked: list[asyncio.Task[Reference]] = []
    async with ended_together(talked):
        for plan_index in range(plans):
            planned = await plan(start.of_plan(plan_index), wait_for=persona)
            # Plans know the one before; each is talked while the next ones are made.
            talked.append(asyncio.create_task(_talk(planned)))
    worded = await probes(start, wait_for=[task.result() for task in talked])
    await seal(await checks(worded))


async def _talk(planned: Reference) -> Reference:
    turns: Reference = await user_turns(planned)
    talked: Reference = await dialogue(turns)
    return talked


async def _made_here(opened: OpenBenchmark, conversation_id: str, limit: str) -> State[Any]:
    async with opened.places:
        root = str(opened.benchmark.root)
        state: State[Any] = await make_conversation(root, conversation_id, limit, return_state=True)
        return state


@asynccontextmanager
async def ended_together(tasks: list[asyncio.Task[Reference]]) -> AsyncIterator[None]:
    """Await these tasks at the end of the block; one that fails stops none of the others, a cancellation stops all."""
    try:
        try:
            yield
        except StageFailed:  # what was begun is paid for
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        await all_of(tasks)
    finally:
        for begun in tasks:
            begun.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _slot(limit: str) -> AsyncIterator[None]:
    """Hold a slot of a named concurrency limit; none if it has no name."""
    if not limit:
        yield
        return
    async with concurrency(limit, strict=True, raise_on_lease_renewal_failure=False):
        yield


def _run_name() -> str:
    given = runtime.flow_run.parameters
    return str(given.get("name") or Path(str(given.get("spec") or "demo")).stem)


@flow(name=NAME, flow_run_name=_run_name, persist_result=False)
async def generate(
    spec: str | None = None,
    name: str | None = None,
    length: str | None = None,
    conversations: int | None = None,
    domain: str | None = None,
    model: str | None = None,
    seed: int | None = None,
    out: str = "output",
    runner: Where = "here",
    cluster: str = "",
    limit: str = "",
) -> State[Any]:
    """Make a benchmark, or go on with it.

    Args:
        spec: Path of a spec file, or folder of a benchmark to go on with; the fields below win over a file.
        name: Name of the benchmark.
        length: Tokens of a conversation, such as 128K.
        conversations: Number of conversations.
        domain: Domain of the seeds.
        model: Model of all roles.
        seed: Seed of all randomness.
        out: Folder that holds the benchmarks.
        runner: Where conversations are made.
        cluster: Address of a Dask scheduler, for `runner: dask`.
        limit: Prefect concurrency limit of which each conversation holds a slot.
    """
    fields: dict[str, Any] = {"name": name, "length": length, "conversations": conversations, "seed": seed}
    fields |= {"domains": [domain] if domain else None, "models": {"default": model} if model else None}
    root = begin_benchmark(spec, {key: value for key, value in fields.items() if value is not None}, Path(out))
    try:
        async with stoppable(root), opened_benchmark(root) as opened:
            await write_missing_seeds(opened.benchmark, opened.context.models)
            benchmark, wanted = opened.benchmark, [i for i, _ in conversations_of(opened.benchmark)]
            if runner == "here":
                made = await all_of([_made_here(opened, i, limit) for i in wanted])
            elif runner == "dask":
                run = DaskRun(opened.given, wanted, limit, opened.given.cluster or ClusterOptions(address=cluster))
                try:
                    made = await run.make()
                finally:
                    opened.elsewhere = run.summary()
            else:
                made = await make_by_deployment(opened.given, wanted, limit)
            await show_usage(benchmark)
            if all(state.is_completed() for state in made):
                await findings(root)
    except RunCancelled as exc:
        return cancelled(exc)
    for state in made:
        await raise_escaped(state)
    if any(state.is_cancelled() for state in made):
        return cancelled(RunCancelled("the run was cancelled; what was made is kept"))
    if trouble := [f"{i}: {s.message}" for i, s in zip(wanted, made, strict=True) if not s.is_completed()]:
        return Failed(message="; ".join(trouble[:3]) + f" ({len(trouble)} of {len(made)} conversations are unfinished)")
    return Completed(message=f"{counted(len(made), 'conversation')} in {root}")


@flow(name=NAME, flow_run_name=_run_name, persist_result=False)
@wraps(generate.fn, assigned=("__doc__", "__annotations__"))
def generate_benchmark(*given: Any, **named: Any) -> State[Any]:
    """Run `generate` where nobody awaits it: in a deployment, and in `prefect flow-run retry`, which has a loop."""
    work = partial(asyncio.run, generate.fn(*given, **named))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(copy_context().run, work).result()


@task(task_run_name="findings", cache_policy=NO_CACHE, persist_result=False)
async def findings(root: str) -> str:
    """Check the finished conversations, as `longbeam validate` does."""
    benchmark = open_benchmark(Path(root).parent, Path(root).name)
    await show_findings(benchmark, await asyncio.to_thread(check_and_store, benchmark))
    return root


def begin_benchmark(spec: str | None, fields: dict[str, Any], out: Path) -> str:
    """Return the folder of the benchmark of a spec, which is made if it is not there; raises UserError."""
    if spec is not None and (Path(spec) / SPEC).is_file():
        return str(Path(spec).resolve())
    wanted = load_spec(Path(spec) if spec is not None else None, {"name": "demo", **fields} if spec is None else fields)
    check_spec(wanted)
    services().make_model(wanted, home=out / wanted.name)  # finds what is missing before there is a folder
    benchmark: Benchmark = create_benchmark(wanted, out)
    return str(benchmark.root.resolve())
