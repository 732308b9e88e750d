"""From exchanges to artifacts.

Extracted by a model, checked against the source, completed by the rules for relative times.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal

from longbeam.errors import ReplyError
from longbeam.memory.base import Tools, in_order
from longbeam.memory.cogcanvas.artifacts import Artifact, is_duplicate, locate
from longbeam.memory.cogcanvas.settings import CogCanvasSettings
from longbeam.memory.exchanges import said
from longbeam.prompts.calls import ArtifactDraft, ArtifactsReply, ExtractArtifactsInputs, GleanArtifactsInputs
from longbeam.schemas import Exchange, Message, MessageRole, PromptInputs
from longbeam.text import CALENDAR, TimeExpression, TimeRules, TimeSpan, day_span, find_times, sentences, weekday_near

Calendar = Literal["calendar", "released"]
_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}


def _moved(on: dt.date, count: int, unit: str) -> TimeSpan | None:
    return None if count > 0 else day_span(on + dt.timedelta(count * _DAYS[unit]))


def _directed(on: dt.date, side: int, unit: str) -> TimeSpan | None:
    return day_span(on + dt.timedelta(side * _DAYS[unit])) if side else None


def _directed_weekday(on: dt.date, side: int, weekday: int) -> TimeSpan | None:
    return day_span(weekday_near(on, weekday, side)) if side < 0 else None


RULES: dict[Calendar, TimeRules] = {
    "calendar": CALENDAR,
    "released": TimeRules(moved=_moved, directed=_directed, directed_weekday=_directed_weekday),
}
"""Rules by the value of the setting `dates`."""


def confidence_of(time: TimeExpression) -> float:
    """Return the confidence that the released code gives a time: less for a relative one, least where unresolved."""
    if not time.is_relative:
        return 0.95
    return 0.9 if time.span else 0.85


_AROUND = 100
"""Characters on either side of a time that become its artifact, as the released code has it."""


@dataclass
class Extractor:
    """Makes the artifacts of a conversation. `calls` counts model calls; `failed`, those whose reply was of no use.

    An exchange whose extraction failed has no artifacts.
    """

    settings: CogCanvasSettings
    tools: Tools
    calls: int = 0
    failed: int = 0
    dropped: int = 0
    """Artifacts whose citation nobody said."""
    _made: list[Artifact] = field(default_factory=list)

    async def extract(self, exchanges: Sequence[Exchange]) -> list[Artifact]:
        """Return the artifacts of all exchanges, in order, numbered from 0."""
        size = self.settings.compress_every
        for number, first in enumerate(range(0, len(exchanges), size)):
            event = tuple(exchanges[first : first + size])
            known = self._known()
            if self.settings.extract == "batch":
                found = [await self._of(_Unit.of_batch(event, number), known)]
            else:
                found = await in_order(partial(self._of, _Unit.of_exchange(e), known) for e in event)
            for artifacts in found:
                self._add(artifacts)
        return self._made

    def _known(self) -> tuple[str, ...]:
        last = self._made[-self.settings.known :] if self.settings.known else []
        return tuple(f"{artifact.kind}: {artifact.content}" for artifact in last)

    def _add(self, artifacts: Iterable[Artifact]) -> None:
        for artifact in artifacts:
            self._made.append(artifact.model_copy(update={"number": len(self._made)}))

    async def _of(self, unit: _Unit, known: tuple[str, ...]) -> list[Artifact]:
        drafts = await self._drafts(unit, known)
        if drafts is None:
            return []  # nothing stands in for the model: a system under test is measured with its failures
        made = [artifact for draft in drafts if (artifact := self._grounded(unit, draft)) is not None]
        return made + self._times(unit, made)

    async def _drafts(self, unit: _Unit, known: tuple[str, ...]) -> tuple[ArtifactDraft, ...] | None:
        """Return the drafts that the model names in one call or two; None if its reply is unusable."""
        said_on = unit.said_on.date()
        first = await self._ask(
            "extract_artifacts", ExtractArtifactsInputs(known=known, exchange=unit.text, said_on=said_on), unit.place
        )
        # An empty first look is not gleaned: nothing was missed where nothing is told.
        if not first or not self.settings.has("gleaning"):
            return first
        told = tuple(f"{draft.kind}: {draft.content}" for draft in first)
        more = await self._ask(
            "glean_artifacts", GleanArtifactsInputs(found=told, exchange=unit.text, said_on=said_on), unit.place
        )
        contents = [draft.content for draft in first]
        return first + tuple(draft for draft in more or () if not is_duplicate(draft.content, contents))

    async def _ask(self, prompt_id: str, inputs: PromptInputs, place: str) -> tuple[ArtifactDraft, ...] | None:
        self.calls += 1
        try:
            reply: ArtifactsReply = await self.tools.asker.structured(prompt_id, inputs, place=place)
        except ReplyError:
            self.failed += 1
            return None
        most = self.settings.output_tokens
        if most is not None and self.tools.count_tokens(reply.model_dump_json()) > most:
            self.failed += 1
            return None
        return reply.artifacts

    def _grounded(self, unit: _Unit, draft: ArtifactDraft) -> Artifact | None:
        """A draft as an artifact; None where nobody said what it cites."""
        place = locate(draft.citation, unit.messages)
        if place is None and self.settings.citations == "checked":
            self.dropped += 1
            return None
        time = next(iter(self._times_of(unit, draft.time_expression or draft.citation)), None)
        made: dict[str, Any] = {
            "kind": draft.kind, "content": draft.content, "context": draft.context, "confidence": draft.confidence,
            "citation": draft.citation if place is None or self.settings.citations == "trusted" else place.text,
            "event_time": time.span if time else None, "event_time_raw": time.text if time else "",
        }  # fmt: skip
        if place is not None:
            made |= {"source": place.message.speaker, "message_keys": (place.message.message_key,), "span": place.span}
        return unit.artifact(**made)

    def _times(self, unit: _Unit, made: Sequence[Artifact]) -> list[Artifact]:
        """Events for the times that no artifact cites."""
        found = []
        for message in unit.messages:
            for time in find_times(message.content, unit.said_on.date(), RULES[self.settings.dates]):
                is_cited = any(a.span and message.message_key in a.message_keys
                               and a.span[0] <= time.start and time.end <= a.span[1] for a in made)  # fmt: skip
                if not is_cited and (message.role is not MessageRole.ASSISTANT or self.settings.variant == "released"):
                    found.append(self._event(unit, message, time))
        most = self.settings.most_artifacts
        return found if most is None else found[: max(0, most - len(made))]

    def _event(self, unit: _Unit, message: Message, time: TimeExpression) -> Artifact:
        start, end = self._sentence(message.content, time)
        said = message.content[start:end]
        return unit.artifact(
            kind="event",
            content=f"{time.span.text if time.span else time.text}: {' '.join(said.split())}",
            citation=said,
            source=message.speaker,
            message_keys=(message.message_key,),
            span=(start, end),
            confidence=confidence_of(time),
            event_time=time.span,
            event_time_raw=time.text,
        )

    def _sentence(self, text: str, time: TimeExpression) -> tuple[int, int]:
        """The sentence that names the time; a hundred characters on either side in the released code."""
        around = max(0, time.start - _AROUND), min(len(text), time.end + _AROUND)
        if self.settings.variant == "released":
            return around
        return next((s for s in sentences(text) if s[0] <= time.start and time.end <= s[1]), around)

    def _times_of(self, unit: _Unit, text: str) -> list[TimeExpression]:
        found = find_times(text, unit.said_on.date(), RULES[self.settings.dates])
        return sorted(found, key=lambda time: time.span is None)  # stable: the first that is resolved


@dataclass(frozen=True)
class _Unit:
    """The subject of one extraction call: an exchange, or all exchanges of a compression event."""

    exchanges: tuple[Exchange, ...]
    turn: int
    text: str

    @classmethod
    def of_exchange(cls, exchange: Exchange) -> _Unit:
        return cls((exchange,), exchange.position, said(exchange))

    @classmethod
    def of_batch(cls, exchanges: tuple[Exchange, ...], number: int) -> _Unit:
        """All that the user said, then all that was answered; the batch is one turn."""
        messages = [m for e in exchanges for m in e.messages]
        ordered = sorted(messages, key=lambda m: m.role is not MessageRole.USER)  # stable
        return cls(exchanges, number, "\n".join(f"{m.speaker}: {m.content}" for m in ordered))

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(m for e in self.exchanges for m in e.messages)

    @property
    def said_on(self) -> datetime:
        """Time of the exchange, or of a batch's last exchange, which is the released code's session date."""
        return self.exchanges[-1].sent_at

    @property
    def place(self) -> str:
        first, last = self.exchanges[0].position, self.exchanges[-1].position
        return f"e{first}" if first == last else f"e{first}-{last}"

    def artifact(self, **given: Any) -> Artifact:
        """An artifact of this unit, not numbered yet."""
        keys = given.get("message_keys", ())
        exchange = next((e for e in self.exchanges if set(keys) & set(e.message_keys)), self.exchanges[-1])
        return Artifact(number=0, position=exchange.position, turn=self.turn, said_at=self.said_on, **given)
