"""Information extraction: what was said once, and never changed or denied.

Easy: one fact, asked for by its name. Medium: two facts of one thing, told in two messages. Hard: one fact of a thing
that the question refers to only by something else that was said of it. Of what the assistant said: a value, what an
amount is for, its list of options or steps (medium), and the option that the user took, who names only its number
(hard).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, islice, pairwise

from longbeam.abilities import INFORMATION_EXTRACTION
from longbeam.generators.probes.candidates import (
    AbilityGenerator,
    ItemsPayload,
    ProbeCandidate,
    Sketch,
    cite,
    thin_out,
    with_advice,
    with_kind,
)
from longbeam.generators.probes.checks import (
    check_coverage,
    check_form,
    check_values,
    check_voice,
    gives,
    neutral,
    run_checks,
)
from longbeam.generators.probes.confidences import find_poisoned
from longbeam.generators.probes.evidence import FactQuote, Quote, coverage, words_of
from longbeam.generators.probes.given_advice import GivenList
from longbeam.generators.probes.material import ProbeMaterial
from longbeam.generators.tuning import PROBING
from longbeam.prompts.calls import ProbeReply
from longbeam.schemas import AdviceKind, Difficulty, EvidencePart, MessageRole, ProbeDetails
from longbeam.text import plain

ABILITY = INFORMATION_EXTRACTION.name
Asked = tuple[str, FactQuote] | tuple[str, FactQuote, FactQuote]
"""A variety of question, and the facts that it is about."""
_NUMBERED = re.compile(r"^\s*(\d+)[.)]\s", re.MULTILINE)


def find_candidates(material: ProbeMaterial) -> list[ProbeCandidate]:
    """Return candidates of all three levels."""
    facts = material.stated.settled
    by_subject: dict[str, list[FactQuote]] = {}
    for said in facts:
        by_subject.setdefault(said.subject.casefold(), []).append(said)
    by_attribute: dict[str, list[FactQuote]] = {}
    for said in facts:
        by_attribute.setdefault(said.attribute.casefold(), []).append(said)
    found: list[Asked] = [("direct", said) for said in (*facts, *material.stated.of_assistant)]
    for group in by_subject.values():
        pairs = (p for p in combinations(group, 2) if p[0].message_key != p[1].message_key)
        found += [("several", *pair) for pair in islice(pairs, PROBING.max_pairs)]
        if not words_of(group[0].subject):
            continue  # "me": there is no name to keep back
        # Each fact of a thing is asked for once, with the next one as the clue.
        clues = zip(group, group[1:] + group[:1], strict=True)
        found += [("indirect", asked, clue) for asked, clue in clues if _is_clue(clue, asked, by_attribute)]
    own = thin_out(found, _sketch, material.total_messages)
    pool = with_advice(own, _of_assistant(material), material.total_messages)
    return with_kind(pool, find_poisoned(material), material.total_messages)


def _of_assistant(material: ProbeMaterial) -> Iterator[Sketch]:
    """Yield candidates on what the assistant said: options, the one of them that was taken, steps, uses, and values."""
    given = material.advice
    for options in (*given.lists_of(AdviceKind.OPTIONS), *given.lists_of(AdviceKind.STEPS)):
        if options.choice is not None:
            yield _taken(options, options.choice)
        elif not _is_given_for_more(material, options):
            yield _listed(options)
    yield from map(_use, given.lists_of(AdviceKind.USE))
    yield from (_direct(said) for said in given.settled)


def _is_given_for_more(material: ProbeMaterial, given: GivenList) -> bool:
    """Return whether another reply has all items of a list, or a numbered list as long on the same thing."""
    advice, search = given.advice, material.search
    as_long = (m for m in search.close_together([advice.topic]) if len(advice.items) in _lengths(m.content))
    others = chain(search.with_all_of(advice.items), as_long)
    return any(m.role is MessageRole.ASSISTANT and m.message_key != given.whole.message_key for m in others)


def _lengths(text: str) -> set[int]:
    """Return the lengths of a text's numbered lists."""
    numbers = map(int, [*_NUMBERED.findall(text), 1])
    return {last for last, following in pairwise(numbers) if following == 1}


def _sketch(asked: Asked) -> Sketch:
    variety, *facts = asked
    return _SKETCHES[variety](*facts)


