"""Advice on a benchmark without probes: the command that makes them."""

from __future__ import annotations

from collections.abc import Callable

from longbeam.formats.chat import FORMAT as CHAT


def advice_without_probes(name: str, imported_from: str, command_of: Callable[[str], str] | None = None) -> str:
    """Return what to do about a benchmark without probes, as a part of a sentence.

    `imported_from` is the format of an import, empty for a generated benchmark. `command_of` returns the line of a
    command on this benchmark; None: the command and the name.
    """
    line_of = command_of or (lambda command: f"longbeam {command} {name}")
    if imported_from == CHAT:
        return f"make them with `{line_of('probe')}`"
    if imported_from:
        return f"its source, of the format {imported_from}, has none; `longbeam probe` makes probes for chats only"
    return f"`{line_of('status')}` says what is missing"
