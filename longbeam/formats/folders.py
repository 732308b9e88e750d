"""A folder that appears whole or not at all.

An export is written into a hidden sibling and put in its place by one rename, so that no reader meets half
of one. Only an empty folder or a former export is ever replaced: a person's files are not ours to delete.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from longbeam.errors import StoreError, UserError

Fault = Callable[[Path], str | None]
"""Says why a non-empty folder may not be replaced; None if it may."""


@contextmanager
def replaced_folder(target: Path, fault: Fault) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `target` when the block ends without an error.

    Raises UserError if `target` is a file or holds what may not be replaced (before anything is written),
    StoreError if the file system refuses; then `target` is as it was.
    """
    place = target.resolve()
    _check(place, target, fault)
    partial = place.parent / f".{place.name}.partial-{os.getpid()}"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(place)
        partial.mkdir()
        yield partial
        _check(place, target, fault)  # again: it may have been filled meanwhile
        _put_in_place(partial, place)
    except OSError as exc:
        raise StoreError(f"{target}: cannot write the export: {exc.strerror or exc}") from exc
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check(place: Path, target: Path, fault: Fault) -> None:
    if not place.exists():
        return
    if not place.is_dir():
        raise UserError(f"{target} is a file; name a folder to export to")
    try:
        is_empty = not any(place.iterdir())
    except OSError as exc:
        raise StoreError(f"{target}: cannot read the folder: {exc.strerror or exc}") from exc
    if not is_empty and (reason := fault(place)):
        raise UserError(f"{target} {reason}; name an empty folder, a new one, or a former export")


def _put_in_place(partial: Path, place: Path) -> None:
    """Rename `partial` to `place`; what was there before is left under `partial`'s name, or gone."""
    if not place.exists():
        partial.rename(place)
    elif not _exchange(partial, place):
        # Without an exchanging rename there is a moment with no export; never one with half of one.
        former = partial.with_name(partial.name + ".former")
        place.rename(former)
        partial.rename(place)
        shutil.rmtree(former, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step; False where the system or the file system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    at_cwd, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of linux/fs.h
    return bool(rename(at_cwd, os.fsencode(first), at_cwd, os.fsencode(second), exchange) == 0)


def _remove_leftovers(place: Path) -> None:
    """Remove what killed exports to this place left behind; those of living processes stay."""
    for leftover in sorted(place.parent.glob(f".{place.name}.partial-*")):
        pid = leftover.name.removeprefix(f".{place.name}.partial-").split(".")[0]
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's process
        return True
    return True
