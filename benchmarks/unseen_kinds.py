"""Six kinds of faults of BEAM 500K, planted into BEAM 100K: which the rules name, and which reach the model checks.

    python -m benchmarks.unseen_kinds --beam FOLDER_OF_100K [--missed] [--kind PREFIX ...] [--make OUT]

`--make` writes ten benchmarks of seven probes for `longbeam validate --model-checks` into a folder, and which probes
are faulty into `OUT.key.json`. Else a table is printed, and every fault is planted alone in its conversation. *Named*:
a finding of the kind that says what the fault is, no note, is new on the planted probe. *Reaches a reader*: the planted
or dropped message is among the passages that `validate --model-checks` shows to the critic for this probe, so that a
language model can name it. *Untouched*: findings of the same kinds, no notes, on the conversations as they are;
`--missed` prints them, too.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from longbeam.evaluation import matters_of
from longbeam.formats import ImportOptions, import_beam
from longbeam.pipeline import Origin, import_benchmark
from longbeam.schemas import Finding, GivenConversation, Message, Probe, Severity, ValueKind
from longbeam.text import format_date, values_in
from longbeam.validation import check_conversation
from tests.builders import MemoryReader

NAMES = {
    "abstention": r"abstention\.",
    "evidence": r"gold_values\.|evidence|later_values\.|import\.(?:evidence_missing|one_message)|contradiction\."
    r"|computation\.",
    "stale": r"later_values\.",
    "duplicate": r"probe_set\.|duplicates\.",
    "order": r"evidence_parts\.|import\.evidence_order",
}
"""Kinds of faults by the first word of their names, and the findings that name them."""
ANSWERS = json.loads(Path(__file__).with_name("unseen_answers.json").read_text("utf-8"))
"""Sentences that answer an abstention, in other words than the question's; by folder: speaker, ordinal, sentence."""


@dataclass(frozen=True)
class Fault:
    """A fault in a conversation, the probe that it spoils, and the message that a reader has to see."""

    kind: str
    probe_id: str
    planted: MemoryReader
    message_key: str = ""


def with_sentence(reader: MemoryReader, role: str, sentence: str, part: float) -> tuple[MemoryReader, str]:
    """Return the conversation with a sentence at the end of the message of a speaker after a part of it; its key."""
    messages = list(reader.messages())
    own = [i for i, message in enumerate(messages) if message.role.value == role]
    place = own[int(len(own) * part)]
    told = messages[place]
    messages[place] = told.model_copy(update={"content": f"{told.content}\n\n{sentence}"})
    return MemoryReader(reader.head, tuple(messages), tuple(reader.probes())), told.message_key


def with_probe(reader: MemoryReader, probe: Probe) -> MemoryReader:
    """Return the conversation with a probe in the place of the one of its id, or beside the others."""
    others = {p.probe_id: p for p in reader.probes()} | {probe.probe_id: probe}
    return MemoryReader(reader.head, tuple(reader.messages()), tuple(others.values()))


def faults(folder: str, reader: MemoryReader) -> Iterator[Fault]:
    """Yield the faults that a conversation has places for."""
    probes = {p.probe_id: p for p in reader.probes()}
    for role, ordinal, sentence in ANSWERS[folder]:
        yield Fault(
            f"abstention answered, {role}", f"abstention.{ordinal}", *with_sentence(reader, role, sentence, 0.6)
        )
    for probe in probes.values():
        keys = list(dict.fromkeys(e.message_key for e in probe.evidence))
        if probe.ability in CITING and len(keys) >= 2:
            evidence = tuple(e for e in probe.evidence if e.message_key != keys[-1])
            dropped = with_probe(reader, probe.model_copy(update={"evidence": evidence}))
            yield Fault(f"evidence dropped, {probe.ability}", probe.probe_id, dropped, keys[-1])
    for ordinal in (0, 1):
        yield from _stale(reader, probes[f"temporal_reasoning.{ordinal}"])
        yield from _order(reader, probes[f"event_ordering.{ordinal}"])
    for ability in ("information_extraction", "temporal_reasoning", "multi_session_reasoning", "knowledge_update"):
        probe = probes[f"{ability}.0"].model_copy(update={"probe_id": f"{ability}.9"})
        yield Fault("duplicate, same words", probe.probe_id, with_probe(reader, probe))
        other = probe.question.replace("How many days", "what number of days").replace("What", "which").rstrip("?")
        other = f"Could you remind me: {other[0].lower()}{other[1:]}, please?"
        reworded = probe.model_copy(update={"question": other})
        yield Fault("duplicate, other words", probe.probe_id, with_probe(reader, reworded))


