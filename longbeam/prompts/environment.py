"""The Jinja2 environment of prompts, and analysis of templates without rendering them.

Templates are our own files, but they are checked like foreign ones: only the constructs that prompts need are allowed,
so that no expression can turn foreign text into trusted text unseen. Unlike `jinja2.meta`, `used_variables` follows
includes; the name of an included part is a constant that begins with `_`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta, nodes

from longbeam.prompts.slots import day, fenced, inline, listed, only_trusted, spoken_day

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
