"""Report of evaluations in one HTML file or as Markdown: scores, intervals, floors, costs and single probes.

The HTML file loads nothing and runs nothing. The template engine escapes texts of conversations and models.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from longbeam.abilities import Trait, ability_of
from longbeam.errors import UserError
from longbeam.evaluation.calibration import Calibration, calibration_of, reader_note
from longbeam.evaluation.metrics import missing_values
from longbeam.evaluation.plots import Series, plot
from longbeam.evaluation.resampling import (
    Comparison,
    Interval,
    compare,
    few_conversations,
    holm,
    interval_of,
    proof_line,
)
from longbeam.evaluation.results import DECILES, Evaluated
from longbeam.evaluation.table import (
    HIT_AT,
    Group,
    Row,
    floor_line,
    groups_of,
    kind_of,
    leads_released,
    notes_on,
    order_legend,
    ranked_rows,
    rows_of,
    rule,
    share_read,
    without_budget,
)
from longbeam.evaluation.timings import Latency
from longbeam.evaluation.tuning import MEASURING
from longbeam.evaluation.variations import ABLATION, Variation, alike_notes, variations_of
from longbeam.formats import advice_without_probes
from longbeam.pages import PAGE_END, page_start, stylesheet
from longbeam.schemas import AskedProbe, EvaluationRun, PreparationUsage, Result, Spending, is_language_model

PROBES_SHOWN = 20
"""Probes per ability in the drill-down, by default."""
CONTEXT_SHOWN = 2_400
"""Characters of a context in the drill-down, from its beginning and its end."""
BEAM_BLANK_FLOORS = (("100K", 0.215), ("500K", 0.246), ("1M", 0.268), ("10M", 0.285))
"""Mean score of a blank answer on BEAM's event ordering under its released scoring, by length.

