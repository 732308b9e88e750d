"""The environment of the pages' templates: for pages of the server and for pages in a folder alike."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from longbeam.abilities.registry import ability_of
from longbeam.review.names import item_name

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"


def page_environment() -> Environment:
    """Return an environment that escapes every value and refuses names that a page was not given."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        ability_title=lambda name: ability_of(name).shown_as, item_name=item_name, local_time=local_time
    )
    return environment


def local_time(at: dt.datetime) -> Markup:
    """Return a moment as a `<time>`, in UTC; a script shows it on the clock of the reader."""
    moment = at.astimezone(dt.UTC)
    shown = moment.strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}" data-local>{}</time>').format(moment.isoformat(), shown)
