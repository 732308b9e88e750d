"""Memory in huge pages for the commands that work long, where Linux gives them to those who ask.

What a model call costs is spread thinly over much code and many small objects, so that a good part of it is looking up
where pages of 4 KB lie. With pages of 2 MB a run takes a fifth less CPU (docs/design/0021-huge-pages.md). The C
library asks for them if it is told so before Python begins, and Python has to take its objects from the C library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

COMMANDS = frozenset({"evaluate", "generate", "repair", "resume", "serve-offline", "validate"})
"""Those that work long enough for 0.1 s at their beginning."""
SETTINGS = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "PYTHONMALLOC": "malloc"}
"""Environment variables; whoever set one of them knows better."""
OFFERED = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def begin_with_huge_pages(arguments: Sequence[str]) -> None:
    """Begin this process anew with SETTINGS, under the same id, if that is of use; else return."""
    if not arguments or arguments[0] not in COMMANDS or SETTINGS.keys() & os.environ.keys():
        return
    with suppress(OSError):  # another system than Linux, or one that does not let us: it is slower, that is all
        if "[madvise]" in OFFERED.read_text(encoding="utf-8"):
            os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **SETTINGS})
