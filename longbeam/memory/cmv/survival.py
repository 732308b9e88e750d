"""Survival of facts: which planted facts a trimmed session still has, by their place and the threshold.

A fact is kept when its value still stands somewhere in what a model would be sent; every value of the agentic suite
stands in one place only (`before_compaction_mentioned`: in the compaction's summary as well), so that no judgement
enters. The paper measures tokens and money alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from longbeam.memory.cmv.analyze import OVERHEAD_TOKENS, Outlook, analyze, outlook, trimmed_tokens
from longbeam.memory.cmv.system import contents_of, lines_of
from longbeam.memory.cmv.trim import TrimSettings, Variant, since_compaction, trim_lines
from longbeam.schemas import Message, Probe, Record

FILE, LIVE = "file", "live"
"""States of a session beside the thresholds: its whole file, and its lines after the last compaction."""


class Kept(Record):
    """Facts from one kind of place, in one state of the sessions."""

    place: str
    state: str
    """`file`, `live`, or the threshold of the trim in characters."""
    kept: int
    facts: int


class Trimmed(Record):
    """The sessions trimmed at one threshold, beside the untrimmed ones."""

    threshold: int
    live_bytes: int
    trimmed_bytes: int
    live_tokens: int
    """Tokens since the last compaction, as text."""
    trimmed_tokens: int
    cost: Outlook
    """Costs and savings for a session of their average size."""


class Survival(Record):
    """The tables of one or more conversations."""

    variant: str
    kept: tuple[Kept, ...]
    trimmed: tuple[Trimmed, ...]


def measure(
    conversations: Iterable[tuple[Sequence[Message], Sequence[Probe]]],
    thresholds: Sequence[int],
    variant: Variant,
    count_tokens: Callable[[str], int],
) -> Survival:
    """Return the facts that survive in all conversations; probes without places count for none."""
    kept: dict[tuple[str, str], list[int]] = {}
    sizes = {threshold: _Sizes() for threshold in thresholds}
    sessions = 0
    for messages, probes in conversations:
        sessions += 1
        session = list(lines_of(messages, "session"))
        live = contents_of(since_compaction(session))
        _count(kept, FILE, probes, contents_of(session))
        _count(kept, LIVE, probes, live)
        active_bytes, live_tokens = analyze(session).active_bytes, sum(map(count_tokens, live.values()))
        for threshold, sums in sizes.items():
            left, size = _trim(session, TrimSettings(threshold=threshold, variant=variant))
            _count(kept, str(threshold), probes, left)
            sums.live_bytes += active_bytes
            sums.live_tokens += live_tokens
            sums.trimmed_bytes += size
            sums.trimmed_tokens += sum(map(count_tokens, left.values()))
    return Survival(
        variant=variant.value,
        kept=tuple(Kept(place=p, state=s, kept=k, facts=n) for (p, s), (k, n) in kept.items()),
        trimmed=tuple(sums.at(threshold, sessions) for threshold, sums in sizes.items()),
    )


def _trim(session: Sequence[str], settings: TrimSettings) -> tuple[dict[str, str], int]:
    """Return the rest of each message, and the bytes of the trimmed session."""
    trimmed: list[str] = []
    metrics = trim_lines(lambda: iter(session), trimmed.append, settings)
    return contents_of(trimmed), metrics.trimmed_bytes


@dataclass
class _Sizes:
    """Sizes of all sessions, before and after a trim."""

    live_bytes: int = 0
    live_tokens: int = 0
    trimmed_bytes: int = 0
    trimmed_tokens: int = 0

    def at(self, threshold: int, sessions: int) -> Trimmed:
        """Return the effect of the trim at this threshold, with the costs of an average session."""
        share = 1 - self.trimmed_bytes / self.live_bytes if self.live_bytes else 0.0
        before = OVERHEAD_TOKENS + self.live_tokens // max(sessions, 1)
        return Trimmed(threshold=threshold, **asdict(self), cost=outlook(before, trimmed_tokens(before, share)))


def _count(kept: dict[tuple[str, str], list[int]], state: str, probes: Sequence[Probe], left: dict[str, str]) -> None:
    text = "\n".join(left.values())
    for probe in probes:
        if probe.details.variety and probe.details.new_value:
            tally = kept.setdefault((probe.details.variety, state), [0, 0])
            tally[0] += probe.details.new_value in text
            tally[1] += 1


def render_survival(name: str, found: Survival) -> str:
    """Return the tables as text."""
    states = [FILE, LIVE, *(str(t.threshold) for t in found.trimmed)]
    cells = {(k.place, k.state): f"{k.kept}/{k.facts}" for k in found.kept}
    rows = [(p, [cells.get((p, s), "-") for s in states]) for p in sorted({k.place for k in found.kept})]
    if found.trimmed:
        first = found.trimmed[0]
        rows += [
            ("", []),
            ("bytes", ["", f"{first.live_bytes:,}", *(f"{t.trimmed_bytes:,}" for t in found.trimmed)]),
            ("tokens of text", ["", f"{first.live_tokens:,}", *(f"{t.trimmed_tokens:,}" for t in found.trimmed)]),
            ("pays after turns (h = 0.9)", ["", "", *(_turns(t) for t in found.trimmed)]),
        ]
    width = max(len(label) for label, _ in rows) if rows else 0
    lines = [
        f"{name}: facts kept by where they stand, trimmed at so many characters ({found.variant})",
        "",
        *(
            " ".join([label.ljust(width), *(cell.rjust(9) for cell in row)]).rstrip()
            for label, row in [("", states), *rows]
        ),
    ]
    return "\n".join(lines) + "\n"


def _turns(trimmed: Trimmed) -> str:
    turns = trimmed.cost.break_even_turns
    return "never" if turns is None else str(turns)
