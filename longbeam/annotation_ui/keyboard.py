"""Keyboard shortcuts of the review pages: one table for handlers, hints on buttons, the `?` sheet and the docs.

Only keys with `in_fields` act while a field has the focus. Bare Backspace and Enter never change state.
"""

from __future__ import annotations

from longbeam.schemas import Record


class Key(Record):
    """A keyboard shortcut."""

    key: str
    """As `KeyboardEvent.key` has it; `Ctrl+` in front where Control (or Command) is held."""
    action: str
    """Name of the handler in `static/item/main.js`."""
    hint: str
    group: str
    in_fields: bool = False
    repeats: bool = False
    """Whether a held key acts again and again; never for one that decides something."""


KEYS: tuple[Key, ...] = (
    Key(key="j", action="next-item", hint="next item", group="Moving"),
    Key(key="k", action="previous-item", hint="previous item", group="Moving"),
    Key(key="q", action="queue", hint="the queue", group="Moving"),
    Key(key="o", action="list", hint="show or hide the list of items", group="Moving"),
    Key(key="]", action="next-evidence", hint="next evidence", group="Moving", repeats=True),
    Key(key="[", action="previous-evidence", hint="previous evidence", group="Moving", repeats=True),
    Key(key="/", action="search", hint="search the conversation", group="Moving"),
    Key(key=".", action="search-suggested", hint="the next suggested search", group="Moving"),
    Key(key="h", action="next-hit", hint="next hit", group="Moving", repeats=True),
    Key(key="t", action="jump", hint="jump to a date, part or message", group="Moving"),
    Key(key="a", action="accept", hint="accept", group="Verdict"),
    Key(key="x", action="reject", hint="reject, then a reason 1-9", group="Verdict"),
    Key(key="s", action="skip", hint="skip", group="Verdict"),
    Key(key="u", action="return", hint="return to its author", group="Verdict"),
    Key(key="z", action="undo", hint="undo", group="Verdict"),
    Key(key="Z", action="redo", hint="redo", group="Verdict"),
    Key(key="ArrowDown", action="next-nugget", hint="next nugget", group="Nuggets", repeats=True),
    Key(key="ArrowUp", action="previous-nugget", hint="previous nugget", group="Nuggets", repeats=True),
    Key(key="y", action="nugget-yes", hint="nugget: yes, and on to the next", group="Nuggets"),
    Key(key="n", action="nugget-no", hint="nugget: no, and on to the next", group="Nuggets"),
    Key(key="Y", action="all-yes", hint="all nuggets: yes", group="Nuggets"),
    Key(key="r", action="edit-nugget", hint="edit the nugget", group="Nuggets"),
    Key(key="e", action="edit-question", hint="edit the question", group="Editing"),
    Key(key="g", action="edit-gold", hint="edit the gold answer", group="Editing"),
    Key(key="v", action="add-evidence", hint="cite the selected text as evidence", group="Editing"),
    Key(key="Delete", action="remove-evidence", hint="remove the evidence in focus", group="Editing"),
    Key(key="c", action="comment", hint="comment", group="Editing"),
    Key(key="f", action="flag", hint="flag for a lead", group="Editing"),
    Key(key="d", action="check", hint="run the checks again", group="Editing"),
    Key(key="w", action="what-if", hint="try the rubric", group="Editing"),
    Key(key="m", action="counter", hint="counter-evidence", group="Editing"),
    Key(key="b", action="solve", hint="answer it yourself first", group="Editing"),
    Key(key="i", action="guidelines", hint="the guidelines", group="Help"),
    Key(key="l", action="decisions", hint="my decisions", group="Help"),
    Key(key="?", action="help", hint="this sheet", group="Help"),
    Key(key="Ctrl+Enter", action="save", hint="save the field, or what the dialog asks", group="Help", in_fields=True),
    Key(key="Escape", action="leave", hint="leave the field or close", group="Help", in_fields=True),
)  # fmt: skip
"""In the order of the sheet."""
