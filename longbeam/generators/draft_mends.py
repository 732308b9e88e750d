"""Corrections of a drafted event of a plan by code, before it is judged: no second reply is paid for what code knows.

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
    told_on,
    value_of,
    values_without_fact,
    wrong_weekdays,
)
from longbeam.prompts.calls import BulletDraft, FactDraft, StoryEvent
from longbeam.schemas import Value
from longbeam.text import content_words, says, sentences


@dataclass(frozen=True)
class Mender:
    """Corrects the drafts of one group of events."""

    known: Known
    told: Sequence[frozenset[str]]
    """Content words of the texts of the story that no event repeats."""
    is_copied: Callable[[str], bool]
    """Returns whether a text is copied from the prompt's instructions or example."""

    def mended(
        self, draft: BulletDraft, event: StoryEvent, others: Iterable[BulletDraft], *, is_last: bool
    ) -> BulletDraft:
        """Return a draft as it can be taken; the same draft if there is nothing to correct, or nothing that can be.

        `others`: the group's other events. Facts that cannot be read, and sentences that say a fact of the event beside
        a value that is none, are left to the model, and so is a text that wrong values are the most of; `is_last`: it
        had its chance, and code leaves them out.
        """
        facts = dict(self._readable(draft, event))
        told = [*self.told, *(content_words(other.text) for other in others)]
        kept: list[str] = []
        wrong: list[str] = []
        spans = sentences(draft.text)
        whole = spans[:-1] if is_cut(draft.text) else spans
        for start, end in whole:
            sentence = draft.text[start:end]
            if length_fault(" ".join((*kept, sentence)), event):
                break
            words = content_words(sentence)
            if any(same_words(words, other) for other in told) or self.is_copied(sentence):
                continue
            if self._has_wrong_values(sentence, draft, event, facts.values(), is_last=is_last):
                wrong.append(sentence)
                continue
            kept.append(sentence)
            told.append(words)
        if not is_last and _is_most([draft.text[start:end] for start, end in spans], wrong):
            return draft
        text = draft.text if len(kept) == len(spans) else " ".join(kept)
        missing = [draft.facts[i] for i, value in facts.items() if not says(text, value)]
        if missing and self.known.language.writes:
            text = " ".join((*filter(None, [ended(text)]), *(self._clause(fact, draft, event) for fact in missing)))
        update = {
            "text": text,
            "facts": [fact for i, fact in enumerate(draft.facts) if i in facts or not is_last],
        }
        mended = draft.model_copy(update=update)
        return draft if not text or mended == draft else mended

    def _readable(self, draft: BulletDraft, event: StoryEvent) -> Iterator[tuple[int, Value]]:
        """Yield the places of the facts that have a name and a value that can be read, with that value.

        None is a fact of the example.
        """
        for i, fact in enumerate(draft.facts):
            is_named = fact.name.strip() or self.known.fact(fact.slot)
            if not is_named or self.is_copied(f"{fact.name}: {fact.value}"):
                continue
            if (value := self._value(fact, event)) is not None:
                yield i, value

    def _value(self, fact: FactDraft, event: StoryEvent) -> Value | None:
        try:
            return value_of(fact, event, self.known)
        except ValueError:
            return None

    def _has_wrong_values(
        self, sentence: str, draft: BulletDraft, event: StoryEvent, values: Iterable[Value], *, is_last: bool
    ) -> bool:
        if not is_last and any(says(sentence, value) for value in values):
            return False
        part = draft.model_copy(update={"text": sentence})
        return any(wrong_weekdays(sentence, told_on(event))) or bool(
            values_without_fact(part, event, self.known, [*values])
        )

    def _clause(self, fact: FactDraft, draft: BulletDraft, event: StoryEvent) -> str:
        known = self.known.fact(fact.slot)
        name, thing = (known.attribute, known.subject) if known else (fact.name.strip(), event.thing)
        of = f" of {thing}" if thing and not content_words(thing) <= content_words(name) else ""
        value, present = self._value(fact, event), self.known.values.get(fact.slot)
        is_new = present is not None and value is not None and not value.means_same_as(present)
        words = f"the new {name}" if is_new else name
        return f"{words[0].upper()}{words[1:]}{of}: {fact.value.strip()}."


def _is_most(sentences_of_text: Sequence[str], wrong: Sequence[str]) -> bool:
    """Return whether some sentences are what a text is about: the first one, the longest, or over half of its words."""
    words = [len(sentence.split()) for sentence in sentences_of_text]
    without = sum(len(sentence.split()) for sentence in wrong)
    is_main = any(s == sentences_of_text[0] or len(s.split()) == max(words) for s in wrong)
    return is_main or 2 * without > sum(words)
