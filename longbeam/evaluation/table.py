"""Means over results, as in BEAM: over the probes of an ability, then over conversations, then over abilities."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from longbeam.abilities import Trait, ability_of
from longbeam.evaluation.arms import EVIDENCE
from longbeam.evaluation.fixed_answers import FIXED_ANSWERS, WRITTEN_ANSWERS
from longbeam.evaluation.resampling import Interval, few_conversations, interval_of
from longbeam.evaluation.tuning import MEASURING
from longbeam.memory import FLOORS
from longbeam.schemas import AskedProbe, EvaluationRun, Result, Spending, digest_of, is_language_model

Measure = Callable[[Result], float | None]
RULES = ("paper", "released")
HIT_AT = (1, 5, 10, 20)


@dataclass(frozen=True)
class Row:
    """Means of one system."""

    system: str
    by_ability: dict[str, float | None]
    """Scores under the paper's rule; None for an ability without a scored probe."""
    score: float | None
    """Mean under the paper's rule."""
    interval: Interval | None
    """95 % interval of the score, over conversations; None with one conversation."""
    cost: float | None
    """USD of preparing it and of its answers; None where a price is unknown or nothing was counted."""
    released: float | None
    released_by_ability: dict[str, float | None]
    recall: float | None
    """Share of the cited messages whose quotes the context contains."""
    recall_by_ability: dict[str, float | None]
    source_recall: float | None
    evidence_precision: float | None
    values_found: float | None
    """Share of the rubrics' typed values that the context contains."""
    answer_values_found: float | None
    """Share of the rubrics' typed values that the answer contains."""
    hits: dict[int, float | None]
    """Hit@k by k; None for systems that do not rank passages."""
    ndcg: dict[int, float | None]
    """NDCG of the first 5 and 10 passages, LongMemEval's depths."""
    tokens: float | None
    """Mean tokens of context per question; None for answers without a reader."""
    unscored: int
    """Results without a score, because the judge failed."""


def rows_of(results: Sequence[Result], spending: Sequence[Spending] = ()) -> list[Row]:
    """Return one row per system, in the order of the results; `spending` is the run's, of which the costs are."""
    by_system: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_system[result.system].append(result)
    return [_row(system, found, spending) for system, found in by_system.items()]


def _row(system: str, results: Sequence[Result], spending: Sequence[Spending]) -> Row:
    costs = [s.cost_usd for s in spending if s.system == system and s.stage != "judge"]
    abilities = sorted({r.ability for r in results})
    by_ability = {a: _mean_of(results, a, rule("paper")) for a in abilities}
    released = {a: _mean_of(results, a, rule("released")) for a in abilities}
    read = [r.retrieval.tokens for r in results if r.answer.context is not None]
    recall = {a: _mean_of(results, a, lambda r: r.retrieval.evidence_recall) if read else None for a in abilities}

    def mean(measure: Measure) -> float | None:
        return _mean(_mean_of(results, a, measure) for a in abilities)

    return Row(
        system=system,
        by_ability=by_ability,
        score=_mean(by_ability.values()),
        interval=interval_of(results, rule("paper")),
        cost=None if not costs or None in costs else sum(cost or 0.0 for cost in costs),
        released=_mean(released.values()),
        released_by_ability=released,
        recall=_mean(recall.values()) if read else None,
        recall_by_ability=recall,
        source_recall=mean(lambda r: r.retrieval.source_recall) if read else None,
        evidence_precision=mean(lambda r: r.retrieval.evidence_precision) if read else None,
        values_found=mean(lambda r: r.retrieval.values_found) if read else None,
        answer_values_found=mean(lambda r: r.retrieval.answer_values_found),
        hits={k: mean(lambda r, k=k: r.retrieval.is_hit(k)) for k in HIT_AT},  # type: ignore[misc]
        ndcg={5: mean(lambda r: r.retrieval.ndcg_at_5), 10: mean(lambda r: r.retrieval.ndcg_at_10)},
        tokens=fmean(read) if read else None,
        unscored=sum(r.score("paper") is None for r in results),
    )


@dataclass(frozen=True)
class Group:
    """Mean scores over the probes of one kind, or over those asked at one time."""

    ability: str
    """`all` where the group is of no single ability."""
    name: str
    probes: int
    scores: dict[str, float | None]
    """Mean over the probes under the paper's rule, by system."""


