"""Checks of the messages themselves and of the profile.

Ids, roles, length, token counts, and what the user says of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from longbeam.keys import MessageKey
from longbeam.models import TOKENIZER_NAMES, load_tokenizer
from longbeam.schemas import Message, MessageKind, MessageRole, Person, Profile, Relation, off_subject
from longbeam.validation.base import ERROR, INFO, WARNING, Check, Problem
from longbeam.validation.index import ConversationIndex
from longbeam.validation.tuning import CHECKING


def find_in_message_ids(index: ConversationIndex) -> Iterator[Problem]:
    """Yield gaps in the ids, keys that are repeated, malformed or out of order, and unknown bullets."""
    numbered = [m.message_id for m in index.messages if m.message_id is not None]
    if numbered and len(numbered) < len(index.messages):
        yield Problem("gap", "conversation", f"{len(index.messages) - len(numbered)} messages have no message_id")
    last: MessageKey | None = None
    for i, message in enumerate(index.messages):
        key = message.message_key
        if message.message_id is not None and message.message_id != i:
            yield Problem("gap", key, f"message {i} of the conversation has message_id {message.message_id}", (key,))
        if index.position[key] < i:
            yield Problem("duplicate_key", key, f"message_key {key!r} occurs more than once", (key,))
        if index.head.plans:
            parsed = _parsed(key)
            yield from _key_problems(index, message, parsed, last)
            last = parsed or last


def _parsed(key: str) -> MessageKey | None:
    try:
        return MessageKey.parse(key)
    except ValueError:
        return None


def _key_problems(
    index: ConversationIndex, message: Message, parsed: MessageKey | None, last: MessageKey | None
) -> Iterator[Problem]:
    """Yield problems of one key; `last` is the well-formed key before it."""
    key = message.message_key
    if parsed is None:
        yield Problem("malformed_key", key, f"message_key {key!r} is not of the form p0.s0.t0.n0", (key,))
        return
    place = (message.plan_index, message.sub_plan_index, message.turn_index)
    if any(own is not None and own != there for own, there in zip(place, parsed.turn, strict=True)):
        yield Problem("malformed_key", key, f"message_key {key!r} and plan, sub-plan, turn {place} disagree", (key,))
    if last is not None and parsed < last:
        yield Problem("key_order", key, f"message_key {key!r} stands behind a later one", (key,))
    for bullet_id in message.bullet_ids:
        if bullet_id not in index.bullets and bullet_id not in index.advice:
            yield Problem("unknown_bullet", key, f"message voices {bullet_id!r}, which no plan has", (key,))


MESSAGE_IDS = Check(
    name="message_ids",
    doc="Message ids count from 0 without gap; keys are unique, well formed and in order; voiced bullets exist.",
    severities={
        "gap": ERROR,
        "duplicate_key": ERROR,
        "malformed_key": ERROR,
        "key_order": ERROR,
        "unknown_bullet": ERROR,
    },
    on_conversation=find_in_message_ids,
)


_Turn = tuple[int | None, ...]
_HEADED = re.compile(r"(?m)^\s{0,3}(?:#{1,6}\s+\S|(?:\d{1,2}[.)]|[-*•])\s+\*\*)")
"""A markdown heading, or a list item that opens in bold."""


def find_in_roles(index: ConversationIndex) -> Iterator[Problem]:
    """Yield breaks of the alternation, kinds that do not fit the role, and turns that begin without a question."""
    if not index.messages:
        yield Problem("empty", "conversation", "the conversation has no messages")
        return
    if index.is_import and all(m.role is MessageRole.USER for m in index.messages):
        return  # an import without chat text; its import notes say so
    expected = MessageRole.USER
    turn: _Turn | None = None
    for message in index.messages:
        if message.role is not expected:
            kind = "import_alternation" if index.is_import else "alternation"
            text = f"the {message.role.value} speaks where the {expected.value} should"
            yield Problem(kind, message.message_key, text, (message.message_key,))
        expected = MessageRole.ASSISTANT if message.role is MessageRole.USER else MessageRole.USER
        yield from _kind_problems(message)
        if message.role is MessageRole.USER and message.turn_index is not None:
            here = (message.plan_index, message.sub_plan_index, message.turn_index)
            yield from _opening_problems(message, is_first=here != turn)
            turn = here
    if index.messages[-1].role is MessageRole.USER:
        key = index.messages[-1].message_key
        yield Problem("unanswered", key, "the conversation ends with a user message that nobody answers", (key,))


def _kind_problems(message: Message) -> Iterator[Problem]:
    key = message.message_key
    if (message.kind is MessageKind.REPLY) is not (message.role is MessageRole.ASSISTANT):
        text = f"a message of the {message.role.value} is of kind {message.kind.value!r}"
        yield Problem("kind", key, text, (key,))
    if message.kind is MessageKind.ANSWER and len(_HEADED.findall(message.content)) >= CHECKING.headed:
        text = "the user answers under headings or bold points, as assistants do"
        yield Problem("assistant_style", key, text, (key,))


def _opening_problems(message: Message, *, is_first: bool) -> Iterator[Problem]:
    if is_first is not (message.kind is MessageKind.QUESTION):
        key = message.message_key
        text = f"message {'begins' if is_first else 'goes on in'} a turn with kind {message.kind.value!r}"
        yield Problem("turn_opening", key, text, (key,))


ROLES = Check(
    name="roles",
    doc="User and assistant alternate, the user first; kinds fit the role; a turn begins with a question.",
    severities={
        "alternation": ERROR,
        "import_alternation": WARNING,
        "kind": ERROR,
        "turn_opening": WARNING,
        "assistant_style": WARNING,
        "unanswered": WARNING,
        "empty": ERROR,
    },
    on_conversation=find_in_roles,
)


def find_in_length(index: ConversationIndex) -> Iterator[Problem]:
    """Yield a length that is too far from the target."""
    target = index.head.target_tokens
    allowed = allowed_deviation(index)
    if target and abs(index.total_tokens - target) > allowed:
        text = f"{index.total_tokens} tokens where {target} were asked for; {allowed} more or fewer are allowed"
        yield Problem("off_target", "conversation", text)


def allowed_deviation(index: ConversationIndex) -> int:
    """Return the allowed deviation in tokens: 2 %; below 128K the longest exchange if it is longer."""
    target = index.head.target_tokens
    share = int(CHECKING.length_tolerance * target)
    if target >= CHECKING.strict_from:
        return share
    exchange = max((a.tokens + b.tokens for a, b in pairwise(index.messages)), default=0)
    return max(share, exchange)


LENGTH = Check(
    name="length",
    doc="Tokens of message content are within 2 % of the target from 128K up, or one exchange below.",
    severities={"off_target": ERROR},
    on_conversation=find_in_length,
)


def find_in_subject(index: ConversationIndex) -> Iterator[Problem]:
    """Yield why the story is about something else than its seed."""
    for detail in off_subject([index.head.making]):
        yield Problem("other_story", "conversation", detail)


SUBJECT = Check(
    name="subject",
    doc="The story is about the seed: a writer by rule knows only the subjects of its packs.",
    severities={"other_story": WARNING},
    on_conversation=find_in_subject,
)


def find_in_token_counts(index: ConversationIndex) -> Iterator[Problem]:
    """Yield messages whose `tokens` are not what the tokenizer counts."""
    name = index.head.tokenizer
    if name not in TOKENIZER_NAMES:
        yield Problem("unknown_tokenizer", "conversation", f"tokens cannot be counted again: no tokenizer {name!r}")
        return
    tokenizer = load_tokenizer(name)
    step = max(1, len(index.messages) // CHECKING.recounted)
    for message in index.messages[::step]:
        counted = tokenizer.count(message.content)
        if counted != message.tokens:
            text = f"{message.tokens} tokens are given, {name} counts {counted}"
            yield Problem("miscounted", message.message_key, text, (message.message_key,))


TOKEN_COUNTS = Check(
    name="token_counts",
    doc="The tokens of a message are those its tokenizer counts (64 messages of each conversation).",
    severities={"miscounted": ERROR, "unknown_tokenizer": INFO},
    on_conversation=find_in_token_counts,
)


def find_in_persona(index: ConversationIndex) -> Iterator[Problem]:
    """Yield implausible ages, shared first names, and people that the graph lacks."""
    profile, people = index.head.profile, index.head.relationships.people
    if profile is None:
        return
    names = {profile.first_name.casefold(): "the user"}
    for person in people:
        if fault := age_fault(profile, person):
            yield Problem("age", person.person_id, f"{person.first_name} ({person.relation.value}): {fault}")
        other = names.setdefault(person.first_name.casefold(), person.person_id)
        if other != person.person_id:
            text = f"{person.person_id} and {other} are both called {person.first_name}"
            yield Problem("same_name", person.person_id, text)
    nodes = {str(n.get("id")) for n in index.head.relationships.node_link.get("nodes", [])}
    if missing := [p.person_id for p in people if nodes and p.person_id not in nodes]:
        yield Problem("graph", "profile", f"people are missing in the graph: {', '.join(missing)}")
    if len(set(profile.mbti)) < len(profile.mbti):
        yield Problem("mbti", "profile", f"a type occurs twice: {', '.join(profile.mbti)}")


def age_fault(profile: Profile, person: Person) -> str | None:
    """Return why a person's age does not fit the relation to the user, or None.

    Parents are 18 to 45 years older than their children; friends differ by at most 12 years; partners and
    friends are adults. The record of a user allows only adults.
    """
    gap = person.age - profile.age
    if person.relation is Relation.PARENT and not CHECKING.parent_gap[0] <= gap <= CHECKING.parent_gap[1]:
        return f"is {person.age}, and the user {profile.age}"
    if person.relation is Relation.CHILD and not CHECKING.parent_gap[0] <= -gap <= CHECKING.parent_gap[1]:
        return f"is {person.age}, and the user {profile.age}"
    if person.relation is Relation.FRIEND and abs(gap) > CHECKING.friend_gap:
        return f"is {person.age}, and the user {profile.age}"
    if person.relation in (Relation.FRIEND, Relation.PARTNER) and person.age < CHECKING.adult:
        return f"is {person.age}, not an adult"
    return None


PERSONA = Check(
    name="persona",
    doc="Ages fit the relations, first names are distinct, the graph is of these people.",
    severities={"age": ERROR, "same_name": ERROR, "graph": WARNING, "mbti": WARNING},
    on_conversation=find_in_persona,
)
