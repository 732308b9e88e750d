"""Run checks and return their findings in a fixed order.

Errors come first, then warnings and infos; among findings of one severity, those of a conversation stand together in
the order of the checks. Without `checks`, all checks run: those of this package and those of installed abilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from longbeam.schemas import ConversationReader, Finding, Probe, Severity
from longbeam.text import ENGLISH, Language
from longbeam.validation.base import Check, Scope
from longbeam.validation.index import ConversationIndex, build_index, digest_conversation
from longbeam.validation.registry import all_checks

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


def check_conversation(
    reader: ConversationReader,
    *,
    checks: Sequence[Check] | None = None,
    asked: Mapping[str, int] | None = None,
    language: Language = ENGLISH,
) -> list[Finding]:
    """Return the findings of the conversation checks, and of the probe checks on the selected probes.

    `asked` is the number of selected probes that each ability should have, where the caller knows. In a
    `language` other than English, kinds of findings that need English are left out: `left_out` names them.
    """
    return check_index(build_index(reader, asked=asked), checks=checks, language=language)


def check_index(
    index: ConversationIndex, *, checks: Sequence[Check] | None = None, language: Language = ENGLISH
) -> list[Finding]:
    """Return the findings on a conversation that was already read; its reader may be closed."""
    checks = all_checks() if checks is None else checks
    found = [
        check.finding(problem, index.head.conversation_id)
        for check in checks
        if check.on_conversation is not None and check.applies(language)
        for problem in check.on_conversation(index)
        if check.applies(language, problem.kind)
    ]
    return _sorted([*found, *_probe_findings(index, index.selected, checks, language)], checks)


def check_probes(
    index: ConversationIndex,
    probes: Iterable[Probe],
    *,
    checks: Sequence[Check] | None = None,
    language: Language = ENGLISH,
) -> list[Finding]:
    """Return the findings of the probe checks on these probes, selected or not; `Finding.subject` is the probe_id."""
    checks = all_checks() if checks is None else checks
    return _sorted(list(_probe_findings(index, probes, checks, language)), checks)


def left_out(language: Language, checks: Sequence[Check] | None = None) -> dict[str, str]:
    """Return the kinds of findings (`leaks.plan_word`) that are not looked for in a language, and why."""
    return {
        f"{check.name}.{kind}": check.english_only[kind]
        for check in (all_checks() if checks is None else checks)
        for kind in check.severities
        if not check.applies(language, kind)
    }


def check_benchmark(readers: Iterable[ConversationReader], *, checks: Sequence[Check] | None = None) -> list[Finding]:
    """Return the findings of the benchmark checks, which compare conversations; no message is read."""
    checks = all_checks() if checks is None else checks
    digests = [digest_conversation(reader) for reader in readers]
    found = [
        check.finding(problem, "")
        for check in checks
        if check.on_benchmark is not None
        for problem in check.on_benchmark(digests)
    ]
    return _sorted(found, checks)


def _probe_findings(
    index: ConversationIndex, probes: Iterable[Probe], checks: Sequence[Check], language: Language
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
        return _RANK[finding.severity], finding.conversation_id, order[finding.check_name]

    # The sort is stable: within a check, findings stay in the order of the conversation.
    return sorted(findings, key=place)
