"""BEAM's probing questions and our probes, in both directions.

BEAM names the gold answer by five keys and the evidence in a shape of its own for each ability; an ability's record
has the keys. A probe of an ability that BEAM does not have is read and written by the common keys. What no field
of ours holds stays in `details.extra["beam"]`, so that the way back gives the same JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longbeam.abilities import Ability, Trait, ability_named, ability_of
from longbeam.formats.reading import Notes, describe, refuse, want
from longbeam.keys import MessageKey, NuggetId, ProbeId, SubPlanKey
from longbeam.schemas import Difficulty, Evidence, EvidencePart, MessageRole, NoteKind, Nugget, Probe, ProbeDetails

Cited = tuple[int, str, int | None]
"""A message id, its part in the evidence, and the ordered item that it belongs to."""


class MessageIndex:
    """Keys and order of an import's messages, by the ids that its probes cite."""

    def __init__(self, *, is_partial: bool = False) -> None:
        self.is_partial = is_partial
        """Whether some messages are not here, so that the ids of others are not known."""
        self.keys: dict[int, str] = {}
        self.order: dict[str, int] = {}
        self._denials: set[str] = set()

    def add(self, message_id: int | None, key: str, role: MessageRole, text: str) -> None:
        """Add the next message, with its id if it is known; of two messages with one id, the first counts."""
        if message_id is not None:
            self.keys.setdefault(message_id, key)
        self.order[key] = len(self.order)
        if role is MessageRole.USER and "never" in text.casefold():
            self._denials.add(key)

    def denies(self, cited: Sequence[Cited]) -> bool:
        """Return whether one of these messages is the user's and says `never`, as all of BEAM's contradictions do."""
        return any(self.keys.get(message_id) in self._denials for message_id, _, _ in cited)


_OTHER_DIFFICULTIES = frozenset({"clear", "moderate"})
"""BEAM's further words, which are read as medium."""

# --- reading ----------------------------------------------------------------------------------------------


def read_probes(questions: object, where: str, index: MessageIndex | None, notes: Notes) -> tuple[Probe, ...]:
    """Return the probes of a probing_questions dict; `index` is None if there are no messages to cite."""
    found = want(dict, questions, where, "an object with a list of questions per ability")
    probes: list[Probe] = []
    for category, items in found.items():
        for i, item in enumerate(want(list, items, f"{where}: {category}", "a list of questions")):
            place = f"{where}: {category}[{i}]"
            question = _BeamQuestion(category, i, want(dict, item, place, "a question"), place, notes)
            probes.append(_read_probe(question, index))
    if not probes:
        notes.add(NoteKind.NO_PROBES, "conversation", "there are no probing questions")
    return tuple(probes)


@dataclass(frozen=True)
class _BeamQuestion:
    """One question of a file, with its place and the notes of its import."""

    category: str
    """BEAM's name of the ability."""
    ordinal: int
    item: dict[str, Any]
    where: str
    notes: Notes

    @property
    def ability(self) -> Ability:
        return ability_of(ability_named(self.category))

    @property
    def probe_id(self) -> str:
        return str(ProbeId(self.ability.name, str(self.ordinal)))

    def note(self, kind: NoteKind, text: str) -> None:
        self.notes.add(kind, self.probe_id, text)


