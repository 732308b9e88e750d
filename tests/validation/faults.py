"""One planted fault for each kind of finding that a check declares: the good conversation, spoilt in one place."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from longbeam.schemas import (
    Advice,
    AdviceKind,
    Assertion,
    Difficulty,
    Domain,
    Evidence,
    Fact,
    ImportNote,
    Incident,
    IncidentKind,
    Making,
    MessageKind,
    NoteKind,
    Plan,
    Probe,
    ProbeDetails,
    Stance,
    Value,
    ValueKind,
)
from longbeam.text import date_value, money, name
from tests.builders import LEASE_DAY, PEOPLE, PROFILE, MemoryReader, count_tokens, probe

Spoil = Callable[[MemoryReader], MemoryReader]
MISREAD = money(900).model_copy(update={"number": 58})
"""A value whose number is not that of its text."""


@dataclass(frozen=True)
class Fault:
    """A change to plant, and the finding that it must give."""

    check: str
    """`<check>.<kind>`."""
    spoil: Spoil
    subject: str = ""
    """Subject of the finding; not compared when empty."""
    asked: Mapping[str, int] | None = None


def drop(*positions: int) -> Spoil:
    return lambda r: replace(r, said=tuple(m for i, m in enumerate(r.said) if i not in positions))


def say(position: int, content: str) -> Spoil:
    return lambda r: r.with_message(position, content=content)


def append(position: int, addition: str) -> Spoil:
    return lambda r: r.with_message(position, content=r.said[position].content + addition)


def message(position: int, **changes: object) -> Spoil:
    return lambda r: r.with_message(position, **changes)


def told_of_something_else(reader: MemoryReader) -> MemoryReader:
    incident = Incident(kind=IncidentKind.OFF_SUBJECT, detail="no pack of the offline writer is about 'Leases'")
    return reader.with_head(making=Making(incidents=(incident,)))


def on_probe(ability: str, **changes: object) -> Spoil:
    return lambda r: r.with_probe(ability, **changes)


def details(ability: str, **changes: object) -> Spoil:
    return lambda r: r.with_details(ability, **changes)


def evidence(ability: str, position: int = 0, **changes: object) -> Spoil:
    def spoil(reader: MemoryReader) -> MemoryReader:
        cited = list(reader.probe(ability).evidence)
        cited[position] = cited[position].model_copy(update=changes)
        return reader.with_probe(ability, evidence=tuple(cited))

    return spoil


def asserted(bullet_id: str, fact_id: str, stance: Stance, value: object) -> Spoil:
    return lambda r: r.with_assertion(
        Assertion.model_construct(bullet_id=bullet_id, fact_id=fact_id, stance=stance, value=value)
    )


def person(position: int, **changes: object) -> Spoil:
    def spoil(reader: MemoryReader) -> MemoryReader:
        people = list(PEOPLE)
        people[position] = people[position].model_copy(update=changes)
        graph = reader.head.relationships.model_copy(update={"people": tuple(people)})
        return reader.with_head(relationships=graph)

    return spoil


def both(*spoils: Spoil) -> Spoil:
    def spoil(reader: MemoryReader) -> MemoryReader:
        for one in spoils:
            reader = one(reader)
        return reader

    return spoil


def as_import(reader: MemoryReader) -> MemoryReader:
    return reader.with_head(target_tokens=0)


def second_probe(ability: str, **changes: object) -> Spoil:
    """Add a copy of an ability's probe with another id."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        copy = reader.probe(ability).model_copy(update={"probe_id": f"{ability}.1", **changes})
        return replace(reader, asked=(*reader.asked, copy))

    return spoil


def swapped(reader: MemoryReader) -> MemoryReader:
    """Exchange which messages are cited as first and last item."""
    first, second, third = reader.probe("event_ordering").evidence
    crossed = (
        first.model_copy(update={"group": 2}),
        second,
        third.model_copy(update={"group": 0}),
    )
    return reader.with_probe("event_ordering", evidence=crossed)


def told_in_another_order(reader: MemoryReader) -> MemoryReader:
    """Let an import's gold tell its last item first; its evidence and its list of items stay."""
    order = "1) the deck oven, 2) the painting of the shop front, 3) the lease"
    return as_import(reader).with_probe("event_ordering", gold_answer=order)


def tell_again(fact_id: str, value: Value) -> Spoil:
    """Let the last bullet and its message tell a value, too: the message that gave it first can be spared."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        told = reader.with_assertion(
            Assertion(bullet_id="p0.s1.b4", fact_id=fact_id, stance=Stance.MENTIONS, value=value)
        )
        place = next(i for i, m in enumerate(told.said) if "p0.s1.b4" in m.bullet_ids)
        return append(place, f" It was {value.text}.")(told)

    return spoil


def another_plan(reader: MemoryReader) -> MemoryReader:
    later = Plan(plan_index=1, sub_plans=(), facts=(), assertions=())
    return reader.with_head(plans=(*reader.head.plans, later))


def update_before_original(reader: MemoryReader) -> MemoryReader:
    old, new = reader.probe("knowledge_update").evidence
    crossed = (old.model_copy(update={"part": "updated"}), new.model_copy(update={"part": "original"}))
    return reader.with_probe("knowledge_update", evidence=crossed)


def both_sides_in_one(reader: MemoryReader) -> MemoryReader:
    statement, denial = reader.probe("contradiction_resolution").evidence
    same = denial.model_copy(update={"message_key": statement.message_key, "quote": statement.quote})
    return reader.with_probe("contradiction_resolution", evidence=(statement, same))


def stale(ability: str) -> Spoil:
    """A probe of this ability that rests on the budget before its update."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        original = reader.probe("knowledge_update").evidence[0]
        old = probe(
            ability,
            "How much may the works cost?",
            "They may cost $18,000.",
            ("States $18,000",),
            (original,),
            fact_ids=("p0.f2",),
        )
        return replace(reader, asked=tuple(old if p.ability == ability else p for p in reader.asked))

    return spoil


