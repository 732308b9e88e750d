"""Two hundred faults planted in the recorded conversation: how many the gates refuse, and how many good messages.

A language model wrote the conversation in `tests/recorded`. Each fault is planted in one of its messages, or in a value
of its plan, and goes through the gates that a reply of a model goes through: typed values against their text, the check
of turns with the rules of entailment, and the closed world. Four kinds, after the faults that were found in issue 20:

- `value`: a value is exchanged for another one, in a message or in the typed part of a plan's value;
- `polarity`: what a message tells is denied;
- `thing`: the value of a thing is said of another thing of the story;
- `added`: a sentence adds a value that no bullet has, or a reply ascribes one to the user.

A fault is *refused* by a rule, *judged* where the rules are in doubt and a run asks the role `checker`, else *missed*.

With a spec, its `checker` gives the verdicts on all judged texts, in an order that says nothing of their kind. With
`--beam` it also gives them on messages of BEAM conversations that the rules are in doubt about, as they are.

`--ungrounded` plants nothing: it counts the values that nothing gives, per 100 messages, in the recorded conversation
and in the BEAM chats of `--beam`, and prints their sentences.

    python -m benchmarks.planted_faults [--missed] [--judge SPEC.toml [--beam FOLDER ... --drawn 41]]
    python -m benchmarks.planted_faults --ungrounded [--beam FOLDER ... [--first 100]]
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from longbeam.formats import ImportOptions, import_beam
from longbeam.generators import (
    ClosedWorld,
    Frame,
    Ledger,
    RuleAnswer,
    check_turns,
    new_values_in,
    rule_on_message,
    unsaid_claims,
)
from longbeam.keys import UnitKey
from longbeam.models import Asker, LimitedModel, has_model_checks
from longbeam.pipeline import load_spec
from longbeam.prompts import default_registry
from longbeam.prompts.calls import BulletBrief, LedgerLine, UserTurnDraft, UserTurnsReply
from longbeam.schemas import ConversationHead, Message, MessageKind, MessageRole, Value, ValueKind
from longbeam.text import content_words, disagreement, format_date, says, sentences
from longbeam.wiring import services
from tests.recorded import recording

EACH = 50
"""Faults of each kind."""
IN_PLANS, IN_REPLIES = 15, 10
"""Faults of kind `value` that stand in typed values of the plan, and of kind `added` that stand in replies."""
KINDS = ("value", "polarity", "thing", "added")
_DENIALS = (
    (re.compile(r"\b(is|are|was|were|will|can|must|has|have|had)\b(?! (?:not|never|no)\b)"), r"\1 not"),
    (re.compile(r"\bI (?=(?:[a-z]+ed|bought|made|took|found|went|gave|set|kept|threw|cut|got|own)\b)"), "I never "),
    (re.compile(r"\b(comes|gets|takes|costs|needs|keeps|says|lasts|gives|leaves)\b"), r"never \1"),
)  # fmt: skip
_ADDED = (
    "I also gave Karl a deposit of {money}.",
    "By the way, my cousin comes on {date}.",
    "It kept me busy for {time}.",
    "About {share} of it was spoilt.",
    "There were {count} people in front of me.",
    "Karl wants {money} for the delivery.",
    "The receipt says {date}, so I still have it.",
    "I was told to wait for {time}.",
)
_ASCRIBED = (
    "You told me that it cost {money}.",
    "Your {money} should do for that.",
    "As you said, it took {time}.",
    "You mentioned {date}, so there is time.",
    "You've spent {money} so far.",
)


@dataclass(frozen=True)
class Outcome:
    """The answer of the gates on one text."""

    kind: str
    place: str
    text: str
    """The text with its fault."""
    refused: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    """Texts of the bullets that the checker is asked about."""

    @property
    def name(self) -> str:
        """`refused`, `judged` or `missed`."""
        return "refused" if self.refused else "judged" if self.judged else "missed"


@dataclass
class Gates:
    """The gates of a conversation, message by message in its order."""

    head: ConversationHead
    messages: Sequence[Message]
    rng: random.Random = field(default_factory=random.Random)

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of the only plan."""
        return Ledger.of(self.head.plans[0])

    def briefs(self, message: Message) -> tuple[BulletBrief, ...]:
        """Return the bullets that a message voices."""
        return self.ledger.briefs(self.ledger.bullet[i] for i in message.bullet_ids)

    @cached_property
    def worlds(self) -> dict[str, tuple[ClosedWorld, list[str]]]:
        """Values known before each message, and the texts of its exchange; a planned turn precedes all talk."""
        head, worlds, said = self.head, {}, dict[int | None, list[Message]]()
        assert head.profile is not None
        frame = Frame(seed=head.seed, profile=head.profile, relationships=head.relationships, narratives=())
        for message in self.messages:
            world, talk = ClosedWorld(frame, self.ledger), said.setdefault(message.sub_plan_index, [])
            exchange = [m.content for m in talk if m.turn_index == message.turn_index]
            if not message.bullet_ids:
                for earlier in talk:
                    world.hear(earlier.content, earlier.sent_at.date(), earlier.role)
            worlds[message.message_key] = world, exchange
            talk.append(message)
        return worlds

    def ungrounded(self, message: Message) -> tuple[Value, ...]:
        """Return the values that a message states, or ascribes to the user, and that nothing gives."""
        world, exchange = self.worlds[message.message_key]
        day, briefs = message.sent_at.date(), self.briefs(message)
        if message.role is MessageRole.ASSISTANT:
            return world.false_claims(message.content, day)
        return world.ungrounded(message.content, day, near=[*(b.bullet.text for b in briefs), *exchange])

    def outcome(self, kind: str, message: Message, text: str) -> Outcome:
        """Return the answer of all gates on a text in the place of a message."""
        world, exchange = self.worlds[message.message_key]
        day, briefs = message.sent_at.date(), self.briefs(message)
        if message.role is MessageRole.ASSISTANT:
            return Outcome(kind, message.message_key, text, tuple(world.claim_faults(text, day)))
        if message.kind is not MessageKind.QUESTION or not briefs:
            return Outcome(kind, message.message_key, text, tuple(world.faults(text, day, near=exchange)))
        reply = UserTurnsReply(turns=[UserTurnDraft(text=text, voices=list(message.bullet_ids))])
        refused = (*check_turns(reply, briefs, 1), *new_values_in(reply, world, [b.bullet for b in briefs]))
        rulings = [(rule_on_message(text, brief), brief.bullet.text) for brief in briefs]
        doubtful = [(ruling.reason, claim) for ruling, claim in rulings if ruling.answer is RuleAnswer.UNSURE]
        judged, claims = zip(*doubtful, strict=True) if doubtful else ((), ())
        return Outcome(kind, message.message_key, text, refused, judged, claims)


