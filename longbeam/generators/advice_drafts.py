"""Checks of the words that a model found for a line of advice, or for the choice of an option."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import takewhile

from longbeam.generators.bullets import ended
from longbeam.prompts.calls import MOST_ITEM_WORDS, NAMED_ADVICE, AdviceDraft, AdviceLine, ChoiceDraft, ChoiceLine
from longbeam.schemas import ENGLISH, Advice, AdviceKind, Value, ValueKind
from longbeam.text import ORDINAL_WORDS, content_words, says, sentences, use_quote, values_in

MOST_NAME_WORDS = 5
MOST_TEXT_WORDS = 100
"""Words of a piece of advice with its items; the prompt asks for 60."""
_NUMBERED = re.compile(r"^\s*\d+[.)]\s+", re.MULTILINE)
Draft = AdviceDraft | ChoiceDraft
"""A worded line of the sheet."""


def advice_fault(line: AdviceLine, draft: AdviceDraft | None, told: str, language: str) -> str:
    """Return what is wrong with a draft; empty if nothing is."""
    if draft is None:
        return "is missing"
    if (words := len(draft.text.split())) > MOST_TEXT_WORDS:
        return f"has {words} words; write one to three sentences of at most 60"
    line = as_drafted(line, draft)
    if line.value is not None and not says(draft.text, line.value):
        return f"must say {line.value.text!r}, in these words"
    if fault := _name_fault(line, draft):
        return fault
    former = line.former.value if line.former is not None else None
    if former is not None and says(draft.text, former):
        return f"repeats {former.text!r}, which it replaces; leave the earlier value out"
    items = [item.casefold() for item in items_of(draft)]
    if len(items) != line.count or len(set(items)) != len(items):
        return f"has {len(set(items))} different items; exactly {line.count} are asked for"
    if long := [item for item in items if not item or len(item.split()) > MOST_ITEM_WORDS]:
        return f"has the item {long[0]!r}; an item has 1 to {MOST_ITEM_WORDS} words"
    if known := [item for item in items if re.search(rf"(?<!\w){re.escape(item)}(?!\w)", told)]:
        return f"has the item {known[0]!r}, which was told before or will be; find another"
    if not _in_order(draft.text, items):
        return "must have its items in its text, in the same words and order"
    return _use_fault(line, draft, language)


def mended_advice(line: AdviceLine, draft: AdviceDraft, language: str, *, is_last: bool) -> AdviceDraft:
    """Return a draft whose text has its options or steps, in numbered lines, where it has none of them.

    A small model writes the items and then speaks of something else. `is_last`: it had its chance to say the value of
    a figure or a day as well, and code says it in plain words, `Curtain reserve for the curtain: $9.`, in place of
    sentences that say another one.
    """
    as_worded, text, items = as_drafted(line, draft), draft.text.strip(), items_of(draft)
    has_list = as_worded.kind in {AdviceKind.OPTIONS, AdviceKind.STEPS} and len(items) == as_worded.count
    if has_list and not any(item.casefold() in text.casefold() for item in items) and not _NUMBERED.search(text):
        text = "\n".join(filter(None, (text, *(f"{i}. {item}" for i, item in enumerate(items, 1)))))
    value, name = as_worded.value, as_worded.attribute
    is_unsaid = value is not None and not as_worded.count and not says(text, value)
    if value is not None and is_unsaid and is_last and language == ENGLISH:
        said = ended(_without_rivals(text, value, line.base.value if line.base else None))
        text = " ".join(filter(None, (said, f"{name[:1].upper()}{name[1:]} for {line.topic}: {value.text}.")))
    return draft if text == draft.text.strip() else draft.model_copy(update={"text": text})


def _without_rivals(text: str, value: Value, base: Value | None) -> str:
    """Return a text without the sentences that say another value of the kind; the user's own amount is none."""

    def is_rival(said: Value) -> bool:
        return said.kind is value.kind and not (base is not None and said.means_same_as(base))

    every = [text[start:end] for start, end in sentences(text)]
    kept = [sentence for sentence in every if not any(map(is_rival, values_in(sentence)))]
    return text if len(kept) == len(every) else " ".join(kept)


