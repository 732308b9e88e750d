"""Code that the user pasted before, by file: a later message carries it on instead of starting the file anew.

A sub-plan's messages are written one batch after the other, so a file lives as long as its sub-plan; sub-plans are
written side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from longbeam.prompts.calls import PastedFile, ProjectName
from longbeam.schemas import UserTurn
from longbeam.text import FENCE, fenced_spans

FILES = 3
"""Files that a writer is shown: the ones pasted last."""
FILE_CHARS = 2_000
"""Characters of a file that are shown: 40 lines, as many as a message may paste."""
_FILE_NAME = re.compile(r"\w\.\w{1,8}\Z")
_NO_CODE = frozenset({"", "text", "txt", "plain", "plaintext", "log", "console", "output", "error", "traceback"})
"""Languages of fences that hold logs and errors, which name files, too."""


def last_pasted(turns: Sequence[UserTurn], names: Sequence[ProjectName]) -> tuple[PastedFile, ...]:
    """Return the named files that the turns paste, each as it stands in its last fence, the newest last."""
    listed = [thing.name for thing in names if _FILE_NAME.search(thing.name)]
    found: dict[str, str] = {}
    for turn in turns if listed else ():
        for name, code in _pasted(turn.text, listed):
            found.pop(name, None)
            found[name] = code
    return tuple(_shortened(name, code) for name, code in list(found.items())[-FILES:])


def _pasted(text: str, listed: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the code of each fence with a language, with the file that is named last before it or in its first line."""
    for (start, end), is_closed in fenced_spans(text):
        opening, *lines = text[start:end].splitlines()
        fence = FENCE.match(opening)
        if fence is None or fence["info"].strip().partition(" ")[0].casefold() in _NO_CODE:
            continue
        code = lines[:-1] if is_closed else lines
        name = _last_named("\n".join([text[:start], opening, *code[:1]]), listed)
        if name and code:
            yield name, "\n".join(code)


def _last_named(text: str, listed: Sequence[str]) -> str:
    ends = {name: m.end() for name in listed for m in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)}
    return max(ends, key=lambda name: (ends[name], len(name)), default="")


def _shortened(name: str, code: str) -> PastedFile:
    """Return a file with the whole lines that fit from its beginning."""
    if len(code) <= FILE_CHARS:
        return PastedFile(name=name, code=code)
    return PastedFile(name=name, code=code[: FILE_CHARS + 1].rpartition("\n")[0] or code[:FILE_CHARS], is_cut=True)