def groups_of(probes: Sequence[AskedProbe], results: Sequence[Result]) -> list[Group]:
    """Return groups by length, of several, by the time of asking, of two, and by ability and kind."""
    of_kinds = {probe.ability for probe in probes if probe.variety}
    groups: dict[tuple[str, str], list[AskedProbe]] = defaultdict(list)
    for probe in probes:
        groups["", "asked on the way" if probe.is_on_the_way else "asked at the end"].append(probe)
        if probe.length:
            groups["", f"{probe.length:>11,} tokens"].append(probe)  # padded, so that they sort as numbers
        if probe.ability in of_kinds:
            groups[probe.ability, probe.variety or "other"].append(probe)
    if not any(probe.is_on_the_way for probe in probes):
        groups.pop(("", "asked at the end"), None)
    scores: dict[tuple[str, str], dict[str, float | None]] = defaultdict(dict)
    for r in results:
        scores[r.conversation_id, r.probe_id][r.system] = r.score("paper")
    systems = dict.fromkeys(r.system for r in results)
    return [
        Group(ability or "all", name.strip(), len(of), {s: _mean(scores[p.key].get(s) for p in of) for s in systems})
        for (ability, name), of in sorted(groups.items())
    ]


def floor_line(run: EvaluationRun, rows: Sequence[Row], *, can_score: bool) -> str:
    """Return the best floor, and the systems that are no better; at several budgets those of each."""
    budgets = {of.name: int(of.settings["budget"]) for of in run.described if "budget" in of.settings}
    said = []
    for budget in sorted(set(budgets.values())) or [0]:
        own = [
            (figure, kind_of(row.system), without_budget(row.system))
            for row in rows
            if (figure := row.score if can_score else row.recall) is not None and budgets.get(row.system, 0) == budget
        ]
        systems = [(figure, name) for figure, kind, name in own if kind == "system"]
        if systems and (floors := [(figure, name) for figure, kind, name in own if kind == "floor"]):
            best, floor = max(floors)
            beaten = [name for figure, name in systems if round(figure, 3) <= round(best, 3)]
            where = f"At {budget:,} tokens " if budget else ""
            no_better = "every system is better" if not beaten else f"no better: {', '.join(beaten)}"
            said.append(f"{where}{'the' if where else 'The'} best floor, {floor}, has {best:.3f}; {no_better}.")
    return " ".join(said)


def share_read(row: Row, tokens: int) -> str:
    """Return the share of a conversation of this many tokens that a system reads for a question, in per cent."""
    if row.tokens is None or not tokens:
        return "–"
    share = row.tokens / tokens
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def rule(name: str) -> Measure:
    """Return the score under a rule as a measure."""
    return lambda result: result.score(name)


def _mean_of(results: Sequence[Result], ability: str, measure: Measure) -> float | None:
    by_conversation: dict[str, list[float]] = defaultdict(list)
    for result in results:
        if result.ability == ability and (value := measure(result)) is not None:
            by_conversation[result.conversation_id].append(value)
    return _mean(fmean(values) for values in by_conversation.values())


