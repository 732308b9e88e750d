"""`python -m benchmarks.seeded_defects`: generate, export, plant, import, validate, score; docs/seeded-defects.md."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.seeded_defects.planting import plant
from benchmarks.seeded_defects.review import review_table, routing_table
from benchmarks.seeded_defects.scoring import Finding, render, score
from benchmarks.seeded_defects.tables import read_export, write_export

SPEC = """name = "ours"
seed = {seed}
length = "64K"
conversations = 19
probes_per_ability = 4
"""
"""One conversation of every domain; enough probes that no fault touches another."""


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark in a temporary folder, or in the one named, and print its tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seeded_defects", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the conversations and of the faults")
    parser.add_argument("--keep", type=Path, help="a folder to work in; what is generated there is used again")
    parser.add_argument("--review", action="store_true", help="tell, too, what the review pages bring to the eye")
    chosen = parser.parse_args(arguments)
    if chosen.keep is not None:
        chosen.keep.mkdir(parents=True, exist_ok=True)
        print(measure(chosen.keep, chosen.seed, with_review=chosen.review), end="")
        return
    with tempfile.TemporaryDirectory() as folder:
        print(measure(Path(folder), chosen.seed, with_review=chosen.review), end="")


def measure(folder: Path, seed: int, *, with_review: bool = False) -> str:
    """Return the tables of one seed; everything that is made lies in the folder."""
    place = folder / f"seed-{seed}"
    place.mkdir(exist_ok=True)
    (place / "spec.toml").write_text(SPEC.format(seed=seed), encoding="utf-8")
    out = place / "output"
    _longbeam("generate", place / "spec.toml", "--runner", "inline", "--out", out)
    _longbeam("export", "ours", "--to", place / "export", "--out", out)
    started = time.perf_counter()
    chats = read_export(place / "export")
    planted_chats, planted = plant(chats, seed)
    run = f"run-{time.time_ns()}"
    findings: dict[str, list[Finding]] = {}
    for name, listed in (("clean", chats), ("planted", planted_chats)):
        write_export(listed, place / run / name, place / "export" / "manifest.json")
        _longbeam("import", "jsonl", place / run / name, "--name", name, "--out", place / run / "output")
        findings[name] = json.loads(_longbeam("validate", name, "--json", "--out", place / run / "output"))
    result = score(planted, findings["clean"], findings["planted"])
    faults = len([p for p in planted if p.kind != "control"])
    head = (
        f"{faults} faults, {len(planted) - faults} controls in {len(chats)} conversations, seed {seed}: "
        f"recall {result.recall:.1%}, precision {result.precision:.1%}; "
        f"planted, imported and checked twice in {time.perf_counter() - started:.0f} s\n\n"
    )
    seen = ""
    if with_review:
        output = place / run / "output"
        seen = f"{review_table(output, planted)}\n{routing_table(output, planted)}\n"
    return head + seen + render(result)


def _longbeam(*arguments: object) -> str:
    """Run a command and return what it prints; findings are no failure."""
    command = [sys.executable, "-m", "longbeam", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in ((0, 1) if arguments[0] == "validate" else (0,)):
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
