"""The command that makes probes over imported chats: probe."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longbeam.cli.app import DEFAULT_OUT, INCOMPLETE, OK, AsJson, Name, Out, app, command_line
from longbeam.cli.display import Target, display_for
from longbeam.errors import UserError
from longbeam.schemas import DEFAULT_MODEL
from longbeam.stopping import run_stoppable
from longbeam.terminal import counted

if TYPE_CHECKING:
    from longbeam.store import Benchmark

STAGES = ("ledger", "probes", "checks")
"""Stages of probing, in their order."""


@app.command(short_help="Make probes over imported chats.")
def probe(
    name: Name,
    model: Annotated[
        str | None, typer.Option("--model", help=f"Model of all roles [default: {DEFAULT_MODEL}].", show_default=False)
    ] = None,
    spec_file: Annotated[
        Path | None,
        typer.Option(
            "--spec", metavar="SPEC.toml", help="Spec to take models, limits, checks and settings of probes from."
        ),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", help="Most USD to spend; the run stops before.", show_default=False)
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="First replace names, e-mail addresses, telephone numbers and keys, and delete what was made before.",
        ),
    ] = False,
    redact_name: Annotated[
        list[str] | None,
        typer.Option("--redact-name", help="A further name to replace; may be repeated.", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Send the messages without being asked.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print expected calls, tokens and cost, and send nothing.")
    ] = False,
    json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> int:
    """Read a ledger out of imported chats and make probes on it; `review`, `export` and `evaluate` work on them.

    Messages go to the models of the spec and nowhere else. What looks private in them is shown first.
    """
    from dataclasses import replace

    from longbeam.models import Prices
    from longbeam.pipeline import chats_of, load_spec, probe_chats, probing_spec, redact_chats
    from longbeam.pipeline.cost import (
        Outlook,
        estimate_of,
        is_worth_rehearsing,
        outlook_line,
        rehearse_probing,
        render_estimate,
        unfit_cap,
    )
    from longbeam.pipeline.run import open_meter
    from longbeam.schemas import is_language_model
    from longbeam.store import open_benchmark
    from longbeam.text import Redaction, render_found
    from longbeam.wiring import services

    benchmark = chats_of(open_benchmark(out, name))
    given = {
        "name": name,
        "models": {"default": model} if model is not None else None,
        "limits": {"max_cost_usd": max_cost} if max_cost is not None else None,
    }
    spec = load_spec(spec_file, {key: value for key, value in given.items() if value is not None})
    probed = replace(benchmark, spec=probing_spec(benchmark, spec))
    if estimate:
        found = estimate_of(probed.spec, run_stoppable(rehearse_probing(probed, services())))
        print(found.model_dump_json(indent=2) if json else render_estimate(found), end="\n" if json else "")
        return OK
    if redact or redact_name:
        redaction = Redaction(redact_name or ())
        redact_chats(probed, redaction)
        print(f"Replaced in {name}, for good:\n{render_found(redaction.found())}", end="")
    rehearsal = None
    if is_worth_rehearsing(probed.spec):
        rehearsal = run_stoppable(rehearse_probing(probed, services()))
        prices = Prices(probed.spec, {row.model for row in rehearsal.usage})
        print(f"{name}: {outlook_line(prices, (), rehearsal.usage)}", file=sys.stderr)
    if any(map(is_language_model, probed.spec.models_in_use)) and not yes:
        _ask_to_send(probed, out)
    meter = open_meter(probed, services())
    outlook = Outlook(probed, meter, rehearsal) if rehearsal is not None else None
    if outlook is not None and (warning := unfit_cap(outlook)):
        print(f"warning: {warning}", file=sys.stderr)
    try:
        with display_for(sys.stderr, Target(len(probed.sealed_ids), 0, STAGES), outlook) as progress:
            made = run_stoppable(probe_chats(probed, services().models(meter), progress), tell=progress.waiting)
    finally:
        if outlook is not None:
            outlook.close()
    print(f"{name}: {counted(made.statements, 'statement')}, {counted(made.probes, 'selected probe')}")
    for line in made.failures:
        print(f"failed: {line}", file=sys.stderr)
    print(f"Read them with: {command_line('review', name, out)}")
    return INCOMPLETE if made.failures else OK


def _ask_to_send(benchmark: Benchmark, out: Path) -> None:
    """Show where messages would go and what looks private in them; UserError unless the user agrees."""
    from longbeam.pipeline import private_texts
    from longbeam.text import render_found

    spec = benchmark.spec
    places = sorted({f"{m} ({spec.endpoint_for(m).base_url or 'its usual address'})" for m in spec.models_in_use})
    print(f"All messages of {spec.name} are sent to {', '.join(places)}, and nowhere else. What looks private in them:")
    if find_spec("presidio_analyzer") is None:
        print("not searched: pip install 'longbeam[redact]' to see it")
    else:
        print(render_found(private_texts(benchmark)), end="")
    print("To replace such texts first, add --redact, and --redact-name NAME for names that the rules miss.")
    if not sys.stdin.isatty():
        raise UserError("nothing was sent; add --yes to send the messages as they are")
    if not typer.confirm("Send them?"):
        raise UserError("nothing was sent")
