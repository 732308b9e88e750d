"""Runs checks and makes findings of what they found, in an order that is always the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from longbeam.schemas.conversation import ConversationReader
from longbeam.schemas.findings import Finding, Severity
from longbeam.schemas.probes import Probe
from longbeam.schemas.spec import ENGLISH
from longbeam.validation.base import Check, Scope
from longbeam.validation.digest import digest_conversation
from longbeam.validation.index import ConversationIndex, build_index
from longbeam.validation.registry import CHECKS

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


def check_conversation(
    reader: ConversationReader,
    *,
    checks: Sequence[Check] = CHECKS,
    asked: Mapping[str, int] | None = None,
    language: str = ENGLISH,
) -> list[Finding]:
    """Return what the conversation checks find, and the probe checks on the selected probes.

    `asked` is the number of selected probes that each ability should have, where the caller knows. Findings
    come errors first, then in the order of the checks. In a `language` other than English some are not looked
    for: `left_out` names them.
    """
    return check_index(build_index(reader, asked=asked), checks=checks, language=language)


def check_index(
    index: ConversationIndex, *, checks: Sequence[Check] = CHECKS, language: str = ENGLISH
) -> list[Finding]:
    """Return what `check_conversation` does, of a conversation that was read; its reader may be closed."""
    found = [
        check.finding(problem, index.head.conversation_id)
        for check in checks
        if check.on_conversation is not None and check.applies(language)
        for problem in check.on_conversation(index)
        if check.applies(language, problem.kind)
    ]
    return _sorted([*found, *_probe_findings(index, index.selected, checks, language)], checks)


def check_probes(
    index: ConversationIndex, probes: Iterable[Probe], *, checks: Sequence[Check] = CHECKS, language: str = ENGLISH
) -> list[Finding]:
    """Return what the probe checks find on these probes, selected or not; `Finding.subject` is the probe_id."""
    return _sorted(list(_probe_findings(index, probes, checks, language)), checks)


def left_out(language: str, checks: Sequence[Check] = CHECKS) -> dict[str, str]:
    """Return the kinds of findings (`leaks.plan_word`) that are not looked for in a language, and why."""
    return {
        f"{check.name}.{kind}": check.english_only[kind]
        for check in checks
        for kind in check.severities
        if not check.applies(language, kind)
    }


def check_benchmark(readers: Iterable[ConversationReader], *, checks: Sequence[Check] = CHECKS) -> list[Finding]:
    """Return what the benchmark checks find across conversations; no message is read."""
    digests = [digest_conversation(reader) for reader in readers]
    found = [
        check.finding(problem, "")
        for check in checks
        if check.on_benchmark is not None
        for problem in check.on_benchmark(digests)
    ]
    return _sorted(found, checks)


def _probe_findings(
    index: ConversationIndex, probes: Iterable[Probe], checks: Sequence[Check], language: str
) -> Iterator[Finding]:
    on_probe = [(c, c.on_probe) for c in checks if c.scope is Scope.PROBE and c.applies(language)]
    for probe in probes:
        for check, function in on_probe:
            if function is not None:
                for problem in function(index, probe):
                    if check.applies(language, problem.kind):
                        yield check.finding(problem, index.head.conversation_id)


def _sorted(findings: list[Finding], checks: Sequence[Check]) -> list[Finding]:
    order = {check.name: i for i, check in enumerate(checks)}

    def place(finding: Finding) -> tuple[int, str, int]:
        return _RANK[finding.severity], finding.conversation_id, order[finding.check.partition(".")[0]]

    # The sort is stable: within a check, findings stay in the order of the conversation.
    return sorted(findings, key=place)