def _is_clue(clue: FactQuote, asked: FactQuote, by_attribute: dict[str, list[FactQuote]]) -> bool:
    """Whether the clue's value points at one thing only, and neither it nor its message answers what is asked."""
    if clue.message_key == asked.message_key or clue.value.means_same_as(asked.value):
        return False
    like = by_attribute[clue.attribute.casefold()]
    return sum(f.value.means_same_as(clue.value) for f in like) == 1


def _direct(said: FactQuote) -> Sketch:
    value = said.value
    return Sketch.of(
        ABILITY,
        cite([said]),
        difficulty=Difficulty.EASY,
        variety="direct",
        topic=said.subject,
        summary=f"the {said.attribute} of {said.subject}: {value.text}",
        answers=(value,),
    )


def _several(first: FactQuote, second: FactQuote) -> Sketch:
    subject = first.subject
    return Sketch.of(
        ABILITY,
        cite([first, second]),
        difficulty=Difficulty.MEDIUM,
        variety="several",
        topic=subject,
        summary=f"the {first.attribute} and the {second.attribute} of {subject}: "
        f"{first.value.text}, {second.value.text}",
        answers=(first.value, second.value),
    )


def _indirect(asked: FactQuote, clue: FactQuote) -> Sketch:
    ordinal = 0 if asked.position <= clue.position else 1
    return Sketch.of(
        ABILITY,
        cite([asked, clue], [EvidencePart.SUPPORT, EvidencePart.CLUE]),
        difficulty=Difficulty.HARD,
        variety="indirect",
        topic=asked.subject,
        summary=f"the {asked.attribute} of {asked.subject}, known only as that whose {clue.attribute} is "
        f"{clue.value.text}: {asked.value.text}",
        cited=(ordinal,),
        answers=(asked.value,),
    )


def _listed(given: GivenList) -> Sketch:
    advice = given.advice
    return Sketch.of(
        ABILITY,
        cite([given.whole]),
        difficulty=Difficulty.MEDIUM,
        variety="listed",
        topic=advice.topic,
        summary=f"the {len(advice.items)} {advice.attribute} for {advice.topic}: {'; '.join(advice.items)}",
        answers=tuple(map(plain, advice.items)),
        payload=ItemsPayload(items=advice.items),
    )


def _taken(given: GivenList, choice: Quote) -> Sketch:
    advice = given.advice
    item = advice.items[advice.taken - 1]
    return Sketch.of(
        ABILITY,
        cite([given.whole, choice]),
        difficulty=Difficulty.HARD,
        variety="taken",
        topic=advice.topic,
        summary=f"which of the {advice.attribute} for {advice.topic} was taken: {item}",
        cited=(0, 1),
        answers=(plain(_named(item, advice.items)),),
        details=ProbeDetails(variety="taken", computed_value=item),
    )


def _named(item: str, items: Sequence[str]) -> str:
    """Return the part of an option by which people name it: what stands before its comma, if that is its own."""
    head = item.partition(",")[0]
    return head if sum(other.startswith(head) for other in items) == 1 and len(head.split()) > 1 else item


def _use(given: GivenList) -> Sketch:
    advice = given.advice
    (use,) = advice.items
    return Sketch.of(
        ABILITY,
        cite([given.whole]),
        difficulty=Difficulty.EASY,
        variety="use",
        topic=advice.topic,
        summary=f"the {advice.attribute} for {advice.topic}: {advice.given}",
        answers=(plain(use),),
        details=ProbeDetails(variety="use", computed_value=use),
    )


_SKETCHES: dict[str, Callable[..., Sketch]] = {"direct": _direct, "several": _several, "indirect": _indirect}


def _check_indirect(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    if candidate.variety != "indirect":
        return None
    if coverage(neutral(candidate.topic), reply.question) >= 1:
        return f"the question names {candidate.topic!r}; refer to it only by what the clue says"
    return None


def _check_use(candidate: ProbeCandidate, reply: ProbeReply) -> str | None:
    amount = candidate.excerpts[0].value if candidate.variety == AdviceKind.USE else None
    if amount is None:
        return None
    if not gives(candidate, reply.question, amount):
        return f"the question must name {amount.text!r}, whose use it asks for"
    if any(gives(candidate, nugget.text, amount) for nugget in reply.nuggets):
        return f"a point demands the amount, which the question has; leave {amount.text!r} out"
    return None


def check(candidate: ProbeCandidate, reply: ProbeReply) -> tuple[str, ...]:
    """Return everything that is wrong with a worded probe."""
    return run_checks(
        candidate, reply, (check_form, check_voice, check_values, check_coverage, _check_indirect, _check_use)
    )


GENERATOR = AbilityGenerator(find_candidates, check)
