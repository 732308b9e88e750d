"""Outcomes of a review: the probes that exports and evaluation take, with edits and status, and the rejected ones."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

from longbeam.formats import UNREVIEWED, UNSETTLED
from longbeam.keys import ItemId, conversation_of
from longbeam.review.archive import Archive
from longbeam.review.log import ReviewLog
from longbeam.review.state import ItemState, ItemStatus
from longbeam.review.workspace import Entry, Workspace
from longbeam.schemas import ConversationHead, ConversationReader, Message, Probe
from longbeam.store import Benchmark, ReviewStore, SealedConversation, has_reviews

UNFIT = frozenset({ItemStatus.REJECTED.value, UNSETTLED})


@dataclass(frozen=True)
class ReviewedConversation:
    """A `ConversationReader` whose probes are as reviewed: edited, rejected ones replaced, hand-written ones added."""

    reader: ConversationReader
    decided: Mapping[str, Probe]
    """Probes under review by id; all other probes stay as sealed and are not selected."""

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
    """Finished conversations as reviewed, one open at a time, and the status of each probe."""

    readers: Iterator[ConversationReader]
    statuses: dict[tuple[str, str], str] = field(default_factory=dict)
    """Filled while the readers are iterated: the statuses of a conversation are there when its reader is."""


@contextmanager
def reviewed_conversations(
    benchmark: Benchmark, conversation_ids: Sequence[str] | None = None
) -> Iterator[ReviewedBenchmark]:
    """Yield the conversations of a benchmark as exports show them; as sealed if nobody has reviewed.

    `conversation_ids` are finished conversations; None: all of them.
    """
    wanted = benchmark.sealed_ids if conversation_ids is None else conversation_ids
    with ExitStack() as stack:
        workspace = _workspace_of(benchmark, stack)
        statuses: dict[tuple[str, str], str] = {}

        def opened() -> Generator[ConversationReader, None, None]:
            for conversation_id in wanted:
                with SealedConversation(benchmark.sealed_path(conversation_id)) as reader:
                    if workspace is None:
                        yield reader
                        continue
                    states = _states(workspace, conversation_id)
                    statuses.update({(conversation_id, i): status_of(s) for i, s in states.items()})
                    decided = {i: s.probe.model_copy(update={"is_selected": True}) for i, s in states.items()}
                    yield ReviewedConversation(reader, decided)

        readers = stack.enter_context(closing(opened()))
        yield ReviewedBenchmark(readers, statuses)


def reviewed_probes(
    benchmark: Benchmark, conversation_ids: Sequence[str] | None = None
) -> dict[str, tuple[Probe, ...]] | None:
    """Return the probes of each finished conversation that evaluation asks, as reviewed; None without a review.

    As in exports, rejected and unsettled probes are left out, and the next candidates take the place of rejected ones.
    `conversation_ids` are finished conversations; None: all of them.
    """
    wanted = benchmark.sealed_ids if conversation_ids is None else conversation_ids
    if not has_reviews(benchmark.reviews_path):
        return None
    with reviewed_conversations(benchmark, wanted) as reviewed:
        found = {}
        for conversation_id, reader in zip(wanted, reviewed.readers, strict=True):
            kept = (p for p in reader.probes() if p.is_selected)
            found[conversation_id] = tuple(
                p for p in kept if reviewed.statuses.get((conversation_id, p.probe_id)) not in UNFIT
            )
        return found


@contextmanager
def shown_conversations(benchmark: Benchmark) -> Iterator[Iterator[ConversationReader]]:
    """Yield the conversations as sealed, one open at a time, with every probe that exports or the review show.

    These are the selected probes, rejected ones among them, and those that replace rejected ones; none is edited.
    """
    with ExitStack() as stack:
        workspace = _workspace_of(benchmark, stack)

        def opened() -> Generator[ConversationReader, None, None]:
            for conversation_id in benchmark.sealed_ids:
                with SealedConversation(benchmark.sealed_path(conversation_id)) as reader:
                    shown = _states(workspace, conversation_id) if workspace else ()
                    sealed = {p.probe_id: p for p in reader.probes() if p.is_selected or p.probe_id in shown}
                    selected = {i: p.model_copy(update={"is_selected": True}) for i, p in sealed.items()}
                    yield ReviewedConversation(reader, selected)

        yield stack.enter_context(closing(opened()))


def _workspace_of(benchmark: Benchmark, stack: ExitStack) -> Workspace | None:
    """Return the review of a benchmark, opened for reading; None if nobody has reviewed."""
    if not has_reviews(benchmark.reviews_path):
        return None
    store = stack.enter_context(ReviewStore(benchmark.reviews_path, read_only=True))
    return Workspace(Archive(benchmark), ReviewLog(store))


def item_states(benchmark: Benchmark) -> Iterator[tuple[str, ItemState]]:
    """Yield the state of each probe that somebody has worked on, with its conversation's id."""
    with ExitStack() as stack:
        if (workspace := _workspace_of(benchmark, stack)) is None:
            return
        for item_id in workspace.reviewed_ids():
            if (state := workspace.state(item_id)).opinions:
                yield conversation_of(item_id), state


def status_of(state: ItemState) -> str:
    """Return an item's status as exports name it; `unsettled` items are not exported."""
    if state.status is ItemStatus.RETURNED or state.is_unsettled:
        return UNSETTLED
    return UNREVIEWED if state.status is ItemStatus.PENDING else state.status.value


def rejections_of(benchmark: Benchmark) -> dict[str, dict[str, str]]:
    """Return the reason of each rejected candidate by conversation and probe, for `repair`.

    A verdict on another wording of a probe does not count.
    """
    if not has_reviews(benchmark.reviews_path):
        return {}
    found: dict[str, dict[str, str]] = {}
    with ReviewStore(benchmark.reviews_path, read_only=True) as store:
        log = ReviewLog(store)
        log.refresh()
        overlap = log.settings().overlap
        for conversation_id in benchmark.sealed_ids:
            if not log.count_of(conversation_id):
                continue
            with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
                for probe in sealed.probes():
                    events = log.of_item(str(ItemId(conversation_id, probe.probe_id)))
                    state = ItemState(probe, events, overlap)
                    if events and state.status is ItemStatus.REJECTED:
                        found.setdefault(conversation_id, {})[probe.probe_id] = _reason(state)
    return found


def _states(workspace: Workspace, conversation_id: str) -> dict[str, ItemState]:
    entries: Mapping[str, Entry] = workspace.entries(conversation_id)
    return {probe_id: workspace.state(str(ItemId(conversation_id, probe_id))) for probe_id in entries}


def _reason(state: ItemState) -> str:
    if state.adjudication is not None:
        return state.adjudication.note or f"rejected by {state.adjudication.reviewer_id}"
    first = state.saved[0]
    return first.note or first.reason_code or f"rejected by {first.reviewer_id}"
