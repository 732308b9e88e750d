"""Scores the findings of `validate` against what was planted: recall by kind, precision by check.

A fault is found when an error or a warning that the clean export does not have names its probe or its message. Every
error or warning about anything else is false, on controls, on untouched parts, and those of the clean export too; only
what is found on a probe that a fault has made wrong along with its own is left out of the count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.seeded_defects.planting import CONTROL, FAULTS, Planted

Finding = dict[str, Any]
_COUNTED = ("error", "warning")


@dataclass(frozen=True)
class Verdict:
    """A finding and what it is about."""

    finding: Finding
    is_true: bool
    planted: Planted | None
    """The fault it has found, or the control it is wrong about."""


@dataclass(frozen=True)
class Score:
    """Outcome of the findings."""

    planted: Sequence[Planted]
    verdicts: tuple[Verdict, ...]
    excused: int
    """Findings on probes that are wrong with a fault."""

    def found(self, item: Planted) -> list[str]:
        """The checks that named a fault or a control."""
        return sorted({v.finding["check"] for v in self.verdicts if v.planted is item})

    @property
    def misses(self) -> list[Planted]:
        """Faults that no finding names."""
        return [p for p in self.planted if p.kind != CONTROL and not self.found(p)]

    @property
    def false(self) -> list[Verdict]:
        """Findings about what is clean."""
        return [v for v in self.verdicts if not v.is_true]

    @property
    def recall(self) -> float:
        """Share of the faults that are found."""
        faults = sum(p.kind != CONTROL for p in self.planted)
        return (faults - len(self.misses)) / faults

    @property
    def precision(self) -> float:
        """Share of the findings that name a fault."""
        return (len(self.verdicts) - len(self.false)) / len(self.verdicts) if self.verdicts else 1.0


def score(planted: Sequence[Planted], clean: Iterable[Finding], found: Iterable[Finding]) -> Score:
    """Return what became of the findings on the planted export, given those on the clean one."""
    known = {_identity(f) for f in clean}
    verdicts: list[Verdict] = []
    excused = 0
    for finding in found:
        if finding["severity"] not in _COUNTED:
            continue
        named = [p for p in planted if _names(finding, p)]
        faults = [p for p in named if p.kind != CONTROL]
        is_new = _identity(finding) not in known
        if faults and is_new:
            verdicts += (Verdict(finding, True, p) for p in faults)
        elif is_new and any(_is_excused(finding, p) for p in planted):
            excused += 1
        else:
            verdicts.append(Verdict(finding, False, next((p for p in named if p.kind == CONTROL), None)))
    return Score(planted, tuple(verdicts), excused)


def _identity(finding: Finding) -> tuple[str, ...]:
    return tuple(str(finding[key]) for key in ("check", "conversation_id", "subject", "message"))


def _names(finding: Finding, planted: Planted) -> bool:
    if finding["conversation_id"] != planted.conversation_id:
        return False
    return finding["subject"] in planted.names


def _is_excused(finding: Finding, planted: Planted) -> bool:
    return finding["conversation_id"] == planted.conversation_id and finding["subject"] in planted.excused


def render(result: Score) -> str:
    """Return the tables as text, and under them what was missed and what was false."""
    lines = ["| kind | variety | planted | found | recall | found by |", "|---|---|---:|---:|---:|---|"]
    for kind, pairs in FAULTS.items():
        lines.append(_row(kind, "", [p for p in result.planted if p.kind == kind], result))
        lines += (
            _row("", planter.__name__, [p for p in result.planted if p.variety == planter.__name__], result)
            for planter, _ in pairs
        )
    faults = [p for p in result.planted if p.kind != CONTROL]
    lines.append(_row("all", "", faults, result))
    lines += ["", "| control | planted | falsely found |", "|---|---:|---:|"]
    controls = [p for p in result.planted if p.kind == CONTROL]
    for variety in dict.fromkeys(p.variety for p in controls):
        listed = [p for p in controls if p.variety == variety]
        lines.append(f"| {variety} | {len(listed)} | {sum(bool(result.found(p)) for p in listed)} |")
    on_controls = sum(bool(result.found(p)) for p in controls)
    lines += [f"| all | {len(controls)} | {on_controls} |", "", "| check | findings | false | precision |"]
    lines.append("|---|---:|---:|---:|")
    counted = Counter(v.finding["check"] for v in result.verdicts)
    false = Counter(v.finding["check"] for v in result.false)
    for check, number in sorted(counted.items()):
        lines.append(f"| {check} | {number} | {false[check]} | {1 - false[check] / number:.1%} |")
    lines += [
        f"| all | {len(result.verdicts)} | {len(result.false)} | {result.precision:.1%} |",
        "",
        f"{result.excused} findings on probes that are wrong with a fault are not counted.",
        "",
    ]
    return "\n".join([*lines, *_missed(result), *_false(result)]) + "\n"


def _row(kind: str, variety: str, listed: list[Planted], result: Score) -> str:
    found = [p for p in listed if result.found(p)]
    checks = Counter(check for p in found for check in result.found(p)) if variety else Counter[str]()
    by = ", ".join(f"{check} {number}" for check, number in checks.most_common())
    return f"| {kind} | {variety} | {len(listed)} | {len(found)} | {len(found) / max(1, len(listed)):.0%} | {by} |"


def _missed(result: Score) -> list[str]:
    lines = [f"## Missed: {len(result.misses)}", ""]
    for item in result.misses:
        lines += [f"- {item.kind} / {item.variety} / {item.conversation_id} {', '.join(sorted(item.names))}"]
        lines.append(f"  {item.shown}")
    return [*lines, ""]


def _false(result: Score) -> list[str]:
    lines = [f"## False: {len(result.false)}", ""]
    for verdict in result.false:
        f = verdict.finding
        where = f"{verdict.planted.kind} / {verdict.planted.variety}" if verdict.planted else "untouched"
        lines.append(f"- {where}: {f['check']} ({f['severity']}) {f['conversation_id']} {f['subject']}: {f['message']}")
        if verdict.planted:
            lines.append(f"  {verdict.planted.shown}")
    return lines