CITING = (
    "temporal_reasoning",
    "multi_session_reasoning",
    "summarization",
    "knowledge_update",
    "contradiction_resolution",
)


def _stale(reader: MemoryReader, probe: Probe) -> Iterator[Fault]:
    """Yield a later message that moves the second day of a span by nine days, told in three ways."""
    days = [v for v in values_in(probe.gold_answer) if v.kind is ValueKind.DATE]
    if len(days) < 2:
        return
    thing = re.sub(r"^(?:when )?(?:I |my |the |had )*", "", probe.question.rstrip("?").split(" and ")[-1])
    old = days[-1].text
    day = (days[-1].date or dt.datetime.strptime(f"{old.split(',')[0]} 2024", "%B %d %Y").date()) + dt.timedelta(9)
    new = format_date(day).rsplit(",", 1)[0]
    for kind, sentence in (
        ("stale, old day named", f"One change: {thing} is now {new} and no longer {old}."),
        ("stale, new day alone", f"They moved {thing} to {new}."),
        (
            "stale, no day",
            f"By the way, {thing}: that is not {old.split(',')[0]} any more, it is put off by nine days.",
        ),
    ):
        yield Fault(kind, probe.probe_id, *with_sentence(reader, "user", sentence, 0.97))


def _order(reader: MemoryReader, probe: Probe) -> Iterator[Fault]:
    """Yield the probe with the first and last item of its gold and of its rubric exchanged."""
    head, *items = re.split(r"(?=\b\d\) )", probe.gold_answer)
    if len(items) < 3:
        return
    texts = [re.sub(r"^\d\) ", "", item).rstrip(" .,;") for item in items]
    texts[0], texts[-1] = texts[-1], texts[0]
    rubric = list(probe.rubric)
    if len(rubric) >= 2:
        first, last = rubric[0], rubric[-1]
        rubric[0], rubric[-1] = (a.model_copy(update={"text": b.text}) for a, b in ((first, last), (last, first)))
    gold = head + ", ".join(f"{i}) {text}" for i, text in enumerate(texts, 1)) + "."
    changed = probe.model_copy(update={"gold_answer": gold, "rubric": tuple(rubric)})
    yield Fault("order exchanged", probe.probe_id, with_probe(reader, changed))


def reaches_reader(fault: Fault) -> bool:
    """Whether the critic of the model checks sees the message that spoils the probe."""
    (probe,) = (p for p in fault.planted.probes() if p.probe_id == fault.probe_id)
    (matter,) = matters_of(fault.planted.messages, [probe], {})
    shown: Sequence[Message] = (*matter.cited, *matter.neighbours, *matter.found)
    return not fault.message_key or any(m.message_key == fault.message_key for m in shown)


