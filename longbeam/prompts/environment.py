"""The Jinja2 environment of prompts, the slots by which foreign text gets into a prompt, and analysis of
templates.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined, meta, nodes
from pydantic import BaseModel

from longbeam.text import format_date, weekday


class Trusted(str):
    """Text that may stand in a prompt as it is. Results of operations on it (`~`, `+`, `join`) are plain strings."""

    __slots__ = ()


REMEMBERED = 400
"""Length of texts whose inline form is cached: bullets stand in many prompts."""
_NAME = re.compile(r"[a-z][a-z ]{0,29}")
_LINE_ENDS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
# Zero-width joiner and non-joiner stay, because emoji, Persian and Indic words need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN_PRINTABLE = re.compile("[\U000e0100-\U000e01ef]")
"""Variation selectors: the only characters that `_visible` removes although `str.isprintable` accepts them."""
_TILDES = re.compile("~(?:[\u200c\u200d\ufe00-\ufe0f]*~)*")
# Markers of common chat templates before and after a message: <|im_start|>, <｜User｜>, [INST], </s>, ...
_SPEAKER_MARK = re.compile(
    r"<(?=[|｜][^\s<>|｜]{1,40}[|｜]>|/?s>|/?(?:start|end)_of_turn>|(?:bos|eos)>|</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
)


def fenced(text: object, name: str = "text") -> Trusted:
    """Return text between fences that it cannot close; other values are written as JSON.

    Raises ValueError for a name that is not a few small letters, TypeError for None.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"name of a fence {name!r}: small letters and spaces are allowed")
    if text is None or isinstance(text, Undefined):
        raise TypeError(f"nothing to fence: {text!r}")
    body = _visible(text if isinstance(text, str) else json.dumps(_plain(text), ensure_ascii=False, indent=1))
    longest = max((run.count("~") for run in _TILDES.findall(body)), default=0) if "~" in body else 0
    fence = "~" * max(3, longest + 1)
    return Trusted(f"{fence}{name}\n{body}\n{fence}")


def inline(text: object) -> Trusted:
    """Return a short text on one line, so that it cannot begin a line of its own.

    Raises TypeError for anything but a text, number, date or enum member.
    """
    if type(text) is not str and not isinstance(text, str | int | float | dt.date | Undefined):
        raise TypeError(f"inline takes one text, not {type(text).__name__}; use listed or fenced")
    said = str(text)
    return _one_line(said) if len(said) <= REMEMBERED else _one_line.__wrapped__(said)


@lru_cache(maxsize=4_096)
def _one_line(text: str) -> Trusted:
    return Trusted(" ".join(_visible(text).split()))


def listed(texts: Iterable[object], separator: str = ", ") -> Trusted:
    """Return short texts on one line, each made `inline`."""
    if isinstance(texts, str):
        raise TypeError("listed takes several texts, not one; use inline")
    return Trusted(separator.join(inline(t) for t in texts))


def day(date: dt.date) -> Trusted:
    """Return `2024-03-05 (Tuesday)`, as models are bad at weekdays."""
    return Trusted(f"{date.isoformat()} ({weekday(date)})")


def spoken_day(date: dt.date) -> Trusted:
    """Return `"March 5", a Tuesday`: the words for a day that is near, as people write it."""
    return Trusted(f'"{format_date(date, with_year=False)}", a {weekday(date)}')


def only_trusted(value: object) -> object:
    """Return the result of a template's expression if it may be printed; raise TypeError otherwise."""
    if type(value) is Trusted or isinstance(
        value, Trusted | StrEnum
    ):  # Most results are trusted, and this test is cheap.
        return value
    if isinstance(value, int | float | dt.date) and not isinstance(value, Enum):
        return value
    if isinstance(value, Undefined):
        return str(value)  # This raises an error that names the variable.
    raise TypeError(
        f"unfenced {type(value).__name__} in a prompt: {str(value)[:40]!r}; use the fenced, inline or listed filter"
    )


def _visible(text: str) -> str:
    if not _is_plain(text):
        text = _LINE_ENDS.sub("\n", text)
        text = _SURROGATE.sub("�", _UNSEEN.sub("", text))
    if "<" in text or "[" in text:
        text = _SPEAKER_MARK.sub(lambda mark: f"{mark.group()} ", text)
    return text


def _is_plain(text: str) -> bool:
    """Whether a text has no invisible characters, as most texts; the test costs a fifth of replacing each kind."""
    flat = text.replace("\n", " ").replace("\t", " ")
    return flat.isprintable() and (flat.isascii() or _UNSEEN_PRINTABLE.search(flat) is None)


def _plain(value: object) -> Any:  # Any: a JSON tree
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value.isoformat() if isinstance(value, dt.date) else value