def recorded_gates(seed: str = "planted") -> Gates:
    """Return the gates of the recorded conversation; another seed plants other faults."""
    sealed = recording.sealed()
    return Gates(sealed.head, sealed.messages, random.Random(seed))


def untouched(gates: Gates) -> list[Outcome]:
    """Return the answers on the messages as they are."""
    return [gates.outcome("untouched", m, m.content) for m in gates.messages]


def planted(gates: Gates) -> Iterator[Outcome]:
    """Yield the answers on `EACH` faults of each kind; the same faults in every run."""
    users = [m for m in gates.messages if m.bullet_ids]
    yield from _first(_wrong_types(gates), IN_PLANS)
    yield from _first(_planted(gates, "value", users), EACH - IN_PLANS)
    yield from _first(_planted(gates, "polarity", users), EACH)
    yield from _first(_planted(gates, "thing", users), EACH)
    yield from _first(_added(gates, MessageRole.ASSISTANT, _ASCRIBED), IN_REPLIES)
    yield from _first(_added(gates, MessageRole.USER, _ADDED), EACH - IN_REPLIES)


def _first(outcomes: Iterator[Outcome], count: int) -> Iterator[Outcome]:
    found = [o for o, _ in zip(outcomes, range(count), strict=False)]
    if len(found) < count:
        raise ValueError(f"{len(found)} faults of kind {found[0].kind!r} can be planted; {count} are asked for")
    yield from found


def _planted(gates: Gates, kind: str, messages: Sequence[Message]) -> Iterator[Outcome]:
    plant = {"value": _swapped, "polarity": _denied, "thing": _exchanged}[kind]
    # Round by round, so that the faults spread over all messages before a second one is planted in any.
    lines = [(m, brief, line) for m in messages for brief in gates.briefs(m) for line in brief.facts if line.value]
    gates.rng.shuffle(lines)
    for message, brief, line in lines:
        text = plant(gates, message.content, brief, line)
        if text is not None and text != message.content:
            yield gates.outcome(kind, message, text)


def _wrong_types(gates: Gates) -> Iterator[Outcome]:
    """Plant a number or a date beside a text that says another one, as a model did."""
    typed = [a.value for a in gates.ledger.assertions if a.value and (a.value.date or a.value.number is not None)]
    gates.rng.shuffle(typed)
    for value in typed:
        changed = replace_value(value, gates.rng)
        found = disagreement(value.model_copy(update={"number": changed.number, "date": changed.date}))
        yield Outcome("value", "plan", f"{value.text!r}: {changed.text}", (found,) if found else ())


