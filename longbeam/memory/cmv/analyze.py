"""Analysis of a session's context (its parts and sizes, in one streaming pass), the cost of trimming it, and both
as text.

The DAG of a store is printed as a tree or as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from pydantic import Field

from longbeam.memory.cmv.session import (
    COPY,
    QUEUE,
    SNAPSHOT,
    Line,
    blocks_of,
    content_holder,
    encode_line,
    is_compaction,
    line_text,
    parse_line,
    speaker_of,
)
from longbeam.schemas import Record

if TYPE_CHECKING:
    import networkx as nx


WRITE, READ = Fraction("1.25"), Fraction("0.1")
"""Factors of the input price: to write a token into the cache, to read one from it."""
USD_PER_MILLION = {"sonnet-4": 3.0, "opus-4.6": 5.0, "opus-4": 15.0, "haiku-4.5": 1.0}
"""Input price by model, as in the paper."""
PROJECTED_TURNS = (5, 10, 20, 50)
OVERHEAD_TOKENS = 20_000
"""System prompt and tools, which no trim shortens."""
MOST_REDUCTION = 0.95


class TrimOutlook(Record):
    """Costs and savings of a trim."""

    tokens_before: int
    tokens_after: int
    hit_rate: float = Field(ge=0, le=1)
    reduction: float
    """Share of the context's tokens that the trim removes."""
    penalty_usd: float
    """Extra cost of the first turn, which misses the cache."""
    saved_usd_per_turn: float
    break_even_turns: int | None
    """Turns from which the trim is cheaper; None if nothing was removed."""
    saved_usd: dict[int, float]
    """Savings by number of turns; negative before the trim has paid for itself."""


def cost_factor(hit_rate: float) -> Fraction:
    """Return c(h), the price of a prompt token as a factor of the input price."""
    hit = Fraction(str(hit_rate))
    return READ * hit + WRITE * (1 - hit)


def break_even(reduction: float, hit_rate: float = 0.9) -> int | None:
    """Return the turns after which a trim by this share has paid for itself; None for a trim that removes nothing.

    Uses fractions: at a whole number of turns, binary floats would give one more or one less.
    """
    share, factor = Fraction(str(reduction)), cost_factor(hit_rate)
    if share <= 0:
        return None
    return max(math.ceil((WRITE - factor) * (1 - share) / (factor * share)), 0)


def outlook(before: int, after: int, *, hit_rate: float = 0.9, model: str = "sonnet-4") -> TrimOutlook:
    """Return costs and savings of trimming a context from `before` to `after` tokens."""
    usd_per_token = USD_PER_MILLION[model] / 1e6
    reduction = 1 - after / before if before else 0.0
    factor = float(cost_factor(hit_rate))
    penalty = (float(WRITE) * after - factor * before) * usd_per_token
    saved = factor * (before - after) * usd_per_token
    return TrimOutlook(
        tokens_before=before,
        tokens_after=after,
        hit_rate=hit_rate,
        reduction=reduction,
        penalty_usd=penalty,
        saved_usd_per_turn=saved,
        break_even_turns=break_even(reduction, hit_rate),
        saved_usd={turns: saved * (turns - 1) - penalty for turns in PROJECTED_TURNS},
    )


def trimmed_tokens(before: int, byte_reduction: float) -> int:
    """Return the tokens of a context whose session lost this share of its *live* bytes; the overhead stays.

    The paper divides by all bytes, those before the last compaction among them, which the model no longer reads.
    """
    if before <= OVERHEAD_TOKENS:
        return before
    return min(before, round((before - OVERHEAD_TOKENS) * (1 - byte_reduction)) + OVERHEAD_TOKENS)


@dataclass(frozen=True, kw_only=True)
class TrimmableBytes:
    """Bytes of a session that a trim shortens or removes, and the number of tool results."""

    tool_results: int
    results_count: int
    signatures: int
    file_history: int
    tool_calls: int

    def expected_reduction(self, active: int) -> float:
        """Return the share of the `active` bytes that a trim is expected to take, 0 to 0.95, without making it.

        Seven tenths of tool results, all signatures and file histories, three tenths of tool calls, less 35 bytes for
        each stub.
        """
        if not active:
            return 0.0
        stubs = 35 * self.results_count
        removed = self.file_history + self.signatures + 0.7 * self.tool_results - stubs + 0.3 * self.tool_calls
        return min(max(removed / active, 0.0), MOST_REDUCTION)


