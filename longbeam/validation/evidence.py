"""Evidence: cited messages exist, hold their quotes verbatim, and are related to the question."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from statistics import median

from longbeam.abilities import Trait
from longbeam.keys import plan_index_of
from longbeam.schemas import (
    BulletKind,
    ConversationHead,
    Evidence,
    EvidencePart,
    EvidencePlaces,
    Message,
    MessageRole,
    Plan,
    PlanBorder,
    Probe,
    Stance,
)
from longbeam.text import ASKING_WORDS, content_words, distinct_values, says
from longbeam.validation.base import ERROR, WARNING, Check, Problem, claim, has_trait, shorten
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING

REQUESTS = (EvidencePart.INSTRUCTION, EvidencePart.PREFERENCE)


def find_problems(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield evidence that is missing, cites nothing, or quotes what was not said."""
    if not probe.evidence and not has_trait(probe, Trait.ABSTAINS):
        kind = "import_none" if index.is_import else "none"
        yield Problem(kind, probe.probe_id, "the probe has no evidence")
    nugget_ids = {n.nugget_id for n in probe.rubric}
    for evidence in probe.evidence:
        yield from _quote_problems(index, probe, evidence)
        if unknown := [i for i in evidence.nugget_ids if i not in nugget_ids]:
            text = f"evidence supports {unknown[0]!r}, which the rubric does not have"
            yield Problem("unknown_nugget", probe.probe_id, text, (evidence.message_key,))
    yield from _unrelated(index, probe)
    places = [index.position[e.message_key] for e in probe.evidence if e.message_key in index.position]
    if places != sorted(places):
        yield Problem("order", probe.probe_id, "evidence is not in the order of the conversation")
    if probe.asked_at is not None and (late := [m for m in index.cited(probe) if m.sent_at > probe.asked_at]):
        text = f"{late[0].message_key} is sent after the question, which is asked at {probe.asked_at:%Y-%m-%d %H:%M}"
        yield Problem("after_question", probe.probe_id, text, (late[0].message_key,))


