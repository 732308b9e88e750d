"""Builder of contexts: adds pieces while they fit the budget, and orders them as the system wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from longbeam.memory.exchanges import dated
from longbeam.schemas import Context, ContextPart, Exchange

Place = tuple[int, int]


@dataclass
class ContextBuilder:
    """Puts pieces into a context while they fit; callers may raise `budget` later, to keep room for later parts."""

    budget: int
    count: Callable[[str], int]
    _pieces: list[tuple[Place, str, str, int, tuple[str, ...]]] = field(default_factory=list)
    _used: int = 0
    _joint: int = 0
    _whole: set[int] = field(default_factory=set)
    """Positions of the exchanges that are pieces."""

    def __post_init__(self) -> None:
        self._joint = self.count("\n\n")

    def fits(self, text: str) -> bool:
        """Return whether the text would still fit."""
        return self._used + self.cost(text) <= self.budget

    def cost(self, text: str) -> int:
        """Return the tokens of a piece, with the blank line that separates it from the next."""
        return self.count(text) + self._joint

    @property
    def used(self) -> int:
        """Tokens of the pieces so far."""
        return self._used

    @property
    def has_pieces(self) -> bool:
        """Whether the context has a piece."""
        return bool(self._pieces)

    def has_whole(self, exchange: Exchange) -> bool:
        """Return whether a piece is this exchange, whole."""
        return exchange.position in self._whole

    def put(self, part: str, text: str, keys: Sequence[str] = (), *, place: int | Place = 0) -> bool:
        """Add a piece if it fits, and return whether it did; pieces are read by `place`, then as they were added."""
        tokens = self.cost(text)
        if self._used + tokens > self.budget:
            return False
        self._used += tokens
        self._pieces.append((place if isinstance(place, tuple) else (place, 0), part, text, tokens, tuple(keys)))
        return True

    def put_exchange(self, part: str, exchange: Exchange, *, place: int | Place | None = None) -> bool:
        """Add an exchange with its date if it fits; `place` is its position in the conversation unless given."""
        place = exchange.position if place is None else place
        is_put = self.put(part, dated(exchange), exchange.message_keys, place=place)
        if is_put:
            self._whole.add(exchange.position)
        return is_put

    def put_while_fitting(self, part: str, exchanges: Iterable[Exchange]) -> int:
        """Add exchanges, read in the order of time, up to the first that does not fit; return how many were added."""
        added = 0
        for exchange in exchanges:
            if not self.put_exchange(part, exchange):
                break
            added += 1
        return added

    def put_tail(self, part: str, text: str, keys: Sequence[str] = (), *, place: int | Place = 0) -> bool:
        """Add the end of a text that does not fit whole; its lines are kept from the last one backwards."""
        kept: list[str] = []
        for line in reversed(text.split("\n")):
            if not self.fits("\n".join([line, *kept])):
                break
            kept.insert(0, line)
        return bool(kept) and self.put(part, "\n".join(kept), keys, place=place)

    def build(self) -> Context:
        """Return the context."""
        pieces = sorted(self._pieces, key=lambda piece: piece[0])  # stable: equal places keep their order
        text = "\n\n".join(piece[2] for piece in pieces)
        names = dict.fromkeys(piece[1] for piece in pieces)
        parts = [ContextPart(name=n, tokens=sum(p[3] for p in pieces if p[1] == n)) for n in names]
        keys = dict.fromkeys(key for piece in pieces for key in piece[4])
        return Context(text=text, tokens=self.count(text), parts=tuple(parts), message_keys=tuple(keys))