WINDOW_TOKENS = 200_000
CHARS_PER_TOKEN = 4
BUCKETS = ("tool_results", "tool_copies", "thinking_signatures", "file_history", "conversation", "tool_calls", "other")


class SessionPart(Record):
    """A category of the active bytes."""

    bytes: int = 0
    count: int = 0
    percent: int = 0
    """Percent of the active bytes, rounded."""


class Analysis(Record):
    """State of a session; only lines after the last compaction count."""

    total_bytes: int
    active_bytes: int
    user_messages: int
    assistant_messages: int
    compactions: int
    tokens: int
    """Tokens of the next request: the API's last count and a quarter of the characters since then; without such a
    count, a quarter of all characters and 20,000."""
    context_percent: int
    """Percent of a window of 200,000 tokens."""
    has_api_tokens: bool
    expected_reduction: float
    """Estimated share of the active bytes that a trim would remove, 0 to 0.95."""
    breakdown: dict[str, SessionPart]


def analyze(lines: Iterable[str]) -> Analysis:
    """Return the analysis of a session."""
    count = _Count()
    for text in lines:
        count.take(text)
    return count.analysis()


@dataclass
class _Count:
    total: int = 0
    compactions: int = 0
    chars: int = 0
    """Since the last compaction."""
    chars_at_api: int = 0
    api_tokens: int = 0
    active: int = 0
    messages: dict[str, int] = field(default_factory=lambda: {"user": 0, "assistant": 0})
    buckets: dict[str, list[int]] = field(default_factory=lambda: {name: [0, 0] for name in BUCKETS})

    def take(self, text: str) -> None:
        size = len(encode_line(text))
        self.total += size
        if not text.strip():
            return
        line = parse_line(text)
        if line is not None and is_compaction(line):
            self._restart()
        self.active += size
        if line is None or line.get("type") == QUEUE:
            self._add("other", size)
            return
        if line.get("type") == SNAPSHOT:
            self._add("file_history", size)
            return
        self._message(line, size)

    def _restart(self) -> None:
        self.compactions += 1
        self.chars = self.chars_at_api = self.active = 0
        self.messages = {"user": 0, "assistant": 0}
        self.buckets = {name: [0, 0] for name in BUCKETS}

    def _message(self, line: Line, size: int) -> None:
        speaker, rest = speaker_of(line), size
        if COPY in line:
            copied = len(encode_line(line_text({COPY: line[COPY]}))) - 1
            self._add("tool_copies", copied)
            rest -= copied
        for block in blocks_of(line):
            if not isinstance(block, dict):
                continue
            taken = _share(block)
            if taken is not None:
                self._add(taken[0], taken[1])
                rest -= taken[1]
        if speaker is not None or is_compaction(line):
            self.messages[speaker or "user"] += speaker is not None
            self._add("conversation", max(rest, 0))
        else:
            self._add("other", max(rest, 0))
        self._tokens(line)

    def _tokens(self, line: Line) -> None:
        holder = content_holder(line)
        content = holder["content"] if holder is not None else line.get("summary", "")
        self.chars += len(content) if isinstance(content, str) else sum(len(line_text({"": b})) for b in content or ())
        message = line.get("message")
        usage = (message.get("usage") if isinstance(message, dict) else None) or line.get("usage")
        if isinstance(usage, dict):
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            seen = sum(n for name in names if isinstance(n := usage.get(name), int))
            if seen > 0 and seen != self.api_tokens:
                self.api_tokens, self.chars_at_api = seen, self.chars

    def _add(self, bucket: str, size: int) -> None:
        self.buckets[bucket][0] += size
        self.buckets[bucket][1] += 1

    def analysis(self) -> Analysis:
        since = (self.chars - self.chars_at_api) // CHARS_PER_TOKEN
        tokens = (self.api_tokens or OVERHEAD_TOKENS) + since
        sizes = {name: pair[0] for name, pair in self.buckets.items()}
        trimmable = TrimmableBytes(
            tool_results=sizes["tool_results"] + sizes["tool_copies"],
            results_count=self.buckets["tool_results"][1] + self.buckets["tool_copies"][1],
            signatures=sizes["thinking_signatures"],
            file_history=sizes["file_history"],
            tool_calls=sizes["tool_calls"],
        )
        return Analysis(
            total_bytes=self.total,
            active_bytes=self.active,
            user_messages=self.messages["user"],
            assistant_messages=self.messages["assistant"],
            compactions=self.compactions,
            tokens=tokens,
            context_percent=round(tokens * 100 / WINDOW_TOKENS),
            has_api_tokens=self.api_tokens > 0,
            expected_reduction=trimmable.expected_reduction(self.active),
            breakdown={
                name: SessionPart(
                    bytes=size, count=count, percent=round(size * 100 / self.active) if self.active else 0
                )
                for name, (size, count) in self.buckets.items()
            },
        )


