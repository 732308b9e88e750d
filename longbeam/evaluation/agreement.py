"""Agreement of judges, two by two, on the same answers, by nugget: share of equal verdicts, and Cohen's kappa."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TypeVar

from longbeam.errors import UserError
from longbeam.evaluation.results import Evaluated
from longbeam.evaluation.timings import Timings
from longbeam.schemas import EvaluationRun, Record, Result

T = TypeVar("T", bound=Hashable)
VERDICTS = (0.0, 0.5, 1.0)
ALL = "all"


class JudgeAgreement(Record):
    """Agreement on one ability, or on all."""

    ability: str
    verdicts: int
    equal: float
    """Share of verdicts that are equal."""
    kappa: float | None
    """Cohen's kappa over 0, 0.5 and 1; None where both judges give one verdict only."""
    confusion: tuple[tuple[int, ...], ...]
    """Counts: rows are the first judge's 0, 0.5, 1, columns the second's."""


class AgreementReport(Record):
    """Agreement of the judges of two results files."""

    first: str
    """The first judge."""
    second: str
    rows: tuple[JudgeAgreement, ...]
    other_answers: int
    """Answers left out because they differ between the files."""
    failed: int
    """Verdicts left out because one of the judges failed."""


def agreement_of(first: Evaluated, second: Evaluated) -> AgreementReport:
    """Return the agreement on the answers that both files have; blank answers, which no judge saw, are left out.

    An answer to another wording of a probe is another answer. Raises UserError if the files share no probe or no
    answer.
    """
    asked = _asked_by_both(first, second)
    others = {(r.conversation_id, r.probe_id, r.system): r for r in second.results}
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    other_answers = failed = 0
    for mine in first.results:
        theirs = others.get((mine.conversation_id, mine.probe_id, mine.system))
        if theirs is None or mine.judgement is None or theirs.judgement is None or not mine.answer.text.strip():
            continue
        # Verdicts on different answers say nothing about the judges.
        if (mine.conversation_id, mine.probe_id) not in asked or mine.answer.text != theirs.answer.text:
            other_answers += 1
            continue
        verdicts = {n.nugget_id: n.score for n in theirs.judgement.nuggets}
        for nugget in mine.judgement.nuggets:
            other = verdicts.get(nugget.nugget_id)
            if nugget.score is None or other is None:
                failed += 1
            else:
                pairs[mine.ability].append((nugget.score, other))
    if not pairs:
        raise UserError(
            f"the results of {first.label!r} and {second.label!r} have no judged answer in common; evaluate the same "
            "systems of the same benchmark with the same reader under two judges"
        )
    everything = [pair for of in pairs.values() for pair in of]
    rows = [_agreement(ALL, everything), *(_agreement(a, pairs[a]) for a in sorted(pairs))]
    return AgreementReport(
        first=first.run.judge,
        second=second.run.judge,
        rows=tuple(rows),
        other_answers=other_answers,
        failed=failed,
    )


def _asked_by_both(first: Evaluated, second: Evaluated) -> set[tuple[str, str]]:
    """Return the keys of the probes that both files ask in the same words; UserError if there is none."""
    asked = [{p.key: (p.question, p.rubric) for p in of.run.probes} for of in (first, second)]
    same = {key for key in asked[0] if asked[0][key] == asked[1].get(key)}
    if not same:
        raise UserError(
            f"the results of {first.label!r} and {second.label!r} ask no common question, so they are of different "
            "benchmarks; evaluate the same benchmark under two judges"
        )
    return same


def _agreement(ability: str, pairs: Sequence[tuple[float, float]]) -> JudgeAgreement:
    counts = Counter(pairs)
    return JudgeAgreement(
        ability=ability,
        verdicts=len(pairs),
        equal=sum(a == b for a, b in pairs) / len(pairs),
        kappa=cohen_kappa(pairs),
        confusion=tuple(tuple(counts[a, b] for b in VERDICTS) for a in VERDICTS),
    )


def cohen_kappa(pairs: Sequence[tuple[T, T]]) -> float | None:
    """Return Cohen's kappa of two judges' labels; None without labels, or if both judges use one and the same label.

    Source: Cohen (1960), "A Coefficient of Agreement for Nominal Scales".
    """
    total = len(pairs)
    if not total:
        return None
    equal = sum(a == b for a, b in pairs)
    mine, theirs = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(mine[v] * theirs[v] for v in mine)  # of total squared
    if by_chance == total**2:
        return None
    return (equal * total - by_chance) / (total**2 - by_chance)


def render_agreements(reports: Sequence[AgreementReport]) -> str:
    """Return the agreement of two judges, or a line for each two of several, as text; ends with a line break."""
    if len(reports) == 1:
        return render_agreement(reports[0])
    judges = list(dict.fromkeys(name for report in reports for name in (report.first, report.second)))
    lines = ["judges     verdicts  equal  kappa"]
    for report in reports:
        row, pair = report.rows[0], f"{judges.index(report.first) + 1} and {judges.index(report.second) + 1}"
        kappa = f"{row.kappa:5.3f}" if row.kappa is not None else "    -"
        lines.append(f"{pair:9}  {row.verdicts:8,}  {row.equal:5.3f}  {kappa}")
    return "\n".join([*lines, "", *(f"{number}: {name}" for number, name in enumerate(judges, 1))]) + "\n"


def render_judges(evaluations: Sequence[tuple[EvaluationRun, Sequence[Result]]]) -> str:
    """Return the agreement of the judges of each benchmark and reader that has several; empty where none has."""
    groups: dict[tuple[str, str], list[Evaluated]] = defaultdict(list)
    for run, results in evaluations:
        groups[run.benchmark, run.reader].append(Evaluated(run, tuple(results), Timings()))
    text = ""
    for (benchmark, reader), of in groups.items():
        if len({one.run.judge for one in of}) > 1:
            found = [agreement_of(*pair) for pair in combinations(of, 2)]
            text += f"\nagreement of judges on {benchmark}, reader {reader}:\n{render_agreements(found)}"
    return text


def render_agreement(report: AgreementReport) -> str:
    """Return the agreement as text; ends a line."""
    width = max(len(row.ability) for row in report.rows)
    lines = [f"{'':{width}}  verdicts  equal  kappa"]
    for row in report.rows:
        kappa = f"{row.kappa:5.3f}" if row.kappa is not None else "    -"
        lines.append(f"{row.ability:{width}}  {row.verdicts:8,}  {row.equal:5.3f}  {kappa}")
    lines += ["", f"first:  {report.first}", f"second: {report.second}", "verdicts, first down, second across:"]
    lines.append("       " + " ".join(f"{v:>7}" for v in VERDICTS))
    lines += [
        f"{v:>6} " + " ".join(f"{n:7,}" for n in of) for v, of in zip(VERDICTS, report.rows[0].confusion, strict=True)
    ]
    if report.other_answers:
        lines.append(f"{report.other_answers:,} answers differ between the files and are left out")
    if report.failed:
        lines.append(f"{report.failed:,} verdicts are left out, because a judge failed on them")
    return "\n".join(lines) + "\n"
