"""BEAM's probing questions and our probes, in both directions.

BEAM names the gold answer by five keys and the evidence in a shape of its own for each ability. What no field of
ours holds stays in `details.extra["beam"]`, so that the way back gives the same JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longbeam.formats.reading import Notes, describe, refuse, want_dict, want_list, want_text
from longbeam.schemas.dialogue import MessageRole
from longbeam.schemas.imports import NoteKind
from longbeam.schemas.probes import ABILITIES, Difficulty, Evidence, EvidencePart, Nugget, Probe, ProbeDetails

ANSWER_KEYS = {
    "abstention": "ideal_response",
    "contradiction_resolution": "ideal_answer",
    "instruction_following": "expected_compliance",
    "preference_following": "expected_compliance",
    "summarization": "ideal_summary",
}
"""The key of the gold answer; `answer` for the other abilities. The two `following` ones have a description instead."""

KEYS = {
    "abstention": "abstention_type why_unanswerable plan_reference",
    "contradiction_resolution": "contradiction_type topic_questioned conversation_references tests_for",
    "event_ordering": "ordering_type total_mentions conversation_references ordering_tested",
    "information_extraction": "question_type conversation_reference key_facts_tested",
    "instruction_following": "instruction_being_tested compliance_indicators non_compliance_signs instruction_type",
    "knowledge_update": "update_type tests_retention_of conversation_references potential_confusion",
    "multi_session_reasoning": "reasoning_type sessions_required conversation_references reasoning_steps",
    "preference_following": "preference_being_tested compliance_indicators non_compliance_signs preference_type",
    "summarization": "summarization_type bullet_points_covered conversation_sessions key_elements_tested "
    "synthesis_required",
    "temporal_reasoning": "temporal_type time_points conversation_references calculation_required",
}
"""Keys that probes of an ability have besides question, answer, difficulty, rubric and source_chat_ids."""

_SIDES = {
    "contradiction_resolution": (
        ("first_statement", EvidencePart.STATEMENT),
        ("second_statement", EvidencePart.DENIAL),
    ),
    "knowledge_update": (("original_info", EvidencePart.ORIGINAL), ("updated_info", EvidencePart.UPDATED)),
    "temporal_reasoning": (("first_event", EvidencePart.FIRST), ("second_event", EvidencePart.SECOND)),
}
_PARTS = {
    "event_ordering": EvidencePart.ITEM,
    "instruction_following": EvidencePart.INSTRUCTION,
    "preference_following": EvidencePart.PREFERENCE,
}
_TYPE_KEYS = {ability: next(k for k in keys.split() if k.endswith("_type")) for ability, keys in KEYS.items()}

Cited = tuple[int, str, int | None]
"""A message id, the part it plays, and the ordered item it belongs to."""


class MessageIndex:
    """Where the messages of an import are: by the ids that its probes cite."""

    def __init__(self) -> None:
        self.keys: dict[int, str] = {}
        self.order: dict[str, int] = {}
        self._denials: set[str] = set()

    def add(self, message_id: int, key: str, role: MessageRole, text: str) -> None:
        """Take up the next message; of two with one id the first counts."""
        self.keys.setdefault(message_id, key)
        self.order[key] = len(self.order)
        if role is MessageRole.USER and "never" in text.casefold():
            self._denials.add(key)

    def denies(self, cited: Sequence[Cited]) -> bool:
        """Whether one of these messages of the user says `never`, as all of BEAM's contradictions do."""
        return any(self.keys.get(message_id) in self._denials for message_id, _, _ in cited)


# --- reading ----------------------------------------------------------------------------------------------


def read_probes(questions: object, where: str, index: MessageIndex | None, notes: Notes) -> tuple[Probe, ...]:
    """Return the probes of a probing_questions dict; `index` is None where there are no messages to cite."""
    found = want_dict(questions, where, "an object with a list of questions per ability")
    probes: list[Probe] = []
    for ability, items in found.items():
        if ability not in ABILITIES:
            refuse(where, f"ability {ability!r} is unknown; allowed: {', '.join(ABILITIES)}")
        for i, item in enumerate(want_list(items, f"{where}: {ability}", "a list of questions")):
            place = f"{where}: {ability}[{i}]"
            probes.append(_read_probe(ability, i, want_dict(item, place, "a question"), place, index, notes))
    return tuple(probes)