def next_value(reader: MemoryReader) -> MemoryReader:
    """A question for the budget as of a day between the two that gets the one that came after it."""
    cited = reader.probe("knowledge_update").evidence
    asked = probe(
        "temporal_reasoning",
        "What did I want to spend on the works, as of April 2, 2024?",
        "At that time you wanted to spend $21,500.",
        ("States that the user wanted to spend $21,500 at that time",),
        cited,
        fact_ids=("p0.f2",),
        details=ProbeDetails(variety="as_of", old_value="$18,000"),
    )
    return replace(reader, asked=tuple(asked if p.ability == "temporal_reasoning" else p for p in reader.asked))


def cite_reply(reader: MemoryReader) -> MemoryReader:
    reply = reader.said[5]
    cited = Evidence(message_key=reply.message_key, quote=reply.content)
    return reader.with_probe("information_extraction", evidence=(cited,))


def near_copies(reader: MemoryReader) -> MemoryReader:
    """Two long replies that differ in their last word: 33 of 35 shingles are common, 33 / 35 = 0.94."""
    text = " ".join(f"word{i}" for i in range(37))
    return reader.with_message(5, content=f"{text} once").with_message(13, content=f"{text} twice")


def many_replies(reader: MemoryReader) -> MemoryReader:
    """Enough other messages around two near-copies that their share is small: 1 of 69 replies is 1.4 %."""
    spoilt = near_copies(reader)
    more = []
    for i in range(60):
        at, previous = 18 + 2 * i, spoilt.said[-2:]
        for j, old in enumerate(previous):
            text = " ".join(f"w{i}x{j}y{k}" for k in range(20))
            key = f"p0.s1.t{4 + i}.n{j}"
            changes = {"message_key": key, "message_id": at + j, "content": text, "bullet_ids": (), "turn_index": 4 + i}
            more.append(old.model_copy(update={**changes, "tokens": count_tokens(text)}))
    return replace(spoilt, said=(*spoilt.said, *more))


def probes_like(reader: MemoryReader, difficulty: Difficulty) -> MemoryReader:
    return replace(reader, asked=tuple(p.model_copy(update={"difficulty": difficulty}) for p in reader.asked))


def empty_rubric(reader: MemoryReader) -> MemoryReader:
    fields = dict(reader.probe("summarization")) | {"rubric": ()}
    broken = Probe.model_construct(**fields)
    return replace(reader, asked=tuple(broken if p.ability == "summarization" else p for p in reader.asked))


def in_domain(domain: Domain) -> Spoil:
    return lambda r: r.with_head(seed=r.head.seed.model_copy(update={"domain": domain}))


def sub_plan(position: int, **changes: object) -> Spoil:
    def spoil(reader: MemoryReader) -> MemoryReader:
        sub_plans = list(reader.head.plans[0].sub_plans)
        sub_plans[position] = sub_plans[position].model_copy(update=changes)
        return reader.with_plan(sub_plans=tuple(sub_plans))

    return spoil


def noted(kind: NoteKind) -> Spoil:
    note = ImportNote(kind=kind, subject="p0.s0.t0.n0", message="odd")
    return lambda r: r.with_head(import_notes=(note,))


def nugget(ability: str, text: str) -> Spoil:
    """Word the first nugget of an ability's probe otherwise."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        first, *others = reader.probe(ability).rubric
        return reader.with_probe(ability, rubric=(first.model_copy(update={"text": text}), *others))

    return spoil


def uncomputed(gold: str) -> Spoil:
    """A gold answer on a span of days that says nothing of how it was computed."""
    return both(
        details("temporal_reasoning", computed_from=(), computation="", computed_value=""),
        on_probe("temporal_reasoning", gold_answer=gold),
    )


def cite_in(ability: str, position: int, part: str = "support") -> Spoil:
    return lambda r: r.with_probe(
        ability,
        evidence=(Evidence(message_key=r.said[position].message_key, quote=r.said[position].content, part=part),),
    )


def cite_also(position: int) -> Spoil:
    def spoil(reader: MemoryReader) -> MemoryReader:
        reply = reader.said[position]
        added = Evidence(message_key=reply.message_key, quote=reply.content[:10])
        cited = reader.probe("information_extraction").evidence
        return reader.with_probe("information_extraction", evidence=(*cited, added))

    return spoil


def unledgered(ability: str, words: str) -> Spoil:
    """A later message gives another price of the shop front, of which no ledger knows."""
    source = "information_extraction"
    return both(
        lambda r: r.with_probe(
            ability,
            question="What does painting the shop front cost?",
            gold_answer=r.probe(source).gold_answer,
            rubric=r.probe(source).rubric,
            evidence=r.probe(source).evidence,
            fact_ids=(),
            bullet_ids=(),
            details=r.probe(source).details,
        ),
        append(16, f" Tom paints again, and {words} $1,150."),
    )


def denied(position: int, text: str) -> Spoil:
    """The denial stands at another place, in other words."""
    return both(
        say(position, text),
        lambda r: evidence("contradiction_resolution", 1, message_key=r.said[position].message_key, quote=text)(r),
    )


def stated(text: str) -> Spoil:
    """The statement of the contradiction in other words."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        statement = reader.probe("contradiction_resolution").evidence[0]
        place = next(i for i, m in enumerate(reader.said) if m.message_key == statement.message_key)
        said = reader.said[place].content.replace(statement.quote, text)
        return evidence("contradiction_resolution", 0, quote=text)(reader.with_message(place, content=said))

    return spoil