def _read_probe(question: _BeamQuestion, index: MessageIndex | None) -> Probe:
    ability, item, probe_id = question.ability, question.item, question.probe_id
    kept = dict(item)
    text = want(str, kept.pop("question", None), f"{question.where}: question", "the question's text")
    gold = _read_gold(question, kept)
    rubric = _read_rubric(question, kept, gold)
    difficulty = str(kept.get("difficulty", ""))
    if difficulty in set(Difficulty):
        del kept["difficulty"]
    elif "difficulty" in kept and difficulty not in _OTHER_DIFFICULTIES:
        question.note(NoteKind.ODD_VALUE, f"difficulty is {describe(kept['difficulty'])}; read as medium")
    _note_missing_keys(question)
    absent = [key for key in (ability.beam.answer, "difficulty", "rubric") if key not in item]
    cited = list(_cited(question, len(rubric)))
    there = [] if index is None else sorted({i for i, _, _ in cited if i in index.keys})
    evidence = () if index is None else _evidence(question, cited, index)
    _note_missing_evidence(question, cited)
    if index is None:
        _note_shared_evidence(question, cited)
    if ability.has(Trait.ORDERS_ITEMS):
        _note_order(question, cited)
    return Probe(
        probe_id=probe_id,
        ability=ability.name,
        source_category=question.category,
        question=text,
        gold_answer=gold,
        difficulty=Difficulty(difficulty) if difficulty in set(Difficulty) else Difficulty.MEDIUM,
        rubric=tuple(Nugget(nugget_id=str(NuggetId(probe_id, n)), text=said) for n, said in enumerate(rubric)),
        evidence=evidence,
        details=ProbeDetails(
            variety=_text(kept, ability.beam.variety),
            items=tuple(rubric) if ability.has(Trait.ORDERS_ITEMS) else (),
            missing=_text(kept, "why_unanswerable"),
            instruction=_text(kept, "instruction_being_tested"),
            preference=_text(kept, "preference_being_tested"),
            extra={"beam": kept, "cited": there} | ({"absent": absent} if absent else {}),
        ),
        is_selected=True,
        rank=question.ordinal,
    )


def _read_gold(question: _BeamQuestion, kept: dict[str, Any]) -> str:
    key = question.ability.beam.answer
    if isinstance(kept.get(key), str):
        return str(kept.pop(key))
    question.note(NoteKind.NO_GOLD, f"the probe has no gold answer: {key} is {describe(kept.get(key))}")
    return "" if kept.get(key) is None else str(kept[key])


def _read_rubric(question: _BeamQuestion, kept: dict[str, Any], gold: str) -> list[str]:
    rubric = kept.get("rubric")
    if isinstance(rubric, Mapping) and "nuggets" in rubric:  # a form that mem0's loader accepts
        rubric = [n.get("description", "") if isinstance(n, Mapping) else n for n in rubric["nuggets"]]
    elif isinstance(rubric, list) and rubric and all(isinstance(item, str) for item in rubric):
        # A rubric in the usual form is restored from the nuggets; only unusual forms are kept beside them.
        del kept["rubric"]
    if isinstance(rubric, str):
        question.note(NoteKind.ODD_VALUE, f"the rubric is {describe(rubric)}, not a list; read as one nugget")
        rubric = [rubric] if rubric else []
    if not rubric:
        question.note(NoteKind.NO_RUBRIC, "the rubric is empty; the gold answer stands in for it")
        return [gold or "(nothing is said of what the answer should be)"]
    if not isinstance(rubric, list):
        refuse(f"{question.where}: rubric", f"found {describe(rubric)}; a list of texts is needed")
    if odd := [item for item in rubric if not isinstance(item, str)]:
        question.note(NoteKind.ODD_VALUE, f"the rubric has {describe(odd[0])}, not a text; its JSON is the nugget")
    return [item if isinstance(item, str) else describe(item) for item in rubric]


def _cited(question: _BeamQuestion, items: int) -> Iterator[Cited]:
    ids, ability = question.item.get("source_chat_ids"), question.ability
    if ids is None:
        return
    sides = ability.beam_sides
    if isinstance(ids, dict):
        for side, listed in ids.items():
            if side not in sides:
                text = f"evidence has a side {side!r}, which {ability.name} does not have"
                question.note(NoteKind.EVIDENCE_SHAPE, text)
            for message_id, _ in _ids_of(question, listed):
                yield message_id, sides.get(side, EvidencePart.SUPPORT), None
        return
    if sides:
        question.note(NoteKind.EVIDENCE_SHAPE, f"evidence has no sides: {describe(ids)}")
    found = list(_ids_of(question, ids))
    # Lists of ids are groups only if there is one for each item; otherwise nobody can say which is whose.
    grouped = ability.has(Trait.ORDERS_ITEMS) and len({group for _, group in found}) == items
    for message_id, group in found:
        yield message_id, ability.listed_part, group if grouped else None


