"""The closed world of a conversation: the user states no value that the plan does not give.

A typed value of a user's message must come from the bullets of the message, from the ledger up to the day of the
message, from the profile, from earlier talk in the same sub-plan, or follow from these in one step
(`text/grounding.py`). Pasted material is no earlier talk beyond its exchange, and what is said or pasted to be wrong is
none at all. The same holds for what a reply of the assistant says of the user: `your 749 PLN`, `you told me
that ...`. Suggestions and computations of the assistant are no claims about the user.

A value that nothing gives would be a fact that the ledger does not know: gold answers could contradict it, and no probe
could ask for it. Values are read as English writes them, so other languages are not checked. In conversations about
mathematics numbers and shares are not checked: they belong to exercises, not to the user.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence, Set

from longbeam.generators.ledger import KnownValues, Ledger, values_of
from longbeam.generators.plans import Frame
from longbeam.models import Asker, answers_by_rule
from longbeam.schemas import Category, Incident, IncidentKind, MessageRole, Value, ValueKind
from longbeam.text import (
    UNREAL,
    Key,
    asked_keys,
    counted_keys,
    duration,
    is_derivable,
    loose_keys,
    number,
    own_words,
    sentences,
    spell_out,
    stated_values,
    value_keys,
)

_ALWAYS = dt.date.min
_OF_EXERCISES = frozenset({ValueKind.NUMBER, ValueKind.RATIO})
"""Kinds of values that the exercises of a conversation about mathematics have."""
_VAGUE_KEYS = frozenset({"text", "bare", "uncounted"})
_SAID = re.compile(
    r"\b(?:you(?:'ve|’ve| have)? (?:just |already |also |once )?(?:said|told|mentioned|noted|wrote|reported|described|"
    r"stated|shared|explained|gave me)|as you (?:said|say|mentioned|put it)|you were saying)\b",
    re.IGNORECASE,
)
"""Words that report what the user said."""
_DID = re.compile(
    r"\byou(?:'ve|’ve| have)? (?:just |already |also |only )?(?:paid|spent|bought|earned|saved|scored|booked|ordered|"
    r"raised|received|owe|earn|weigh|own|cooked|ran|logged|set aside)\b(?! (?:if|when))",
    re.IGNORECASE,
)
"""Words that state what the user did or has."""
_OWN = re.compile(
    r"\byour (?:(?!(?:to|at|for|in|on|by|with|until|from|into|and|or|if|when|that|so|then|can|could|should|would|will|"
    r"may|might)\b)[\w'’-]+ ){0,4}"
    r"(?:(?:of|is|was|are|were|took|lasted|costs?|came to|comes to|weighs?|stands at) (?:only |about )?)?\W{0,2}$",
    re.IGNORECASE,
)
"""Words in front of a value that is the user's own: `your 749 PLN`, `your budget of`, `your first call took`."""
_USER = re.compile(r"\byou(?:r|['’]ve)?\b", re.IGNORECASE)