def items_of(draft: AdviceDraft) -> tuple[str, ...]:
    """Return the items of a draft without the numbers before them and the full stops behind them."""
    return tuple(_NUMBERED.sub("", item.strip(), count=1).rstrip(".") for item in draft.items)


def _use_fault(line: AdviceLine, draft: AdviceDraft, language: str) -> str:
    """Return what is wrong with what an amount is for; empty if nothing is, and for other kinds of advice."""
    if line.kind is not AdviceKind.USE or line.value is None:
        return ""
    (use,) = items_of(draft)
    if any(value.kind is ValueKind.MONEY for value in values_in(use)):
        return f"names an amount in {use!r}; the item says only what the amount is for"
    own = content_words(use)
    if own and own <= content_words(f"{line.topic} {line.bullet.text}"):
        return f"is for {use!r}, which the remark says already; find something that nobody would guess"
    quote = use_quote(draft.text, line.value, use)
    if quote is None or len(sentences(quote)) > 1:
        return f"must say in one sentence, with no other amount, that {line.value.text!r} is for {use!r}"
    if language == ENGLISH and not re.search(rf"\bfor\W+{re.escape(use)}", quote, re.IGNORECASE):
        return f"must have {use!r} right behind 'for'"
    return ""


def shared_use_fault(line: AdviceLine, lines: Iterable[AdviceLine], drafts: Mapping[str, Draft]) -> str:
    """Return that an earlier line of the stage has its amount for the same thing; empty if none has."""
    use = _use(line, drafts)
    earlier = takewhile(lambda other: other.line_id != line.line_id, lines)
    if use and any(_use(other, drafts) == use for other in earlier):
        return f"has the item {use!r}, which another line has; find another"
    return ""


def _use(line: AdviceLine, drafts: Mapping[str, Draft]) -> str:
    """Return what the amount of a line is for, case-folded; empty for other kinds of advice."""
    draft = drafts.get(line.line_id)
    if not isinstance(draft, AdviceDraft) or as_drafted(line, draft).kind is not AdviceKind.USE:
        return ""
    return "; ".join(items_of(draft)).casefold()


def as_drafted(line: AdviceLine, draft: AdviceDraft) -> AdviceLine:
    """Return a line as its draft has it: under the writer's name, or with steps in the place of a value."""
    if line.or_steps and len(draft.items) > line.count:
        kind = AdviceKind.STEPS
        return line.model_copy(
            update={"kind": kind, "attribute": kind.value, "count": line.or_steps, "value": None, "base": None}
        )
    name = draft.name.strip() if line.kind in NAMED_ADVICE else ""
    return line.model_copy(update={"attribute": name}) if name else line


def _name_fault(line: AdviceLine, draft: AdviceDraft) -> str:
    if line.value is None or line.count:
        return ""
    words = line.attribute.split()
    if len(words) > MOST_NAME_WORDS or any(c.isdigit() for c in line.attribute):
        return f"has the name {line.attribute!r}; a name has 1 to {MOST_NAME_WORDS} words and no digits"
    if line.attribute.casefold() not in draft.text.casefold():
        return f"must call the value by its name, {line.attribute!r}"
    return ""


def choice_fault(line: ChoiceLine, draft: ChoiceDraft | None, language: str) -> str:
    """Return what is wrong with the words for a choice; empty if nothing is."""
    if draft is None or not draft.text.strip():
        return "is missing"
    named = next((item for item in line.options.items if _names(draft.text, item, line.options)), None)
    if named is not None:
        return f"gives {named!r} away; say by its number which one the user took"
    if language == ENGLISH and not re.search(rf"\b{ORDINAL_WORDS[line.ordinal - 1]}\b", draft.text, re.IGNORECASE):
        return f"must say that it was the {ORDINAL_WORDS[line.ordinal - 1]} of them"
    return ""


def _names(text: str, item: str, options: Advice) -> bool:
    """Return whether a text has the item, or all of its words that topic and other items do not have."""
    others = " ".join((options.topic, *(i for i in options.items if i != item)))
    own = content_words(item) - content_words(others)
    return item.casefold() in text.casefold() or (bool(own) and own <= content_words(text))


def _in_order(text: str, items: Iterable[str]) -> bool:
    folded, at = text.casefold(), 0
    for item in items:
        at = folded.find(item.casefold(), at)
        if at < 0:
            return False
        at += len(item)
    return True
