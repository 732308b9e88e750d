"""A blind reading of findings: draw a sheet, and compare the verdicts of two readers.

    python -m benchmarks.check_readers draw SHEET --beam DIR --locomo FILE [--number 60] [--seed 20261123]
    python -m benchmarks.check_readers score SHEET READER1 READER2

The sheet has of each finding what it claims, the probe and the messages that one needs to judge it, and no verdict. A
reader's file says of each finding `{"F01": {"verdict": "right", "why": "..."}}`; a verdict is `right`, `arguable` or
`wrong`. No more than four findings of one kind are drawn, and half of them are errors.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longbeam.evaluation import cohen_kappa
from longbeam.formats import Importer, ImportOptions, import_beam, import_locomo
from longbeam.schemas import Finding, Probe, Severity
from longbeam.text import content_words, normalize_values, says_equivalent, values_in
from longbeam.validation import ConversationIndex, build_index, check_conversation
from tests.builders import MemoryReader

SHARES = {Severity.ERROR: 0.5, Severity.WARNING: 0.4, Severity.INFO: 0.1}
"""Parts of a sheet; a severity with too few findings leaves its places to the others."""
MOST_OF_A_KIND = 4
MOST_MESSAGES = 8
MOST_TEXT = 1_500
"""Messages of an excerpt, and characters of each."""
VERDICTS = ("right", "arguable", "wrong")
STYLE = re.compile(r"nuggets\.(?:not_self_contained|several_claims|user_voice)|import\.|roles\.assistant_style")
"""Findings on the style of a source rather than on a fault."""
KINDS = Path(__file__).parents[1] / "docs" / "checks.md"


@dataclass(frozen=True)
class Source:
    """A conversation with its name in the source, and the findings on it."""

    name: str
    index: ConversationIndex
    findings: tuple[Finding, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw a sheet, or score two readers of one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check_readers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("sheet", type=Path)
    drawing.add_argument("--beam", type=Path, action="append", default=[], help="a folder of BEAM's chats")
    drawing.add_argument("--locomo", type=Path, action="append", default=[], help="a file of LoCoMo")
    drawing.add_argument("--number", type=int, default=60)
    drawing.add_argument("--seed", type=int, default=20261123)
    scoring = commands.add_parser("score")
    scoring.add_argument("sheet", type=Path)
    scoring.add_argument("readers", type=Path, nargs=2)
    chosen = parser.parse_args(arguments)
    if chosen.command == "draw":
        sources = [*_sources(import_beam, chosen.beam), *_sources(import_locomo, chosen.locomo)]
        sheet = draw(sources, chosen.number, chosen.seed)
        chosen.sheet.write_text(json.dumps(sheet, indent=1, ensure_ascii=False), encoding="utf-8")
        print(f"{len(sheet['findings'])} findings of {len(sources)} conversations in {chosen.sheet}")
    else:
        read = [json.loads(path.read_text(encoding="utf-8")) for path in (chosen.sheet, *chosen.readers)]
        print(score(read[0], read[1], read[2]), end="")


# --- drawing ----------------------------------------------------------------------------------------------


def _sources(importer: Importer, paths: Iterable[Path]) -> Iterator[Source]:
    for path in paths:
        for number, conversation in enumerate(importer(path, ImportOptions())):
            reader = MemoryReader(conversation.head, tuple(conversation.messages()), conversation.probes)
            name = f"{path.name} {number}: {reader.head.seed.title}"
            yield Source(name, build_index(reader), tuple(check_conversation(reader)))


def draw(sources: Sequence[Source], number: int, seed: int) -> dict[str, Any]:
    """Return a sheet: findings of all severities, drawn with a seed, few of one kind, in a random order."""
    rng = random.Random(seed)
    found = [(source, finding) for source in sources for finding in source.findings]
    rng.shuffle(found)
    kept: dict[Severity, list[tuple[Source, Finding]]] = defaultdict(list)
    of_a_kind: Counter[str] = Counter()
    for source, finding in found:
        of_a_kind[finding.check] += 1
        if of_a_kind[finding.check] <= MOST_OF_A_KIND:
            kept[finding.severity].append((source, finding))
    drawn = [pair for severity, share in SHARES.items() for pair in kept[severity][: round(share * number)]]
    rest = [pair for severity in SHARES for pair in kept[severity] if pair not in drawn]
    drawn += rest[: number - len(drawn)]
    rng.shuffle(drawn)
    kinds = _documented()
    return {
        "instructions": (
            "Judge each finding alone: is what it claims true of this conversation, and is it a fault that its kind "
            "describes? right: yes. wrong: no. arguable: two careful readers may differ. Write a JSON object "
            '{"F01": {"verdict": "right|arguable|wrong", "why": "one sentence"}, ...} with all ids. `messages` and '
            "`mentions` are excerpts: look the conversation up in its source where they do not suffice. Conversations "
            "are counted from 0 in the order of the source."
        ),
        "findings": [_row(f"F{i:02}", kinds, *pair) for i, pair in enumerate(drawn, start=1)],
    }


def _documented() -> dict[str, str]:
    rows = re.findall(r"^\| `([\w.]+)` \| \w+ \| \w+ \| (.*) \|$", KINDS.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


def _row(finding_id: str, kinds: Mapping[str, str], source: Source, finding: Finding) -> dict[str, Any]:
    probe = next((p for p in source.index.probes if p.probe_id == finding.subject), None)
    return {
        "id": finding_id,
        "conversation": source.name,
        "check": finding.check,
        "severity": finding.severity.value,
        "kind": kinds[finding.check],
        "subject": finding.subject,
        "claim": finding.message,
        "probe": None if probe is None else _shown(probe, source.index),
        "about": _about(source.index, finding),
        "messages": list(_messages(source.index, finding, probe)),
        "mentions": [] if probe is None else list(_mentions(source.index, probe, finding)),
    }


def _shown(probe: Probe, index: ConversationIndex) -> dict[str, Any]:
    details = probe.details.model_dump(mode="json", exclude_defaults=True)
    return {
        "ability": probe.ability,
        "question": probe.question,
        "gold_answer": probe.gold_answer,
        "rubric": [n.text for n in probe.rubric],
        "cites": [f"{e.message_key} ({e.part})" for e in probe.evidence],
        "details": details,
    }


def _about(index: ConversationIndex, finding: Finding) -> dict[str, Any]:
    """Return what a finding is about, besides messages: people, a bullet, other probes."""
    head, about = index.head, dict[str, Any]()
    if finding.check.startswith("persona"):
        about["profile"] = head.profile.model_dump(mode="json")
        about["people"] = [p.model_dump(mode="json") for p in head.relationships.people]
    if (bullet := index.bullets.get(finding.subject)) is not None:
        about["bullet"] = bullet.text
    others = [p for p in index.probes if p.probe_id != finding.subject and p.probe_id in finding.message]
    if others:
        about["other_probes"] = [_shown(p, index) for p in others]
    return about


def _messages(index: ConversationIndex, finding: Finding, probe: Probe | None) -> Iterator[dict[str, Any]]:
    """Yield the messages to look at: those of the finding, those of the probe, and for a bullet the likest ones."""
    keys = dict.fromkeys((finding.subject, *re.findall(r"\b(?:p\d+\.s\d+\.t\d+\.n\d+|D\d+:\d+)\b", finding.message)))
    keys |= dict.fromkeys(finding.evidence)
    if probe is not None:
        keys |= dict.fromkeys(e.message_key for e in probe.evidence)
    if (bullet := index.bullets.get(finding.subject)) is not None:
        words = content_words(bullet.text)
        likest = sorted(index.messages, key=lambda m: -len(words & index.words(m)))[:4]
        keys |= dict.fromkeys(m.message_key for m in likest)
    shown = [m for key in keys if (m := index.message(key)) is not None][:MOST_MESSAGES]
    quoted = re.findall(r"'([^']{3,80})'", finding.message)
    for message in shown:
        yield {
            "key": message.message_key,
            "speaker": message.speaker,
            "sent": message.sent_at.isoformat(),
            "characters": len(message.content),
            "zlib": round(len(zlib.compress(message.content.encode())) / max(len(message.content), 1), 2),
            "text": _cut(message.content, quoted),
        }


def _cut(text: str, quoted: Sequence[str]) -> str:
    """Return a text, or of a long one its beginning, its end, and the place around the words that a finding quotes."""
    if len(text) <= MOST_TEXT:
        return text
    at = next((text.find(q) for q in quoted if q in text), -1)
    middle = f" [...] {text[max(at - 300, 0) : at + 300]}" if at >= 600 else ""
    return f"{text[:700]}{middle} [...] {text[-300:]}"


def _mentions(index: ConversationIndex, probe: Probe, finding: Finding) -> Iterator[str]:
    """Yield the places of the conversation that say a value which the finding is about, whoever says it."""
    if not finding.check.startswith(("gold_values.", "later_values.", "abstention.", "nuggets.not_in_gold")):
        return
    for quoted in re.findall(r"'([^']{1,60})'", finding.message)[:4]:
        for value in values_in(normalize_values(quoted))[:1]:
            said = [m for m in index.messages if says_equivalent(m.content, value)]
            yield f"{value.text!r}: {len(said)} messages say it"
            for message in said[:5]:
                at = message.content.casefold().find(value.text.casefold())
                around = message.content[max(at - 120, 0) : max(at, 0) + 160]
                yield f"  {message.message_key} {message.speaker}: ...{' '.join(around.split())}..."


# --- scoring ----------------------------------------------------------------------------------------------


def score(sheet: Mapping[str, Any], first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return the tables of two readers: agreement, and the share of right findings by severity."""
    rows = sheet["findings"]
    verdicts = [tuple(_verdict(reader, row["id"]) for reader in (first, second)) for row in rows]
    equal = sum(a == b for a, b in verdicts)
    kappa = cohen_kappa(verdicts)
    lines = [
        f"{len(rows)} findings; the readers agree on {equal} ({equal / len(rows):.0%}), Cohen's kappa "
        f"{'undefined' if kappa is None else f'{kappa:.2f}'}\n",
        "| findings | number | reader 1: right, arguable, wrong | reader 2 | right by both | wrong by both |",
        "|---|---:|---|---|---:|---:|",
    ]
    groups = [
        ("errors", [r["severity"] == "error" for r in rows]),
        ("warnings", [r["severity"] == "warning" for r in rows]),
        ("warnings not of style", [r["severity"] == "warning" and not STYLE.match(r["check"]) for r in rows]),
        ("notes", [r["severity"] == "info" for r in rows]),
        ("all", [True for _ in rows]),
    ]
    for name, chosen in groups:
        kept = [v for v, is_in in zip(verdicts, chosen, strict=True) if is_in]
        counts = [", ".join(str(sum(v[reader] == kind for v in kept)) for kind in VERDICTS) for reader in (0, 1)]
        both = [sum(v == (kind, kind) for v in kept) for kind in ("right", "wrong")]
        lines.append(f"| {name} | {len(kept)} | {counts[0]} | {counts[1]} | {both[0]} | {both[1]} |")
    lines.append("\n| | conversation | finding | severity | reader 1 | reader 2 |\n|---|---|---|---|---|---|")
    for row, (a, b) in zip(rows, verdicts, strict=True):
        if (a, b) != ("right", "right"):
            why = [str(reader[row["id"]].get("why", "")).replace("|", "/") for reader in (first, second)]
            cells = (row["id"], f"{row['conversation']} {row['subject']}", f"`{row['check']}`", row["severity"])
            lines.append(f"| {' | '.join(cells)} | {a}: {why[0]} | {b}: {why[1]} |")
    return "\n".join(lines) + "\n"


def _verdict(reader: Mapping[str, Any], finding_id: str) -> str:
    verdict = str(reader[finding_id]["verdict"])
    if verdict not in VERDICTS:
        raise SystemExit(f"{finding_id}: {verdict!r} is no verdict; allowed are {', '.join(VERDICTS)}")
    return verdict


if __name__ == "__main__":
    main()
