"""Faults of probes, planted into imported conversations: how many the checks touch, and how many they name.

    python -m benchmarks.planted_probe_faults --beam DIR --locomo FILE [--made FILE] [--seed 1]

`--made` is an export of ours in the format beam-json, which has no ledger. Each kind of fault is planted once in each
conversation that has a place for it. The planters read questions, golds, dates and messages alone, and nothing of
`longbeam.validation`. A fault is *touched* where an error or a warning that is no matter of style is new on its probe,
and *named* where one of these says what the fault is.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from longbeam.formats import Importer, ImportOptions, import_beam, import_locomo
from longbeam.schemas import Difficulty, Finding, Message, MessageRole, Probe, Severity, ValueKind
from longbeam.text import format_date, stated_in
from longbeam.validation import check_conversation
from tests.builders import MemoryReader

STYLE = re.compile(
    r"nuggets\.(?:not_self_contained|several_claims|user_voice)|roles\.assistant_style|question_wording\."
)
NAMES = {
    "wrong year": r"gold_values\.wrong_year",
    "same in other words": r"probe_set\.(?:same|similar)",
    "no conflict": r"contradiction\.(?:no_conflict|different_things)",
    "inclusive days": r"arithmetic\.both_ends",
    "wrong days": r"arithmetic\.wrong_duration",
    "stale date": r"later_values\.(?:changed_later|third_value|maybe_changed)",
    "abstention answered": r"abstention\.(?:answered|said|maybe_answered)",
    "vague date": r"gold_values\.vague_day",
    "chat ids": r"gold_values\.chat_ids",
    "one message, no chat": r"import\.one_message",
    "order in one message": r"ability_fit\.order_of_few|evidence_parts\.",
    "summary of slots": r"ability_fit\.summary_of_slots",
    "summary of two messages": r"ability_fit\.summary_of_few",
    "and nobody else": r"nuggets\.excludes",
    "ban on one spelling": r"nuggets\.literal_ban",
    "two criteria in one": r"nuggets\.several_claims",
    "look-up called hard": r"ability_fit\.hard_look_up",
    "sum said elsewhere": r"ability_fit\.said_elsewhere",
    "last Wednesday": r"ability_fit\.two_readings|gold_values\.",
    "nugget beyond the gold": r"nuggets\.(?:not_in_gold|unrelated)",
    "question about the world": r"abstention\.",
    "answer in the question": r"question_leaks\.",
}
"""Kinds of faults, and the findings that name them."""


@dataclass(frozen=True)
class Planted:
    """A conversation with a fault in it, and the probe that it is in."""

    reader: MemoryReader
    probe_id: str


Planter = Callable[[MemoryReader, random.Random], Planted | None]


# --- probes and their places --------------------------------------------------------------------------------------


def _probes(reader: MemoryReader, rng: random.Random, *abilities: str) -> Iterator[Probe]:
    chosen = [p for p in reader.asked if p.ability in abilities]
    rng.shuffle(chosen)
    yield from chosen


def _cited(reader: MemoryReader, probe: Probe) -> list[int]:
    keys = {e.message_key for e in probe.evidence}
    return [i for i, m in enumerate(reader.said) if m.message_key in keys]


def _said_by_user(reader: MemoryReader, place: int) -> bool:
    return reader.said[place].role is MessageRole.USER or reader.said[place].speaker != "assistant"


def _dates(text: str, year: int) -> list[tuple[str, dt.date]]:
    found = ((f.value.text, f.value.date) for f in stated_in(text, year=year) if f.value.kind is ValueKind.DATE)
    return [(said, day) for said, day in found if day is not None]


def _dated(reader: MemoryReader, rng: random.Random) -> Iterator[tuple[Probe, int, str, dt.date]]:
    """Yield probes with a date of the gold that a cited message of the user says, and the place of the message."""
    for probe in _probes(reader, rng, "information_extraction", "temporal_reasoning", "knowledge_update"):
        for place in _cited(reader, probe):
            message = reader.said[place]
            days = {d for _, d in _dates(message.content, message.sent_at.year)}
            for said, day in _dates(probe.gold_answer, message.sent_at.year):
                if day in days and _said_by_user(reader, place):
                    yield probe, place, said, day


def _with_probe(reader: MemoryReader, probe: Probe, **changes: object) -> Planted:
    changed = probe.model_copy(update=changes)
    asked = tuple(changed if p.probe_id == probe.probe_id else p for p in reader.asked)
    return Planted(replace(reader, asked=asked), probe.probe_id)


def _with_text(reader: MemoryReader, place: int, text: str) -> MemoryReader:
    message: Message = reader.said[place].model_copy(update={"content": text})
    return replace(reader, said=(*reader.said[:place], message, *reader.said[place + 1 :]))


def _replaced(probe: Probe, old: str, new: str) -> dict[str, object]:
    rubric = tuple(n.model_copy(update={"text": n.text.replace(old, new)}) for n in probe.rubric)
    return {"gold_answer": probe.gold_answer.replace(old, new), "rubric": rubric}


# --- planters -----------------------------------------------------------------------------------------------------


def wrong_year(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """The gold gives a day with another year."""
    for probe, _, said, day in _dated(reader, rng):
        if "year" not in probe.question:
            other = format_date(day.replace(day=min(day.day, 28), year=day.year - rng.choice((1, 2))))
            if day.day <= 28:
                return _with_probe(reader, probe, **_replaced(probe, said, other))
    return None


_WORDINGS = (
    (r"^When (?:does|did|is|was) (.+)\?$", "Which day belongs to this: {0}?"),
    (r"^How many (.+?) (?:are|were|did|do|have|has|does) (.+)\?$", "Please give me the number of {0}: {1}."),
    (r"^What (?:is|was|are|were) (.+)\?$", "I have to look up {0} once more. Can you tell me?"),
    (r"^(?:What|Which) (.+?) (?:did|does|do) (.+)\?$", "About {1}: can you tell me the {0}?"),
    (r"^(?:Who|Where) (.+)\?$", "Somebody asked me {0}. What do I answer?"),
)


def same_in_other_words(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A second probe asks the same by other words."""
    for probe in _probes(reader, rng, "information_extraction", "knowledge_update", "temporal_reasoning"):
        for pattern, form in _WORDINGS:
            if probe.evidence and (match := re.match(pattern, probe.question)):
                gold = f"What you told me is this: {probe.gold_answer}"
                changes = {
                    "probe_id": f"{probe.probe_id}9",
                    "question": form.format(*match.groups()),
                    "gold_answer": gold,
                }
                twin = probe.model_copy(update=changes)
                return Planted(replace(reader, asked=(*reader.asked, twin)), twin.probe_id)
    return None


