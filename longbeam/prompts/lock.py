"""Keeps `versions.json`: the version and the digest of each prompt.

Stored units are made again only when the version of one of their prompts rises; a template that changes under the same
version would mix two prompts in one benchmark. A test compares the file with the templates, and

    python -m longbeam.prompts.lock

rewrites it, but refuses while a changed prompt keeps its version.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from longbeam.prompts.declarations import PROMPTS
from longbeam.prompts.registry import Prompt

VERSIONS = Path(__file__).parent / "versions.json"
COMMAND = "python -m longbeam.prompts.lock"

Locked = dict[str, dict[str, str | int]]


def read_locked(path: Path = VERSIONS) -> Locked:
    """Return the versions and digests in the file; empty if there is no file."""
    locked: Locked = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return locked


def entries_of(prompts: Iterable[Prompt]) -> Locked:
    """Return the current versions and digests, by prompt id."""
    return {p.prompt_id: {"version": p.version, "sha256": p.digest} for p in sorted(prompts, key=lambda p: p.prompt_id)}


def find_unraised(prompts: Iterable[Prompt], locked: Locked) -> list[str]:
    """Return a line for each prompt that changed and kept its version, or whose version fell."""
    faults = []
    for prompt_id, entry in entries_of(prompts).items():
        before = locked.get(prompt_id)
        if before is None:
            continue
        changed, version, last = entry["sha256"] != before["sha256"], int(entry["version"]), int(before["version"])
        if version < last:
            faults.append(f"prompt {prompt_id!r}: version {version} is lower than the locked {last}")
        elif changed and version == last:
            faults.append(
                f"prompt {prompt_id!r}: its template, a part of it or its reply's schema changed and its version is "
                f"still {version}; set it to {version + 1} in declarations.py, then run `{COMMAND}`"
            )
    return faults


def write_locked(prompts: Iterable[Prompt], path: Path = VERSIONS) -> list[str]:
    """Write the file and return the ids of the prompts whose entries changed.

    Raises ValueError, and writes nothing, if `find_unraised` finds something.
    """
    prompts = tuple(prompts)
    locked = read_locked(path)
    if faults := find_unraised(prompts, locked):
        raise ValueError("\n".join(faults))
    entries = entries_of(prompts)
    path.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
    return sorted(i for i in entries.keys() | locked.keys() if entries.get(i) != locked.get(i))


def main() -> int:
    """Write `versions.json`; return 1 if a version has to be raised first."""
    try:
        changed = write_locked(PROMPTS)
    except ValueError as exc:
        print(exc, file=sys.stderr)
        return 1
    print(f"{VERSIONS.name}: {len(changed)} of {len(PROMPTS)} entries changed {' '.join(changed)}".rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