def replace_value(value: Value, rng: random.Random) -> Value:
    """Return another value of the same kind and unit: a nearby one, as slips make them."""
    if value.date is not None:
        date = value.date + dt.timedelta(rng.choice([-9, -3, 2, 4, 11]))
        return value.model_copy(update={"date": date, "text": format_date(date)})
    number = value.number or 0
    if value.kind is ValueKind.RATIO:
        number = round(number + rng.choice([-0.07, 0.06, 0.13]), 2)
        return value.model_copy(update={"number": number, "text": f"{number:.0%}"})
    other = number + rng.choice([-1, 1, 2, 3]) * max(1, round(number * 0.13))
    text = re.sub(r"\d[\d,]*", f"{other:,.0f}", value.text, count=1)
    return value.model_copy(update={"number": other, "text": text})


def _swapped(gates: Gates, text: str, brief: BulletBrief, line: LedgerLine) -> str | None:
    value = line.value
    if value is None or (value.date is None and value.number is None) or value.text not in text:
        return None
    return text.replace(value.text, replace_value(value, gates.rng).text)


def _denied(gates: Gates, text: str, brief: BulletBrief, line: LedgerLine) -> str | None:
    """Deny the last verb in front of the value, in the sentence that says it."""
    for start, end in sentences(text):
        sentence = text[start:end]
        if line.value is None or not says(sentence, line.value):
            continue
        front = sentence.partition(line.value.text)[0]
        found = [(m, new) for pattern, new in _DENIALS for m in pattern.finditer(front)]
        if found:
            match, new = max(found, key=lambda f: f[0].start())
            return text[: start + match.start()] + match.expand(new) + text[start + match.end() :]
    return None


def _exchanged(gates: Gates, text: str, brief: BulletBrief, line: LedgerLine) -> str | None:
    """Say the value of another thing of the story with a value of the same kind."""
    others = [
        f.subject
        for f in gates.ledger.facts
        if f.kind is line.kind and not content_words(f.subject) & content_words(brief.bullet.text)
    ]
    words = [w for w in re.findall(r"\w+", line.subject) if content_words(w)]
    places = [
        re.compile(rf"\b(?:the |my |a |an )?(?:\w+ )??{re.escape(w)}(?:s|es)?\b", re.IGNORECASE) for w in words[-1:]
    ]
    if not others or not places or not any(p.search(text) for p in places):
        return None
    other = gates.rng.choice(sorted(set(others)))
    return places[0].sub(other, text)


def _added(gates: Gates, role: MessageRole, forms: Sequence[str]) -> Iterator[Outcome]:
    messages = [m for m in gates.messages if m.role is role]
    gates.rng.shuffle(messages)
    for i, message in enumerate(messages):
        sentence = forms[i % len(forms)].format_map(_values(gates.rng, message.sent_at.date()))
        yield gates.outcome("added", message, f"{sentence} {message.content}")


def _values(rng: random.Random, day: dt.date) -> dict[str, str]:
    amount = rng.randint(2, 90) * rng.choice([1, 7, 13])
    return {
        "money": rng.choice([f"{amount} PLN", f"${amount}", f"{amount} zł"]),
        "date": format_date(day + dt.timedelta(rng.choice([-230, -41, 38, 77, 160]))),
        "time": f"{rng.randint(13, 58)} {rng.choice(['minutes', 'days', 'weeks'])}",
        "share": f"{rng.randint(3, 97)}%",
        "count": str(rng.randint(13, 170)),
    }


def beam_messages(folders: Sequence[Path], count: int) -> list[Outcome]:
    """Return `count` messages of BEAM conversations, drawn of those that rules are in doubt about and do not refuse."""
    found = []
    for folder in folders:
        for given in import_beam(folder, ImportOptions()):
            gates = Gates(given.head, list(given.messages()))
            for message in gates.messages:
                rulings = [(rule_on_message(message.content, b), b.bullet.text) for b in gates.briefs(message)]
                claims = tuple(claim for ruling, claim in rulings if ruling.answer is RuleAnswer.UNSURE)
                reasons = tuple(ruling.reason for ruling, _ in rulings)
                if claims and not any(ruling.answer is RuleAnswer.NO for ruling, _ in rulings):
                    found.append(Outcome("beam", message.message_key, message.content, (), reasons, claims))
    return random.Random("beam").sample(found, count)


def beam_gates(folder: Path, first: int | None) -> Gates:
    """Return the gates of a BEAM chat, of its first messages where `first` says how many."""
    (given,) = import_beam(folder, ImportOptions())
    return Gates(given.head, list(given.messages())[:first])