ADVICE = Advice(
    advice_id="p0.s0.a0",
    kind=AdviceKind.FIGURE,
    bullet_id="p0.s0.b1",
    narrative="",
    topic="the lease",
    attribute="safety margin",
    text="Keep $77,777 as a safety margin.",
    value=money(77_777),
)


def brings_in(position: int | None) -> Spoil:
    """Plan a figure for the assistant, and label the message at a position with it, which does not say it."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        planned = reader.with_plan(advice=(ADVICE,))
        return planned if position is None else planned.with_message(position, bullet_ids=(ADVICE.advice_id,))

    return spoil


def brings_in_a_use(words: str) -> Spoil:
    """Have a reply say these words where it is to say that $77,777 for the lease is for spare keys."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        use = {"kind": AdviceKind.USE, "items": ("spare keys",)}
        planned = reader.with_plan(advice=(ADVICE.model_copy(update=use),))
        said = f"{reader.said[3].content} {words}"
        return planned.with_message(3, bullet_ids=(ADVICE.advice_id,), content=said)

    return spoil


def asks_for_a_use(position: int, words: str) -> Spoil:
    """Ask what the $77,777 for the lease is for, and have a message say these words, too."""
    ability = "information_extraction"
    return both(
        brings_in_a_use("Keep another $77,777 aside for the lease: it is for spare keys."),
        on_probe(ability, bullet_ids=(ADVICE.advice_id,)),
        details(ability, variety="use", computed_value="spare keys"),
        append(position, f" {words}"),
    )


