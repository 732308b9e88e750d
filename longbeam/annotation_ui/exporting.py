"""What the review says to exports: which probes, with which edits, and the status of each (design §9)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

from longbeam.annotation_ui.archive import Archive
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.log import ReviewLog
from longbeam.annotation_ui.selection import Entry
from longbeam.annotation_ui.state import ItemState, ItemStatus
from longbeam.formats.exporting import UNREVIEWED, UNSETTLED
from longbeam.schemas.conversation import ConversationHead, ConversationReader
from longbeam.schemas.dialogue import Message
from longbeam.schemas.probes import Probe
from longbeam.schemas.review import probe_item_id
from longbeam.store.artifacts import SealedConversation
from longbeam.store.layout import Benchmark
from longbeam.store.reviews import ReviewStore

UNFIT = frozenset({ItemStatus.REJECTED.value, UNSETTLED})


@dataclass(frozen=True)
class ReviewedConversation:
    """A `ConversationReader` whose probes are as reviewed: edited, rejected ones replaced, hand-written ones added."""

    reader: ConversationReader
    decided: Mapping[str, Probe]
    """Probes under review by id; the others are as they were, and not selected."""

    @property
    def head(self) -> ConversationHead:
        """All but messages and probes."""
        return self.reader.head

    def messages(self) -> Iterator[Message]:
        """All messages in order."""
        return self.reader.messages()

    def probes(self) -> Iterator[Probe]:
        """All probes, by ability and rank; those under review have `is_selected`."""
        sealed = list(self.reader.probes())
        kept = [self.decided.get(p.probe_id, p.model_copy(update={"is_selected": False})) for p in sealed]
        known = {p.probe_id for p in sealed}
        written = [p for p in self.decided.values() if p.probe_id not in known]
        yield from sorted([*kept, *written], key=lambda p: (p.ability, p.rank))


@dataclass
class ReviewedBenchmark:
    """The finished conversations as reviewed, one open at a time, and the status of each probe."""

    readers: Iterator[ConversationReader]
    statuses: dict[tuple[str, str], str] = field(default_factory=dict)
    """Filled as the readers are gone through: a conversation's are there when its reader is given."""


@contextmanager
def reviewed_conversations(benchmark: Benchmark) -> Iterator[ReviewedBenchmark]:
    """Give the conversations of a benchmark as an export is to show them; as sealed where nobody has reviewed."""
    with ExitStack() as stack:
        desk = None
        if benchmark.reviews_path.exists():
            store = stack.enter_context(ReviewStore(benchmark.reviews_path, read_only=True))
            desk = Desk(Archive(benchmark), ReviewLog(store))
        statuses: dict[tuple[str, str], str] = {}

        def opened() -> Generator[ConversationReader, None, None]:
            for conversation_id in benchmark.sealed_ids:
                with SealedConversation(benchmark.sealed_path(conversation_id)) as reader:
                    if desk is None:
                        yield reader
                        continue
                    states = _states(desk, conversation_id)
                    statuses.update({(conversation_id, i): status_of(s) for i, s in states.items()})
                    decided = {i: s.probe.model_copy(update={"is_selected": True}) for i, s in states.items()}
                    yield ReviewedConversation(reader, decided)

        readers = stack.enter_context(closing(opened()))
        yield ReviewedBenchmark(readers, statuses)


def reviewed_probes(benchmark: Benchmark) -> dict[str, tuple[Probe, ...]] | None:
    """Return the probes of each finished conversation that are fit to be asked, as reviewed; None without a review.

    Rejected and unsettled ones are left out, as in exports; the next candidates stand in for the rejected.
    """
    if not benchmark.reviews_path.exists():
        return None
    with reviewed_conversations(benchmark) as reviewed:
        found = {}
        for conversation_id, reader in zip(benchmark.sealed_ids, reviewed.readers, strict=True):
            kept = (p for p in reader.probes() if p.is_selected)
            found[conversation_id] = tuple(
                p for p in kept if reviewed.statuses.get((conversation_id, p.probe_id)) not in UNFIT
            )
        return found


def status_of(state: ItemState) -> str:
    """Return an item's status as exports say it; `unsettled` ones are fit for none."""
    if state.status is ItemStatus.RETURNED or state.is_unsettled:
        return UNSETTLED
    return UNREVIEWED if state.status is ItemStatus.PENDING else state.status.value


def _states(desk: Desk, conversation_id: str) -> dict[str, ItemState]:
    entries: Mapping[str, Entry] = desk.entries(conversation_id)
    return {probe_id: desk.state(probe_item_id(conversation_id, probe_id)) for probe_id in entries}
