"""A folder that appears whole or not at all.

An export is written into a hidden sibling and put in its place by one rename, so that no reader meets half
of one. Only an empty folder or a former export is ever replaced: a person's files are not ours to delete.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from longbeam.errors import StoreError, UserError
from longbeam.store import describe_os_error, scratch_beside

Fault = Callable[[Path], str | None]
"""Returns the reason why a non-empty folder may not be replaced; None if it may."""


@contextmanager
def replaced_folder(target: Path, fault: Fault) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `target` when the block ends without an error.

    Raises UserError if `target` is a file or holds what may not be replaced (before anything is written),
    StoreError if the file system refuses; then `target` is as it was.
    """
    try:
        place = target.resolve()
        _check(place, target, fault)
    except (OSError, ValueError) as exc:  # a name too long, one with NUL
        reason = exc.strerror if isinstance(exc, OSError) else exc
        raise UserError(f"{str(target)[:60]!r}: is no folder to export to: {reason}; name another one") from exc
    with scratch_beside(place) as scratch:
        try:
            folder = scratch / "folder"
            folder.mkdir()
            yield folder
            _check(place, target, fault)  # again: it may have been filled meanwhile
            _put_in_place(folder, place)
        except OSError as exc:
            raise StoreError(describe_os_error(target, exc)) from exc


def _check(place: Path, target: Path, fault: Fault) -> None:
    if not place.exists():
        return
    if not place.is_dir():
        raise UserError(f"{target} is a file; name a folder to export to")
    try:
        is_empty = not any(place.iterdir())
    except OSError as exc:
        raise StoreError(describe_os_error(target, exc, "read")) from exc
    if not is_empty and (reason := fault(place)):
        raise UserError(f"{target} {reason}; name an empty folder, a new one, or a former export")


def _put_in_place(folder: Path, place: Path) -> None:
    """Rename `folder` to `place`; the former folder at `place` ends up in the scratch folder."""
    if not place.exists():
        folder.rename(place)
    elif not _exchange(folder, place):
        # Without an exchanging rename there is a moment with no export, but never one with half an export.
        place.rename(folder.with_name("former"))
        folder.rename(place)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders in one step; return False if the system or the file system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    at_cwd, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of linux/fs.h
    return bool(rename(at_cwd, os.fsencode(first), at_cwd, os.fsencode(second), exchange) == 0)
