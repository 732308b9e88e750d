"""The JSON schema of one call's reply, narrowed to the ids, dates and counts that are known before the call.

A server that decodes by a grammar then cannot name a missing bullet or return a list of another length. Other rules
stand in the prompt, and the generators check them. `enum`, `minItems` and `maxItems` are used, which every server with
structured output supports, and keywords of grammars, which `models.structured` leaves out for servers that refuse them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from longbeam.abilities import QuestionKind, Trait, ability_of
from longbeam.prompts.calls import memory as memory_calls
from longbeam.prompts.calls.augmentation import AugmentInputs
from longbeam.prompts.calls.chats import ExtractFactsInputs
from longbeam.prompts.calls.checks import EntailmentInputs
from longbeam.prompts.calls.plans import (
    LONGEST_TEXT,
    SIDE_NARRATIVE,
    EventsInputs,
    NewSlot,
    OutlineInputs,
    StoryEvent,
    SubPlanInputs,
)
from longbeam.prompts.calls.probes import MAX_NUGGETS, AbstentionInputs, CandidatesInputs, ProbeInputs
from longbeam.prompts.calls.scaffold import NarrativesInputs, SeedsInputs
from longbeam.prompts.calls.user_turns import UserTurnsInputs, longest_message, most_unsaid
from longbeam.schemas import BulletKind, PromptInputs, ValueKind

Schema = dict[str, Any]
Narrow = Callable[[Schema, Any], None]
"""Function that edits a copy of a prompt's schema for the inputs of one call."""

MOST_CHOICES = 250
"""Values of one `enum`, as OpenAI takes 1,000 in a whole schema. A field with more values stays open."""

LONGEST_BOUND = 2_000
"""Characters of the longest bound of a text: llama.cpp takes no notice of a longer one, and says nothing."""


def narrowed(schema: Schema, narrow: Narrow, inputs: PromptInputs) -> Schema:
    """Return the schema of one call's reply."""
    made = copy.deepcopy(schema)
    narrow(made, inputs)
    return made


def recall_step(schema: Schema, inputs: memory_calls.RecallStepInputs) -> None:
    """Offer the pages that can be recalled; none if no recall is left."""
    pages = schema["properties"]["page_ids"]
    if inputs.page_ids and len(inputs.page_ids) <= MOST_CHOICES:
        pages["items"]["enum"] = list(inputs.page_ids)
    _count(pages, 0, len(inputs.page_ids) if inputs.recalls_left else 0)


def bookmark_pages(schema: Schema, inputs: memory_calls.BookmarkPagesInputs) -> None:
    """Ask for one entry for each page shown, with the requested number of keywords."""
    _count(schema["properties"]["bookmarks"], len(inputs.pages))
    draft = _fields(schema, "BookmarkDraft")
    draft["page_id"] = _one_of(*(page.page_id for page in inputs.pages))
    _count(draft["keywords"], 1, inputs.most)


def seeds(schema: Schema, inputs: SeedsInputs) -> None:
    """Allow at most the requested number of seeds, or none."""
    _count(schema["properties"]["seeds"], 0, inputs.count)


def narratives(schema: Schema, inputs: NarrativesInputs) -> None:
    """Ask for the requested number of narratives."""
    _count(schema["properties"]["narratives"], inputs.at_least, inputs.at_most)
    _limit(_fields(schema, "Narrative"), label=60, description=480, sub_labels=60)


def outline(schema: Schema, inputs: OutlineInputs) -> None:
    """Ask for one draft for each stage, with the narratives and people that there are."""
    _count(schema["properties"]["stages"], len(inputs.stages))
    draft = schema["$defs"]["StageDraft"]
    fields = draft["properties"]
    _limit(fields, title=120, summary=LONGEST_BOUND, wants=300)
    labels, people = [n.label for n in inputs.narratives], [p.first_name for p in inputs.people]
    for name, choices in (("narratives", labels), ("turns", labels), ("people", people)):
        _items(fields[name], choices)
    _count(fields["wants"], 0, len(people))
    draft["required"] = list(fields)
    names = schema["properties"]["names"]
    _count(names, 0, MOST_NAMES)
    draft = _fields(schema, "NameDraft")
    _limit(draft, name=60, what=160)
    draft["stage"] = _one_of(*range(1, len(inputs.stages) + 1))
    schema["required"] = ["stages", "names"]


MOST_NAMES = 16
"""Names of things in a plan."""
MOST_FACTS = 4
"""Values that one event says."""
MOST_LINKS, MOST_MATTERS = 4, 3
"""Events that an event follows, and matters that it opens or closes."""
_NEW_SLOTS = tuple(
    NewSlot(kind=kind, is_fixed=is_fixed).code
    for kind in ValueKind
    if kind is not ValueKind.TEXT
    for is_fixed in (False, True)
)


_LONGEST = {"topic": 60, "text": LONGEST_TEXT, "condition": 160, "requirement": 240, "name": 60, "value": 60}
"""Characters of the fields of a line, and of a remark beside the lines."""
_LONGEST_EVENT = 300
"""Characters of what happens in an event."""