def make(beam: Path, out: Path) -> None:
    """Write a benchmark for each conversation: both answered abstentions, a stale day, two drops, and controls."""
    rng, key = random.Random(20261129), list[tuple[str, str, str]]()
    for number, folder in enumerate(sorted(beam.iterdir(), key=lambda path: int(path.name))):
        (given,) = import_beam(folder, ImportOptions())
        clean = reader = MemoryReader(given.head, tuple(given.messages()), given.probes)
        said, probes = {m.message_key: m.content for m in clean.messages()}, {p.probe_id: p for p in clean.probes()}
        kinds: dict[str, str] = {}
        for role, ordinal, sentence in ANSWERS[folder.name]:
            reader, _ = with_sentence(reader, role, sentence, 0.6)
            kinds[f"abstention.{ordinal}"] = f"abstention answered, {role}"
        moved = [f for n in (0, 1) for f in _stale(clean, probes[f"temporal_reasoning.{n}"])]
        for fault in rng.sample(moved, min(1, len(moved))):
            told = next(m for m in fault.planted.messages() if m.message_key == fault.message_key).content
            reader, _ = with_sentence(reader, "user", told.removeprefix(said[fault.message_key]).strip(), 0.97)
            kinds[fault.probe_id] = fault.kind
        dropped = [f for f in faults(folder.name, clean) if f.kind.startswith("evidence") and f.probe_id not in kinds]
        for fault in rng.sample(dropped, 2):
            reader = with_probe(reader, next(p for p in fault.planted.probes() if p.probe_id == fault.probe_id))
            kinds[fault.probe_id] = fault.kind
        kinds |= dict.fromkeys(rng.sample([name for name in probes if name not in kinds], 7 - len(kinds)), "control")
        key += [(f"e{number}", name, kind) for name, kind in kinds.items()]
        kept = tuple(p for p in reader.probes() if p.probe_id in kinds)
        made = GivenConversation(given.head, reader.messages, kept)
        import_benchmark([made], f"e{number}", out, Origin("beam", "", "o200k_base"))
    out.with_suffix(".key.json").write_text(json.dumps(key, indent=0), encoding="utf-8")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Plant six kinds of faults into BEAM 100K.")
    parser.add_argument("--beam", type=Path, required=True, help="folder of the ten conversations of BEAM 100K")
    parser.add_argument(
        "--missed", action="store_true", help="print what is not named, and what is untouched and named"
    )
    parser.add_argument("--kind", nargs="*", default=[""], help="only kinds that begin so")
    parser.add_argument("--make", type=Path, help="folder for benchmarks with drawn faults, for the model checks")
    args = parser.parse_args()
    if args.make is not None:
        make(args.beam, args.make)
        return
    planted, named, shown = defaultdict[str, int](int), defaultdict[str, int](int), defaultdict[str, int](int)
    untouched = defaultdict[str, int](int)
    folders = sorted(args.beam.iterdir(), key=lambda path: int(path.name))
    for folder in folders:
        (given,) = import_beam(folder, ImportOptions())
        reader = MemoryReader(given.head, tuple(given.messages()), given.probes)
        before = [f for f in check_conversation(reader) if f.severity is not Severity.INFO]
        known = {(f.check, f.subject, f.message) for f in before}
        for kind, pattern in NAMES.items():
            own = [f for f in before if re.match(pattern, f.check)]
            untouched[kind] += len(own)
            for finding in own if args.missed else ():
                print("untouched", folder.name, kind, finding.check, finding.subject, finding.message[:200])
        for fault in faults(folder.name, reader):
            if not fault.kind.startswith(tuple(args.kind)):
                continue
            new = [f for f in check_conversation(fault.planted) if (f.check, f.subject, f.message) not in known]
            planted[fault.kind] += 1
            is_named, is_shown = _names(fault, new), reaches_reader(fault)
            named[fault.kind] += is_named
            shown[fault.kind] += is_shown
            if args.missed and not is_named:
                print("missed", folder.name, fault.kind, fault.probe_id, "" if is_shown else "no reader sees it")
    print("\n| kind | planted | named by rules | reaches a reader |\n|---|---:|---:|---:|")
    for kind, count in planted.items():
        print(f"| {kind} | {count} | {named[kind]} | {shown[kind]} |")
    print("\n| findings of the kind | untouched |\n|---|---:|")
    for kind in NAMES:
        print(f"| {kind} | {untouched[kind]} |")


def _names(fault: Fault, new: Sequence[Finding]) -> bool:
    pattern = NAMES[re.split(r"\W", fault.kind)[0]]
    return any(
        f.subject == fault.probe_id and f.severity is not Severity.INFO and re.match(pattern, f.check) for f in new
    )


if __name__ == "__main__":
    main()
