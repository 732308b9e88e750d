"""Follow a planned fact, a reply and a probe through the modules of an offline run and its export.

    python -m benchmarks.walks [SOURCES]

SOURCES is another checkout of longbeam, such as an unpacked older commit. A stay is a module in which a function is
given the thing, alone or in a record, in the order of the first time; a climb is a step to a package higher up (`cli`
is the highest), a return a step to a package in which the thing was before.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

ROWS = (
    "cli", "flows", "library", "wiring", "annotation_ui", "review pipeline", "evaluation",
    "memory formats validation generators", "offline manual", "models store prompts", "abilities", "text", "schemas",
)  # fmt: skip
ROW = {name: row for row, names in enumerate(ROWS) for name in names.split()}
FACT, REPLY, PROBE = "p0.f1", "p0.s0.t1.n0", "knowledge_update.0"
Given = Callable[[Any], bool]


def _has(name: str, wanted: str) -> Given:
    """Return whether a thing, or a record in it, has this id; lists are looked at to their tenth item."""

    def has(thing: Any, depth: int = 2) -> bool:
        if isinstance(thing, (list, tuple)):
            return depth > 0 and any(has(item, depth - 1) for item in thing[:10])
        fields = getattr(thing, "__dict__", None)
        if not fields or not getattr(type(thing), "model_fields", None):
            return False
        return fields.get(name) == wanted or (depth > 0 and any(has(v, depth - 1) for v in fields.values()))

    return has


class Walk:
    """The modules in which a thing stays, in the order of the first time."""

    def __init__(self, title: str, *given: Given) -> None:
        self.title, self.given, self.stays = title, given, dict[str, None]()

    def see(self, module: str, things: list[Any]) -> None:
        """Note a module if one of the things that it is given is the one that is followed."""
        if module not in self.stays and any(has(thing) for thing in things for has in self.given):
            self.stays[module] = None

    def line(self) -> str:
        """Return the row of the table."""
        rooms = [module.split(".")[0] for module in self.stays]
        steps = [(i, a, b) for i, (a, b) in enumerate(pairwise(rooms)) if a != b]
        climbs = sum(ROW.get(b, -1) < ROW.get(a, -1) for _, a, b in steps)
        returns = sum(b in rooms[: i + 1] for i, _, b in steps)
        return f"| {self.title} | {len(rooms)} | {len(steps)} | {climbs} | {returns} |"


def main() -> None:
    """Print a row for each walk, and its stays."""
    root = str(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    sys.path.insert(0, root)
    from longbeam.cli import run

    walks = (
        Walk("a planned fact", _has("fact_id", FACT)),
        Walk("a reply", _has("message_key", REPLY)),
        Walk("a probe", _has("candidate_id", PROBE), _has("probe_id", PROBE)),
    )
    prefix = os.path.join(root, "longbeam") + os.sep

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(prefix):
            return
        module = code.co_filename[len(prefix) : -3].replace(os.sep, ".").removesuffix(".__init__")
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        things = [frame.f_locals[name] for name in names if name in frame.f_locals]
        for walk in walks:
            if module not in walk.stays:
                walk.see(module, things)

    with tempfile.TemporaryDirectory() as folder:
        threading.setprofile(profile)
        sys.setprofile(profile)
        base = ["--out", folder]
        run(
            [
                "generate",
                "--name",
                "walk",
                "--length",
                "16K",
                "--domain",
                "home_real_estate",
                "--seed",
                "7",
                "--runner",
                "inline",
                *base,
            ]
        )
        run(["export", "walk", "--format", "jsonl", "--to", os.path.join(folder, "export"), *base])
        sys.setprofile(None)
    print("| walk | stays (modules) | steps between packages | climbs | returns |\n|---|---|---|---|---|")
    for walk in walks:
        print(walk.line())
    for walk in walks:
        print(f"\n{walk.title}: {', '.join(walk.stays)}")


if __name__ == "__main__":
    main()
