"""The agentic suite.

Sessions of a coding agent, with facts planted in each kind of place, and the outputs of its tools.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from longbeam.generators.suites.base import Draw, Suite, Topic, head_of, key_of, seed_of
from longbeam.keys import NuggetId, ProbeId
from longbeam.schemas import (
    Difficulty,
    Domain,
    Evidence,
    GivenConversation,
    Message,
    MessageKind,
    MessageRole,
    Nugget,
    Part,
    PartKind,
    Probe,
    ProbeDetails,
    Record,
    parse_length,
    text_of,
)

PROJECTS = (
    ("parcelroute", "a routing service for parcel vans"),
    ("clinicbook", "an appointment system for small clinics"),
    ("tidegauge", "a pipeline that cleans tide gauge readings"),
    ("barnledger", "bookkeeping for dairy farms"),
    ("kilnwatch", "a monitor for pottery kilns"),
    ("choirsheets", "a library of sheet music for choirs"),
)
NOUNS = (
    "invoice", "shipment", "reading", "customer", "route", "booking", "sensor", "ledger", "export", "session",
    "token", "batch", "report", "alert", "device", "voucher", "schedule", "refund", "webhook", "snapshot",
)  # fmt: skip
VERBS = (
    "load", "parse", "merge", "validate", "render", "archive", "reconcile", "publish", "index", "normalise",
    "schedule", "notify", "prune", "resolve", "dispatch", "summarise",
)  # fmt: skip
TASKS = (
    "`{f}` returns too many rows when the {n} is new. Can you look into it?",
    "Please make `{f}` easier to follow; I lose the thread half-way through the {o} part.",
    "The nightly run warned about a {n} that it could not {v}. What is going on?",
    "Add a test for `{f}` with an empty {o}; the one that we have never fails.",
    "Why has the {n} page taken so long since we {v} every {o} on it?",
    "A customer saw the wrong {n} after a {o} was changed. Could `{f}` be the reason?",
    "Let `{f}` take several {o}s at once instead of one after the other.",
    "I would like to drop the old way to {v} a {n}. Who still calls it?",
    "Write down in the docstring of `{f}` what happens when the {o} is missing.",
    "`{f}` and its twin for {o}s share most of their lines. Can they be one?",
    "The type checker complains about `{f}` since the {o} became optional.",
    "Move the limit in `{f}` into the settings, please; the {o} team wants another one.",
)
THOUGHTS = (
    "The fault may lie where {f} trims its list. I look at the callers first.",
    "Before I change {f} I want to know who depends on its order.",
    "{f} does two things; the second may be what surprises the caller.",
    "There should be a test that covers this already. If it passes, the test is wrong as well.",
    "I read {f} whole before I believe the report.",
)
REPORTS = (
    "Done: `{f}` sorted before it cut its list; now it cuts first. The tests pass.",
    "`{f}` is mended. The cause was a list that was shared between two calls.",
    "I have split `{f}` into two steps and added a test that fails without the change.",
    "The change is in {file}; callers of `{f}` need not change.",
    "It was not `{f}` but what it was given: a default that was made once and changed by everybody.",
    "`{f}` now refuses what it cannot handle, in one line that says which value it was.",
)
_TYPES = ("int", "str", "float", "bool", "list[str]", "dict[str, int]")
_MESSAGES = (
    "accepted", "skipped: unchanged", "retried after time-out", "queued", "written", "refused: stale version",
    "took the slow path", "served from cache",
)  # fmt: skip


def module_name(rng: random.Random) -> str:
    """Return a path of a module."""
    return f"{rng.choice(('core', 'api', 'jobs', 'store', 'adapters'))}/{rng.choice(NOUNS)}_{rng.choice(VERBS)}.py"


def code(rng: random.Random, lines: int, planted: Sequence[str] = ()) -> str:
    """Return a Python module of about so many lines, with the planted lines in its middle."""
    body = [
        '"""' + f"{rng.choice(VERBS).capitalize()}s {rng.choice(NOUNS)}s for the nightly run." + '"""',
        "",
        "from __future__ import annotations",
        "",
        "import logging",
        "from dataclasses import dataclass",
        "",
        f'LOG = logging.getLogger("{rng.choice(NOUNS)}")',
        "",
    ]
    while len(body) < lines:
        if len(body) >= lines // 2 and planted:
            body += [*planted, ""]
            planted = ()
        body += _function(rng) if rng.random() < 0.75 else _record(rng)
    return "\n".join([*body, *planted])


def _function(rng: random.Random) -> list[str]:
    noun, verb, other = rng.choice(NOUNS), rng.choice(VERBS), rng.choice(NOUNS)
    given, gives = f"{noun}: {noun.capitalize()}, {other}s: list[{other.capitalize()}]", rng.choice(_TYPES)
    limit = rng.randrange(2, 60)
    return [
        "",
        f"def {verb}_{noun}({given}) -> {gives}:",
        f'    """{verb.capitalize()} one {noun} against what is known of {other}s."""',
        f"    found = [{other} for {other} in {other}s if {other}.{noun}_id == {noun}.id]",
        f"    if len(found) > {limit}:",
        f'        LOG.warning("{noun} %s: %d {other}s", {noun}.id, len(found))',
        f"        found = sorted(found, key=lambda item: item.created_at)[-{limit}:]",
        f"    total = sum(item.weight for item in found) or {rng.randrange(1, 9)}",
        f"    return {noun}.with_total(total).{rng.choice(VERBS)}()",
        "",
    ]


def _record(rng: random.Random) -> list[str]:
    noun = rng.choice(NOUNS).capitalize()
    fields = rng.sample(NOUNS, rng.randrange(2, 6))
    return ["", "@dataclass(frozen=True)", f"class {noun}:", *(f"    {f}: {rng.choice(_TYPES)}" for f in fields), ""]


def log(rng: random.Random, lines: int, planted: Sequence[str] = ()) -> str:
    """Return a log of about so many lines, with the planted ones in its middle."""
    second = rng.randrange(86_000)
    made: list[str] = []
    for place in range(lines):
        if place == lines // 2:
            made += planted
        second = (second + rng.randrange(1, 9)) % 86_400
        clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        level = rng.choice(("INFO", "INFO", "INFO", "DEBUG", "WARNING"))
        noun = rng.choice(NOUNS)
        made.append(f"{clock} {level} {noun}-{rng.getrandbits(24):06x} {rng.choice(_MESSAGES)}")
    return "\n".join(made)


def listing(rng: random.Random, lines: int) -> str:
    """Return output of `grep -n`."""
    names = [module_name(rng) for _ in range(max(lines // 3, 1))]
    return "\n".join(
        f"{rng.choice(names)}:{rng.randrange(1, 400)}:    {rng.choice(VERBS)}_{rng.choice(NOUNS)}({rng.choice(NOUNS)})"
        for _ in range(lines)
    )


def tests(rng: random.Random, passed: int, failed: str | None) -> str:
    """Return output of a test runner; `failed` names a test that fails."""
    lines = ["============================= test session starts =============================="]
    for _ in range(max(passed // 12, 1)):
        name = f"tests/test_{rng.choice(NOUNS)}_{rng.choice(VERBS)}.py"
        lines.append(f"{name} {'.' * rng.randrange(4, 30)}".ljust(72) + f"[{rng.randrange(1, 100):3d}%]")
    if failed:
        lines += [
            "=================================== FAILURES ===================================",
            f"_______________________ {failed} _______________________",
            f">       assert len(found) == {rng.randrange(2, 9)}",
            f"E       AssertionError: assert {rng.randrange(10, 20)} == {rng.randrange(2, 9)}",
        ]
    end = f"{passed} passed" + (", 1 failed" if failed else "")
    return "\n".join([*lines, f"========== {end} in {rng.uniform(0.8, 40):.2f}s =========="])


class Place(StrEnum):
    """Place of a fact in a session."""

    USER_TEXT = "user_text"
    ASSISTANT_TEXT = "assistant_text"
    SMALL_RESULT = "small_tool_result"
    LARGE_RESULT = "large_tool_result"
    SMALL_WRITE = "small_write"
    LARGE_WRITE = "large_write"
    NESTED_EDIT = "nested_edit"
    COMMAND = "command"
    THINKING = "thinking"
    IMAGE = "image"
    BEFORE_MENTIONED = "before_compaction_mentioned"
    BEFORE_UNMENTIONED = "before_compaction_unmentioned"


BEFORE = {Place.BEFORE_MENTIONED, Place.BEFORE_UNMENTIONED}


class AgenticSettings(Record):
    """Settings of the suite."""

    length: Annotated[int, BeforeValidator(parse_length), Field(ge=32_000, le=2_000_000)] = 128_000
    """Tokens of the conversation, all parts projected to text."""
    facts_per_place: int = Field(default=3, ge=1, le=12)
    compaction_at: float = Field(default=0.4, ge=0.1, le=0.8)
    """Share of the length after which the session is compacted."""


@dataclass(frozen=True)
class _Attribute:
    """An attribute of a project that a fact gives a value."""

    words: str
    key: str
    draw: Callable[[random.Random], str]
    """Draws values that no tool's output contains by chance."""
    questions: tuple[str, str, str]