TEMPLATES = Path(__file__).parent / "templates"
BLOCKS = frozenset({"system", "opening", "user"})
FILTERS = frozenset({"fenced", "inline", "listed", "day", "spoken_day", "length"})
# Macros, filter blocks and calls return strings composed elsewhere; imports hide the origin of a variable.
_REFUSED = (
    nodes.AssignBlock,
    nodes.Call,
    nodes.CallBlock,
    nodes.Extends,
    nodes.FilterBlock,
    nodes.FromImport,
    nodes.Import,
    nodes.Macro,
    nodes.ScopedEvalContextModifier,
)


@lru_cache(maxsize=64)
def environment_of(directory: Path) -> Environment:
    """Return the environment of the templates in a folder, which reads each file once.

    Parts that the folder lacks come from longbeam's folder: a plug-in's prompt may include `_probe_rules.j2`.
    """
    # The output is a prompt, not HTML: `fenced` and `inline` separate foreign text from ours.
    environment = Environment(
        loader=FileSystemLoader([directory, TEMPLATES]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=only_trusted,
        autoescape=False,
        auto_reload=False,
    )
    environment.filters = {
        "fenced": fenced,
        "inline": inline,
        "listed": listed,
        "day": day,
        "spoken_day": spoken_day,
        "length": len,
    }
    environment.globals.clear()
    return environment


def parse(environment: Environment, name: str) -> nodes.Template:
    """Return the syntax tree of a template file. It may be shared: do not edit it."""
    return _parsed(environment, name, source_of(environment, name))


@lru_cache(maxsize=256)
def _parsed(environment: Environment, name: str, source: str) -> nodes.Template:
    return environment.parse(source, name)


def source_of(environment: Environment, name: str) -> str:
    """Return the text of a template file."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def block_of(tree: nodes.Template, block: str) -> nodes.Template | None:
    """Return the tree of one block alone; None if the template has no such block."""
    found = next((b for b in tree.find_all(nodes.Block) if b.name == block), None)
    if found is None:
        return None
    alone = nodes.Template(found.body, lineno=found.lineno)
    if tree.environment is not None:
        alone.set_environment(tree.environment)
    return alone


def used_variables(environment: Environment, tree: nodes.Template) -> frozenset[str]:
    """Return the variables that a template and its included parts take from outside."""
    used = set(meta.find_undeclared_variables(tree))
    for include, bound in _includes(tree, frozenset()):
        used |= used_variables(environment, parse(environment, _part_name(include))) - bound
    return frozenset(used)


def parts_of(environment: Environment, tree: nodes.Template) -> frozenset[str]:
    """Return the names of all included files, nested ones included."""
    names = {_part_name(include) for include in tree.find_all(nodes.Include)}
    for name in tuple(names):
        names |= parts_of(environment, parse(environment, name))
    return frozenset(names)


def fault_of(tree: nodes.Template) -> str | None:
    """Return the first forbidden construct of a template; None if there is none."""
    for node in tree.find_all(_REFUSED):
        return f"line {node.lineno}: {type(node).__name__} is not allowed in a prompt"
    for node in tree.find_all(nodes.Filter):
        if node.name not in FILTERS:
            return f"line {node.lineno}: filter {node.name!r}; allowed are {', '.join(sorted(FILTERS))}"
    for node in tree.find_all(nodes.Getattr):
        # Private attributes lead to Python's internals, which a user's template must not reach.
        if node.attr.startswith("_"):
            return f"line {node.lineno}: attribute {node.attr!r} is private"
    for node in tree.find_all(nodes.Include):
        if not isinstance(node.template, nodes.Const) or not str(node.template.value).startswith("_"):
            return f"line {node.lineno}: a part is included by its constant name, which begins with '_'"
    if tree.find(nodes.Block) is None:
        return None
    outside = [n for n in tree.body if not isinstance(n, nodes.Block) and not _is_blank(n)]
    return f"line {outside[0].lineno}: text outside of the blocks is never rendered" if outside else None


def _is_blank(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Output) and all(
        isinstance(part, nodes.TemplateData) and not part.data.strip() for part in node.nodes
    )


def _part_name(include: nodes.Include) -> str:
    if not isinstance(include.template, nodes.Const):
        raise ValueError(f"line {include.lineno}: a part is included by its constant name")
    return str(include.template.value)


def _includes(node: nodes.Node, bound: frozenset[str]) -> Iterator[tuple[nodes.Include, frozenset[str]]]:
    """Yield each include with the names that loops, `with` and `set` around it have bound."""
    if isinstance(node, nodes.Include):
        yield node, bound
    if isinstance(node, nodes.For):
        bound |= _names(node.target) | {"loop"}
    if isinstance(node, nodes.With):
        bound |= frozenset(name for target in node.targets for name in _names(target))
    for child in node.iter_child_nodes():
        if isinstance(child, nodes.Assign):
            bound |= _names(child.target)
        yield from _includes(child, bound)


def _names(target: nodes.Node) -> frozenset[str]:
    here = {target.name} if isinstance(target, nodes.Name) else set()
    return frozenset(here | {n.name for n in target.find_all(nodes.Name)})