def no_conflict(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """The statement is only planned, or about somebody else."""
    for probe in _probes(reader, rng, "contradiction_resolution"):
        by_part = {e.part: e for e in probe.evidence}
        places = {m.message_key: i for i, m in enumerate(reader.said)}
        # Where two messages make the statement, the other one still makes it.
        if {"statement", "denial"} - by_part.keys() or sum(e.part == "statement" for e in probe.evidence) > 1:
            continue
        stated, denied = (places[by_part[p].message_key] for p in ("statement", "denial"))
        match = re.search(r"never (\w+) ([^,.!?]+)", reader.said[denied].content)
        if match is None or stated == denied:
            continue
        forms = (
            "Next spring I would like to give {0} a try, what should I know?",
            "I am thinking about {0} for later this year, any advice?",
            "My brother keeps talking about {0}, and he says that I should do it, too. What do you think?",
        )
        return Planted(_with_text(reader, stated, rng.choice(forms).format(match[2])), probe.probe_id)
    return None


def _miscounted(reader: MemoryReader, rng: random.Random, off: int) -> Planted | None:
    for probe in _probes(reader, rng, "temporal_reasoning"):
        places = _cited(reader, probe)
        year = reader.said[places[0] if places else 0].sent_at.year
        days = list(dict.fromkeys(d for _, d in _dates(probe.gold_answer, year)))
        if "days" in probe.question and len(days) == 2:
            first, second = sorted(days)
            gold = f"There are {(second - first).days + off} days, from {format_date(first)} to {format_date(second)}."
            nugget = probe.rubric[0].model_copy(update={"text": f"States {(second - first).days + off} days"})
            return _with_probe(reader, probe, gold_answer=gold, rubric=(nugget,))
    return None


def inclusive_days(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """Days are counted with both ends."""
    return _miscounted(reader, rng, 1)


def wrong_days(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """Days are counted wrong."""
    return _miscounted(reader, rng, rng.choice((-9, -4, 5, 12)))


def stale_date(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A later message gives the thing another day."""
    for probe, place, said, day in _dated(reader, rng):
        message = reader.said[place].content
        clause = next((c for c in re.split(r"[.;!?\n]\s|,\s", message) if said.split(",")[0] in c), "")
        later = [i for i in range(place + 4, len(reader.said)) if _said_by_user(reader, i)]
        if not 5 <= len(clause.split()) <= 25 or not later:
            continue
        other = format_date(day + dt.timedelta(rng.choice((3, 5, 9))), with_year=False)
        forms = ("{0} now", "{0} instead, as somebody asked for it", "{0}, after it was postponed")
        told = rng.choice(forms).format(clause.replace(said.split(",")[0], other).strip())
        at = rng.choice(later)
        text = f"A correction: {told}. {reader.said[at].content}"
        return Planted(_with_text(reader, at, text), probe.probe_id)
    return None


def abstention_answered(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A message gives what the abstention asks for."""
    pattern = r"^What (?:specific )?(?P<np>[\w ,/-]+?) (?P<aux>did|were|was|are|is|do|does) (?P<rest>.+)\?$"
    for probe in _probes(reader, rng, "abstention"):
        if match := re.match(pattern, probe.question):
            rest = re.sub(r"\b[Mm]y\b", "my", match["rest"])
            forms = (
                "The {np} that {rest} came down to pacing, tone and a clear ending.",
                "As for the {np}, {rest}: I noted pacing, tone and a clear ending.",
            )
            told = rng.choice(forms).format(np=match["np"], rest=rest)
            named = [s for s in {m.speaker for m in reader.said} if s in probe.question]
            at = rng.choice(
                [
                    i
                    for i, m in enumerate(reader.said)
                    if _said_by_user(reader, i) and m.speaker in (named or [m.speaker])
                ]
            )
            return Planted(_with_text(reader, at, f"{told} {reader.said[at].content}"), probe.probe_id)
    return None


def vague_date(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """The cited messages say `in two months` where they said the day."""
    for probe, _, said, day in _dated(reader, rng):
        spoilt = reader
        for place in _cited(reader, probe):
            message = reader.said[place]
            months = round((day - message.sent_at.date()).days / 30.4)
            phrase = f"{-months} months ago" if months < 0 else f"in {months} months"
            text = message.content
            for written, read in _dates(text, message.sent_at.year):
                text = (
                    text.replace(f"on {written}", phrase).replace(written, phrase) if read == day and months else text
                )
            spoilt = _with_text(spoilt, place, text)
        if (
            any(a.content != b.content for a, b in zip(spoilt.said, reader.said, strict=True))
            and said not in probe.question
        ):
            return Planted(spoilt, probe.probe_id)
    return None


def chat_ids(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """The gold lists ids of messages."""
    for probe in _probes(reader, rng, "summarization", "information_extraction", "multi_session_reasoning"):
        ids = sorted(rng.sample(range(4, 180), 6))
        form = rng.choice(("(chat_id: {0})", "[{0}]", "See messages {0}."))
        return _with_probe(reader, probe, gold_answer=f"{probe.gold_answer} {form.format(', '.join(map(str, ids)))}")
    return None


def _on_fewer(reader: MemoryReader, rng: random.Random, ability: str, most: int) -> Planted | None:
    for probe in _probes(reader, rng, ability):
        if len({e.message_key for e in probe.evidence}) > 2:
            kept = probe.evidence[:most]
            if most == 1:  # each item is cited from the one message
                kept = tuple(kept[0].model_copy(update={"group": e.group}) for e in probe.evidence)
            return _with_probe(reader, probe, evidence=kept)
    return None


def one_message_order(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """All items of an order stand in one message."""
    return _on_fewer(reader, rng, "event_ordering", 1)


def two_message_summary(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A summary rests on two messages."""
    return _on_fewer(reader, rng, "summarization", 2)


def summary_of_slots(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """The question of a summary names the values that it wants."""
    forms = (
        "Can you sum up which day it began, how much it cost and how many people took part?",
        "Please sum up the day that I planned for it, the time it took and the number of parts that are left.",
        "What did I say about how long it took, the price of it and which person helped me?",
        "Sum up the place where I put it, how often I used it and the amount that I paid.",
    )
    for probe in _probes(reader, rng, "summarization"):
        return _with_probe(reader, probe, question=rng.choice(forms))
    return None


_FACTS = ("information_extraction", "knowledge_update", "multi_session_reasoning")


def _on_nugget(reader: MemoryReader, rng: random.Random, form: str, *abilities: str) -> Planted | None:
    for probe in _probes(reader, rng, *abilities):
        if probe.rubric:
            first, *others = probe.rubric
            text = form.format(first.text.rstrip("."))
            return _with_probe(reader, probe, rubric=(first.model_copy(update={"text": text}), *others))
    return None


def nobody_else(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A nugget demands what a right short answer does not say."""
    forms = ("{0}, and nobody else", "{0} and nothing else", "{0}, exactly these", "{0}, and no further one besides")
    return _on_nugget(reader, rng, rng.choice(forms), *_FACTS)


def literal_ban(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A nugget bans one spelling of a value."""
    forms = ("Does not mention $5,300", "Never says $1,250", "Leaves out the $5,300", "Does not give the price of $80")
    return _on_nugget(reader, rng, rng.choice(forms), "instruction_following", "preference_following")


def two_criteria(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A nugget asks for two things."""
    forms = (
        "{0}, and the answer is addressed to the user",
        "{0}; the reason for it is given, too",
        "{0}, and it is told in the order of the conversation",
        "{0} and explains why",
    )
    return _on_nugget(reader, rng, rng.choice(forms), *_FACTS)


def beyond_gold(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A nugget asks for what neither gold nor evidence has."""
    forms = ("{0}, which took 17 days", "{0}, at the price of $3,175", "States that a doctor's word is proof enough")
    return _on_nugget(reader, rng, rng.choice(forms), *_FACTS)


def called_hard(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A look-up in one message is called hard."""
    for probe in _probes(reader, rng, "information_extraction"):
        if len({e.message_key for e in probe.evidence}) == 1 and probe.difficulty is not Difficulty.HARD:
            return _with_probe(reader, probe, difficulty=Difficulty.HARD)
    return None


def said_elsewhere(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """A message that nobody cites says the whole answer."""
    for probe in _probes(reader, rng, "multi_session_reasoning", "temporal_reasoning"):
        places = _cited(reader, probe)
        free = [i for i in range(max(places, default=0) + 1, len(reader.said)) if i not in places]
        if len(places) > 1 and free:
            at = rng.choice(free)
            topic = re.sub(r"^(?:How many|How much|What|Which) ", "", probe.question.rstrip("?."))
            text = f"{reader.said[at].content} On {topic}: {probe.gold_answer}"
            return Planted(_with_text(reader, at, text), probe.probe_id)
    return None


def last_weekday(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """The day of the gold is told as `last Wednesday`, some days after it."""
    for probe, place, said, day in _dated(reader, rng):
        message = reader.said[place]
        back = (message.sent_at.date() - day).days
        if 0 < back < 7 and any(said in e.quote for e in probe.evidence):
            phrase = f"last {day:%A}"
            cited = tuple(e.model_copy(update={"quote": e.quote.replace(said, phrase)}) for e in probe.evidence)
            told = _with_text(reader, place, message.content.replace(said, phrase))
            return _with_probe(told, probe, evidence=cited)
    return None


def about_the_world(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """An abstention asks what anybody could look up."""
    forms = ("What does a week in a hotel cost?", "How long is the warranty of a kiln?", "Who invented the dimmer?")
    for probe in _probes(reader, rng, "abstention"):
        return _with_probe(reader, probe, question=rng.choice(forms))
    return None


def given_away(reader: MemoryReader, rng: random.Random) -> Planted | None:
    """The question says the answer."""
    for probe in _probes(reader, rng, "information_extraction", "knowledge_update"):
        if stated_in(probe.gold_answer, year=2024):
            value = stated_in(probe.gold_answer, year=2024)[0].value.text
            return _with_probe(reader, probe, question=f"{probe.question.rstrip('?')}, that is {value}?")
    return None


PLANTERS: dict[str, Planter] = {
    "wrong year": wrong_year,
    "same in other words": same_in_other_words,
    "no conflict": no_conflict,
    "inclusive days": inclusive_days,
    "wrong days": wrong_days,
    "stale date": stale_date,
    "abstention answered": abstention_answered,
    "vague date": vague_date,
    "chat ids": chat_ids,
    "order in one message": one_message_order,
    "summary of slots": summary_of_slots,
    "summary of two messages": two_message_summary,
    "and nobody else": nobody_else,
    "ban on one spelling": literal_ban,
    "two criteria in one": two_criteria,
    "look-up called hard": called_hard,
    "sum said elsewhere": said_elsewhere,
    "last Wednesday": last_weekday,
    "nugget beyond the gold": beyond_gold,
    "question about the world": about_the_world,
    "answer in the question": given_away,
}


# --- measuring ----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Plant, check and print the table of recall."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted_probe_faults", description=__doc__)
    parser.add_argument("--beam", type=Path, action="append", default=[])
    parser.add_argument("--made", type=Path, action="append", default=[])
    parser.add_argument("--locomo", type=Path, action="append", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--missed", action="store_true", help="print what was planted where nothing named it")
    chosen = parser.parse_args(arguments)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for path, importer in [
        *((p, import_beam) for p in chosen.beam + chosen.made),
        *((p, import_locomo) for p in chosen.locomo),
    ]:
        for number, reader in enumerate(_read(importer, path)):
            before = {(f.check, f.subject, f.message) for f in check_conversation(reader)}
            for kind, planter in PLANTERS.items():
                planted = planter(reader, random.Random(f"{chosen.seed}/{path.name}/{number}/{kind}"))
                if planted is not None:
                    new = [
                        f for f in check_conversation(planted.reader) if (f.check, f.subject, f.message) not in before
                    ]
                    _count(counts, kind, [f for f in new if f.subject == planted.probe_id])
                    if chosen.missed and not _is_named(kind, new):
                        _show(path, number, kind, planted, new)
    for path in chosen.beam:
        for found in _without_chat(path, chosen.seed):
            _count(counts, "one message, no chat", found)
    print("| kind | planted | touched | named |\n|---|---:|---:|---:|")
    for kind in NAMES:
        print(f"| {kind} | {' | '.join(map(str, counts[kind]))} |")
    total = [sum(c[i] for c in counts.values()) for i in range(3)]
    print(f"| all | {total[0]} | {total[1]} ({total[1] / total[0]:.0%}) | {total[2]} ({total[2] / total[0]:.0%}) |")


def _read(importer: Importer, path: Path) -> Iterator[MemoryReader]:
    for conversation in importer(path, ImportOptions()):
        yield MemoryReader(conversation.head, tuple(conversation.messages()), conversation.probes)


def _without_chat(path: Path, seed: int) -> Iterator[list[Finding]]:
    """Yield the findings on a probe whose two sides are one message, in folders of BEAM without their chats."""
    for folder in sorted(p.parent for p in path.glob("*/user_messages.json")):
        with tempfile.TemporaryDirectory() as temporary:
            copy = Path(temporary) / path.name / folder.name
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("chat*.json"))
            file = copy / "probing_questions" / "probing_questions.json"
            copy.chmod(0o755), file.parent.chmod(0o755), file.chmod(0o644)
            questions = json.loads(file.read_text(encoding="utf-8"))
            chosen = random.Random(f"{seed}/{folder.name}").choice(("contradiction_resolution", "knowledge_update"))
            ids = questions[chosen][0]["source_chat_ids"]
            questions[chosen][0]["source_chat_ids"] = {side: [24] for side in ids}
            file.write_text(json.dumps(questions), encoding="utf-8")
            (reader,) = _read(import_beam, Path(temporary) / path.name)
            yield [f for f in check_conversation(reader) if f.subject == f"{chosen}.0"]


def _is_named(kind: str, found: Sequence[Finding]) -> bool:
    return any(f.severity is not Severity.INFO and re.match(NAMES[kind], f.check) for f in found)


def _count(counts: dict[str, list[int]], kind: str, found: Sequence[Finding]) -> None:
    touched = any(f.severity is not Severity.INFO and not STYLE.match(f.check) for f in found)
    for i, value in enumerate((1, touched, _is_named(kind, found))):
        counts[kind][i] += value


def _show(path: Path, number: int, kind: str, planted: Planted, found: Sequence[Finding]) -> None:
    probe = next(p for p in planted.reader.asked if p.probe_id == planted.probe_id)
    checks = [f.check for f in found if f.subject == planted.probe_id]
    print(f"{path.name} {number} {kind}: {probe.question} | {probe.gold_answer[:200]} | {checks}")


if __name__ == "__main__":
    main()