def chooses(item: str) -> Spoil:
    """Have the user name the option that they took, of a list that a reply gives."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        taken_in = reader.said[4].bullet_ids[0]
        options = {"kind": AdviceKind.OPTIONS, "value": None, "items": (item, "x"), "taken": 1, "taken_in": taken_in}
        listed = reader.with_plan(advice=(ADVICE.model_copy(update=options),))
        given = listed.with_message(3, bullet_ids=(ADVICE.advice_id,), content=f"{reader.said[3].content} {item}, x.")
        return given.with_message(4, content=f"{reader.said[4].content} I took {item}.")

    return spoil


def planned_after_done(reader: MemoryReader) -> MemoryReader:
    """The lease is done on March 6, and in April its end is still planned for May."""
    plan = reader.head.plans[0]
    facts = tuple(
        Fact(fact_id=f, subject="the lease", attribute=a, kind=ValueKind.DATE)
        for f, a in (("p0.f20", "completion date"), ("p0.f21", "target date"))
    )
    told = (
        Assertion(bullet_id="p0.s0.b1", fact_id="p0.f20", stance=Stance.SETS, value=LEASE_DAY),
        Assertion(bullet_id="p0.s1.b4", fact_id="p0.f21", stance=Stance.SETS, value=date_value(dt.date(2024, 5, 20))),
    )
    topic = next(b.topic for b in plan.bullets() if b.bullet_id == "p0.s0.b1")
    spoilt = reader.with_plan(facts=(*plan.facts, *facts), assertions=(*plan.assertions, *told))
    return spoilt.with_bullet("p0.s1.b4", topic=topic)


def no_outcome(reader: MemoryReader, day: dt.date = dt.date(2024, 3, 20)) -> MemoryReader:
    """A tasting is announced for March 20, or another day, and no bullet from that day on speaks of it."""
    plan = reader.head.plans[0]
    fact = Fact(fact_id="p0.f22", subject="the tasting", attribute="date", kind=ValueKind.DATE)
    told = Assertion(bullet_id="p0.s0.b1", fact_id="p0.f22", stance=Stance.SETS, value=date_value(day))
    return reader.with_plan(facts=(*plan.facts, fact), assertions=(*plan.assertions, told))


def one_update(reader: MemoryReader) -> MemoryReader:
    old, new = reader.probe("knowledge_update").evidence
    same = old.model_copy(update={"message_key": new.message_key, "quote": new.quote})
    return reader.with_probe("knowledge_update", evidence=(same, new))


def one_session(reader: MemoryReader) -> MemoryReader:
    first, second = reader.probe("temporal_reasoning").evidence
    same = second.model_copy(update={"message_key": first.message_key, "quote": first.quote})
    return reader.with_probe("temporal_reasoning", evidence=(first, same))


def fewer_cited(ability: str) -> Spoil:
    return lambda r: r.with_probe(ability, evidence=r.probe(ability).evidence[:2])


def last_wednesday(reader: MemoryReader) -> MemoryReader:
    """The inspection of Wednesday, April 17, told on the Thursday after it: the day before, or eight days."""
    first, second = reader.probe("temporal_reasoning").evidence
    said = "The inspection took place last Wednesday."
    told = next(i for i, m in enumerate(reader.said) if m.message_key == second.message_key)
    cited = (first, second.model_copy(update={"quote": said}))
    return reader.with_message(told, content=f"{said} What papers should I keep?").with_probe(
        "temporal_reasoning", evidence=cited
    )


def cite_replies(reader: MemoryReader) -> MemoryReader:
    cited = tuple(Evidence(message_key=m.message_key, quote=m.content) for m in reader.said[1:6:2])
    return reader.with_probe("summarization", evidence=cited)


def said_twice(reader: MemoryReader) -> MemoryReader:
    """A long message of the user comes again, with a few words before it."""
    text = "The soft opening was wild, and by noon we had sold 140 loaves to people from the street. What next?"
    return both(say(14, text), say(16, f"Well then. {text}"))(reader)


def counted(value: str, *, cited: int = 2, story: str = "the oven") -> Spoil:
    """The sum becomes a count over a series of costs of a side story, of which a number of entries is cited."""

    def spoil(reader: MemoryReader) -> MemoryReader:
        own = reader.probe("multi_session_reasoning").fact_ids
        facts = [
            f.model_copy(update={"side_story": story, "attribute": f"cost on day {i}"}) if f.fact_id in own else f
            for i, f in enumerate(reader.head.plans[0].facts)
        ]
        asked = details("multi_session_reasoning", variety="tally", computed_value=value)(reader)
        return asked.with_plan(facts=tuple(facts)).with_probe("multi_session_reasoning", fact_ids=own[:cited])

    return spoil


FAULTS = (
    *(Fault(f"import.{kind.value}", noted(kind), "p0.s0.t0.n0") for kind in NoteKind),
    Fault("message_ids.gap", message(4, message_id=7), "p0.s0.t1.n2"),
    Fault("message_ids.gap", message(4, message_id=None), "conversation"),
    Fault("message_ids.duplicate_key", message(4, message_key="p0.s0.t1.n1"), "p0.s0.t1.n1"),
    Fault("message_ids.malformed_key", message(4, message_key="s0.t1.n2"), "s0.t1.n2"),
    Fault("message_ids.malformed_key", message(4, turn_index=3), "p0.s0.t1.n2"),
    Fault("message_ids.key_order", message(4, message_key="p0.s0.t0.n9", turn_index=0), "p0.s0.t0.n9"),
    Fault("message_ids.unknown_bullet", message(4, bullet_ids=("p0.s9.b9",)), "p0.s0.t1.n2"),
    Fault("roles.alternation", drop(1), "p0.s0.t1.n0"),
    Fault("roles.import_alternation", both(as_import, drop(1))),
    Fault("roles.kind", message(1, kind=MessageKind.ANSWER), "p0.s0.t0.n1"),
    Fault("roles.turn_opening", message(0, kind=MessageKind.FOLLOW_UP), "p0.s0.t0.n0"),
    Fault("roles.turn_opening", message(4, kind=MessageKind.QUESTION), "p0.s0.t1.n2"),
    Fault("roles.unanswered", drop(17), "p0.s1.t3.n0"),
    Fault("roles.empty", drop(*range(18)), "conversation"),
    Fault("timeline.goes_back", message(4, sent_at=dt.datetime(2024, 3, 7, 9)), "p0.s0.t1.n2"),
    Fault("timeline.outside_timeline", message(17, sent_at=dt.datetime(2024, 6, 1, 9)), "p0.s1.t3.n1"),
    Fault("timeline.outside_timeline", sub_plan(1, anchor=dt.date(2024, 7, 1)), "p0.s1"),
    Fault("timeline.anchors", sub_plan(1, anchor=dt.date(2024, 3, 4)), "p0.s1"),
    Fault("timeline.bullet_order", lambda r: r.with_bullet("p0.s0.b3", happens_on=dt.date(2024, 3, 5)), "p0.s0.b3"),
    Fault("timeline.told_early", lambda r: r.with_bullet("p0.s1.b4", happens_on=dt.date(2024, 5, 2)), "p0.s1.b4"),
    Fault("timeline.planned_after_done", planned_after_done, "p0.s1.b4"),
    Fault("timeline.no_outcome", no_outcome, "p0.s0.b1"),
    Fault("subject.other_story", told_of_something_else, "conversation"),
    Fault("length.off_target", lambda r: r.with_head(target_tokens=5_000), "conversation"),
    Fault("token_counts.miscounted", message(8, tokens=400), "p0.s0.t3.n0"),
    Fault("token_counts.unknown_tokenizer", lambda r: r.with_head(tokenizer="gpt2"), "conversation"),
    Fault("ledger.duplicate_id", lambda r: r.with_bullet("p0.s0.b1", bullet_id="p0.s0.b0"), "p0.s0.b0"),
    Fault("ledger.unknown_reference", asserted("p0.s0.b9", "p0.f1", Stance.MENTIONS, name("x")), "p0.s0.b9"),
    Fault("ledger.missing_value", asserted("p0.s1.b4", "p0.f7", Stance.MENTIONS, None), "p0.s1.b4"),
    Fault("ledger.value_unlike_text", asserted("p0.s1.b4", "p0.f3", Stance.MENTIONS, MISREAD), "p0.s1.b4"),
    Fault("ledger.target", lambda r: r.with_bullet("p0.s1.b2", target_bullet_id="p0.s1.b4"), "p0.s1.b2"),
    Fault("ledger.target", lambda r: r.with_bullet("p0.s1.b3", target_bullet_id=None), "p0.s1.b3"),
    Fault("ledger.update_of_nothing", asserted("p0.s1.b0", "p0.f9", Stance.UPDATES, name("x")), "p0.s1.b0"),
    Fault("ledger.no_change", asserted("p0.s1.b4", "p0.f2", Stance.UPDATES, money(21_500)), "p0.s1.b4"),
    Fault("voicing.fact_not_voiced", message(16, bullet_ids=()), "p0.s1.b4"),
    Fault("voicing.special_not_voiced", message(14, bullet_ids=()), "p0.s1.b3"),
    Fault("voicing.not_voiced", message(6, bullet_ids=()), "p0.s0.b4"),
    Fault("voicing.value_not_said", say(16, "At the soft opening we sold everything! What now?"), "p0.s1.b4"),
    Fault("advice.not_given", brings_in(None), "p0.s0.a0"),
    Fault("advice.speaker", brings_in(2), "p0.s0.a0"),
    Fault("advice.value_not_said", brings_in(3), "p0.s0.a0"),
    Fault("advice.value_not_said", brings_in_a_use("Put another $77,777 aside."), "p0.s0.a0"),
    Fault("advice.value_not_said", brings_in_a_use("I would not keep $77,777 for spare keys."), "p0.s0.a0"),
    Fault("advice.option_named", chooses("an old tile"), "p0.s0.a0"),
    Fault("leaks.marker", append(3, " ->-> next"), "p0.s0.t1.n1"),
    Fault("leaks.marker", append(3, "\n~~~reply\nfine"), "p0.s0.t1.n1"),
    Fault("leaks.marker", append(3, "\n```\np0.s1.b3\n```"), "p0.s0.t1.n1"),
    Fault("leaks.marker", append(3, "<|im_end|>"), "p0.s0.t1.n1"),
    Fault("leaks.plan_word", append(4, " It is in this sub-plan."), "p0.s0.t1.n2"),
    Fault("leaks.plan_word", append(4, " After the time anchor."), "p0.s0.t1.n2"),
    Fault("leaks.plan_word", append(4, "\nInformation Update: it is done."), "p0.s0.t1.n2"),
    Fault("leaks.role_prefix", lambda r: say(4, f"User: {r.said[4].content}")(r), "p0.s0.t1.n2"),
    Fault("leaks.ai_phrase", append(5, " As an AI language model, I cannot paint."), "p0.s0.t1.n3"),
    Fault("leaks.placeholder", append(4, " He is [insert age] years old."), "p0.s0.t1.n2"),
    Fault("leaks.placeholder", append(4, " My name is [Your Name]."), "p0.s0.t1.n2"),
    Fault("leaks.placeholder", append(5, " I wish {first_name} luck."), "p0.s0.t1.n3"),
    Fault("leaks.placeholder", append(5, " I wish {{ person }} luck."), "p0.s0.t1.n3"),
    Fault("leaks.example", append(5, " Ask Yrsa about the dimmer board."), "p0.s0.t1.n3"),
    Fault("leaks.maybe_marker", append(5, " Good luck <|tool_sep|> with it."), "p0.s0.t1.n3"),
    Fault("leaks.maybe_placeholder", append(5, " Sign it as [Your Name]."), "p0.s0.t1.n3"),
    Fault("leaks.maybe_placeholder", append(5, " Ask <name> first. TODO"), "p0.s0.t1.n3"),
    Fault("leaks.drafted_blank", append(5, "\n\nDear Tom,\n\nPlease come on Monday.\n\n[Your Name]"), "p0.s0.t1.n3"),
    Fault("leaks.maybe_plan_word", append(4, " This bullet says it all."), "p0.s0.t1.n2"),
    Fault("degenerate.empty", say(5, " \n"), "p0.s0.t1.n3"),
    Fault("degenerate.repeats_itself", say(5, "Wait for the windows. " * 200), "p0.s0.t1.n3"),
    Fault("degenerate.blanks", append(5, "\n" * 25 + "Good luck."), "p0.s0.t1.n3"),
    Fault("degenerate.blanks", append(5, "\n \t" * 20 + "Good luck."), "p0.s0.t1.n3"),
    Fault("degenerate.blanks", append(5, " \t" * 100 + "Good luck."), "p0.s0.t1.n3"),
    Fault("degenerate.control_character", append(5, "\x07"), "p0.s0.t1.n3"),
    Fault("degenerate.open_fence", append(5, "\n```python\nprint("), "p0.s0.t1.n3"),
    Fault("degenerate.giant", message(5, tokens=15_900), "p0.s0.t1.n3"),
    Fault(
        "duplicates.same_user",
        lambda r: say(16, r.said[14].content.upper())(r),
        "p0.s1.t3.n0",
    ),
    Fault("duplicates.same_assistant", lambda r: say(17, r.said[15].content)(r), "p0.s1.t3.n1"),
    Fault("duplicates.same_short", both(say(5, "You are welcome!"), say(7, "You are welcome!")), "p0.s0.t2.n1"),
    Fault("duplicates.near_user", said_twice, "p0.s1.t3.n0"),
    Fault("duplicates.near_share", near_copies, "conversation"),
    Fault("duplicates.near", many_replies, "conversation"),
    Fault("persona.age", person(0, age=48), "n1"),  # 14 years older than her daughter
    Fault("persona.age", person(1, age=50), "n2"),
    Fault("persona.age", person(2, age=20), "n3"),
    Fault("persona.same_name", person(1, first_name="maya"), "n2"),
    Fault("persona.graph", person(1, person_id="n9"), "profile"),
    Fault("persona.mbti", lambda r: r.with_head(profile=PROFILE.model_copy(update={"mbti": ("INTJ",) * 6})), "profile"),
    Fault("probe_set.number", lambda r: r, "knowledge_update", asked={"knowledge_update": 0}),
    Fault("probe_set.fewer", lambda r: r, "knowledge_update", asked={"knowledge_update": 2}),
    Fault("probe_set.uneven", second_probe("summarization", question="What else?", evidence=()), "conversation"),
    Fault("probe_set.duplicate_id", second_probe("summarization", probe_id="summarization.0"), "summarization.0"),
    Fault("probe_set.same_question", second_probe("summarization"), "summarization.1"),
    Fault(
        "probe_set.similar_question",
        second_probe("information_extraction", question="What does Tom ask for painting the front of the small shop?"),
        "information_extraction.1",
    ),
    Fault(
        "probe_set.same_in_other_words",
        second_probe("information_extraction", question="How much is paid to Tom for the front?"),
        "information_extraction.1",
    ),
    Fault("probe_set.same_evidence", second_probe("summarization", question="What else?"), "summarization.1"),
    Fault(
        "probe_set.one_plan", both(another_plan, second_probe("summarization", question="What else?")), "summarization"
    ),
    Fault("probe_set.one_difficulty", lambda r: probes_like(r, Difficulty.HARD), "conversation"),
    Fault("rubric.empty", on_probe("summarization", gold_answer=" "), "summarization.0"),
    Fault("rubric.empty", empty_rubric, "summarization.0"),
    Fault(
        "rubric.duplicate_nugget",
        lambda r: r.with_probe("summarization", rubric=r.probe("summarization").rubric * 2),
        "summarization.0",
    ),
    Fault(
        "rubric.unsupported_nugget", evidence("information_extraction", nugget_ids=("x",)), "information_extraction.0"
    ),
    Fault("evidence.none", on_probe("summarization", evidence=()), "summarization.0"),
    Fault("evidence.import_none", both(as_import, on_probe("summarization", evidence=())), "summarization.0"),
    Fault("evidence.unknown_message", evidence("summarization", message_key="p9.s9.t9.n9"), "summarization.0"),
    Fault("evidence.not_verbatim", evidence("summarization", quote="we signed the lease"), "summarization.0"),
    Fault("evidence.no_quote", evidence("summarization", quote=""), "summarization.0"),
    Fault("evidence.unknown_nugget", evidence("summarization", nugget_ids=("summarization.0.n7",)), "summarization.0"),
    Fault(
        "evidence.after_question",
        on_probe("summarization", asked_at=dt.datetime(2020, 1, 1)),
        "summarization.0",
    ),
    Fault(
        "evidence.order",
        lambda r: r.with_probe("summarization", evidence=r.probe("summarization").evidence[::-1]),
        "summarization.0",
    ),
    Fault("leave_one_out.told_again", tell_again("p0.f1", LEASE_DAY), "temporal_reasoning.0"),
    Fault("leave_one_out.dispensable", both(tell_again("p0.f1", LEASE_DAY), another_plan), "temporal_reasoning.0"),
    Fault("evidence_parts.missing", evidence("knowledge_update", 1, part="support"), "knowledge_update.0"),
    Fault(
        "evidence_parts.import_missing",
        both(as_import, evidence("knowledge_update", 1, part="support")),
        "knowledge_update.0",
    ),
    Fault("evidence_parts.speaker", cite_reply, "information_extraction.0"),
    Fault("evidence_parts.update_order", update_before_original, "knowledge_update.0"),
    Fault("evidence_parts.one_message", both_sides_in_one, "contradiction_resolution.0"),
    Fault("evidence_parts.items", details("event_ordering", items=("the lease", "the oven")), "event_ordering.0"),
    Fault("evidence_parts.item_order", swapped, "event_ordering.0"),
    Fault("evidence_parts.mentioned_before", told_in_another_order, "event_ordering.0"),
    Fault(
        "evidence_parts.item_elsewhere",
        details("event_ordering", items=("the shop front", "the lease", "the deck oven")),
        "event_ordering.0",
    ),
    Fault(
        "gold_values.nowhere",
        on_probe("information_extraction", gold_answer="Tom paints it for $950."),
        "information_extraction.0",
    ),
    Fault(
        "gold_values.not_in_evidence",
        on_probe("information_extraction", gold_answer="Tom paints it for $7,400."),
        "information_extraction.0",
    ),
    Fault(
        "gold_values.only_in_reply",
        both(
            append(5, " It takes 77 litres."), cite_also(5), on_probe("information_extraction", gold_answer="77 litres")
        ),
        "information_extraction.0",
    ),
    Fault(
        "gold_values.chat_ids",
        on_probe("information_extraction", gold_answer="Tom paints it for $900 (chat_id: 4, 6, 8)."),
        "information_extraction.0",
    ),
    Fault("gold_values.wrong_year", uncomputed("42 days, from March 6, 2023 to April 17, 2023."), ""),
    Fault(
        "gold_values.vague_day",
        both(
            append(4, " I met him six months ago."),
            on_probe("information_extraction", gold_answer="On September 2, 2023."),
        ),
        "information_extraction.0",
    ),
    Fault("nuggets.not_in_gold", nugget("information_extraction", "States $950"), "information_extraction.0"),
    Fault("nuggets.not_in_gold", nugget("temporal_reasoning", "States that there are 3"), "temporal_reasoning.0"),
    Fault(
        "nuggets.unrelated",
        nugget("information_extraction", "States that dolphins sleep with one half of the brain"),
        "information_extraction.0",
    ),
    Fault(
        "nuggets.several_claims",
        nugget("information_extraction", "States that Tom paints the front; the answer must also say $900"),
        "information_extraction.0",
    ),
    Fault("nuggets.excludes", nugget("information_extraction", "States that Tom asks for $900 and nothing else"), ""),
    Fault("nuggets.literal_ban", nugget("instruction_following", "Does not mention the $7,400 of the oven"), ""),
    Fault("ability_fit.order_of_few", fewer_cited("event_ordering"), "event_ordering.0"),
    Fault("ability_fit.summary_of_few", fewer_cited("summarization"), "summarization.0"),
    Fault(
        "ability_fit.summary_of_slots",
        on_probe("summarization", question="On which day did I sign the lease, and how many loaves did I sell?"),
        "summarization.0",
    ),
    Fault(
        "ability_fit.hard_look_up",
        on_probe("information_extraction", difficulty=Difficulty.HARD),
        "information_extraction.0",
    ),
    Fault(
        "ability_fit.said_elsewhere",
        append(11, " The front's painting and the oven cost $8,300 together: $900 and $7,400."),
        "multi_session_reasoning.0",
    ),
    Fault("ability_fit.two_readings", last_wednesday, "temporal_reasoning.0"),
    Fault("nuggets.not_self_contained", nugget("information_extraction", "States that it is $900"), ""),
    Fault(
        "nuggets.user_voice",
        on_probe("information_extraction", question="What do I pay for the shop front?", gold_answer="I pay Tom $900."),
        "information_extraction.0",
    ),
    Fault(
        "arithmetic.wrong_duration",
        uncomputed("46 days, from March 6 to April 17."),
        "temporal_reasoning.0",
    ),
    Fault(
        "arithmetic.wrong_sum",
        on_probe("information_extraction", gold_answer="The total is 21 jobs: 11 jobs and 9 jobs."),
        "information_extraction.0",
    ),
    Fault("uses.other_use", asks_for_a_use(3, "The other $77,777 for the lease was for a lamp.")),
    Fault("uses.other_use", asks_for_a_use(1, "I would keep $77,777 for the lease and use it for a lamp.")),
    Fault("uses.other_use", asks_for_a_use(16, "You told me to hold $77,777 ready with the lease, for a lamp.")),
    Fault("arithmetic.both_ends", uncomputed("43 days, from March 6 to April 17."), "temporal_reasoning.0"),
    Fault("arithmetic.rounded", uncomputed("5 weeks, from March 6 to April 15."), "temporal_reasoning.0"),
    Fault(
        "arithmetic.wrong_change",
        on_probe("information_extraction", gold_answer="It rose by 20%, from 70% to 90% and from 78% to 88%."),
        "information_extraction.0",
    ),
    Fault(
        "arithmetic.wrong_count",
        on_probe("information_extraction", gold_answer="Three jobs: the front, the oven."),
        "",
    ),
    Fault("later_values.changed_later", unledgered("information_extraction", "now the shop front costs"), ""),
    Fault("later_values.other_later", unledgered("information_extraction", "somebody's shop front came to"), ""),
    Fault("later_values.third_value", unledgered("knowledge_update", "now the shop front costs"), ""),
    Fault("later_values.maybe_changed", unledgered("knowledge_update", "the new bill of the shop front says"), ""),
    Fault("contradiction.close", denied(10, "By the way, I never hired an electrician called Priya."), ""),
    Fault("contradiction.no_denial", denied(14, "I am glad of the electrician. Any advice?"), ""),
    Fault("contradiction.unrelated", denied(14, "I have never eaten a mango. Any advice?"), ""),
    Fault("contradiction.different_things", denied(14, "I have never praised an electrician. Any advice?"), ""),
    Fault("contradiction.no_conflict", stated("By the way, I plan to hire an electrician called Priya."), ""),
    Fault(
        "contradiction.denial_not_said",
        nugget("contradiction_resolution", "Says that the user has never paid a plumber in cash"),
        "contradiction_resolution.0",
    ),
    Fault("evidence.unrelated", cite_in("information_extraction", 14), "information_extraction.0"),
    Fault("evidence.unrelated", cite_in("instruction_following", 14, "instruction"), "instruction_following.0"),
    Fault("evidence_parts.only_replies", both(as_import, cite_reply), "information_extraction.0"),
    Fault("evidence_parts.only_replies", both(as_import, cite_in("preference_following", 5, "preference")), ""),
    Fault("evidence_parts.only_replies_retold", both(as_import, cite_replies), "summarization.0"),
    Fault("evidence_parts.one_message", one_update, "knowledge_update.0"),
    Fault("evidence_parts.one_session", one_session, "temporal_reasoning.0"),
    Fault("evidence_parts.items_asked", on_probe("event_ordering", question="In which order? Name five items."), ""),
    Fault(
        "evidence_parts.shared_items",
        both(
            on_probe("event_ordering", question="In which order? Name three items."),
            lambda r: r.with_probe("event_ordering", evidence=r.probe("event_ordering").evidence[:2]),
        ),
        "event_ordering.0",
    ),
    Fault("roles.assistant_style", append(4, "\n\n1. **Front:** Tom\n2. **Back:** nobody\n"), "p0.s0.t1.n2"),
    Fault("degenerate.cut_off", append(5, " word" * 50), "p0.s0.t1.n3"),
    Fault(
        "gold_values.not_in_quote",
        evidence("summarization", 2, quote="How many should we bake next Saturday?"),
        "summarization.0",
    ),
    Fault(
        "gold_values.not_in_guidance",
        lambda r: r.with_probe(
            "preference_following",
            rubric=(r.probe("preference_following").rubric[0].model_copy(update={"text": "Names 3 miles"}),),
        ),
        "preference_following.0",
    ),
    Fault(
        "computation.input_not_quoted",
        details("multi_session_reasoning", computed_from=("$1,000", "$7,300")),
        "multi_session_reasoning.0",
    ),
    Fault(
        "computation.ledger_disagrees",
        asserted("p0.s1.b4", "p0.f3", Stance.MENTIONS, MISREAD),
        "multi_session_reasoning.0",
    ),
    Fault("computation.wrong_result", details("temporal_reasoning", computed_value="43 days"), "temporal_reasoning.0"),
    Fault(
        "computation.not_computable",
        details("multi_session_reasoning", computed_from=("$900", "140 loaves")),
        "multi_session_reasoning.0",
    ),
    Fault(
        "computation.gold_lacks_result",
        on_probe("temporal_reasoning", gold_answer="From March 6, 2024 to April 17, 2024."),
        "temporal_reasoning.0",
    ),
    Fault("computation.unknown", details("temporal_reasoning", computation="guess"), "temporal_reasoning.0"),
    Fault("side_stories.entry_left_out", counted("2", cited=1), "multi_session_reasoning.0"),
    Fault("side_stories.wrong_result", counted("9"), "multi_session_reasoning.0"),
    Fault("side_stories.elsewhere", counted("2"), "multi_session_reasoning.0"),
    Fault("stale_gold.not_of_that_day", next_value, "temporal_reasoning.0"),
    Fault("stale_gold.superseded", stale("information_extraction"), "information_extraction.0"),
    Fault("stale_gold.superseded_in_story", stale("summarization"), "summarization.0"),
    Fault("stale_gold.contradicted", asserted("p0.s1.b4", "p0.f3", Stance.DENIES, None), "information_extraction.0"),
    Fault("knowledge_update.no_values", details("knowledge_update", old_value=""), "knowledge_update.0"),
    Fault("knowledge_update.no_change", details("knowledge_update", old_value="21,500 dollars"), "knowledge_update.0"),
    Fault("knowledge_update.gold_lacks_new", on_probe("knowledge_update", gold_answer="More."), "knowledge_update.0"),
    Fault("knowledge_update.value_not_quoted", details("knowledge_update", old_value="$17,000"), "knowledge_update.0"),
    Fault(
        "knowledge_update.third_value",
        asserted("p0.s1.b4", "p0.f2", Stance.UPDATES, money(23_000)),
        "knowledge_update.0",
    ),
    Fault("abstention.answered", append(12, " The loan has 4% interest."), "abstention.0"),
    Fault("abstention.said", append(13, " Is there an Equipment  loan?"), "abstention.0"),
    Fault("abstention.no_search", details("abstention", searches=()), "abstention.0"),
    Fault("abstention.searched", both(as_import, details("abstention", searches=())), "abstention.0"),
    Fault(
        "abstention.maybe_answered",
        both(
            as_import,
            details("abstention", searches=()),
            append(12, " For the equipment the bank would charge an interest rate of 4 percent."),
        ),
        "abstention.0",
    ),
    Fault("question_leaks.answer", on_probe("knowledge_update", question="Is it $21,500?"), "knowledge_update.0"),
    Fault(
        "question_leaks.maybe_answer",
        both(
            details(
                "multi_session_reasoning", computed_from=("$900", "$7,400"), computation="count", computed_value="2"
            ),
            on_probe("multi_session_reasoning", question="How many items over 2 months?"),
        ),
        "multi_session_reasoning.0",
    ),
    Fault(
        "question_leaks.all_values",
        on_probe("information_extraction", question="Is $900 the price?"),
        "information_extraction.0",
    ),
    Fault(
        "question_leaks.some_values",
        on_probe("information_extraction", question="Is it $900?", gold_answer="$900, or $950 with the door."),
        "information_extraction.0",
    ),
    Fault(
        "question_leaks.requirement",
        on_probe("instruction_following", question="Can I have the amounts in a markdown table?"),
        "instruction_following.0",
    ),
    Fault(
        "question_leaks.maybe_requirement",
        on_probe("instruction_following", question="Which amounts are in the table?"),
        "instruction_following.0",
    ),
    Fault(
        "question_wording.old_value",
        on_probe("knowledge_update", question="I need the budget for the works again. What was it?"),
        "knowledge_update.0",
    ),
    Fault(
        "question_wording.echoes_denial",
        both(
            denied(14, "I have never hired an electrician with a yellow van. Any advice?"),
            on_probe("contradiction_resolution", question="Have I ever hired an electrician with a yellow van?"),
        ),
        "contradiction_resolution.0",
    ),
    Fault(
        "question_wording.unsaid_condition",
        evidence("information_extraction", quote="Tom will paint it for $900 unless the scaffolding is late."),
        "information_extraction.0",
    ),
)
"""Each kind of each check of conversations and probes occurs at least once."""
