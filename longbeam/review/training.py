"""Training sets: probes with planted faults, and what the review says about each verdict on them.

A training set is a benchmark whose folder holds `training.json`: by item, the reason for which it must be rejected and
one sentence on what was planted. Items that the file does not name are sound.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longbeam.abilities import Trait, ability_of
from longbeam.keys import ItemId
from longbeam.review.state import Opinion
from longbeam.review.workspace import Workspace
from longbeam.schemas import Nugget, Probe, Record, Verdict
from longbeam.store import write_atomically

TRAINING_FILE = "training.json"
_FIGURE = re.compile(r"\d+")
_SEED = 23


class PlantedFault(Record):
    """A fault that was planted into a probe."""

    reason: str
    """The reason code that fits best."""
    text: str
    """Description of the planted fault, for the reviewer."""


class TrainingResult(Record):
    """Answer of a training set to one verdict, with the number of faults that the reviewer has found so far."""

    is_right: bool
    text: str


Planted = tuple[Probe, str] | None
"""The probe with its fault, and what was planted; None if this probe cannot have the fault."""


def _wrong_gold(probe: Probe, others: Sequence[Probe]) -> Planted:
    match = _FIGURE.search(probe.gold_answer)
    if match is None or ability_of(probe.ability).has(Trait.ABSTAINS):
        return None
    wrong = str(int(match.group()) + 3)
    gold = f"{probe.gold_answer[: match.start()]}{wrong}{probe.gold_answer[match.end() :]}"
    return probe.model_copy(update={"gold_answer": gold}), f"the gold answer said {wrong} instead of {match.group()}"


def _wrong_evidence(probe: Probe, others: Sequence[Probe]) -> Planted:
    own = {e.message_key for e in probe.evidence}
    other = next((o for o in others if o.evidence and not own & {e.message_key for e in o.evidence}), None)
    if other is None or not probe.evidence:
        return None
    taken = tuple(e.model_copy(update={"nugget_ids": ()}) for e in other.evidence[:1])
    return probe.model_copy(update={"evidence": taken}), "the evidence was that of another question"


def _missing_evidence(probe: Probe, others: Sequence[Probe]) -> Planted:
    if len({e.message_key for e in probe.evidence}) < 2:
        return None
    last = probe.evidence[-1].message_key
    kept = tuple(e for e in probe.evidence if e.message_key != last)
    return probe.model_copy(update={"evidence": kept}), "one of the messages that the answer needs was not cited"


def _bad_rubric(probe: Probe, others: Sequence[Probe]) -> Planted:
    other = next((o for o in others if o.ability != probe.ability), None)
    if other is None:
        return None
    nugget = Nugget(nugget_id=probe.rubric[-1].nugget_id, text=other.rubric[0].text)
    rubric = (*probe.rubric[:-1], nugget)
    return probe.model_copy(update={"rubric": rubric}), "a nugget of the rubric was that of another question"


def _ambiguous(probe: Probe, others: Sequence[Probe]) -> Planted:
    return probe.model_copy(
        update={"question": "What did I say about it?"}
    ), "the question does not say what it is about"


def _guessable(probe: Probe, others: Sequence[Probe]) -> Planted:
    if len(probe.gold_answer) > 200 or ability_of(probe.ability).has(Trait.ABSTAINS):
        return None
    question = f"{probe.question.rstrip('?')}, given that {probe.gold_answer.rstrip('.')}?"
    return probe.model_copy(update={"question": question}), "the question contained its own answer"


def _outdated(probe: Probe, others: Sequence[Probe]) -> Planted:
    details = probe.details
    if not details.old_value or not details.new_value or details.new_value not in probe.gold_answer:
        return None
    gold = probe.gold_answer.replace(details.new_value, details.old_value)
    if gold == probe.gold_answer:
        return None
    return probe.model_copy(update={"gold_answer": gold}), f"the gold answer was out of date: {details.old_value}"


def _duplicate(probe: Probe, others: Sequence[Probe]) -> Planted:
    twin = next((o for o in others if o.ability == probe.ability and o.question != probe.question), None)
    if twin is None:
        return None
    update = {name: getattr(twin, name) for name in ("question", "gold_answer", "evidence", "details")}
    return _with_rubric_of(probe.model_copy(update=update), twin), "it asked the same as another item of its ability"


def _with_rubric_of(probe: Probe, twin: Probe) -> Probe:
    rubric = tuple(Nugget(nugget_id=f"{probe.probe_id}.n{number}", text=n.text) for number, n in enumerate(twin.rubric))
    evidence = tuple(e.model_copy(update={"nugget_ids": ()}) for e in probe.evidence)
    return probe.model_copy(update={"rubric": rubric, "evidence": evidence})


_FAULTS: Mapping[str, Callable[[Probe, Sequence[Probe]], Planted]] = {
    "outdated": _outdated,
    "wrong_gold": _wrong_gold,
    "missing_evidence": _missing_evidence,
    "duplicate": _duplicate,
    "guessable": _guessable,
    "wrong_evidence": _wrong_evidence,
    "bad_rubric": _bad_rubric,
    "ambiguous_question": _ambiguous,
}
"""By reason code, the rarest chances first."""


def plant_faults(conversations: Mapping[str, Sequence[Probe]], wanted: int) -> tuple[dict[str, list[Probe]], str]:
    """Return all probes, `wanted` of the selected ones with a fault, and the text of `training.json`.

    Every kind of fault is planted that some probe can have; the kinds take turns.
    """
    draw = random.Random(_SEED)
    made = {conversation_id: {p.probe_id: p for p in probes} for conversation_id, probes in conversations.items()}
    free = [(c, p) for c, probes in conversations.items() for p in probes if p.is_selected]
    draw.shuffle(free)
    planted: dict[str, PlantedFault] = {}
    while len(planted) < wanted:
        before = len(planted)
        for reason, plant in _FAULTS.items():
            if len(planted) < wanted:
                _plant_one(made, free, planted, (reason, plant))
        if len(planted) == before:
            break
    text = json.dumps({item: fault.model_dump() for item, fault in sorted(planted.items())}, indent=1)
    return {c: list(probes.values()) for c, probes in made.items()}, text + "\n"


def _plant_one(
    made: dict[str, dict[str, Probe]],
    free: list[tuple[str, Probe]],
    planted: dict[str, PlantedFault],
    fault: tuple[str, Callable[[Probe, Sequence[Probe]], Planted]],
) -> None:
    """Plant a fault into the first probe that is free and can have it."""
    reason, plant = fault
    for place, (conversation_id, probe) in enumerate(free):
        sound = [p for c, p in free if c == conversation_id and p.probe_id != probe.probe_id]
        found = plant(probe, sound)
        if found is not None:
            made[conversation_id][probe.probe_id], text = found
            planted[str(ItemId(conversation_id, probe.probe_id))] = PlantedFault(reason=reason, text=text)
            del free[place]
            return


def keep_training(root: Path, text: str) -> None:
    """Write what was planted into a benchmark's folder, which makes it a training set."""
    write_atomically(root / TRAINING_FILE, text)


