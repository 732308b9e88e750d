"""A benchmark on disk as Python sees it: its conversations, messages, selected probes and candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from longbeam.errors import UserError
from longbeam.library.tables import Row, Table, html_table
from longbeam.review import reviewed_probes
from longbeam.schemas import BenchmarkSpec, Message, Probe, Profile, Seed
from longbeam.store import Benchmark, SealedConversation
from longbeam.terminal import counted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T = TypeVar("T")
TableName = Literal["probes", "candidates", "messages"]


class LoadedConversation:
    """One finished conversation; what is asked for is read once and kept."""

    def __init__(self, benchmark: Benchmark, conversation_id: str) -> None:
        """Name a finished conversation; nothing is read yet."""
        self._benchmark = benchmark
        self.conversation_id = conversation_id

    def __repr__(self) -> str:
        return f"<conversation {self.conversation_id}: {self.seed.title}>"

    @property
    def seed(self) -> Seed:
        """Domain, title, theme and timeline."""
        return self._head[0]

    @property
    def profile(self) -> Profile | None:
        """The user; None for an import without a description of the user."""
        return self._head[1]

    @cached_property
    def messages(self) -> Table[Message]:
        """All messages, in order."""
        with self._opened() as sealed:
            records = tuple(sealed.messages())
        return Table(records, "message", lambda: (self._row(m, ("details", "parts")) for m in records))

    @cached_property
    def candidates(self) -> Table[Probe]:
        """All candidates as they were sealed, by ability and rank; `is_selected` tells the selected ones."""
        with self._opened() as sealed:
            return self._table_of(sealed.probes(), "candidate")

    @cached_property
    def probes(self) -> Table[Probe]:
        """The probes that are asked: the selected candidates, as reviewed where somebody has reviewed them."""
        reviewed = reviewed_probes(self._benchmark)
        if reviewed is None:
            return self._table_of((p for p in self.candidates if p.is_selected), "probe")
        return self._table_of(reviewed[self.conversation_id], "probe")

    @cached_property
    def _head(self) -> tuple[Seed, Profile | None]:
        with self._opened() as sealed:
            return sealed.head.seed, sealed.head.profile

    def _opened(self) -> SealedConversation:
        return SealedConversation(self._benchmark.sealed_path(self.conversation_id))

    def _table_of(self, probes: Iterable[Probe], noun: str) -> Table[Probe]:
        records = tuple(probes)
        return Table(records, noun, lambda: (self._row(p, ("details",)) for p in records))

    def _row(self, record: Message | Probe, as_text: Sequence[str]) -> Row:
        """Return the fields of a record; those with free keys as JSON text, so that all rows have the same types."""
        fields = record.model_dump(exclude=set(as_text))
        texts = {name: record.model_dump_json(include={name}) for name in as_text}
        return {"conversation_id": self.conversation_id, **fields, **texts}


@dataclass(frozen=True, repr=False)
class LoadedBenchmark:
    """A benchmark with its finished conversations: `benchmark[0]` or `benchmark["c000"]`, `for c in benchmark`."""

    stored: Benchmark
    """Its spec and its place on disk."""

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return self.spec.name

    @property
    def spec(self) -> BenchmarkSpec:
        """The spec as last accepted."""
        return self.stored.spec

    @property
    def root(self) -> Path:
        """The benchmark's folder."""
        return self.stored.root

    @cached_property
    def conversations(self) -> tuple[LoadedConversation, ...]:
        """The finished conversations."""
        return tuple(LoadedConversation(self.stored, i) for i in self.stored.sealed_ids)

    @cached_property
    def messages(self) -> Table[Message]:
        """The messages of all conversations."""
        return _joined([c.messages for c in self.conversations], "message")

    @cached_property
    def probes(self) -> Table[Probe]:
        """The selected probes of all conversations."""
        return _joined([c.probes for c in self.conversations], "probe")

    @cached_property
    def candidates(self) -> Table[Probe]:
        """The candidates of all conversations, selected or not."""
        return _joined([c.candidates for c in self.conversations], "candidate")

    def to_pandas(self, table: TableName = "probes") -> pd.DataFrame:
        """Return a table as a pandas data frame; UserError where pandas is not installed."""
        return self._table(table).to_pandas()

    def to_arrow(self, table: TableName = "probes") -> pa.Table:
        """Return a table as an Arrow table; UserError where pyarrow is not installed."""
        return self._table(table).to_arrow()

    def _table(self, name: str) -> Table[Any]:
        tables: dict[str, Table[Any]] = {
            "probes": self.probes,
            "candidates": self.candidates,
            "messages": self.messages,
        }
        if name not in tables:
            raise UserError(f"no table {name!r}; tables are {', '.join(tables)}")
        return tables[name]

    def __len__(self) -> int:
        return len(self.conversations)

    def __iter__(self) -> Iterator[LoadedConversation]:
        return iter(self.conversations)

    def __getitem__(self, which: int | str) -> LoadedConversation:
        if isinstance(which, int):
            return self.conversations[which]
        if which not in self.stored.sealed_ids:
            there = ", ".join(self.stored.sealed_ids[:8]) or "none"
            raise UserError(f"{which!r} is no finished conversation of {self.name!r}: there is {there}")
        return self.conversations[self.stored.sealed_ids.index(which)]

    def __repr__(self) -> str:
        return f"<benchmark {self.name}: {counted(len(self), 'finished conversation')}, in {self.root}>"

    def _repr_html_(self) -> str:
        rows = [
            {
                "conversation": c.conversation_id,
                "title": c.seed.title,
                "messages": f"{len(c.messages):,}",
                "tokens": f"{sum(m.tokens for m in c.messages):,}",
                "probes": len(c.probes),
                "abilities": ", ".join(f"{name} {n}" for name, n in Counter(p.ability for p in c.probes).items()),
            }
            for c in self.conversations[:10]
        ]
        return html_table(f"{self.name}: {counted(len(self), 'conversation')}", rows)


def _joined(tables: Sequence[Table[T]], noun: str) -> Table[T]:
    return Table(
        tuple(chain.from_iterable(tables)), noun, lambda: chain.from_iterable(table.rows() for table in tables)
    )