def print_ungrounded(name: str, gates: Gates) -> None:
    """Print how many messages of a conversation hold values that nothing gives, and these values."""
    found = [(m, values) for m in gates.messages if (values := gates.ungrounded(m))]
    total, messages = sum(len(values) for _, values in found), len(gates.messages)
    print(f"{name:<12} {messages:>8} {len(found):>5} {total:>6} {100 * total / messages:>8.2f}")
    for message, values in found:
        for value in values:
            at = message.content.find(value.text)
            print(f"    {message.message_key} {value.text!r}: ...{message.content[max(at - 80, 0) : at + 60]!r}")


async def verdicts(outcomes: Sequence[Outcome], spec_path: Path) -> list[dict[str, str]]:
    """Return the claims that the checker of a spec refuses, with its reasons, for each text; all are asked at once."""
    spec = load_spec(spec_path)
    if not has_model_checks(spec):
        raise SystemExit(f"{spec_path}: no checker is asked; name a language model, or set checks.model = true")
    model = LimitedModel(services().make_model(spec, home=spec_path.parent), spec)
    asker = Asker(services().models(model), default_registry(), spec, UnitKey("c000", "user_turns", "planted"))
    # Numbered in an order of their own, so that a person who judges learns nothing from the place of a text.
    order = random.Random("judged").sample(range(len(outcomes)), len(outcomes))
    asked = (unsaid_claims(asker, f"t{n}", outcomes[i].text, outcomes[i].claims) for n, i in enumerate(order))
    found = dict(zip(order, await asyncio.gather(*asked), strict=True))
    return [found[i] for i in range(len(outcomes))]


def print_verdicts(outcomes: Sequence[Outcome], found: Sequence[dict[str, str]]) -> None:
    """Print how many texts the checker refuses, by kind, and what it said of those that it should not have."""
    print(f"\n{'kind':<10} {'judged':>7} {'refused by the checker':>23}")
    for kind in dict.fromkeys(o.kind for o in outcomes):
        own = [refused for o, refused in zip(outcomes, found, strict=True) if o.kind == kind]
        print(f"{kind:<10} {len(own):>7} {sum(map(bool, own)):>23}")
    for outcome, refused in zip(outcomes, found, strict=True):
        if (outcome.kind in KINDS) is not bool(refused):
            print(f"\n{outcome.kind} {outcome.place} {refused or outcome.claims}\n  {outcome.text}")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the answers by kind, and with `--missed` the faults that pass and the good messages that do not."""
    parser = argparse.ArgumentParser(description="Plant faults in the recorded conversation.")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--judge", type=Path, metavar="SPEC", help="spec whose checker judges what rules cannot")
    parser.add_argument("--beam", type=Path, nargs="*", default=(), help="folders of BEAM chats to draw messages from")
    parser.add_argument("--drawn", type=int, default=41, help="messages drawn from them")
    parser.add_argument("--ungrounded", action="store_true", help="count values that nothing gives, and plant nothing")
    parser.add_argument("--first", type=int, help="messages of each BEAM chat in which they are counted")
    parser.add_argument("--seed", default="planted", help="another seed plants other faults")
    args = parser.parse_args(argv)
    gates = recorded_gates(args.seed)
    if args.ungrounded:
        print(f"{'conversation':<12} {'messages':>8} {'with':>5} {'values':>6} {'per 100':>8}")
        print_ungrounded("recorded", gates)
        for folder in args.beam:
            print_ungrounded(folder.name, beam_gates(folder, args.first))
        return
    outcomes = [*planted(gates), *untouched(gates)]
    print(f"{'kind':<10} {'texts':>5} {'refused':>8} {'judged':>7} {'missed':>7}")
    for kind in (*KINDS, "untouched"):
        counts = Counter(o.name for o in outcomes if o.kind == kind)
        print(f"{kind:<10} {counts.total():>5} {counts['refused']:>8} {counts['judged']:>7} {counts['missed']:>7}")
    for outcome in outcomes if args.missed else ():
        if (outcome.kind == "untouched") is not (outcome.name == "missed"):
            print(
                f"\n{outcome.kind} {outcome.place} {outcome.name} {outcome.refused or outcome.judged}\n  {outcome.text}"
            )
    if args.judge is not None:
        judged = [o for o in outcomes if o.name == "judged"]
        judged += beam_messages(args.beam, args.drawn) if args.beam else []
        print_verdicts(judged, asyncio.run(verdicts(judged, args.judge)))


if __name__ == "__main__":
    main()
