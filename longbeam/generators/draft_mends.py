"""Corrections of a drafted line of a plan by code, before it is judged: no second reply is paid for what code knows.

A small model goes on until its form cuts the text, repeats what it was shown, and gives a value as a fact that its
text does not say. Code leaves such sentences out and says the values in plain words: `Hall rent of the play: $85.`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from longbeam.generators.bullets import (
    Known,
    ended,
    is_cut,
    length_fault,
    same_words,
    value_of,
    values_without_fact,
    wrong_weekdays,
)
from longbeam.prompts.calls import BulletDraft, FactDraft, SheetLine
from longbeam.schemas import ENGLISH, BulletKind, Value
from longbeam.text import content_words, format_date, says, sentences


@dataclass(frozen=True)
class Mender:
    """Corrects the drafts of one group of lines."""

    known: Known
    told: Sequence[frozenset[str]]
    """Content words of the texts of the story that no line repeats."""
    is_copied: Callable[[str], bool]
    """Returns whether a text is copied from the prompt's instructions or example."""

    def mended(
        self, draft: BulletDraft, line: SheetLine, others: Iterable[BulletDraft], *, is_last: bool
    ) -> BulletDraft:
        """Return a draft as it can be taken; the same draft if there is nothing to correct, or nothing that can be.

        `others`: the group's other lines. Facts that cannot be read, and sentences that say a fact of the line beside
        a value that is none, are left to the model; `is_last`: it had its chance, and code leaves them out.
        """
        if line.kind is BulletKind.PREFERENCE:
            return self._with_own_condition(draft) if is_last else draft
        draft, given = self._with_days(self._with_topic(draft, line), line), draft
        facts = dict(self._readable(draft, line))
        told = [*self.told, *(content_words(other.text) for other in others)]
        kept: list[str] = []
        spans = sentences(draft.text)
        whole = spans[:-1] if is_cut(draft.text) else spans
        for start, end in whole:
            sentence = draft.text[start:end]
            if length_fault(" ".join((*kept, sentence)), line):
                break
            words = content_words(sentence)
            if not (
                any(same_words(words, other) for other in told)
                or self.is_copied(sentence)
                or self._has_wrong_values(sentence, draft, line, facts.values(), is_last=is_last)
            ):
                kept.append(sentence)
                told.append(words)
        text = draft.text if len(kept) == len(spans) else " ".join(kept)
        missing = [draft.facts[i] for i, value in facts.items() if not says(text, value)]
        if missing and self.known.language == ENGLISH:
            text = " ".join((*filter(None, [ended(text)]), *(self._clause(fact, draft, line) for fact in missing)))
        update = {
            "text": text,
            "facts": [fact for i, fact in enumerate(draft.facts) if i in facts or not is_last],
        }
        mended = draft.model_copy(update=update)
        return given if not text or mended == given else mended

    def _with_topic(self, draft: BulletDraft, line: SheetLine) -> BulletDraft:
        """Return a draft whose topic is the narrative's label, where it has none or one of the example."""
        is_given = draft.topic.strip() and not self.is_copied(draft.topic)
        return draft if is_given or line.topic else draft.model_copy(update={"topic": line.narrative})

    def _with_own_condition(self, draft: BulletDraft) -> BulletDraft:
        """Return a wish about its topic, where its condition is that of the example."""
        if not draft.topic.strip() or self.is_copied(draft.topic) or not self.is_copied(draft.condition):
            return draft
        return draft.model_copy(update={"condition": f"when I ask about {draft.topic.strip()}"})

    def _with_days(self, draft: BulletDraft, line: SheetLine) -> BulletDraft:
        """Return a draft in which a day that cannot be read (`Sunday`) is the one of the sheet."""
        days = {slot.code: format_date(slot.day, with_year=False) for slot in line.sets if slot.day is not None}
        facts = [
            fact.model_copy(update={"value": days[fact.slot]})
            if fact.slot in days and self._value(fact, line) is None
            else fact
            for fact in draft.facts
        ]
        return draft if facts == draft.facts else draft.model_copy(update={"facts": facts})

    def _readable(self, draft: BulletDraft, line: SheetLine) -> Iterator[tuple[int, Value]]:
        """Yield the places of the facts that have a name and a value that can be read, with that value.

        None is a fact of the example.
        """
        for i, fact in enumerate(draft.facts):
            is_named = fact.name.strip() or self.known.fact(fact.slot)
            if not is_named or self.is_copied(f"{fact.name}: {fact.value}"):
                continue
            if (value := self._value(fact, line)) is not None:
                yield i, value

    def _value(self, fact: FactDraft, line: SheetLine) -> Value | None:
        try:
            return value_of(fact, line, self.known)
        except ValueError:
            return None

    def _has_wrong_values(
        self, sentence: str, draft: BulletDraft, line: SheetLine, values: Iterable[Value], *, is_last: bool
    ) -> bool:
        if not is_last and any(says(sentence, value) for value in values):
            return False
        part = draft.model_copy(update={"text": sentence})
        return any(wrong_weekdays(sentence, line.day)) or bool(values_without_fact(part, line, self.known, [*values]))

    def _clause(self, fact: FactDraft, draft: BulletDraft, line: SheetLine) -> str:
        known = self.known.fact(fact.slot)
        name, thing = (
            (known.attribute, known.subject) if known else (fact.name.strip(), draft.topic.strip() or line.topic)
        )
        of = f" of {thing}" if thing and not content_words(thing) <= content_words(name) else ""
        is_new = line.changes is not None and line.changes.fact_id == fact.slot
        words = f"the new {name}" if is_new else name
        return f"{words[0].upper()}{words[1:]}{of}: {fact.value.strip()}."