Measured over all event-ordering rubrics of BEAM's release (arXiv 2510.27246).
"""
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class ReportLine:
    """One system of one evaluation."""

    row: Row
    rank: int | None
    """Rank among the systems, from 1; None for others, few conversations, and where the judge cannot score."""
    kind: str
    """`system`, `floor` or `ceiling`."""
    by_ability: dict[str, Interval | None]
    """Interval of each ability."""
    latency: Latency | None
    tokens_per_answer: float | None
    """Prompt and output tokens of an answer as the endpoints counted them; None if they count none."""
    usd_per_answer: float | None
    usd_prepare: float | None
    usage: PreparationUsage | None
    """Costs of its preparation; None for arms that prepare nothing."""


@dataclass(frozen=True)
class Section:
    """One evaluation."""

    evaluated: Evaluated
    lines: tuple[ReportLine, ...]
    """Systems by rank, then floors, then ceilings."""
    abilities: tuple[str, ...]
    groups: tuple[Group, ...]
    """Probes by the time of asking and by kind."""
    variations: tuple[Variation, ...]
    missing: Mapping[str, tuple[int, int, int]]
    """By system, counts of `missing_values`."""
    comparisons: tuple[Comparison, ...]
    """Every system with every baseline; p-values are corrected for the number of comparisons."""
    calibration: Calibration
    notes: tuple[str, ...]
    """What a reader of the table must know, a sentence each."""
    probes_shown: int

    @property
    def blank_floor(self) -> float | None:
        """Score of a blank answer on this benchmark's event ordering under BEAM's released rule."""
        blank = next((x.row for x in self.lines if x.row.system == "blank"), None)
        scores = blank.released_by_ability.items() if blank else ()
        return next((score for name, score in scores if ability_of(name).has(Trait.ORDERS_ITEMS)), None)

    @cached_property
    def drilled(self) -> list[tuple[AskedProbe, list[Result]]]:
        """Probes of the drill-down, each with its results."""
        found: dict[tuple[str, str], list[Result]] = defaultdict(list)
        for result in self.evaluated.results:
            found[result.conversation_id, result.probe_id].append(result)
        by_ability: dict[str, list[AskedProbe]] = defaultdict(list)
        for probe in self.evaluated.run.probes:
            by_ability[probe.ability].append(probe)
        shown = (p for ability in sorted(by_ability) for p in by_ability[ability][: self.probes_shown])
        order = [line.row.system for line in self.lines]
        return [
            (p, sorted((r for r in found.get(p.key, []) if r.system in order), key=lambda r: order.index(r.system)))
            for p in shown
        ]


def sections_of(
    evaluated: Sequence[Evaluated], *, against: Sequence[str] = ("bm25",), probes_shown: int = PROBES_SHOWN
) -> list[Section]:
    """Return one section per results file; UserError if one is empty or lacks a baseline of `against`."""
    return [_section(one, against, probes_shown) for one in evaluated]


def _section(one: Evaluated, against: Sequence[str], probes_shown: int) -> Section:
    if not one.run.probes and not one.results:
        advice = advice_without_probes(one.run.benchmark, one.run.imported_from)
        raise UserError(f"{one.label}: there are no results to report on, because its run found no probes; {advice}")
    if not one.results:
        raise UserError(f"{one.label}: there are no results to report on; its run had {len(one.run.failures)} failures")
    rows = rows_of(one.results, one.run.spending)
    names = [row.system for row in rows]
    baselines = [name for b in against for name in names if name == b or name.startswith(f"{b}[budget=")]
    for baseline in against:
        if not any(name == baseline or name.startswith(f"{baseline}[budget=") for name in baselines):
            raise UserError(f"--against {baseline!r}: {one.label} has no such system; it has {', '.join(names)}")
    judged = calibration_of(rows, one.run.judge)
    ranked = ranked_rows(one.run, rows, can_score=judged.can_score)
    pairs = [
        compare(one.results, row.system, baseline, rule("paper"))
        for _, row in ranked
        for baseline in baselines
        if row.system != baseline
        and kind_of(row.system) != "ceiling"
        and _budget_in(baseline) in ("", _budget_in(row.system))
    ]
    varied = variations_of(one.run, rows, is_scored=judged.can_score)
    legends = [reader_note(rows), order_legend(one.run, one.results)] if judged.can_score else []
    return Section(
        evaluated=one,
        lines=tuple(_line(one, row, rank if judged.can_score else None) for rank, row in ranked),
        abilities=tuple(sorted({r.ability for r in one.results})),
        groups=tuple(groups_of(one.run.probes, one.results)),
        variations=tuple(varied),
        missing=missing_values(one.run.probes, one.results),
        comparisons=tuple(holm([pair for pair in pairs if pair is not None])),
        calibration=judged,
        notes=(
            *filter(None, [floor_line(one.run, rows, can_score=judged.can_score)]),
            *notes_on(one.run, rows, one.results),
            *alike_notes(one.run, varied, one.results),
            *filter(None, legends),
        ),
        probes_shown=probes_shown,
    )


def _budget_in(name: str) -> str:
    """Return the budget that the name of a row says; empty where all rows have one."""
    found = re.search(r"\bbudget=(\d+)", name)
    return found[1] if found else ""


def _line(one: Evaluated, row: Row, rank: int | None) -> ReportLine:
    own = [r for r in one.results if r.system == row.system]
    usage = next((p.usage for p in one.run.preparations if p.system == row.system), None)
    spent: dict[str, Spending] = {s.stage: s for s in one.run.spending if s.system == row.system}
    answers = spent.get("answer")
    tokens = answers.prompt_tokens + answers.output_tokens if answers else 0
    return ReportLine(
        row=row,
        rank=rank,
        kind=kind_of(row.system),
        by_ability={a: interval_of(own, rule("paper"), ability=a) for a in row.by_ability},
        latency=one.timings.of(row.system),
        tokens_per_answer=tokens / len(own) if tokens else None,
        usd_per_answer=answers.cost_usd / len(own) if answers and answers.cost_usd is not None else None,
        usd_prepare=spent["prepare"].cost_usd if "prepare" in spent else None,
        usage=usage,
    )


# --- plots ------------------------------------------------------------------------------------------------


def plots_of(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Return the plots as (title, SVG), the main one first: score against length, or else against tokens; depths last.

    Benchmarks of one origin share a plot against length; it is left out if they all have one length. Evaluations whose
    judge cannot score are in no plot.
    """
    sections = [section for section in sections if section.calibration.can_score]
    origins: dict[tuple[str, str], list[Section]] = defaultdict(list)
    for section in sections:
        origins[section.evaluated.run.imported_from, section.evaluated.run.control].append(section)
    found = []
    for origin, of in origins.items():
        if len({section.evaluated.run.tokens for section in of}) > 1:
            named = ", ".join(name for name in origin if name)
            title = "Score against length of the conversations" + (f" ({named})" if named else "")
            found.append((title, length_plot(of)))
    for section in sections:
        label = section.evaluated.label
        found.append((f"{label}: score against tokens of context", token_plot(section)))
        found.append((f"{label}: score against where the evidence is", decile_plot(section)))
    return found + _depth_plots(sections)