def _share(block: Line) -> tuple[str, int] | None:
    """Return the bucket and the bytes of a block that is not part of the conversation."""
    match block.get("type"):
        case "tool_result":
            return "tool_results", len(encode_line(line_text(block))) - 1
        case "tool_use":
            return "tool_calls", len(encode_line(line_text(block))) - 1
        case "thinking" if block.get("signature"):
            return "thinking_signatures", len(encode_line(line_text({"signature": block["signature"]}))) - 1
    return None


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


def render_analysis(session_id: str, made: Analysis, cost: TrimOutlook) -> str:
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


TYPES = (("light", 0.15), ("mixed", 0.40), ("heavy", 1.0))
"""Types of sessions in the paper, with the share of tool results among the live bytes below which each ends."""


class SessionType(Record):
    """Means over the sessions of one type, as in the paper's table."""

    type: str
    sessions: int
    reduction: float
    """Mean share of tokens that a trim removes."""
    median_reduction: float
    most_reduction: float
    break_even_turns: float | None
    """Mean over the sessions in which a trim pays; None if it pays in none."""
    tokens_before: float
    tokens_after: float


def types_of(analyses: Iterable[Analysis], *, hit_rate: float = 0.9) -> list[SessionType]:
    """Return the types that occur, then all sessions together."""
    groups: dict[str, list[TrimOutlook]] = {name: [] for name in (*(name for name, _ in TYPES), "all")}
    for made in analyses:
        share = made.breakdown["tool_results"].bytes / made.active_bytes if made.active_bytes else 0.0
        cost = outlook(made.tokens, trimmed_tokens(made.tokens, made.expected_reduction), hit_rate=hit_rate)
        groups[next(name for name, below in TYPES if share < below or below == 1)].append(cost)
        groups["all"].append(cost)
    return [_type(name, costs) for name, costs in groups.items() if costs]


def _type(name: str, costs: Sequence[TrimOutlook]) -> SessionType:
    paid = [cost.break_even_turns for cost in costs if cost.break_even_turns is not None]
    return SessionType(
        type=name,
        sessions=len(costs),
        reduction=fmean(cost.reduction for cost in costs),
        median_reduction=median(cost.reduction for cost in costs),
        most_reduction=max(cost.reduction for cost in costs),
        break_even_turns=fmean(paid) if paid else None,
        tokens_before=fmean(cost.tokens_before for cost in costs),
        tokens_after=fmean(cost.tokens_after for cost in costs),
    )


def render_types(types: Sequence[SessionType], hit_rate: float) -> str:
    """Return the paper's table by type of session, as text."""
    lines = [f"{'type':6}{'sessions':>9}{'mean':>7}{'median':>8}{'most':>7}{'pays after turns':>18}{'tokens':>20}"]
    for of in types:
        pays = "never" if of.break_even_turns is None else f"{of.break_even_turns:.0f}"
        tokens = f"{of.tokens_before:,.0f} to {of.tokens_after:,.0f}"
        lines.append(
            f"{of.type:6}{of.sessions:>9}{of.reduction:>7.0%}{of.median_reduction:>8.0%}{of.most_reduction:>7.0%}"
            f"{pays:>18}{tokens:>20}"
        )
    lines.append(
        f"share of tokens that a trim removes, estimated; at a cache hit rate of {hit_rate:g}; light: tool results "
        "below 15 % of the live bytes, mixed: below 40 %"
    )
    return "\n".join(lines) + "\n"


def _label(graph: nx.DiGraph[str], node: str) -> str:
    data = graph.nodes[node]
    shown = f"{data['name']} ({node})" if data["kind"] == "snapshot" else f"{data['name']} [branch {node[:8]}]"
    return f"{shown} {data['created_at']:%Y-%m-%d %H:%M}"