def events(schema: Schema, inputs: EventsInputs) -> None:
    """Ask for one draft for each number, with the narratives, people and earlier events that there are.

    What all forms share is defined once; a circle of events is the check's to find.
    """
    defs = schema["$defs"]
    shared, link = defs.pop("EventDraft")["properties"], defs["LinkDraft"]
    ids = [*(e.event_id for e in inputs.earlier), *(f"e{n}" for n in inputs.own_numbers)]
    link["properties"]["event"] = _one_of(*ids[-MOST_CHOICES:])
    link["required"] = list(link["properties"])
    _choose(shared, "narrative", [n.label for n in inputs.narratives])
    _items(shared["people"], [p.first_name for p in inputs.people])
    matters = {"type": "array", "items": _bounded("topic"), "maxItems": MOST_MATTERS}
    shared |= {"thing": _bounded("topic"), "what": _text(_LONGEST_EVENT), "opens": matters, "closes": matters}
    shared["after"] |= {"maxItems": MOST_LINKS}
    shared["on"] = {"type": "string", "maxLength": 10}
    defs |= {name: form for name, form in shared.items() if "$ref" not in form}
    fields = {name: form if "$ref" in form else {"$ref": f"#/$defs/{name}"} for name, form in shared.items()}
    beside = {"narrative": _one_of(SIDE_NARRATIVE)}
    forms = ({**fields, **(beside if n in inputs.side else {}), "event": _one_of(f"e{n}")} for n in inputs.numbers)
    _each(schema["properties"]["events"], [_form(form) for form in forms])
    schema["properties"]["stays_open"] |= {"items": _text(_LONGEST["topic"]), "maxItems": MOST_NAMES}
    schema["required"] = list(schema["properties"])
    _limit(schema["properties"], log=_LONGEST["topic"])
    for name, form, most in (
        ("entries", "LogEntry", inputs.entries),
        ("confidences", "Confidence", inputs.confidences),
    ):
        _count(schema["properties"][name], 0, most)
        own = _fields(schema, form)
        _limit(own, **{field: _LONGEST["text" if field in ("text", "request") else "value"] for field in own})
        own |= {field: _one_of(*ids[-MOST_CHOICES:]) for field in ("event", "asked_at") if field in own}
        defs[form]["required"] = list(own)


def sub_plan(schema: Schema, inputs: SubPlanInputs) -> None:
    """Ask for one draft for each event, with the slots that there are."""
    slots = [line.fact_id for line in inputs.slots]
    _each(schema["properties"]["bullets"], [_event_form(schema, event, slots) for event in inputs.events])
    schema.pop("$defs")  # Every form is written out: nothing refers to the definitions.


def _event_form(schema: Schema, event: StoryEvent, slots: Sequence[str]) -> Schema:
    form: Schema = {"event": _one_of(event.event_id)}
    if event.kind is not BulletKind.INTRODUCTION:
        # Before the text: the values are known when it is written.
        fact = copy.deepcopy(schema["$defs"]["FactDraft"])
        fact["properties"] |= {name: _bounded(name) for name in ("name", "value")}
        fact["properties"]["day"] = {"type": "string", "maxLength": 10}
        fact["properties"]["slot"] = _one_of(*slots, *_NEW_SLOTS)
        form["facts"] = {"type": "array", "items": fact}
        _count(form["facts"], 0, MOST_FACTS)
    form["text"] = _bounded("text")
    return _form(form)


def augment(schema: Schema, inputs: AugmentInputs) -> None:
    """Ask for one draft for each target, in the order in which they are named."""
    for name, draft, targets in (
        ("updates", "UpdateDraft", inputs.updates),
        ("contradictions", "ContradictionDraft", inputs.contradictions),
        ("wishes", "WishDraft", inputs.wishes),
    ):
        texts = {text: _bounded(text) for text in _fields(schema, draft) if text in _LONGEST}
        if name != "wishes":
            texts["value"].pop("minLength")  # Only a slip about a value has one, and nothing that stays unsaid.
        lines = {t.target_id: {"line": _one_of(*t.lines)} for t in inputs.wishes}
        forms = ({"target_id": _one_of(t.target_id)} | lines.get(t.target_id, {}) | texts for t in targets)
        _each(schema["properties"][name], [_form(form) for form in forms])
    schema.pop("$defs")  # Every form is written out: nothing refers to the definitions.


def statements(schema: Schema, inputs: ExtractFactsInputs) -> None:
    """Offer lists only where they are read."""
    if not inputs.reads_lists:
        fields = _fields(schema, "StatementDraft")
        fields["says"]["enum"].remove("list")
        del fields["items"]