def _depth_plots(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Return a plot for each setting of numbers that varies, and one for each ablation: BEAM's Figures 3 to 5.

    A depth has a line for each evaluation (Figure 4) and, where they vary too, for the other settings, such as the
    retriever (Figure 5); an ablation has one for each part that is left out, over abilities (Figure 3).
    """
    found = []
    lines: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for section in sections:
        for of in section.variations:
            numbers = zip(of.rows, of.figures["average"], strict=True)
            points = tuple((float(v), y) for v, y in numbers if v.isdecimal() and y is not None)
            if of.setting == ABLATION:
                found.append((f"{section.evaluated.label}: {of.title}", _ablation_plot(of)))
            elif len(points) > 1:
                base, _, others = of.system.removesuffix("]").partition("[")
                name = ", ".join(filter(None, [section.evaluated.label if len(sections) > 1 else "", others])) or base
                lines[base, of.setting].append(Series(name, "system", points))
    for (system, setting), series in lines.items():
        ticks = [(x, f"{x:g}") for x in sorted({x for one in series for x, _ in one.points})]
        svg = plot(series, x_label=setting, ticks=ticks, title=f"{system} by {setting}")
        found.append((f"{system}: score by {setting}", svg))
    return found


def _ablation_plot(of: Variation) -> str:
    """Return the plot of the scores by ability: the whole system, and without each part."""
    abilities = [ability for ability in of.figures if ability != "average"]
    series = []
    for i, name in enumerate(of.rows):
        scores = ((x, of.figures[a][0], of.figures[a][i]) for x, a in enumerate(abilities))
        points = tuple((float(x), y + d if i else y) for x, y, d in scores if y is not None and d is not None)
        series.append(Series(name if i == 0 else f"without {name}", "system", points))
    ticks = [(float(x), "".join(word[0] for word in a.split("_")).upper()) for x, a in enumerate(abilities)]
    return plot(series, x_label="ability, by its initials", ticks=ticks, title=of.title)


def length_plot(sections: Sequence[Section]) -> str:
    """Return the plot of the score under the paper's rule against mean tokens per conversation."""
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for section in sections:
        for line in section.lines:
            if line.row.score is not None:
                points[line.row.system].append((float(section.evaluated.run.tokens), line.row.score))
    ticks = sorted({(float(s.evaluated.run.tokens), _tokens(s.evaluated.run.tokens)) for s in sections})
    series = [Series(name, kind_of(name), tuple(sorted(of))) for name, of in points.items()]
    return plot(series, x_label="tokens per conversation", ticks=ticks, title="score against length", is_log=True)


def decile_plot(section: Section) -> str:
    """Return the plot of the mean score of probes with evidence in each tenth of the conversation."""
    deciles = {p.key: p.deciles for p in section.evaluated.run.probes}
    scores: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in section.evaluated.results:
        if (score := result.score("paper")) is not None:
            for decile in deciles.get((result.conversation_id, result.probe_id), ()):
                scores[result.system][decile].append(score)
    series = [
        Series(line.row.system, line.kind, tuple((d + 1.0, fmean(of)) for d, of in sorted(found.items())))
        for line in section.lines
        if (found := scores[line.row.system])
    ]
    ticks = [(d + 1.0, str(d + 1)) for d in range(DECILES)]
    return plot(series, x_label="tenth of the conversation that holds evidence", ticks=ticks, title="score by decile")


def token_plot(section: Section) -> str:
    """Return the plot of the score against mean tokens of context per question; answers without a reader have none.

    The rows of one system at several budgets are one curve.
    """
    budgets = {of.name: of.settings["budget"] for of in section.evaluated.run.described if "budget" in of.settings}
    points: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for line in section.lines:
        name = line.row.system
        if line.row.score is not None and line.row.tokens is not None:
            if budget := budgets.get(name):
                name = without_budget(name).removesuffix(f" {budget}")
            points[name, line.kind].append((max(1.0, line.row.tokens), line.row.score))
    series = [Series(name, kind, tuple(sorted(of))) for (name, kind), of in points.items()]
    places = [x for of in points.values() for x, _ in of] or [1.0]
    return plot(
        series,
        x_label="tokens of context per question (log scale)",
        ticks=[(10.0**e, f"{10**e:,}") for e in range(8) if min(places) / 10 < 10**e <= 2 * max(places)],
        title="score by tokens",
        is_log=True,
    )


# --- rendering --------------------------------------------------------------------------------------------


def render_html(sections: Sequence[Section]) -> str:
    """Return the report as one HTML page that needs nothing else."""
    plots = [(title, Markup(svg)) for title, svg in plots_of(sections)]
    return _render("report.html.j2", sections, plots, is_html=True)


def render_markdown(sections: Sequence[Section]) -> str:
    """Return the tables of the report as Markdown."""
    return _render("report.md.j2", sections, [], is_html=False)


def report_json(sections: Sequence[Section]) -> str:
    """Return ranks, scores, intervals and comparisons as JSON, an object for each evaluation."""
    shown = [
        {
            "run": section.evaluated.run.model_dump(mode="json", exclude={"probes"}),
            "lines": [asdict(line) for line in section.lines],
            "groups": [asdict(group) for group in section.groups],
            "comparisons": [asdict(comparison) for comparison in section.comparisons],
            "missing": section.missing,
            "judge": section.calibration.refusal or section.calibration.line,
            "warning": few_conversations(section.evaluated.run.conversations),
            "notes": section.notes,
        }
        for section in sections
    ]
    return json.dumps(shown, indent=2, default=str) + "\n"


def _render(template: str, sections: Sequence[Section], plots: Sequence[tuple[str, Markup]], *, is_html: bool) -> str:
    return (
        report_environment(is_html=is_html)
        .get_template(template)
        .render(
            sections=sections,
            plots=plots,
            grid=_by_length(sections),
            has_lengths=len({s.evaluated.run.tokens for s in sections}) > 1,
            title=_title_of(sections),
            style=stylesheet("runs.css"),
        )
    )


def _title_of(sections: Sequence[Section]) -> str:
    titled = [(s.evaluated.kept.title if s.evaluated.kept else "", s.evaluated.label) for s in sections]
    if not any(title for title, _ in titled):
        return "Memory systems, measured"
    return "; ".join(dict.fromkeys(title or label for title, label in titled))


def report_environment(*folders: Path, is_html: bool = True) -> Environment:
    """Return the environment of the report's templates, which finds those of other folders, too."""
    environment = Environment(
        loader=FileSystemLoader([_TEMPLATES, *folders]),
        autoescape=is_html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_FILTERS)
    environment.globals.update(
        hit_at=HIT_AT,
        half_read=MEASURING.half_read,
        ablation=ABLATION,
        leads_released=leads_released,
        blank_floors=BEAM_BLANK_FLOORS,
        few_conversations=few_conversations,
        proof_line=proof_line,
        rules_line=_rules_line,
        page_start=lambda *texts: Markup(page_start(*map(str, texts))),
        page_end=Markup(PAGE_END),
    )
    return environment


def _rules_line(run: EvaluationRun) -> str:
    by_rule = [role for role, model in (("reader", run.reader), ("judge", run.judge)) if not is_language_model(model)]
    if not by_rule:
        return ""
    return f"Dry run. {' and '.join(by_rule)}: rules, no language model; scores do not predict those of one."


def _by_length(sections: Sequence[Section]) -> list[tuple[str, str, list[float | None]]]:
    """(ability, system, score in each section): the table over lengths; empty where no system is in two sections."""
    named = [{line.row.system for line in s.lines if line.kind == "system"} for s in sections]
    if not any(one & other for one, other in combinations(named, 2)):
        return []
    abilities = sorted({a for s in sections for a in s.abilities})
    systems = list(dict.fromkeys(line.row.system for s in sections for line in s.lines))
    rows = [{line.row.system: line.row for line in s.lines} for s in sections]
    found = []
    for ability in ("", *abilities):
        for system in systems:
            scores = [_score(of.get(system), ability) for of in rows]
            if any(score is not None for score in scores):
                found.append((ability or "all", system, scores))
    return found


def _score(row: Row | None, ability: str) -> float | None:
    if row is None:
        return None
    return row.by_ability.get(ability) if ability else row.score


def _tokens(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.3g}M"
    return f"{count / 1_000:.3g}K"


def _cut(text: str, _quotes: Sequence[str] = ()) -> str:
    """Return a context as a report shows it; the quotes that a page marks are in no report."""
    if len(text) <= CONTEXT_SHOWN:
        return text
    half = CONTEXT_SHOWN // 2
    left_out = f"[... {len(text) - CONTEXT_SHOWN:,} characters left out; all are in the results file ...]"
    return f"{text[:half]}\n\n{left_out}\n\n{text[-half:]}"


_FILTERS: dict[str, Callable[..., Any]] = {
    "figure": lambda value, digits=3: "–" if value is None else f"{value:,.{digits}f}",
    "signed": lambda value, digits=3: "–" if value is None else f"{value:+.{digits}f}",
    "usd": lambda value: "–" if value is None else f"${value:.4g}",
    "span": lambda interval, digits=3: (
        "–"
        if interval is None or interval.low == interval.high
        # equal scores have no spread to draw from
        else f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"
    ),
    "p": lambda value: "–" if value is None else "<.001" if value < 0.001 else f"{value:.3f}",
    "tokens": _tokens,
    "share_read": share_read,
    "without_budget": without_budget,
    "reading": _cut,
    "heat": lambda value: "" if value is None else f"heat-{round(5 * value)}",  # classes of six steps from 0 to 1
    "nugget": lambda rubric, nugget_id: next((n.text for n in rubric if n.nugget_id == nugget_id), nugget_id),
    "verdict": lambda judgement, nugget_id: (
        next((v for v in judgement.nuggets if v.nugget_id == nugget_id), None) if judgement else None
    ),
    "cell": lambda text: text.replace("|", "\\|").replace("\n", " "),  # of a Markdown table
    "settings": lambda values: ", ".join(f"{key} {value}" for key, value in values.items()) or "as default",
    "deciles": lambda places: ", ".join(str(place + 1) for place in places) or "none",
    "plain": lambda name: name.replace("_", " "),
}
