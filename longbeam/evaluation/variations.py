"""Rows of one system that differ in one setting: an ablation (BEAM's Table 8), depths (Table 9), retrievers (10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from longbeam.evaluation.table import Row, ability_figures
from longbeam.evaluation.tuning import MEASURING
from longbeam.memory import SYSTEMS
from longbeam.schemas import EvaluationRun, Result

ABLATION = "without"
"""The setting that leaves a part of a system out; its figures are differences to the whole system."""


@dataclass(frozen=True)
class Variation:
    """Figures of one system by ability, for each value of one setting."""

    system: str
    """The system with the settings that all its rows share."""
    setting: str
    rows: dict[str, Row]
    """By value; the whole system first in an ablation."""
    is_scored: bool
    """Whether figures are scores; else recalls of evidence, because the judge cannot score."""
    figures: dict[str, tuple[float | None, ...]]
    """By ability, and `average`, one for each value; in an ablation differences to the first."""

    @property
    def title(self) -> str:
        """Sentence that says what the figures are."""
        figure = "score" if self.is_scored else "recall of evidence"
        if self.setting == ABLATION:
            return f"{self.system}: {figure} of the whole system, and the difference without each part"
        return f"{self.system}: {figure} by {self.setting}"


def variations_of(run: EvaluationRun, rows: Sequence[Row], *, is_scored: bool) -> list[Variation]:
    """Return a variation for each setting that some rows differ in alone, ablations first."""
    by_name = {row.system: row for row in rows}
    varied: dict[tuple[str, str, str], dict[str, Row]] = defaultdict(dict)
    settings = {(of.system, setting) for of in run.described for setting in of.settings}
    for of in run.described:
        for setting in sorted(setting for system, setting in settings if system == of.system):
            # An ablation is of each depth; a depth is of the whole system alone.
            if of.name in by_name and (setting == ABLATION or ABLATION not in of.settings):
                others = [f"{key}={value}" for key, value in of.settings.items() if key != setting]
                shared = f"{of.system}[{','.join(filter(None, [of.mode, *others]))}]".removesuffix("[]")
                value = of.settings.get(setting) or default_of(of.system, setting)
                varied[shared, setting, of.system][value] = by_name[of.name]
    found = [
        _variation(run, shared, setting, of, is_scored=is_scored)
        for (shared, setting, _), of in varied.items()
        if len(of) > 1
    ]
    return sorted(found, key=lambda v: v.setting != ABLATION)


def default_of(system: str, setting: str) -> str:
    """Return a setting's default as text; `default` where it is None or of a system that is not longbeam's."""
    field = SYSTEMS[system].settings.model_fields.get(setting) if system in SYSTEMS else None
    return str(field.default) if field is not None and field.default is not None else "default"


def _variation(run: EvaluationRun, system: str, setting: str, rows: dict[str, Row], *, is_scored: bool) -> Variation:
    if any(value.isdecimal() for value in rows):  # numbers in their order, then the default that is none
        rows = {v: rows[v] for v in sorted(rows, key=lambda v: (not v.isdecimal(), int(v) if v.isdecimal() else 0))}
    if setting == ABLATION:
        rows = {"whole": rows.pop("nothing"), **rows} if "nothing" in rows else rows
    by_ability = [ability_figures(run, row) if is_scored else row.recall_by_ability for row in rows.values()]
    figures = {ability: tuple(of.get(ability) for of in by_ability) for ability in by_ability[0]}
    known = [[value for value in of.values() if value is not None] for of in by_ability]
    figures["average"] = tuple(fmean(of) if of else None for of in known)
    if setting == ABLATION:
        figures = {ability: (of[0], *(_minus(v, of[0]) for v in of[1:])) for ability, of in figures.items()}
    return Variation(system, setting, rows, is_scored, figures)


def _minus(value: float | None, whole: float | None) -> float | None:
    return None if value is None or whole is None else value - whole


def alike_notes(run: EvaluationRun, variations: Sequence[Variation], results: Sequence[Result]) -> list[str]:
    """Return a note on each setting of numbers whose neighbouring values read the same messages or fill the budget."""
    read: dict[str, dict[tuple[str, str], frozenset[str]]] = defaultdict(dict)
    tokens: dict[str, list[int]] = defaultdict(list)
    for r in results:
        if r.answer.context is not None:
            read[r.system][r.conversation_id, r.probe_id] = frozenset(r.answer.context.message_keys)
            tokens[r.system].append(r.answer.context.tokens)
    full = {name for name, each in tokens.items() if fmean(each) >= MEASURING.alike_settings * run.settings.budget}
    notes = []
    for of in variations:
        numbers = [value for value in of.rows if value.isdecimal()]
        alike: dict[str, None] = {}
        for first, second in pairwise(numbers):
            names = of.rows[first].system, of.rows[second].system
            one, other = read[names[0]], read[names[1]]
            same = fmean(one[key] == other.get(key) for key in one) if one else 0.0
            if same >= MEASURING.alike_settings or full.issuperset(names):
                alike |= {first: None, second: None}
        if alike:
            notes.append(
                f"{of.system} has no room with {of.setting} = {', '.join(alike)}: what more is found does not fit into "
                f"{run.settings.budget:,} tokens. Take a larger --budget; BEAM's paper has 32000."
            )
    return notes