class ClosedWorld:
    """The values that the user of one sub-plan may state, each from the day on which it is known."""

    def __init__(self, frame: Frame, ledger: Ledger, earlier: Sequence[str] = ()) -> None:
        """Read the values of the frame, of the ledger, and of `earlier`, texts of what was told before the sub-plan."""
        self._of_ledger, self._own, self._shown = ledger.values, KnownValues(), KnownValues()
        self._pasted, self._untrue = frozenset[Key](), frozenset[Key]()
        self._free = _OF_EXERCISES if frame.seed.category is Category.MATH else frozenset[ValueKind]()
        timeline = frame.seed.timeline
        first = timeline.start if timeline else _ALWAYS
        for text in (*_texts_of(frame), *earlier):
            self._own.add_text(text, first, _ALWAYS)
        for age in (frame.profile.age, *(p.age for p in frame.relationships.people)):
            for value in (duration(age, "years"), number(age), duration(age + 1, "years"), number(age + 1)):
                self._own.add(value, first, _ALWAYS)
        if timeline:
            for year in range(timeline.start.year - 1, timeline.end.year + 2):
                self._own.add_key(("bare", float(year)), _ALWAYS)
        for line in frame.chapter.facts if frame.chapter else ():
            if line.value is not None:
                self._own.add(line.value, first, _ALWAYS)

    def hear(self, text: str, day: dt.date, speaker: MessageRole = MessageRole.USER, untrue: str = "") -> None:
        """Add the values of a message of this sub-plan, which later messages may take up.

        `untrue`: a text whose values are wrong; no message takes them up. Code and quotations of the user's give values
        to what replies say of them, but none to the user's later messages, whoever repeats them.
        """
        self._untrue |= _firm_keys(untrue, day)
        if speaker is MessageRole.ASSISTANT:
            self._own.add_text(text, day, _ALWAYS, without=self._untrue | self._pasted)
            return
        own = own_words(text)
        self._own.add_text(own, day, _ALWAYS, without=self._untrue)
        if own != text:
            self._shown.add_text(text, day, _ALWAYS, without=self._untrue)
            self._pasted |= _firm_keys(text, day) - _firm_keys(own, day)

    def ungrounded(
        self, text: str, day: dt.date, *, near: Sequence[str] = (), declared: Iterable[Value] = ()
    ) -> tuple[Value, ...]:
        """Return the values of a user's message that nothing gives.

        `near`: texts of the bullets that the message tells, and of the exchange that it belongs to. `declared`: values
        that the turn may state although no fact has them.
        """
        stated, prose = stated_values(spell_out(text, day))
        checked = [s for s in stated if s.value.kind not in self._free]
        if not checked:
            return ()
        allowed = {key for value in declared for key in (*value_keys(value, day), *loose_keys(value))}
        allowed.update(value_keys(_day_value(day), day))
        slips = {key[1] for key in self._untrue if key[0] == "number"}
        allowed.update(key for given in near for key in counted_keys(given) if key[1] not in slips)
        close: list[Value] = []
        for value, keys in (pair for given in near for pair in values_of(given, day)):
            if self._untrue.isdisjoint(keys):
                allowed.update(keys, loose_keys(value))
                close.append(value)
        unknown = [s for s in checked if not self._is_known(asked_keys(s, prose, day), day, allowed)]
        close += (s.value for s in stated if s not in unknown)
        return tuple(s.value for s in unknown if not self._follows(s.value, close, day))

    def faults(
        self, text: str, day: dt.date, near: Sequence[str] = (), declared: Iterable[Value] = ()
    ) -> Iterator[str]:
        """Yield a sentence for each value of a user's message that nothing gives."""
        for value in self.ungrounded(text, day, near=near, declared=declared):
            yield (
                f"{value.text!r} is in no bullet up to this day and was not said before; leave it out, or use a value "
                "that the plan gives"
            )

    def false_claims(self, reply: str, day: dt.date) -> tuple[Value, ...]:
        """Return the values that a reply of the assistant ascribes to the user, and that nothing gives."""
        checked = ((value, keys) for value, keys in _claims(reply, day) if value.kind not in self._free)
        claimed = [(value, keys) for value, keys in checked if not self._is_said(keys, day)]
        if not claimed:
            return ()
        given = [v for v, keys in values_of(reply, day) if self._is_said(keys, day)]
        return tuple(v for v, _ in claimed if not self._follows(v, given, day))

    def claim_faults(self, reply: str, day: dt.date) -> Iterator[str]:
        """Yield a sentence for each value that a reply ascribes to the user, and that nothing gives."""
        for value in self.false_claims(reply, day):
            yield f"it says {value.text!r} of the user, who never said so; leave it out, or use what the user said"

    def _is_known(self, keys: Iterable[Key], day: dt.date, allowed: Set[Key] = frozenset()) -> bool:
        if self._has(keys, day, allowed):
            return True
        self._of_ledger.read()
        self._own.read()
        return self._has(keys, day, allowed)

    def _is_said(self, keys: Iterable[Key], day: dt.date) -> bool:
        """Return whether the user gives a value, in words of their own or in pasted material."""
        if self._is_known(keys, day):
            return True
        self._shown.read()
        return self._shown.has(keys, day)

    def _has(self, keys: Iterable[Key], day: dt.date, allowed: Set[Key]) -> bool:
        return not allowed.isdisjoint(keys) or self._own.has(keys, day) or self._of_ledger.has(keys, day)

    def _follows(self, value: Value, near: Sequence[Value], day: dt.date) -> bool:
        known = [*self._of_ledger.until(day), *self._own.until(day)]
        return is_derivable(value, near, known, day)


def report(asker: Asker, prompt_id: str, faults: Iterable[str], place: str = "") -> None:
    """Note the values that a text was taken with although nothing gives them, if there are any."""
    if detail := "; ".join(faults):
        asker.note(Incident(kind=IncidentKind.UNGROUNDED, prompt_id=prompt_id, place=place, detail=detail))


def is_grounded(asker: Asker, prompt_id: str) -> bool:
    """Return whether the replies to a prompt are checked: a language model writes them, in English."""
    role = asker.acting or asker.prompts[prompt_id].role
    return asker.language.reads_words and not answers_by_rule(asker.spec, asker.spec.model_for(role))


def world_of(asker: Asker, prompt_id: str, frame: Frame, ledger: Ledger, *earlier: str) -> ClosedWorld | None:
    """Return the closed world of a sub-plan for the replies to a prompt; None where they are not checked."""
    return ClosedWorld(frame, ledger, earlier) if is_grounded(asker, prompt_id) else None


def _texts_of(frame: Frame) -> Iterator[str]:
    """Yield the texts that set the scene before the story begins."""
    seed, chapter = frame.seed, frame.chapter
    yield from (seed.title, seed.theme, *seed.subtopics, frame.profile.personality)
    if chapter is not None:
        yield from (chapter.main.title, chapter.summary, *chapter.previous, *(b.text for b in chapter.standing))


def _day_value(day: dt.date) -> Value:
    return Value(kind=ValueKind.DATE, text=day.isoformat(), date=day)


def _firm_keys(text: str, day: dt.date) -> frozenset[Key]:
    """Return the keys of a text's values that say what they are, not only how much: a bare number is anything's."""
    return frozenset(key for _, keys in values_of(text, day) for key in keys if key[0] not in _VAGUE_KEYS)


def _claims(reply: str, day: dt.date) -> Iterator[tuple[Value, frozenset[Key]]]:
    """Yield the values that a reply ascribes to the user, with their keys."""
    own = own_words(reply)
    return (pair for a, b in sentences(own) if _USER.search(own, a, b) for pair in _claimed_in(own[a:b], day))


def _claimed_in(sentence: str, day: dt.date) -> Iterator[tuple[Value, frozenset[Key]]]:
    stated, prose = stated_values(sentence)
    for found in stated:
        front = prose[: found.start]
        is_reported = _SAID.search(front) is not None
        is_stated = (_DID.search(front) or _OWN.search(front)) and not UNREAL.search(front)
        if is_reported or is_stated:
            yield found.value, asked_keys(found, prose, day)
