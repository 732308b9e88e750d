"""Output of the `cmv` commands: the DAG of a store as a tree and as JSON, and the analysis of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from longbeam.memory.cmv.study.analyze import Analysis
from longbeam.memory.cmv.study.cost import Outlook

if TYPE_CHECKING:
    import networkx as nx


def tree_lines(graph: nx.DiGraph[str], *, most_depth: int | None = None) -> Iterator[str]:
    """Yield the DAG as lines to print; snapshots without a parent are roots, oldest first."""

    def age(node: str) -> tuple[Any, ...]:
        data = graph.nodes[node]
        return data["kind"] == "snapshot", data["created_at"], data["name"]

    def below(node: str, indent: str, depth: int) -> Iterator[str]:
        children = sorted(graph.successors(node), key=age)
        if most_depth is not None and depth >= most_depth:
            children = []
        for place, child in enumerate(children):
            is_last = place == len(children) - 1
            yield f"{indent}{'└── ' if is_last else '├── '}{_label(graph, child)}"
            yield from below(child, indent + ("    " if is_last else "│   "), depth + 1)

    for root in sorted((n for n in graph if not graph.in_degree(n)), key=age):
        yield _label(graph, root)
        yield from below(root, "", 1)


def tree_json(graph: nx.DiGraph[str]) -> list[dict[str, Any]]:
    """Return the DAG as nested objects; `children` is left out if there are none."""

    def node(name: str) -> dict[str, Any]:
        data = graph.nodes[name]
        children = [node(child) for child in graph.successors(name)]
        told = {"id": name, "kind": data["kind"], "name": data["name"], "created_at": data["created_at"].isoformat()}
        return told | ({"children": children} if children else {})

    return [node(name) for name in graph if not graph.in_degree(name)]


def render_analysis(session_id: str, made: Analysis, cost: Outlook) -> str:
    """Return the analysis of a session, with costs and savings of a trim, as text."""
    seen = "as the API said, and what came since" if made.has_api_tokens else "estimated from characters"
    lines = [
        f"{session_id}: {made.tokens:,} tokens ({made.context_percent} % of the window; {seen})",
        f"{made.user_messages} messages of the user, {made.assistant_messages} of the assistant, "
        f"{made.compactions} compactions; {made.active_bytes:,} of {made.total_bytes:,} bytes are live",
        "",
    ]
    lines += [f"  {n.replace('_', ' '):22}{b.bytes:>12,} bytes {b.percent:>4} %" for n, b in made.breakdown.items()]
    turns = "never" if cost.break_even_turns is None else f"after {cost.break_even_turns} turns"
    lines += [
        "",
        f"a trim would take about {made.expected_reduction:.0%} of the live bytes, and pay {turns} "
        f"at a cache hit rate of {cost.hit_rate:g}",
    ]
    return "\n".join(lines) + "\n"


def _label(graph: nx.DiGraph[str], node: str) -> str:
    data = graph.nodes[node]
    shown = f"{data['name']} ({node})" if data["kind"] == "snapshot" else f"{data['name']} [branch {node[:8]}]"
    return f"{shown} {data['created_at']:%Y-%m-%d %H:%M}"
