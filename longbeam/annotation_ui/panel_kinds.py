"""Review panels: what a reviewer sees beside a probe of an ability. An ability's record names its panel."""

from __future__ import annotations

from functools import cache

from longbeam.abilities.registry import ability_of, resolve
from longbeam.errors import SpecError
from longbeam.schemas.base import Record


class PanelKind(Record):
    """Parts of a panel beyond those of every panel; the pages of the browser read it as JSON."""

    name: str
    further: str = ""
    """Another view that the panel fetches and shows: `absence` or `dates`."""
    sides_title: str = ""
    """Heading of the table of cited messages by part; empty: there is no such table."""
    has_sessions: bool = False
    """Whether the sessions of the evidence are listed, and messages that may answer the question alone."""
    draft_field: str = ""
    """Field of `ProbeDetails` that a probe written by hand needs: `items` or `missing`."""
    draft_hint: str = ""
    """Hint in that field's input."""


GENERIC = PanelKind(name="generic")
SIDES = PanelKind(name="sides", sides_title="Sides")
ORDER = PanelKind(
    name="order",
    sides_title="Items as asked, and their place in the conversation",
    draft_field="items",
    draft_hint="items in order, one a line",
)
ABSENCE = PanelKind(name="absence", further="absence", draft_field="missing", draft_hint="what is never said")
DATES = PanelKind(name="dates", further="dates")
SESSIONS = PanelKind(name="sessions", has_sessions=True)


@cache
def panel_kind_of(ability: str) -> PanelKind:
    """Return the panel of an ability; raises SpecError for a record that names none."""
    name = ability_of(ability).panel
    kind = resolve(name)
    if not isinstance(kind, PanelKind):
        raise SpecError(f"abilities: {name} is no PanelKind")
    return kind
