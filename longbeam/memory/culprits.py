"""Where the code of a vendor's class failed: the name of the class, and a line of the vendor's own files."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Any

_OWN = __name__.partition(".")[0]


def name_of(made_by: object) -> str:
    """Return `module:Class`, as `--system` names it; empty for a class of longbeam."""
    made_by = _unwrapped(made_by)
    module = getattr(made_by, "__module__", "")
    return f"{module}:{getattr(made_by, '__qualname__', made_by)}" if _tops(made_by) else ""


def place_of(exc: BaseException, made_by: object, method: str) -> str:
    """Return `notes.py:12`: the last line of the vendor's files that the exception passed.

    An exception that passed none, such as wrong arguments or a wrong return, is placed where the method or the class is
    defined. Empty where that is unknown, and for a class of longbeam.
    """
    made_by = _unwrapped(made_by)
    tops = _tops(made_by)
    passed = [
        (frame.f_code.co_filename, line)
        for frame, line in walk_tb(exc.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] in tops
    ]
    places = passed[-1:] or (list(_definitions(made_by, method)) if tops else [])
    return f"{Path(places[0][0]).name}:{places[0][1]}" if places else ""


def _unwrapped(made_by: object) -> object:
    return _unwrapped(made_by.func) if isinstance(made_by, partial) else made_by


def _tops(made_by: object) -> set[str]:
    """Return the top-level modules of a function, or of a class and its bases, that are the vendor's."""
    parts: tuple[object, ...] = inspect.getmro(made_by) if inspect.isclass(made_by) else (made_by,)
    names = {str(getattr(part, "__module__", "")).partition(".")[0] for part in parts}
    return names - {"", _OWN, *sys.stdlib_module_names}


def _definitions(made_by: Any, method: str) -> Iterator[tuple[str, int]]:
    """Yield the file and line of a method, then of its class."""
    code = getattr(inspect.unwrap(getattr(made_by, method, None) or made_by), "__code__", None)
    if isinstance(code, CodeType):
        yield code.co_filename, code.co_firstlineno
    try:
        yield inspect.getsourcefile(made_by) or "", inspect.getsourcelines(made_by)[1]
    except (OSError, TypeError):  # a class of a notebook has no file
        return