def _unrelated(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield cited messages of the user that have no word in common with question, gold and rubric."""
    subject = (
        content_words("\n".join((probe.question, probe.gold_answer, *(claim(n.text) for n in probe.rubric))))
        - ASKING_WORDS
    )
    for message in index.cited(probe) if len(subject) >= CHECKING.cited_words else ():
        if (
            index.speaks_as_user(message)
            and has_trait(probe, Trait.CITES_SUBJECT)
            and not index.words(message) & subject
        ):
            text = f"{message.message_key} has no word of question and gold: {shorten(message.content)}"
            yield Problem("unrelated", probe.probe_id, text, (message.message_key,))
    yield from _unrelated_request(index, probe)


def _unrelated_request(index: ConversationIndex, probe: Probe) -> Iterator[Problem]:
    """Yield messages that are cited for the probe's instruction or preference and say something else."""
    request = content_words(f"{probe.details.instruction} {probe.details.preference}")
    cited = [m for e in probe.evidence if e.part in REQUESTS and (m := index.message(e.message_key)) is not None]
    if not cited or len(request) < CHECKING.cited_words or any(_says_request(index, m, request) for m in cited):
        return
    keys = tuple(m.message_key for m in cited)
    text = f"{', '.join(keys)} is cited for a wish and says another thing: {shorten(cited[0].content)}"
    yield Problem("unrelated", probe.probe_id, text, keys)


def _says_request(index: ConversationIndex, message: Message, request: frozenset[str]) -> bool:
    return len(index.words(message) & request) >= CHECKING.cited_of_wish * len(request)


def _quote_problems(index: ConversationIndex, probe: Probe, evidence: Evidence) -> Iterator[Problem]:
    key = evidence.message_key
    message = index.message(key)
    if message is None:
        yield Problem("unknown_message", probe.probe_id, f"evidence cites {key!r}, which does not exist")
    elif evidence.quote not in message.content:
        text = f"{key} does not say {shorten(evidence.quote)!r}"
        yield Problem("not_verbatim", probe.probe_id, text, (key,))
    elif not evidence.quote.strip() and not index.is_import:
        yield Problem("no_quote", probe.probe_id, f"evidence cites {key} without a quote", (key,))


CHECK = Check(
    name="evidence",
    doc="Every probe but an abstention has evidence; cited messages precede the question and hold the quotes verbatim.",
    severities={
        "none": ERROR,
        "import_none": WARNING,
        "unknown_message": ERROR,
        "not_verbatim": ERROR,
        "no_quote": ERROR,
        "unknown_nugget": ERROR,
        "after_question": ERROR,
        "order": WARNING,
        "unrelated": WARNING,
    },
    english_only={"unrelated": "compares English words"},
    on_probe=find_problems,
)


@dataclass
class EvidenceTally:
    """Counts over the selected probes of several conversations."""

    said_by: Counter[MessageRole] = field(default_factory=Counter)
    """Distinct cited messages of each probe, by who said them."""
    probes: int = 0
    of_assistant: int = 0
    on_the_way: int = 0
    to_question: list[int] = field(default_factory=list)
    to_mention: list[int] = field(default_factory=list)
    values: int = 0

    def add(self, index: ConversationIndex) -> None:
        """Count the selected probes of a conversation."""
        tokens = array("Q", accumulate((m.tokens for m in index.messages), initial=0))
        for probe in index.selected:
            self.probes += 1
            self.on_the_way += probe.asked_at is not None
            cited = {m.message_key: m for m in index.cited(probe)}
            self.said_by.update(m.role for m in cited.values())
            self.of_assistant += any(m.role is MessageRole.ASSISTANT for m in cited.values())
            if cited:
                last = max(index.position[key] for key in cited)
                self.to_question.append(max(tokens[_asked_after(index, probe)] - tokens[last + 1], 0))
            for distance in _next_mentions(index, probe):
                self.values += 1
                self.to_mention += [] if distance is None else [distance]

    def table(self) -> EvidencePlaces:
        """Return the counts as figures."""
        return EvidencePlaces(
            user_messages=self.said_by[MessageRole.USER],
            assistant_messages=self.said_by[MessageRole.ASSISTANT],
            probes=self.probes,
            probes_of_assistant=self.of_assistant,
            asked_on_the_way=self.on_the_way,
            tokens_to_question=_median(self.to_question),
            messages_to_next_mention=_median(self.to_mention),
            mentioned_again=round(len(self.to_mention) / self.values, 4) if self.values else None,
        )


def _asked_after(index: ConversationIndex, probe: Probe) -> int:
    """Return the number of messages before the question."""
    if probe.asked_at is None:
        return len(index.messages)
    return bisect_right(index.messages, probe.asked_at, key=lambda m: m.sent_at)


def _next_mentions(index: ConversationIndex, probe: Probe) -> Iterator[int | None]:
    """Yield the distance to the next message with a value, for each value of the gold in a quote; None without one."""
    for evidence in probe.evidence:
        at = index.position.get(evidence.message_key)
        if at is not None:
            for words in _gold_values(probe, evidence):
                shown = re.compile(rf"(?<!\w){re.escape(words)}(?!\w|[.,]\d)")
                later = (i for i, text in index.holding([words]) if i > at and shown.search(text))
                following = next(later, None)
                yield None if following is None else following - at


def _gold_values(probe: Probe, evidence: Evidence) -> list[str]:
    """Return the values of the gold in a quote, in the quote's words, case-folded."""
    return [v.text.casefold() for v in distinct_values(evidence.quote) if says(probe.gold_answer, v)]


def _median(values: Sequence[int]) -> float | None:
    return float(median(values)) if values else None


_WORD = re.compile(r"[^\W\d_]+")
_Requests = dict[tuple[str, str], tuple[BulletKind, str]]
"""Kind and requirement of each instruction and preference, by topic and condition."""


def borders_of(head: ConversationHead) -> Iterator[PlanBorder]:
    """Yield a row for each plan but the first, on what it takes up of earlier plans; none for one plan."""
    people = {p.first_name for p in head.relationships.people}
    known = _named(head.plans[0], people) if head.plans else set[str]()
    requests = _requests(head.plans[0]) if head.plans else {}
    for plan in islice(head.plans, 1, None):  # a slice would load all plans into memory
        named = _named(plan, people)
        yield _border(head.conversation_id, plan, (known, named), requests)
        known |= named
        requests |= _requests(plan)


def _border(conversation_id: str, plan: Plan, people: tuple[set[str], set[str]], requests: _Requests) -> PlanBorder:
    """Return the row of a plan; `people` are those named before and those named in the plan."""
    known, named = people
    facts_of = {a.fact_id: plan_index_of(a.fact_id) for a in plan.assertions}
    back = {(a.fact_id, a.stance) for a in plan.assertions if facts_of[a.fact_id] != plan.plan_index}
    kinds = [kind for kind, _ in requests.values()]
    return PlanBorder(
        conversation_id=conversation_id,
        plan_index=plan.plan_index,
        people_new=tuple(sorted(named - known)),
        people_back=tuple(sorted(named & known)),
        facts_changed=sum(stance is Stance.UPDATES for _, stance in back),
        facts_denied=sum(stance is Stance.DENIES for _, stance in back),
        plans_back=max((plan.plan_index - facts_of[fact_id] for fact_id, _ in back), default=0),
        instructions_in_force=kinds.count(BulletKind.INSTRUCTION),
        preferences_in_force=kinds.count(BulletKind.PREFERENCE),
        preferences_changed=_preferences_changed(requests, _requests(plan)),
    )


def _preferences_changed(before: _Requests, own: _Requests) -> int:
    return sum(
        kind is BulletKind.PREFERENCE and key in before and before[key][1] != requirement
        for key, (kind, requirement) in own.items()
    )


def _named(plan: Plan, people: set[str]) -> set[str]:
    """Return the people that bullets of a plan name."""
    return {word for bullet in plan.bullets() for word in _WORD.findall(bullet.text) if word in people}


def _requests(plan: Plan) -> _Requests:
    """Return the instructions and preferences of a plan, with their requirements at its end."""
    kinds = (BulletKind.INSTRUCTION, BulletKind.PREFERENCE)
    return {(b.topic, b.condition): (b.kind, b.requirement) for b in plan.bullets() if b.kind in kinds}