_ATTRIBUTES = (
    _Attribute("staging port", "staging_port", lambda r: str(r.randrange(20_000, 60_000)),
               ("Which port does the {n} service listen on in staging?", "I need the {n} staging port; what was it?",
                "On staging, where do I reach the {n} endpoint: which port?")),
    _Attribute("retry budget", "retry_budget", lambda r: f"{r.randrange(101, 999)} attempts",
               ("How many attempts does the {n} retry budget allow?", "What did we learn about retries of the {n} job?",
                "After how many tries does the {n} worker give up?")),
    _Attribute("time-out", "timeout", lambda r: f"{r.randrange(1_100, 9_900)} ms",
               ("How long is the {n} time-out?", "After how many milliseconds is a {n} request cut off?",
                "Tell me the time-out that holds for the {n} call.")),
    _Attribute("page size", "page_size", lambda r: f"{r.randrange(110, 990)} rows",
               ("What page size does the {n} list use?", "How many rows come on one page of {n} results?",
                "Rows per page for the {n} query: how many?")),
    _Attribute("tracking ticket", "ticket", lambda r: f"OPS-{r.randrange(10_000, 99_999)}",
               ("Under which ticket is the {n} work tracked?", "Give me the ticket number of the {n} task.",
                "Where do I file more about the {n} fault: which ticket?")),
    _Attribute("pinned version", "pinned_version",
               lambda r: f"{r.randrange(1, 9)}.{r.randrange(11, 99)}.{r.randrange(11, 99)}",
               ("Which version is the {n} client pinned to?", "What release of the {n} library do we hold on to?",
                "The {n} dependency is pinned: at which version?")),
    _Attribute("replica host", "replica_host", lambda r: f"db-{r.choice(NOUNS)}-{r.randrange(100, 999)}.internal",
               ("Which host is the {n} replica?", "Name the machine that the {n} reads go to.",
                "From which database host does the {n} report read?")),
    _Attribute("feature flag", "feature_flag", lambda r: f"ff-{r.choice(VERBS)}-{r.getrandbits(20):05x}",
               ("Which flag switches the new {n} flow on?", "What is the {n} feature flag called?",
                "To try the {n} change, which feature flag do I set?")),
    _Attribute("good commit", "good_commit", lambda r: f"{r.getrandbits(40):010x}",
               ("At which commit was the {n} code last good?", "Where do I start a bisect for the {n} fault?",
                "Name the commit that the {n} tests still passed at.")),
    _Attribute("storage quota", "storage_quota", lambda r: f"{r.randrange(101, 999)} GiB",
               ("How large is the {n} storage quota?", "How many GiB may the {n} bucket take?",
                "What is the limit on space for {n} files?")),
    _Attribute("rate limit", "rate_limit", lambda r: f"{r.randrange(1_001, 9_999)} requests a minute",
               ("What rate limit holds for the {n} route?", "How many {n} requests a minute are let through?",
                "Where is the {n} traffic capped?")),
    _Attribute("support contact", "support_contact",
               lambda r: f"{r.choice(VERBS)}-{r.randrange(100, 999)}@support.example",
               ("Whom do I write to about {n} trouble?", "Which address is the {n} support contact?",
                "Who looks after {n} incidents, by mail?")),
)  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """A planted fact: its name, its value, and its place."""

    name: str
    key: str
    value: str
    place: Place
    question: str

    @property
    def sentence(self) -> str:
        """The fact as a phrase."""
        return f"the {self.name} is {self.value}"

    @property
    def line(self) -> str:
        """The fact as a line of settings."""
        return f'{self.key.upper()} = "{self.value}"'