def _read_probe(
    ability: str, ordinal: int, item: dict[str, Any], where: str, index: MessageIndex | None, notes: Notes
) -> Probe:
    probe_id = f"{ability}.{ordinal}"
    kept = dict(item)
    question = want_text(kept.pop("question", None), f"{where}: question", "the question's text")
    gold = _read_gold(ability, kept, probe_id, notes)
    rubric = _read_rubric(kept, gold, probe_id, where, notes)
    difficulty = str(kept.get("difficulty", ""))
    if difficulty in set(Difficulty):
        del kept["difficulty"]
    _note_missing_keys(ability, item, probe_id, notes)
    absent = [key for key in (ANSWER_KEYS.get(ability, "answer"), "difficulty", "rubric") if key not in item]
    cited = list(_cited(ability, item.get("source_chat_ids"), len(rubric), probe_id, where, notes))
    there = [] if index is None else sorted({i for i, _, _ in cited if i in index.keys})
    evidence = () if index is None else _evidence(ability, cited, probe_id, index, notes)
    _note_missing_evidence(ability, item, cited, probe_id, notes)
    if ability == "event_ordering":
        _note_order(cited, probe_id, notes)
    return Probe(
        probe_id=probe_id,
        ability=ability,
        source_category=ability,
        question=question,
        gold_answer=gold,
        difficulty=Difficulty(difficulty) if difficulty in set(Difficulty) else Difficulty.MEDIUM,
        rubric=tuple(Nugget(nugget_id=f"{probe_id}.n{n}", text=text) for n, text in enumerate(rubric)),
        evidence=evidence,
        details=ProbeDetails(
            variety=_text(kept, _TYPE_KEYS[ability]),
            items=tuple(rubric) if ability == "event_ordering" else (),
            missing=_text(kept, "why_unanswerable"),
            instruction=_text(kept, "instruction_being_tested"),
            preference=_text(kept, "preference_being_tested"),
            extra={"beam": kept, "cited": there} | ({"absent": absent} if absent else {}),
        ),
        is_selected=True,
        rank=ordinal,
    )


def _read_gold(ability: str, kept: dict[str, Any], probe_id: str, notes: Notes) -> str:
    key = ANSWER_KEYS.get(ability, "answer")
    if isinstance(kept.get(key), str):
        return str(kept.pop(key))
    notes.add(NoteKind.NO_GOLD, probe_id, f"the probe has no gold answer: {key} is {describe(kept.get(key))}")
    return "" if kept.get(key) is None else str(kept[key])


def _read_rubric(kept: dict[str, Any], gold: str, probe_id: str, where: str, notes: Notes) -> list[str]:
    rubric = kept.get("rubric")
    if isinstance(rubric, Mapping) and "nuggets" in rubric:  # a form that mem0's loader accepts
        rubric = [n.get("description", "") if isinstance(n, Mapping) else n for n in rubric["nuggets"]]
    elif isinstance(rubric, list) and rubric and all(isinstance(item, str) for item in rubric):
        del kept["rubric"]
    if isinstance(rubric, str):
        rubric = [rubric]
    if not rubric:
        notes.add(NoteKind.NO_RUBRIC, probe_id, "the rubric is empty; the gold answer stands in for it")
        return [gold or "(nothing is said of what the answer should be)"]
    if not isinstance(rubric, list):
        refuse(f"{where}: rubric", f"found {describe(rubric)}; a list of texts is needed")
    return [item if isinstance(item, str) else describe(item) for item in rubric]


def _cited(ability: str, ids: object, items: int, probe_id: str, where: str, notes: Notes) -> Iterator[Cited]:
    if ids is None:
        return
    sides = _SIDES.get(ability)
    if isinstance(ids, dict):
        known = dict(sides or ())
        for side, listed in ids.items():
            if side not in known:
                text = f"evidence has a side {side!r}, which {ability} does not have"
                notes.add(NoteKind.EVIDENCE_SHAPE, probe_id, text)
            for message_id, _ in _ids_of(listed, probe_id, notes):
                yield message_id, known.get(side, EvidencePart.SUPPORT), None
        return
    if sides:
        notes.add(NoteKind.EVIDENCE_SHAPE, probe_id, f"evidence has no sides: {describe(ids)}")
    part = _PARTS.get(ability, EvidencePart.SUPPORT)
    found = list(_ids_of(ids, probe_id, notes))
    grouped = ability == "event_ordering" and len({group for _, group in found}) == items
    for message_id, group in found:
        yield message_id, part, group if grouped else None


def _ids_of(listed: object, probe_id: str, notes: Notes) -> Iterator[tuple[int, int]]:
    """Yield message ids with the ordinal of the outermost element that each stands in."""
    elements = listed if isinstance(listed, list) else [listed]
    kinds = {isinstance(e, list) for e in elements}
    if len(kinds) > 1:
        notes.add(NoteKind.EVIDENCE_SHAPE, probe_id, f"evidence mixes ids and lists of ids: {describe(listed)}")
    for group, element in enumerate(elements):
        for item in element if isinstance(element, list) else [element]:
            if isinstance(item, int) and not isinstance(item, bool):
                yield item, group
            elif isinstance(item, str) and item.strip().isdecimal():
                notes.add(NoteKind.EVIDENCE_SHAPE, probe_id, f"evidence has an id as text: {item!r}")
                yield int(item), group
            else:
                notes.add(NoteKind.EVIDENCE_ID, probe_id, f"evidence cites {describe(item)}, which is no message id")