def _form(fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _one_of(*values: str | int) -> Schema:
    return {"type": "integer" if isinstance(values[0], int) else "string", "enum": list(values)}


def _text(longest: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _bounded(name: str) -> Schema:
    return _text(_LONGEST[name])


def user_turns(schema: Schema, inputs: UserTurnsInputs) -> None:
    """Ask for the requested number of turns; offer the bullets of the call."""
    spare = [b.bullet.bullet_id for b in inputs.batch if b.may_be_unsaid]
    unsaid = min(most_unsaid(len(inputs.batch)), len(spare))
    _count(schema["properties"]["turns"], inputs.questions - unsaid, inputs.questions)
    if "unsaid" in schema["properties"]:
        _items(schema["properties"]["unsaid"], spare)
        schema["properties"]["unsaid"]["maxItems"] = unsaid
    turn = _fields(schema, "UserTurnDraft")
    offered = [b.bullet.bullet_id for b in (*inputs.batch, *inputs.about)]
    about = dict.fromkeys((*offered, *(b.bullet_id for b in inputs.context)))
    _items(turn["voices"], [b.bullet.bullet_id for b in inputs.batch])
    _items(turn["asks_about"], list(about))
    _limit(turn, text=longest_message(inputs.cards))


_NAMING_ALL = frozenset({QuestionKind.JOIN, QuestionKind.SET_DIFFERENCE})
"""Questions for people, which one nugget names together."""


def probe(schema: Schema, inputs: ProbeInputs) -> None:
    """Ask for nuggets that name at least one of the excerpts; some abilities fix the number of nuggets."""
    is_conflict = ability_of(inputs.ability).has(Trait.RESOLVES_CONTRADICTION)
    # Four nuggets: the conflict, its two sides, and the question which side is right.
    # The people of a join are named in one.
    count = 4 if is_conflict else 1 if inputs.variety in _NAMING_ALL else len(inputs.items) or len(inputs.listed_as)
    if inputs.listed_as:
        _count(schema["properties"]["items"], count)
    _count(schema["properties"]["nuggets"], count or 1, count or max(MAX_NUGGETS, len(inputs.excerpts)))
    nugget = schema["$defs"]["NuggetDraft"]
    _items(nugget["properties"]["excerpts"], [e.ordinal for e in inputs.excerpts])
    nugget["properties"]["excerpts"]["minItems"] = 1
    _limit(schema["properties"], question=600, gold_answer=LONGEST_BOUND)
    _limit(nugget["properties"], text=400)
    nugget["required"] = ["text", "excerpts"]


def abstention(schema: Schema, inputs: AbstentionInputs) -> None:
    """Ask for the requested number of questions; offer the bullets that they can be close to."""
    _count(schema["properties"]["items"], inputs.count)
    item = _fields(schema, "AbstentionDraft")
    _choose(item, "bullet_id", (b.bullet_id for b in inputs.bullets))
    _count(item["search_terms"], 2, 6)
    _limit(item, question=300, missing=240, search_terms=60, answer=400)


def candidates(schema: Schema, inputs: CandidatesInputs) -> None:
    """Ask for at most so many candidates; offer the ids of all."""
    chosen = schema["properties"]["chosen"]
    _count(chosen, 0, inputs.count)
    _items(chosen, [option.candidate_id for option in inputs.options])
    _count(schema["properties"]["purposes"], 0, inputs.count)
    _limit(schema["properties"], purposes=200)


def entailment(schema: Schema, inputs: EntailmentInputs) -> None:
    """Ask for one verdict for each claim."""
    verdict = schema.pop("$defs")["ClaimVerdict"]
    forms = []
    for claim in range(1, len(inputs.claims) + 1):
        form = copy.deepcopy(verdict)
        form["properties"]["claim"] = _one_of(claim)
        forms.append(form)
    _each(schema["properties"]["verdicts"], forms)


def verdict(schema: Schema, inputs: PromptInputs) -> None:
    """End the reason before a verdict, so that the verdict follows: small models go on and on."""
    for form in (schema, *schema.get("$defs", {}).values()):
        if "reason" in form["properties"]:
            _limit(form["properties"], reason=400)


def _fields(schema: Schema, name: str) -> Schema:
    fields = schema["$defs"][name]["properties"]
    assert isinstance(fields, dict)
    return fields


def _limit(fields: Schema, **longest: int) -> None:
    """Give texts, or the texts of a list, room for a reply, so that a loop is cut early. Longer ones are no fault."""
    for name, characters in longest.items():
        text = fields[name].get("items", fields[name])
        text["maxLength"] = characters


def _count(array: Schema, least: int, most: int = -1) -> None:
    array["minItems"] = least
    array["maxItems"] = least if most == -1 else most


def _each(array: Schema, forms: Sequence[Schema]) -> None:
    """Ask for one item of each form, in this order."""
    _count(array, len(forms))
    if not forms:
        array["items"] = {"type": "string"}  # Of no matter, but servers want one.
        return
    array.pop("items")
    array["prefixItems"] = list(forms)


def _choose(fields: Schema, name: str, values: Iterable[str]) -> None:
    offered = list(values)
    if 0 < len(offered) <= MOST_CHOICES:
        fields[name] = _one_of(*offered)


def _items(array: Schema, values: Sequence[str | int]) -> None:
    if not values:
        array["maxItems"] = 0
    elif len(values) <= MOST_CHOICES:
        array["items"] = _one_of(*values)
        array["maxItems"] = min(array.get("maxItems", len(values)), len(values))