def _mean(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return fmean(known) if known else None


def as_json(run: EvaluationRun, results: Sequence[Result]) -> str:
    """Return the table as JSON: the run without its probes, a row per system, and what intervals cannot show."""
    head = run.model_dump(mode="json", exclude={"probes"})
    rows = [asdict(row) for row in rows_of(results, run.spending)]
    return json.dumps({"run": head, "rows": rows, "warning": few_conversations(run.conversations)}, indent=2) + "\n"


def order_legend(run: EvaluationRun, results: Sequence[Result]) -> str:
    """Return how event ordering is scored, and which figures BEAM's Table 1 has; empty without such probes."""
    if not any(ability_of(ability).has(Trait.ORDERS_ITEMS) for ability in {r.ability for r in results}):
        return ""
    lead = " Figures of abilities are `released` here." if leads_released(run) else ""
    return (
        "Event ordering under `paper` is longbeam's own formula, max(0, tau-b) x recall of events; BEAM's paper names "
        "tau-b alone. Compare its Table 1 with `released`, (tau-b + 1) / 2 by lines, as its code has it." + lead
    )


def leads_released(run: EvaluationRun) -> bool:
    """Return whether tables of abilities show `released`: on BEAM itself, where published figures are compared."""
    return run.imported_from == "beam"


def ability_figures(run: EvaluationRun, row: Row) -> dict[str, float | None]:
    """Return a row's figures of abilities under the rule that leads."""
    return row.released_by_ability if leads_released(run) else row.by_ability


def kind_of(system: str) -> str:
    """Return the kind of a row: `system`, `floor`, `ceiling`, or `calibration` of the judge.

    A floor is one at each of several budgets, which stand in brackets behind its name.
    """
    system = system.partition("[")[0]
    if system in {"gold", EVIDENCE}:
        return "ceiling"
    if system in FLOORS or system in ("blank", "echo"):
        return "floor"
    return "calibration" if system in FIXED_ANSWERS or system in WRITTEN_ANSWERS else "system"


def ranked_rows(run: EvaluationRun, rows: Sequence[Row], *, can_score: bool = True) -> list[tuple[int | None, Row]]:
    """Return rows with their ranks: systems among the floors that they have to beat, best first; then ceilings.

    Only systems have ranks. Rows are sorted by score, or by recall of evidence where the judge cannot score; at several
    budgets, which follow each other, within each. Equal systems share a rank. There is none for a system without a
    figure, for one that reads no budget beside several, and with too few conversations. Rows that calibrate the judge
    are left out.
    """
    budgets = {of.name: int(of.settings["budget"]) for of in run.described if "budget" in of.settings}
    found = []
    for row in rows:
        if (kind := kind_of(row.system)) != "calibration":
            figure = row.score if can_score else row.recall
            place = (
                kind == "ceiling",
                budgets.get(row.system, sys.maxsize),
                -round(figure or 0.0, 3),
                kind != "system",
            )
            is_ranked = kind == "system" and figure is not None and run.conversations >= MEASURING.few_conversations
            found.append((place, is_ranked and not (budgets and row.system not in budgets), row))
    found.sort(key=lambda one: one[0])
    return [
        (1 + sum(p[:2] == place[:2] and p[2] < place[2] for p, ranks, _ in found if ranks) if is_ranked else None, row)
        for place, is_ranked, row in found
    ]


def without_budget(name: str) -> str:
    """Return the name of a row without the budget that it says."""
    return re.sub(r"\[budget=\d+\]|,budget=\d+\b|\bbudget=\d+,", "", name)


def notes_on(run: EvaluationRun, rows: Sequence[Row], results: Sequence[Result]) -> list[str]:
    """Return what a reader of the table must know: unequal budgets, preparation by rules, equal systems."""
    budget = run.settings.budget
    budgets = {of.name: int(of.settings["budget"]) for of in run.described if "budget" in of.settings}
    fits = ""
    if run.tokens <= MEASURING.fits * budget and run.tokens:
        fits = (
            f"A conversation of {run.tokens:,} tokens fits into the budget of {budget:,}: there nothing has to be found"
        )
        fits += (
            "."
            if budgets
            else (
                ", and the rows tell systems hardly apart; take a smaller one, such as --budget "
                f"{max(100, run.tokens // 1000 * 100)}."
            )
        )
    by_rule = dict.fromkeys(of.system for of in run.described if of.extractor and not is_language_model(of.extractor))
    rehearsed = (
        f"Prepared by rules, no language model: {', '.join(by_rule)}. These rows show the machinery, not the published "
        "systems: rules write keys and notes of each exchange, which find less than its own words."
        if by_rule
        else ""
    )
    is_floor = any(o.system == "rag" and not o.embedder and "retriever" not in o.settings for o in run.described)
    floored = "Without an embedder rag ranks by BM25, as the floor bm25 does." if is_floor else ""
    learnt = next((f"`{o.name}` learnt from {o.learnt_from}." for o in run.described if o.learnt_from), "")
    below = [
        f"{row.system} ({row.tokens:,.0f} of {allowed:,})"
        for row in rows
        if kind_of(row.system) == "system" and row.tokens is not None
        if row.tokens < MEASURING.half_read * min(allowed := budgets.get(row.system, budget), run.tokens or allowed)
    ]
    unequal = f"Not at equal budget, less than half of it was read: {', '.join(below)}." if below else ""
    return [note for note in (fits, unequal, rehearsed, floored, learnt, equality_line(equal_systems(results))) if note]


def equal_systems(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return groups of systems that gave the same answers from the same contexts to every probe.

    Floors, ceilings and systems are compared; answers that need no reader are not.
    """
    given: dict[str, dict[tuple[str, str], tuple[str, str]]] = defaultdict(dict)
    for r in results:
        if r.answer.context is not None:
            given[r.system][r.conversation_id, r.probe_id] = (r.answer.text, r.answer.context.text)
    groups: dict[str, list[str]] = defaultdict(list)
    for system, answers in given.items():
        groups[digest_of([[*key, *said] for key, said in sorted(answers.items())])].append(system)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def equality_line(groups: Sequence[tuple[str, ...]]) -> str:
    """Return the sentence that names equal systems; empty if there are none."""
    named = "; ".join(f"{', '.join(group[:-1])} and {group[-1]}" for group in groups)
    return f"The same answers from the same contexts to every probe: {named}." if groups else ""