def _evidence(
    ability: str, cited: list[Cited], probe_id: str, index: MessageIndex, notes: Notes
) -> tuple[Evidence, ...]:
    if ability == "contradiction_resolution":
        cited = _denial_second(cited, index)
    found: list[Evidence] = []
    for message_id, part, group in cited:
        key = index.keys.get(message_id)
        if key is None:
            text = f"evidence cites message {message_id}, which the chat does not have"
            notes.add(NoteKind.EVIDENCE_ID, probe_id, text)
        else:
            found.append(Evidence(message_key=key, quote="", part=part, group=group))
    return tuple(sorted(dict.fromkeys(found), key=lambda e: index.order[e.message_key]))


def _denial_second(cited: list[Cited], index: MessageIndex) -> list[Cited]:
    """Exchange the two sides where the first one denies: BEAM does not say which does."""
    statement = [c for c in cited if c[1] == EvidencePart.STATEMENT]
    denial = [c for c in cited if c[1] == EvidencePart.DENIAL]
    if not index.denies(statement) or index.denies(denial):
        return cited
    other = {EvidencePart.STATEMENT: EvidencePart.DENIAL, EvidencePart.DENIAL: EvidencePart.STATEMENT}
    return [(i, other[EvidencePart(part)], group) for i, part, group in cited]


def _note_missing_keys(ability: str, item: Mapping[str, Any], probe_id: str, notes: Notes) -> None:
    expected = [*KEYS[ability].split(), "difficulty", *([] if ability == "abstention" else ["source_chat_ids"])]
    if ability == "abstention":
        expected.remove("plan_reference")  # only some have it
    if missing := [key for key in expected if key not in item]:
        notes.add(NoteKind.MISSING_KEY, probe_id, f"the probe has no {', '.join(missing)}")


def _note_missing_evidence(
    ability: str, item: Mapping[str, Any], cited: Sequence[Cited], probe_id: str, notes: Notes
) -> None:
    if ability == "abstention" or "source_chat_ids" not in item:
        return
    parts = {part for _, part, _ in cited}
    if not cited:
        notes.add(NoteKind.EVIDENCE_MISSING, probe_id, "the probe cites no message")
    elif empty := [side for side, part in _SIDES.get(ability, ()) if part not in parts]:
        notes.add(NoteKind.EVIDENCE_MISSING, probe_id, f"the probe cites no message for {', '.join(empty)}")


def _note_order(cited: Sequence[Cited], probe_id: str, notes: Notes) -> None:
    ids = [message_id for message_id, _, _ in cited]
    if ids != sorted(ids):
        text = f"the messages of an ordered answer are cited out of order: {', '.join(map(str, ids))}"
        notes.add(NoteKind.EVIDENCE_ORDER, probe_id, text)


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, "")
    return value if isinstance(value, str) else describe(value)


# --- writing ----------------------------------------------------------------------------------------------


def write_probe(probe: Probe, cited: Sequence[int]) -> dict[str, Any]:
    """Return a probe as BEAM has it; `cited` are the message ids of its evidence, in its order."""
    kept = probe.details.extra.get("beam")
    rest = dict(kept) if isinstance(kept, dict) else _own_keys(probe, cited)
    if kept is not None and sorted(set(cited)) != probe.details.extra.get("cited"):
        rest["source_chat_ids"] = _source_ids(probe, cited)  # somebody has changed the evidence since
    common = {
        "question": probe.question,
        ANSWER_KEYS.get(probe.ability, "answer"): probe.gold_answer,
        "difficulty": probe.difficulty.value,
    }
    made = common | rest | {"rubric": rest.get("rubric", [n.text for n in probe.rubric])}
    return {key: value for key, value in made.items() if key not in probe.details.extra.get("absent", ())}


def _own_keys(probe: Probe, cited: Sequence[int]) -> dict[str, Any]:
    """What BEAM's probes of this ability have besides, made from what ours know."""
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
        "sessions_required": len({e.message_key.rpartition(".t")[0] for e in probe.evidence}),
        "reasoning_steps": list(details.computed_from),
        "bullet_points_covered": len(probe.bullet_ids),
        "conversation_sessions": sorted(set(cited)),
        "key_elements_tested": nuggets,
        "synthesis_required": details.computation,
        "time_points": list(details.computed_from),
        "calculation_required": details.computation,
    }
    keys = KEYS.get(probe.ability, "").split()
    made = {key: details.variety if key.endswith("_type") else values[key] for key in keys}
    return made | ({} if probe.ability == "abstention" else {"source_chat_ids": _source_ids(probe, cited)})


def _source_ids(probe: Probe, cited: Sequence[int]) -> Any:  # Any: BEAM's three shapes
    pairs = list(zip(cited, probe.evidence, strict=True))
    sides = _SIDES.get(probe.ability)
    if sides:
        return {side: sorted({i for i, e in pairs if e.part == part}) for side, part in sides}
    groups = sorted({e.group for _, e in pairs if e.group is not None})
    if probe.ability == "event_ordering" and groups:
        listed = [sorted({i for i, e in pairs if e.group == group}) for group in groups]
        return [ids[0] for ids in listed] if all(len(ids) == 1 for ids in listed) else listed
    return sorted(set(cited))
