"""Commands on the sessions of a coding agent: `longbeam cmv snapshot|branch|trim|tree|export|import|analyze|...`."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from longbeam.cli.app import DEFAULT_OUT, OK, AsJson, app
from longbeam.errors import UserError

cmv = typer.Typer(
    help="Sessions of a coding agent: keep, branch, trim, measure (Contextual Memory Virtualisation).",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(cmv, name="cmv", short_help="Keep, branch and trim sessions of a coding agent.")

Store = Annotated[Path, typer.Option("--store", help="Folder of the snapshots.")]
DEFAULT_STORE = DEFAULT_OUT / ".cmv"
Projects = Annotated[Path, typer.Option("--projects", help="Folder where Claude Code keeps its sessions.")]
DEFAULT_PROJECTS = Path("~/.claude/projects")
Threshold = Annotated[int, typer.Option("--threshold", help="Characters beyond which a result is stubbed, 50 or more.")]
Session = Annotated[
    str | None,
    typer.Argument(help="Session: a file, an id, or its beginning [default: the latest].", show_default=False),
]
SnapshotName = Annotated[str, typer.Argument(help="Name or id of the snapshot.", show_default=False)]
Released = Annotated[bool, typer.Option("--released", help="Trim like the paper's released code, with its faults.")]


@cmv.command()
def snapshot(
    name: Annotated[str, typer.Argument(help="Name of the snapshot.", show_default=False)],
    session: Session = None,
    description: Annotated[str, typer.Option(help="Description of the snapshot.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.", show_default=False)] = None,
    store: Store = DEFAULT_STORE,
    projects: Projects = DEFAULT_PROJECTS,
) -> int:
    """Store a snapshot of a session."""
    from longbeam.memory.cmv import CmvStore, choose_session

    found = choose_session(projects.expanduser(), session)
    made = CmvStore(store).snapshot(found, name, description=description, tags=tuple(tag or ()), warn=_warn)
    print(f"{made.name}: {made.snapshot_id}, of session {made.session_id}")
    return OK


@cmv.command()
def branch(
    name: SnapshotName,
    branch_name: Annotated[str, typer.Option("--name", help="Name of the branch [default: from the time].")] = "",
    whole: Annotated[bool, typer.Option("--whole", help="Do not trim.")] = False,
    threshold: Threshold = 500,
    say: Annotated[str, typer.Option(help="Message of the user to append.")] = "",
    store: Store = DEFAULT_STORE,
    projects: Projects = DEFAULT_PROJECTS,
) -> int:
    """Start a new, trimmed session at the end of a snapshot, in the folder where Claude Code finds it."""
    from longbeam.memory.cmv import CmvStore, TrimSettings

    kept = CmvStore(store)
    trim = None if whole else TrimSettings(threshold=threshold)
    made, metrics = kept.branch(kept.find(name), projects.expanduser(), name=branch_name, trim=trim, orientation=say)
    smaller = f", {metrics.reduction:.0%} smaller" if metrics is not None else ""
    print(f"{made.name}: {made.path}{smaller}")
    print(f"go on with: claude --resume {made.session_id}")
    return OK


@cmv.command()
def trim(
    session: Session = None,
    to: Annotated[Path | None, typer.Option("--to", help="File to write.", show_default=False)] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Replace the session; a backup is kept.")] = False,
    threshold: Threshold = 500,
    released: Released = False,
    json: AsJson = False,
    store: Store = DEFAULT_STORE,
    projects: Projects = DEFAULT_PROJECTS,
) -> int:
    """Write a session without ballast: tool outputs, images, thinking, file histories."""
    from longbeam.memory.cmv import TrimSettings, Variant, back_up, choose_session, trim_file

    if (to is None) is not in_place:
        raise UserError("say where the trimmed session goes: --to FILE, or --in-place")
    found = choose_session(projects.expanduser(), session)
    target = found.path if to is None else to
    if in_place:
        back_up(found.path, store)
    variant = Variant.RELEASED if released else Variant.MENDED
    metrics = trim_file(found.path, target, TrimSettings(threshold=threshold, variant=variant))
    if json:
        print(metrics.model_dump_json(indent=2))
    else:
        print(f"{target}: {metrics.original_bytes:,} to {metrics.trimmed_bytes:,} bytes ({metrics.reduction:.0%} less)")
    return OK


@cmv.command()
def analyze(
    session: Annotated[
        str | None,
        typer.Argument(
            help="Session: a file, an id, or its beginning; or a folder of them [default: the latest].",
            show_default=False,
        ),
    ] = None,
    hit_rate: Annotated[float, typer.Option(help="Share of prompt tokens read from the cache.", min=0, max=1)] = 0.9,
    json: AsJson = False,
    projects: Projects = DEFAULT_PROJECTS,
) -> int:
    """Print the composition of a session's context, and the cost and savings of trimming it.

    For a folder, print the paper's table: savings and break-even by type of session.
    """
    from longbeam.memory.cmv import (
        analyze as analyze_lines,
        choose_session,
        find_sessions,
        outlook,
        read_lines,
        render_analysis,
        render_types,
        trimmed_tokens,
        types_of,
    )

    if session is not None and Path(session).is_dir():
        found_files = find_sessions(Path(session))
        if not found_files:
            raise UserError(f"{session}: no session of a coding agent, *.jsonl, is in this folder or one below it")
        types = types_of((analyze_lines(read_lines(of.path)) for of in found_files), hit_rate=hit_rate)
        print(
            json_module.dumps([of.model_dump() for of in types], indent=2) + "\n" if json else
            render_types(types, hit_rate),
            end="",
        )  # fmt: skip
        return OK
    found = choose_session(projects.expanduser(), session)
    made = analyze_lines(read_lines(found.path))
    cost = outlook(made.tokens, trimmed_tokens(made.tokens, made.expected_reduction), hit_rate=hit_rate)
    if json:
        told = {"analysis": made.model_dump(mode="json"), "outlook": cost.model_dump(mode="json")}
        print(json_module.dumps(told, indent=2))
    else:
        print(render_analysis(found.session_id, made, cost), end="")
    return OK


@cmv.command()
def tree(
    depth: Annotated[int | None, typer.Option(help="Depth of the tree.", show_default=False, min=1)] = None,
    json: AsJson = False,
    store: Store = DEFAULT_STORE,
) -> int:
    """Show snapshots and branches as a tree."""
    from longbeam.memory.cmv import CmvStore, tree_json, tree_lines

    graph = CmvStore(store).graph()
    if json:
        print(json_module.dumps(tree_json(graph), ensure_ascii=False, indent=2))
    elif not graph:
        print(f"no snapshots in {store}; begin with: longbeam cmv snapshot NAME")
    else:
        print("\n".join(tree_lines(graph, most_depth=depth)))
    return OK


@cmv.command()
def delete(
    name: SnapshotName,
    branch_name: Annotated[str, typer.Option("--branch", help="Delete only this branch of the snapshot.")] = "",
    store: Store = DEFAULT_STORE,
) -> int:
    """Delete a snapshot, or one branch of it; later snapshots become children of its parent."""
    from longbeam.memory.cmv import CmvStore

    kept = CmvStore(store)
    found = kept.find(name)
    if branch_name:
        kept.delete_branch(found, branch_name)
    else:
        kept.delete(found)
    print(f"deleted: {found.name}{f' branch {branch_name}' if branch_name else ''}")
    return OK


@cmv.command("export")
def export_(
    name: SnapshotName,
    to: Annotated[Path | None, typer.Option("--to", help="File [default: NAME.cmv].", show_default=False)] = None,
    store: Store = DEFAULT_STORE,
) -> int:
    """Write a snapshot as one file to share."""
    from longbeam.memory.cmv import CmvStore, export_snapshot

    kept = CmvStore(store)
    found = kept.find(name)
    target = to or Path(f"{found.name}.cmv")
    export_snapshot(kept, found, target)
    print(f"written to {target}")
    return OK


@cmv.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="File that `export` wrote.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="New name [default: the name in the file].")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a snapshot of that name.")] = False,
    store: Store = DEFAULT_STORE,
) -> int:
    """Add a snapshot from a file; paths inside the file never reach the file system."""
    from longbeam.memory.cmv import CmvStore, import_snapshot

    made = import_snapshot(CmvStore(store), file, name=name, force=force, warn=_warn)
    print(f"{made.name}: {made.snapshot_id}")
    return OK


@cmv.command("auto-trim")
def auto_trim(threshold: Threshold = 500, store: Store = DEFAULT_STORE) -> int:
    """Trim the session that a hook names on standard input, in place, with a backup; always exits 0."""
    from longbeam.memory.cmv import TrimSettings, run_hook

    print(run_hook(sys.stdin.read(), store, TrimSettings(threshold=threshold)), file=sys.stderr)
    return OK


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)