def _ids_of(question: _BeamQuestion, listed: object) -> Iterator[tuple[int, int]]:
    """Yield message ids, each with the ordinal of the outermost element that contains it."""
    elements = listed if isinstance(listed, list) else [listed]
    kinds = {isinstance(e, list) for e in elements}
    if len(kinds) > 1:
        question.note(NoteKind.EVIDENCE_SHAPE, f"evidence mixes ids and lists of ids: {describe(listed)}")
    for group, element in enumerate(elements):
        for item in element if isinstance(element, list) else [element]:
            # JSON's `true` is an int in Python.
            if isinstance(item, int) and not isinstance(item, bool):
                yield item, group
            elif isinstance(item, str) and item.strip().isdecimal():
                question.note(NoteKind.EVIDENCE_SHAPE, f"evidence has an id as text: {item!r}")
                yield int(item), group
            else:
                question.note(NoteKind.EVIDENCE_ID, f"evidence cites {describe(item)}, which is no message id")


def _evidence(question: _BeamQuestion, cited: list[Cited], index: MessageIndex) -> tuple[Evidence, ...]:
    if question.ability.has(Trait.RESOLVES_CONTRADICTION):
        cited = _denial_second(cited, index)
    found: list[Evidence] = []
    for message_id, part, group in cited:
        key = index.keys.get(message_id)
        if key is None and index.is_partial:
            what = f"evidence cites message {message_id}; chats of plans are missing, so nobody knows which one it is"
            question.note(NoteKind.EVIDENCE_MISSING, what)
        elif key is None:
            question.note(NoteKind.EVIDENCE_ID, f"evidence cites message {message_id}, which the chat does not have")
        else:
            found.append(Evidence(message_key=key, quote="", part=part, group=group))
    return tuple(sorted(dict.fromkeys(found), key=lambda e: index.order[e.message_key]))


def _denial_second(cited: list[Cited], index: MessageIndex) -> list[Cited]:
    """Exchange the two sides if the first one denies: BEAM does not say which side does."""
    statement = [c for c in cited if c[1] == EvidencePart.STATEMENT]
    denial = [c for c in cited if c[1] == EvidencePart.DENIAL]
    if not index.denies(statement) or index.denies(denial):
        return cited
    other = {EvidencePart.STATEMENT: EvidencePart.DENIAL, EvidencePart.DENIAL: EvidencePart.STATEMENT}
    return [(i, other[EvidencePart(part)], group) for i, part, group in cited]


def _note_missing_keys(question: _BeamQuestion) -> None:
    ability = question.ability
    if not ability.beam.further:
        return  # of an ability that BEAM does not have, nobody knows the keys
    common = ["difficulty", *([] if ability.has(Trait.ABSTAINS) else ["source_chat_ids"])]
    expected = [key for key in (*ability.beam.further, *common) if key not in ability.beam.optional]
    if missing := [key for key in expected if key not in question.item]:
        question.note(NoteKind.MISSING_KEY, f"the probe has no {', '.join(missing)}")


def _note_missing_evidence(question: _BeamQuestion, cited: Sequence[Cited]) -> None:
    if question.ability.has(Trait.ABSTAINS) or "source_chat_ids" not in question.item:
        return
    parts = {part for _, part, _ in cited}
    if not cited:
        question.note(NoteKind.EVIDENCE_MISSING, "the probe cites no message")
    elif empty := [side for side, part in question.ability.beam_sides.items() if part not in parts]:
        question.note(NoteKind.EVIDENCE_MISSING, f"the probe cites no message for {', '.join(empty)}")


def _note_shared_evidence(question: _BeamQuestion, cited: Sequence[Cited]) -> None:
    """Note messages that are both sides; with the chat at hand, the check `evidence_parts` reports them."""
    for first, second in question.ability.parts_apart:
        sides = [{i for i, part, _ in cited if part == side} for side in (first, second)]
        if both := sorted(sides[0] & sides[1]):
            kind = NoteKind.ONE_SESSION if first == EvidencePart.FIRST else NoteKind.ONE_MESSAGE
            question.note(kind, f"message {', '.join(map(str, both))} is {first} and {second} at once")