def planted_faults(root: Path) -> dict[str, PlantedFault] | None:
    """Return the planted faults of a training set by item; None if the benchmark is none."""
    path = root / TRAINING_FILE
    if not path.exists():
        return None
    given: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {item: PlantedFault.model_validate(fault) for item, fault in given.items()}


def training_result(workspace: Workspace, item_id: str, opinion: Opinion) -> TrainingResult | None:
    """Return what a training set says about an opinion; None for other benchmarks, and before a verdict."""
    planted = planted_faults(workspace.archive.benchmark.root)
    if planted is None or not opinion.is_saved:
        return None
    fault = planted.get(item_id)
    is_found = _is_found(opinion)
    is_right = is_found == (fault is not None)
    told = f"{fault.text}." if fault is not None else "this item is sound."
    score = _score(workspace, opinion.reviewer_id, planted)
    return TrainingResult(is_right=is_right, text=f"{'Right' if is_right else 'Not so'}: {told} {score}")


def _is_found(opinion: Opinion) -> bool:
    """Whether a reviewer has said that something is wrong: by rejecting the item, or by correcting it."""
    return opinion.verdict is Verdict.REJECT or opinion.is_edited


def _score(workspace: Workspace, reviewer_id: str, planted: Iterable[str]) -> str:
    faults = set(planted)
    opinions = {i: workspace.state(i).opinion(reviewer_id) for i in workspace.item_ids()}
    saved = {i: o for i, o in opinions.items() if o.is_saved}
    found = sum(_is_found(o) for i, o in saved.items() if i in faults)
    false_alarms = sum(_is_found(o) for i, o in saved.items() if i not in faults)
    spent = sum(o.active_ms for o in saved.values()) / 1000 / max(len(saved), 1)
    text = f"You found {found} of {len(faults & set(saved))} faults so far ({len(faults)} in all)"
    return f"{text}, with {false_alarms} false alarms, {spent:.0f} s an item."
