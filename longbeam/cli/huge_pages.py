"""Memory in huge pages, where Linux gives them to processes that ask (`longbeam --huge-pages COMMAND`).

The cost of a model call is spread thinly over much code and many small objects, so that address translation for pages
of 4 KB takes a good part of it. With pages of 2 MB a run takes a fifth less CPU (docs/design/0021-huge-pages.md). The C
library asks for them if an environment variable says so before Python begins, and Python has to take its objects from
the C library.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

SETTINGS = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "PYTHONMALLOC": "malloc"}
"""Environment variables that the process needs; a user who set one of them keeps that choice."""
OFFERED = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def begin_with_huge_pages() -> None:
    """Run this command line again in this process with SETTINGS, under the same id; return where that is of no use."""
    if SETTINGS.keys() & os.environ.keys():
        return
    with suppress(OSError):  # a system other than Linux, or one that forbids this: the run is slower, that is all
        if "[madvise]" in OFFERED.read_text(encoding="utf-8"):
            os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **SETTINGS})