def _note_order(question: _BeamQuestion, cited: Sequence[Cited]) -> None:
    ids = [message_id for message_id, _, _ in cited]
    if ids != sorted(ids):
        text = f"the messages of an ordered answer are cited out of order: {', '.join(map(str, ids))}"
        question.note(NoteKind.EVIDENCE_ORDER, text)


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, "")
    return value if isinstance(value, str) else describe(value)


# --- writing ----------------------------------------------------------------------------------------------


def write_probe(probe: Probe, cited: Sequence[int]) -> dict[str, Any]:
    """Return a probe in BEAM's form; `cited` are the message ids of its evidence, in the evidence's order."""
    kept = probe.details.extra.get("beam")
    rest = dict(kept) if isinstance(kept, dict) else _own_keys(probe, cited)
    if kept is not None and sorted(set(cited)) != probe.details.extra.get("cited"):
        rest["source_chat_ids"] = _source_ids(probe, cited)  # somebody has changed the evidence since
    common = {
        "question": probe.question,
        ability_of(probe.ability).beam.answer: probe.gold_answer,
        "difficulty": probe.difficulty.value,
    }
    made = common | rest | {"rubric": rest.get("rubric", [n.text for n in probe.rubric])}
    return {key: value for key, value in made.items() if key not in probe.details.extra.get("absent", ())}


def _own_keys(probe: Probe, cited: Sequence[int]) -> dict[str, Any]:
    """Return the further keys of BEAM's probes of this ability, filled from the fields of ours."""
    details = probe.details
    references = [f"chat_id: {i}: {e.quote}" for i, e in zip(cited, probe.evidence, strict=True)]
    nuggets = [n.text for n in probe.rubric]
    values: dict[str, Any] = {
        "why_unanswerable": details.missing,
        "plan_reference": ", ".join(probe.bullet_ids),
        "topic_questioned": "",
        "conversation_references": references,
        "conversation_reference": "; ".join(references),
        "tests_for": nuggets[-1],
        "total_mentions": len(details.items),
        "ordering_tested": list(details.items),
        "key_facts_tested": nuggets,
        "instruction_being_tested": details.instruction,
        "preference_being_tested": details.preference,
        "compliance_indicators": nuggets,
        "non_compliance_signs": [],
        "tests_retention_of": details.new_value,
        "potential_confusion": details.old_value,
        "sessions_required": len({_sub_plan_of(e.message_key) for e in probe.evidence}),
        "reasoning_steps": list(details.computed_from),
        "bullet_points_covered": len(probe.bullet_ids),
        "conversation_sessions": sorted(set(cited)),
        "key_elements_tested": nuggets,
        "synthesis_required": details.computation,
        "time_points": list(details.computed_from),
        "calculation_required": details.computation,
    }
    ability = ability_of(probe.ability)
    made = {key: details.variety if key.endswith("_type") else values.get(key, "") for key in ability.beam.further}
    return made | ({} if ability.has(Trait.ABSTAINS) else {"source_chat_ids": _source_ids(probe, cited)})


def _sub_plan_of(message_key: str) -> SubPlanKey | None:
    """Return the sub-plan of a message; None for keys of imports, whose messages belong to no plan."""
    try:
        return MessageKey.parse(message_key).sub_plan
    except ValueError:
        return None


def _source_ids(probe: Probe, cited: Sequence[int]) -> Any:  # Any: BEAM's three shapes
    pairs = list(zip(cited, probe.evidence, strict=True))
    ability = ability_of(probe.ability)
    if sides := ability.beam_sides:
        return {side: sorted({i for i, e in pairs if e.part == part}) for side, part in sides.items()}
    groups = sorted({e.group for _, e in pairs if e.group is not None})
    if ability.has(Trait.ORDERS_ITEMS) and groups:
        listed = [sorted({i for i, e in pairs if e.group == group}) for group in groups]
        # BEAM writes a plain list where every item has one message.
        return [ids[0] for ids in listed] if all(len(ids) == 1 for ids in listed) else listed
    return sorted(set(cited))
