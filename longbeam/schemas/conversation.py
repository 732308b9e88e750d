"""A conversation as validation, statistics and export read it, without knowing where it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from pydantic import Field

from longbeam.schemas.base import MayBeStored, Record
from longbeam.schemas.dialogue import Message, UserTurn
from longbeam.schemas.findings import ImportNote
from longbeam.schemas.incidents import Making
from longbeam.schemas.people import Profile, RelationshipGraph
from longbeam.schemas.plans import Narrative, Plan, PlanSeed
from longbeam.schemas.probes import Probe
from longbeam.schemas.seeds import Seed


class Author(Record):
    """A model that answered calls of a role, as its endpoint names it."""

    role: str
    model: str


class ConversationHead(Record):
    """A conversation without its messages and probes."""

    conversation_id: str
    """`c000`, `c001`, ...: the ordinal in the benchmark."""
    seed: Seed
    """Seed of the conversation, with its timeline."""
    profile: Profile | None
    """The user; None for imports without a description of the user."""
    relationships: RelationshipGraph
    narratives: tuple[Narrative, ...]
    plans: Annotated[Sequence[Plan], MayBeStored()]
    """Augmented plans; the plans of a long conversation are read one at a time."""
    plan_seeds: tuple[PlanSeed, ...] = ()
    """Seed of each plan; empty for a conversation of one plan."""
    user_turns: Annotated[Sequence[UserTurn], MayBeStored()] = ()
    target_tokens: int
    """Requested length; 0 for imports."""
    tokenizer: str = "o200k_base"
    authors: tuple[Author, ...] = ()
    """All models that answered, by role, from the journal; empty for imports."""
    details: dict[str, Any] = Field(default_factory=dict)
    """Other data of an import; `id` is the conversation's name in its source."""
    making: Making = Field(default=Making(), exclude=True)
    """The way in which the conversation was made; not in the head's JSON, because it says nothing of the content."""
    import_notes: tuple[ImportNote, ...] = ()
    """Irregularities that the import found."""

    def parts(self) -> tuple[Record | str, ...]:
        """Parts of the head for a digest: each plan alone, so that not all plans are in memory at once."""
        return (self.model_copy(update={"plans": ()}), *(plan.digest for plan in self.plans))


@dataclass(frozen=True)
class GivenConversation:
    """A whole conversation that no pipeline made: from another benchmark, or from a suite."""

    head: ConversationHead
    messages: Callable[[], Iterator[Message]]
    """Yields the messages; can be called repeatedly."""
    probes: tuple[Probe, ...]


@dataclass(frozen=True)
class WholeConversation:
    """A conversation held in memory, for studies that read it repeatedly."""

    conversation_id: str
    messages: Sequence[Message]
    probes: Sequence[Probe]

    @classmethod
    def of(cls, reader: ConversationReader) -> WholeConversation:
        """Return the conversation that a reader reads."""
        return cls(reader.head.conversation_id, tuple(reader.messages()), tuple(reader.probes()))


class ConversationReader(Protocol):
    """Read access to one conversation; messages come in the order of `message_id`."""

    @property
    def head(self) -> ConversationHead:
        """The conversation without its messages and probes."""

    def messages(self) -> Iterator[Message]:
        """All messages in order, streamed."""

    def probes(self) -> Iterator[Probe]:
        """All candidate probes, by ability and rank; the selected ones have `is_selected`."""
