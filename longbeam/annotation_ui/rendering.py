"""Rendering of text as inert HTML, addresses of pages, and the environment of templates.

Markdown loses its links and images, then a sanitiser runs. Highlights are private-use characters before rendering and
become `<mark>` before the sanitiser runs; the sanitiser also closes marks that markdown has cut in two.
"""

from __future__ import annotations

import datetime as dt
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nh3
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from longbeam.abilities import ability_of
from longbeam.review import item_name
from longbeam.schemas import Record

_OPEN, _CLOSE = "\ue000", "\ue001"
_KIND = {"evidence": "\ue010", "search": "\ue011", "doubted": "\ue012", "contested": "\ue013"}
_MARKED = re.compile("\ue000([\ue010-\ue013])")
_PRIVATE = re.compile("[\ue000-\ue013]")
_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "mark"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_HEADING = re.compile(r"<(/?)h[1-6]>")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Embeddings, overrides and isolates of writing direction, by which words could be shown in another order."""
_LEADING = re.compile(r"^(?:\s|[-*+>|#]|\d{1,3}[.)]\s)*")
"""Syntax that makes a line a list item, quote or heading; a mark in front of it would make the line plain text."""
_EMPHASIS = re.compile(r"\*\*|__|`+")
_RULE = re.compile(r":?-+:?")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


class TextMark(Record):
    """A highlighted stretch, in code points."""

    start: int
    end: int
    kind: str = "evidence"
    """`evidence`, `doubted` (it does not hold any more), `contested` (another message denies it) or `search`."""


@dataclass(frozen=True, slots=True)
class Clamp:
    """The part of a message that is shown."""

    start: int
    end: int


def render(text: str, marks: Sequence[TextMark] = (), *, breaks: bool = True) -> str:
    """Return safe HTML of a markdown text: no link, no image, no attribute but the class of a mark.

    Lines of a message break where they were broken, as in a chat; with `breaks` off, a paragraph flows.
    """
    rendered = _markdown(breaks).render(_marked(text, marks))
    rendered = _MARKED.sub(lambda m: f'<mark class="{_name_of(m[1])}">', rendered).replace(_CLOSE, "</mark>")
    # Headings of a message are none of the page: a paragraph in bold says the same.
    rendered = _HEADING.sub(lambda m: "</strong></p>" if m[1] else "<p><strong>", rendered)
    return _signed(nh3.clean(rendered, tags=_TAGS, attributes={"mark": {"class"}}, link_rel=None))


def render_plain(text: str, marks: Sequence[TextMark] = ()) -> str:
    """Return safe HTML of an excerpt: the text as it is, escaped, with marks."""
    shown = _signed(html.escape(_marked(text, marks, is_plain=True)))
    return _MARKED.sub(lambda m: f'<mark class="{_name_of(m[1])}">', shown).replace(_CLOSE, "</mark>")


def visible(text: str) -> str:
    """Return a text in which `[U+202E]` stands for each character that would turn the direction of its paragraph."""
    return _TURNING.sub(lambda m: f"[U+{ord(m[0]):04X}]", text)


def _signed(shown: str) -> str:
    return _TURNING.sub(lambda m: f'<mark class="sign">U+{ord(m[0]):04X}</mark>', shown)


def without_markdown(text: str) -> str:
    """Return a text in one line, without the signs of headings, lists, tables and emphasis: an excerpt for reading."""
    lines = (_EMPHASIS.sub("", _LEADING.sub("", _cells(line))) for line in text.split("\n"))
    return " ".join(line for line in lines if line.strip())


def _cells(line: str) -> str:
    """Return a row of a table as a list of its cells, nothing for the rule below its head, or the line."""
    if "|" not in line:
        return line
    cells = [cell.strip() for cell in line.split("|")]
    is_rule = all(_RULE.fullmatch(cell) for cell in cells if cell)
    return "" if is_rule else ", ".join(cell for cell in cells if cell) + ";"


def clamp(content: str, limit: int, around: tuple[int, int] | None = None) -> Clamp:
    """Return the part of a message to show: its beginning, or the text around a place in it; cut at line ends."""
    if len(content) <= limit:
        return Clamp(0, len(content))
    start = 0
    if around is not None and around[1] > limit:
        start = max(around[0] - limit // 4, 0)
        line = content.rfind("\n", max(start - 200, 0), start + 1)
        start = line + 1 if line >= 0 else start
    end = min(start + limit, len(content))
    if around is not None and around[0] >= start:
        end = min(max(end, around[1]), len(content), start + 4 * limit)
    line = content.rfind("\n", max(end - 200, start + 1), end)
    if line > 0 and end < len(content) and (around is None or line >= around[1]):
        end = line
    return Clamp(start, end)


@cache
def _markdown(breaks: bool) -> MarkdownIt:
    # Links and images stay text: a reviewer must see where they lead, and nothing is ever fetched.
    options = {"html": False, "linkify": False, "breaks": breaks}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    return parser.disable(["link", "image", "autolink", "reference", "html_inline", "html_block", "entity"])


def _marked(text: str, marks: Sequence[TextMark], *, is_plain: bool = False) -> str:
    """Return a text with marks, line by line; private-use characters of the text itself are removed."""
    spans = _disjoint(marks, len(text))
    if not spans:
        return _PRIVATE.sub("", text)
    pieces: list[str] = []
    at = 0
    for mark in spans:
        pieces.append(_PRIVATE.sub("", text[at : mark.start]))
        is_line_start = mark.start == 0 or text[mark.start - 1] == "\n"
        pieces.append(_marked_lines(text[mark.start : mark.end], _KIND[mark.kind], is_line_start, is_plain))
        at = mark.end
    pieces.append(_PRIVATE.sub("", text[at:]))
    return "".join(pieces)


def _marked_lines(text: str, kind: str, is_line_start: bool, is_plain: bool) -> str:
    lines = []
    for i, line in enumerate(_PRIVATE.sub("", text).split("\n")):
        match = _LEADING.match(line) if not is_plain and (i or is_line_start) else None
        lead = match.end() if match else 0
        body = line[lead:]
        if not any(c.isalnum() for c in body) or (match is not None and _FENCE.match(line)):
            lines.append(line)
        else:
            lines.append(f"{line[:lead]}{_OPEN}{kind}{body}{_CLOSE}")
    return "\n".join(lines)


def _disjoint(marks: Sequence[TextMark], length: int) -> list[TextMark]:
    """Return marks that do not overlap, in order; the first of overlapping ones wins."""
    kept: list[TextMark] = []
    for mark in sorted(marks, key=lambda m: (m.start, -m.end)):
        is_free = not kept or kept[-1].end <= mark.start
        if 0 <= mark.start < mark.end <= length and is_free and mark.kind in _KIND:
            kept.append(mark)
    return kept


def _name_of(character: str) -> str:
    return next(name for name, c in _KIND.items() if c == character)


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
        finalize=shown_value,
    )
    environment.filters.update(
        ability_title=lambda name: ability_of(name).shown_as,
        item_name=item_name,
        local_time=local_time,
        without_markdown=without_markdown,
    )
    return environment


def shown_value(value: object) -> object:
    """Return a value of a template as pages show it; HTML of ours passes unchanged."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def local_time(at: dt.datetime) -> Markup:
    """Return a moment as a `<time>`, in UTC; a script shows it on the clock of the reader."""
    moment = at.astimezone(dt.UTC)
    shown = moment.strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}" data-local>{}</time>').format(moment.isoformat(), shown)