def draw_facts(rng: random.Random, each: int) -> list[Planted]:
    """Return the facts of a conversation, no two with the same name or value, in the order of planting."""
    nouns = {a.key: rng.sample(NOUNS, len(NOUNS)) for a in _ATTRIBUTES}
    facts: list[Planted] = []
    values: set[str] = set()
    order = [place for _ in range(each) for place in rng.sample(list(Place), len(Place))]
    for number, place in enumerate(order):
        turn, which = divmod(number, len(_ATTRIBUTES))
        attribute = _ATTRIBUTES[which]
        noun, value = nouns[attribute.key].pop(), attribute.draw(rng)
        while value in values:
            value = attribute.draw(rng)
        values.add(value)
        question = attribute.questions[turn % len(attribute.questions)].format(n=noun)
        facts.append(Planted(f"{noun} {attribute.words}", f"{noun}_{attribute.key}", value, place, question))
    return facts


@dataclass
class _Session:
    """A session while it is made."""

    draw: Draw
    project: str
    clock: datetime
    messages: list[Message] = field(default_factory=list)
    tokens: int = 0
    calls: int = 0
    asked: set[str] = field(default_factory=set)
    said: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Message key and quote of each planted fact, by the fact's key."""

    def say(self, role: MessageRole, parts: list[Part], facts: dict[str, str], minutes: int) -> None:
        """Append a message; `facts` maps the keys of the facts in it to their quotes."""
        self.clock += timedelta(minutes=minutes)
        key = key_of(len(self.messages) // 2, len(self.messages) % 2)
        content = text_of(parts)
        tokens = self.draw.count_tokens(content)
        self.messages.append(
            Message(
                message_key=key,
                role=role,
                speaker=role.value,
                kind=MessageKind.QUESTION if role is MessageRole.USER else MessageKind.REPLY,
                session=0,
                turn_index=len(self.messages) // 2,
                sent_at=self.clock,
                content=content,
                parts=tuple(parts) if any(p.kind is not PartKind.TEXT for p in parts) else (),
                tokens=tokens,
            )
        )
        self.tokens += tokens
        self.said |= {fact: (key, quote) for fact, quote in facts.items()}

    def call(self, name: str, given: dict[str, Any], result: str, **more: Any) -> list[Part]:
        """Return a tool call and its result."""
        self.calls += 1
        own = f"toolu_{self.draw.index:03d}{self.calls:05d}"
        return [
            Part(kind=PartKind.TOOL_CALL, data={"id": own, "name": name, "input": given}),
            Part(kind=PartKind.TOOL_RESULT, text=result, data={"tool_use_id": own, **more}),
        ]


def make_conversation(settings: AgenticSettings, draw: Draw) -> GivenConversation:
    """Return one session with its probes: a question for each planted fact."""
    rng = draw.rng("story")
    project, about = rng.choice(PROJECTS)
    start = datetime(2024, 1, 8, 9) + timedelta(days=rng.randrange(300), minutes=rng.randrange(90))
    session = _Session(draw, project, start)
    facts = draw_facts(draw.rng("facts"), settings.facts_per_place)
    before = [f for f in facts if f.place in BEFORE]
    after = [f for f in facts if f.place not in BEFORE]
    boundary = int(settings.length * settings.compaction_at)
    _work(session, rng, before, boundary)
    _compact(session, [f for f in before if f.place is Place.BEFORE_MENTIONED], about)
    _work(session, rng, after, settings.length)
    topic = Topic(
        domain=Domain.CODING,
        title=f"Work on {project}",
        theme=f"A coding agent works on {about}",
        subtopics=("faults", "tests", "settings"),
    )
    seed = seed_of(draw, topic, start, session.clock)
    head = head_of(draw, settings, seed, target_tokens=settings.length, details={"compacted_after": boundary})
    probes = tuple(_probe(place, fact, session.said[fact.key]) for place, fact in enumerate(facts))
    return GivenConversation(head, lambda: iter(session.messages), probes)


LEFT_OVER = 900
"""Tokens below the target at which no exchange begins any more; most exchanges have twice as many."""


def _work(session: _Session, rng: random.Random, facts: list[Planted], end: int) -> None:
    """Add exchanges until the session has about `end` tokens; the facts are spread evenly, and all are planted."""
    start, waiting = session.tokens, list(facts)
    while session.tokens < end - LEFT_OVER or waiting:
        share = (session.tokens - start) / max(end - LEFT_OVER - start, 1)
        due = min(math.ceil(len(facts) * share + 0.5), len(facts)) - (len(facts) - len(waiting))
        told: dict[Place, Planted] = {}
        while waiting and len(told) < due and waiting[0].place not in told:
            fact = waiting.pop(0)
            told[fact.place] = fact
        _exchange(session, rng, told)


def _compact(session: _Session, mentioned: list[Planted], about: str) -> None:
    """Add the summary that replaces all earlier messages; it repeats the facts that are to be mentioned again."""
    known = " ".join(f"The user said that {f.sentence}." for f in mentioned)
    summary = f"We work on {session.project}, {about}. Several faults were found and mended, tests pass. {known}"
    session.say(MessageRole.USER, [_text("/compact")], {}, 2)
    session.say(
        MessageRole.ASSISTANT,
        [Part(kind=PartKind.COMPACTION, text=summary.strip()), _text("Ready to go on where we were.")],
        {},
        1,
    )


def _exchange(session: _Session, rng: random.Random, facts: dict[Place, Planted]) -> None:
    """Add a task of the user and the agent's work on it, with at most one fact in each place."""
    function, asked = _task(session, rng)
    file = f"src/{session.project}/{module_name(rng)}"
    spoken = [f for place, f in facts.items() if place in {Place.USER_TEXT, *BEFORE}]
    for fact in spoken:
        asked += (
            f" {rng.choice(('For your notes', 'Before I forget', 'While you are at it, note this'))}: {fact.sentence}."
        )
    session.say(MessageRole.USER, [_text(asked)], {f.key: f.sentence for f in spoken}, rng.randrange(2, 25))
    found = {f.key: _quote(f) for f in facts.values() if f not in spoken}
    quotes = {place: _quote(f) for place, f in facts.items()}
    session.say(MessageRole.ASSISTANT, _agent(session, rng, file, function, quotes), found, rng.randrange(1, 9))


def _task(session: _Session, rng: random.Random) -> tuple[str, str]:
    """Return a function and the user's request about it; no request repeats."""
    while True:
        noun, verb = rng.choice(NOUNS), rng.choice(VERBS)
        asked = rng.choice(TASKS).format(f=f"{verb}_{noun}", n=noun, v=verb, o=rng.choice(NOUNS))
        if asked not in session.asked:
            session.asked.add(asked)
            return f"{verb}_{noun}", asked


def _agent(session: _Session, rng: random.Random, file: str, function: str, quotes: dict[Place, str]) -> list[Part]:
    """Return the agent's work: it thinks, reads, edits, tests and reports."""
    thought = rng.choice(THOUGHTS).format(f=function)
    if (quote := quotes.get(Place.THINKING)) is not None:
        thought += f" I must keep in mind that {quote}."
    parts = [Part(kind=PartKind.THINKING, text=thought, data={"signature": f"{rng.getrandbits(256):064x}"})]
    parts += session.call("Grep", {"pattern": function, "path": "src"}, listing(rng, rng.randrange(4, 40)))
    large = [quotes[Place.LARGE_RESULT]] if Place.LARGE_RESULT in quotes else []
    lines = rng.randrange(60, 170) if large or rng.random() < 0.6 else rng.randrange(8, 20)
    parts += session.call("Read", {"file_path": file}, code(rng, lines, large), as_list=rng.random() < 0.3)
    if (quote := quotes.get(Place.SMALL_RESULT)) is not None:
        parts += session.call("Bash", {"command": f"grep -i {function[:4]} settings.env"}, f"# local settings\n{quote}")
    if (quote := quotes.get(Place.IMAGE)) is not None:
        call, _ = session.call("Screenshot", {"url": "http://localhost:3000/status"}, "")
        shown = {"tool_use_id": call.data["id"], "bytes": 48_000}
        parts += [call, Part(kind=PartKind.IMAGE_STUB, text=f"Status page. {quote}.", data=shown)]
    parts += _change(session, rng, file, function, quotes)
    command = " ".join(filter(None, (quotes.get(Place.COMMAND), f"pytest -q -k {function}")))
    parts += session.call("Bash", {"command": command, "description": "Run the tests"}, _tests(rng, function))
    if rng.random() < 0.35:
        parts += session.call("Bash", {"command": "tail -n 80 var/run.log"}, log(rng, rng.randrange(30, 80)))
    report = rng.choice(REPORTS).format(f=function, file=file)
    if (quote := quotes.get(Place.ASSISTANT_TEXT)) is not None:
        report += f" On the way I saw that {quote}."
    return [*parts, _text(report)]


def _change(session: _Session, rng: random.Random, file: str, function: str, quotes: dict[Place, str]) -> list[Part]:
    """Return writes and edits of files; most exchanges have one edit."""
    parts: list[Part] = []
    if (quote := quotes.get(Place.SMALL_WRITE)) is not None:
        parts += session.call("Write", {"file_path": "settings.local.env", "content": quote}, "written")
    if (quote := quotes.get(Place.LARGE_WRITE)) is not None:
        content = code(rng, 90, [quote])
        parts += session.call("Write", {"file_path": file, "content": content}, f"{file}: {len(content)} characters")
    if (quote := quotes.get(Place.NESTED_EDIT)) is not None:
        edits = [
            {"old_string": f"def {function}(", "new_string": code(rng, 24, [quote])},
            {"old_string": "import logging", "new_string": "import logging\nimport math"},
        ]
        parts += session.call("MultiEdit", {"file_path": file, "edits": edits}, "2 edits made")
    if not parts:
        old, new = code(rng, 14), code(rng, 16)
        parts = session.call("Edit", {"file_path": file, "old_string": old, "new_string": new}, "1 edit made")
    return parts


def _tests(rng: random.Random, function: str) -> str:
    return tests(rng, rng.randrange(20, 240), f"test_{function}" if rng.random() < 0.25 else None)


def _quote(fact: Planted) -> str:
    """Return the quote of a fact in its place."""
    if fact.place in {Place.SMALL_RESULT, Place.LARGE_RESULT, Place.SMALL_WRITE, Place.LARGE_WRITE, Place.NESTED_EDIT}:
        return fact.line
    if fact.place is Place.COMMAND:
        return f"{fact.key.upper()}='{fact.value}'"
    return fact.sentence if fact.place is not Place.IMAGE else fact.sentence[0].upper() + fact.sentence[1:]


def _text(words: str) -> Part:
    return Part(kind=PartKind.TEXT, text=words)


def _probe(ordinal: int, fact: Planted, said: tuple[str, str]) -> Probe:
    own = str(ProbeId("information_extraction", str(ordinal)))
    nugget_id = str(NuggetId(own, 0))
    key, quote = said
    return Probe(
        probe_id=own,
        ability="information_extraction",
        question=fact.question,
        gold_answer=f"The {fact.name} is {fact.value}.",
        difficulty=Difficulty.EASY,
        rubric=(Nugget(nugget_id=nugget_id, text=f"The answer states that the {fact.name} is {fact.value}."),),
        evidence=(Evidence(message_key=key, quote=quote, nugget_ids=(nugget_id,)),),
        details=ProbeDetails(variety=fact.place, new_value=fact.value),
        is_selected=True,
        rank=ordinal,
    )


AGENTIC = Suite(AgenticSettings, make_conversation, "coding agents at work, facts planted by place")
