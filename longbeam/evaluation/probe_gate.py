"""The gate of probes: readers who have not seen the gold answer, a critic and a judge, on the whole conversation.

Before anything of the conversation is shown, a model guesses the answers. For a batch of probes it then answers the
questions from what each probe cites, and from everything on its subject that the one search for later evidence finds
over both speakers. A critic reads the probes against these
passages, and gives a right and a wrong answer to try each rubric. A judge then marks all answers in one request,
without being told where they come from. Where the cited messages do not suffice, they are read with their neighbours.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from longbeam.abilities import Trait, ability_of
from longbeam.evaluation.tuning import MEASURING
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import (
    AskedQuestion,
    CriticInputs,
    CriticReply,
    Critique,
    DatedMessage,
    GuessInputs,
    GuessReply,
    JudgedProbe,
    MarkedProbe,
    MarkInputs,
    MarkReply,
    ReadAnswer,
    ReadInputs,
    ReadReply,
)
from longbeam.schemas import Difficulty, Evidence, EvidencePart, Message, MessageRole, Nugget, Probe, Record, Severity
from longbeam.text import READING, LaterPassage, Subject, find_evidence, quotable, sentences, values_in, words_of

CHECK = "gate"
GUESS_PROMPTS = ("guess_answers",)
PROMPTS = (*GUESS_PROMPTS, "read_passages", "criticise_probes", "mark_answers")
GUESSED_AT_ONCE = 4 * MEASURING.gate_batch
"""Most questions of one request for guesses: a reply of at most some 1,500 tokens."""
SHOWN = {MessageRole.USER: 8, MessageRole.ASSISTANT: 3}
"""Uncited passages of each probe, by speaker: replies share more words with a question than the facts do that would
change its answer. Of the nine that readers and critic used in a run by a very good model, eight were among these."""
SEVERITIES: Mapping[str, Severity] = {
    "refused": Severity.ERROR,
    "reword": Severity.WARNING,
    "nothing": Severity.ERROR,
    "evidence": Severity.WARNING,
    "changes_answer": Severity.ERROR,
    "guessed": Severity.ERROR,
    "lucky": Severity.INFO,
    "gold_not_full": Severity.ERROR,
    "right_refused": Severity.ERROR,
    "wrong_full": Severity.ERROR,
}
"""Severity of each kind of fault; docs/checks.md says what each means."""


@dataclass(frozen=True)
class Fault:
    """A fault of a probe, of a kind of SEVERITIES."""

    kind: str
    text: str
    message_keys: tuple[str, ...] = ()


class Guess(Record):
    """The answer of somebody who has seen nothing of the conversation."""

    probe_id: str
    answer: str
    choices: int
    """Number of answers that the question's own words leave to choose from; 0: it is open."""


@dataclass(frozen=True)
class Outcome:
    """Faults of a probe, and the probe with the critic's words and the messages that it lacked."""

    faults: tuple[Fault, ...]
    mended: Probe


@dataclass(frozen=True)
class Matter:
    """A probe with the messages that its readers may see."""

    probe: Probe
    cited: tuple[Message, ...]
    """Messages that it cites, oldest first."""
    neighbours: tuple[Message, ...]
    """Messages directly before and behind these."""
    found: tuple[Message, ...]
    """Uncited passages on its subject, oldest first; contents are those of the passage."""


def matters_of(
    messages: Callable[[], Iterable[Message]], probes: Sequence[Probe], aliases: Mapping[str, Sequence[str]]
) -> list[Matter]:
    """Return the probes in the order of their evidence, with their messages; `aliases` are by probe_id."""
    cited = {p.probe_id: {e.message_key for e in p.evidence} for p in probes}
    subjects = {
        p.probe_id: Subject.of(
            p.question, p.gold_answer, *(n.text for n in p.rubric), aliases=aliases.get(p.probe_id, ())
        )
        for p in probes
    }
    found = find_evidence(messages, subjects, cited, read=MEASURING.gate_passages)
    wanted = set[str]().union(*cited.values()) if cited else set[str]()
    kept: dict[str, Message] = {}
    beside: dict[str, list[Message]] = {}
    places: dict[str, int] = {}
    before: Message | None = None
    for place, message in enumerate(messages()):
        if message.message_key in wanted:
            kept[message.message_key], places[message.message_key] = message, place
            beside.setdefault(message.message_key, []).extend([before] if before is not None else [])
        if before is not None and before.message_key in wanted:
            beside[before.message_key].append(message)
        before = message
    ordered = sorted(probes, key=lambda p: (min((places.get(k, 0) for k in cited[p.probe_id]), default=0), p.probe_id))
    return [
        Matter(
            probe,
            tuple(m for key, m in kept.items() if key in cited[probe.probe_id]),
            tuple(m for key in kept if key in cited[probe.probe_id] for m in beside[key]),
            tuple(_nearest(found[probe.probe_id])),
        )
        for probe in ordered
    ]


def _nearest(passages: Iterable[LaterPassage]) -> list[Message]:
    """Return the first passages of each speaker as messages, oldest first; of each message one."""
    left = dict(SHOWN)
    taken: dict[int, LaterPassage] = {}
    for passage in passages:
        if left[passage.message.role] and passage.place not in taken:
            taken[passage.place] = passage
            left[passage.message.role] -= 1
    return [p.message.model_copy(update={"content": _in_context(p)}) for _, p in sorted(taken.items())]


def _in_context(passage: LaterPassage) -> str:
    """Return a passage with as much before it: what "I assume that this suits" is about stands there."""
    content, start = passage.message.content, passage.start
    return content[
        next((a for a, _ in sentences(content) if start - READING.passage_characters <= a < start), start) : passage.end
    ]


@dataclass(frozen=True)
class _Shown:
    """Numbered passages of a batch, each once."""

    passages: tuple[DatedMessage, ...]
    keys: Mapping[int, str]
    """Message of each passage."""
    messages: Mapping[int, Message]
    numbers: Sequence[tuple[int, ...]]
    """Numbers of each probe's passages."""
    cited: Sequence[tuple[int, ...]]


def _numbered(groups: Sequence[Sequence[Message]], cited: Sequence[Collection[str]]) -> _Shown:
    groups = _in_one_form(groups)
    every = {(m.message_key, m.content): m for group in groups for m in group}
    ordered = sorted(every.values(), key=lambda m: (m.sent_at, m.message_key))
    numbers = {(m.message_key, m.content): i for i, m in enumerate(ordered, 1)}
    own = [tuple(sorted({numbers[m.message_key, m.content] for m in group})) for group in groups]
    keys = {i: m.message_key for i, m in enumerate(ordered, 1)}
    return _Shown(
        tuple(
            DatedMessage(number=i, said_on=m.sent_at.date(), speaker=m.role.value, text=_cut(m.content))
            for i, m in enumerate(ordered, 1)
        ),
        keys,
        dict(enumerate(ordered, 1)),
        own,
        [tuple(n for n in group if keys[n] in marked) for group, marked in zip(own, cited, strict=True)],
    )


def _in_one_form(groups: Sequence[Sequence[Message]]) -> list[list[Message]]:
    """Return the groups with each message as the longest text shown of it, where that holds the shorter ones."""
    longest: dict[str, Message] = {}
    for message in (m for group in groups for m in group):
        known = longest.setdefault(message.message_key, message)
        longest[message.message_key] = max(known, message, key=lambda m: len(m.content))
    whole = {key: _cut(m.content) for key, m in longest.items()}
    return [[longest[m.message_key] if m.content in whole[m.message_key] else m for m in group] for group in groups]


def _cut(text: str) -> str:
    half = MEASURING.gate_characters // 2
    return text if len(text) <= MEASURING.gate_characters else f"{text[:half]}\n[...]\n{text[-half:]}"


async def guess_answers(asker: Asker, probes: Sequence[Probe]) -> list[Guess]:
    """Return a guess at each answer but absences, made from the questions alone."""
    guesses, asked = [], [p for p in probes if not ability_of(p.ability).has(Trait.ABSTAINS)]
    for start in range(0, len(asked), GUESSED_AT_ONCE):
        some = dict(enumerate(asked[start : start + GUESSED_AT_ONCE], start + 1))
        questions = tuple(AskedQuestion(number=i, question=p.question) for i, p in some.items())
        accept = Acceptance(check=_complete(some, lambda reply: [a.question for a in reply.answers]))
        reply: GuessReply = await asker.structured(
            GUESS_PROMPTS[0], GuessInputs(questions=questions), place=str(start), accept=accept
        )
        answers = {a.question: a for a in reversed(reply.answers)}
        guesses += [Guess(probe_id=p.probe_id, **answers[i].model_dump(exclude={"question"})) for i, p in some.items()]
    return guesses


def chance_of(probe: Probe, guess: Guess) -> float:
    """Return the chance that a blind guess hits the answer: 1/n! for an order of n things, else 1 of its choices.

    0 for an open question, whose answers nobody counts.
    """
    if ability_of(probe.ability).has(Trait.ORDERS_ITEMS) and probe.details.items:
        return 1 / math.factorial(len(probe.details.items))
    return 1 / guess.choices if guess.choices > 1 else 0


@dataclass
class _Trial:
    """The answers to one probe, by where they come from, and the criteria that each meets."""

    matter: Matter
    answers: dict[str, str]
    met: dict[str, frozenset[int]]
    chance: float = 0
    """Chance that a blind guess is right."""

    @cached_property
    def wanted(self) -> frozenset[int]:
        return frozenset(range(1, len(self.matter.probe.rubric) + 1))

    def is_full(self, name: str) -> bool:
        """Return whether an answer meets the whole rubric; False where there is none."""
        return self.wanted <= self.met.get(name, frozenset())


async def judge_batch(
    asker: Asker,
    matters: Sequence[Matter],
    guesses: Mapping[str, Guess],
    others: Sequence[Probe],
    wishes: Sequence[str] = (),
) -> list[Outcome]:
    """Return the outcome for each probe of a batch.

    `guesses` are by probe_id, `others` are further probes, `wishes` hold at the end and may apply.

    Raises ReplyError where a model gives no usable reply.
    """
    cited = [{m.message_key for m in matter.cited} for matter in matters]
    alone = _numbered([m.cited for m in matters], cited)
    every = _numbered([(*m.cited, *m.found) for m in matters], cited)
    evidence = await _read(asker, "evidence", matters, alone)
    whole = await _read(asker, "all", matters, every)
    critiques = await _criticised(asker, matters, every, wishes)
    trials = [
        _Trial(matter, _answers(matter, others, critique, own.answer, read.answer), {})
        for matter, critique, own, read in zip(matters, critiques, evidence, whole, strict=True)
    ]
    for trial, critique in zip(trials, critiques, strict=True):
        guess = guesses.get(trial.matter.probe.probe_id)
        if critique.verdict == "fine" and guess is not None and guess.answer.strip():
            trial.answers["guess"], trial.chance = guess.answer, chance_of(trial.matter.probe, guess)
    await _mark(asker, trials)
    beside = await _beside(asker, trials)
    return [
        _outcome(trial, critique, read, every, beside.get(i))
        for i, (trial, critique, read) in enumerate(zip(trials, critiques, whole, strict=True))
    ]


async def _read(asker: Asker, place: str, matters: Sequence[Matter], shown: _Shown) -> list[ReadAnswer]:
    """Return a reader's answer to each question, from its own passages alone."""
    questions = tuple(
        AskedQuestion(number=i, question=m.probe.question, passages=shown.numbers[i - 1])
        for i, m in enumerate(matters, 1)
    )
    inputs = ReadInputs(passages=shown.passages, questions=questions, is_brief=place == "evidence")
    check = _complete([q.number for q in questions], lambda reply: [a.question for a in reply.answers])
    reply: ReadReply = await asker.structured(PROMPTS[1], inputs, place=place, accept=Acceptance(check=check))
    answers = {a.question: a for a in reversed(reply.answers)}
    return [answers[q.number] for q in questions]


async def _criticised(asker: Asker, matters: Sequence[Matter], shown: _Shown, wishes: Sequence[str]) -> list[Critique]:
    probes = tuple(
        JudgedProbe(
            number=i,
            ability=m.probe.ability,
            question=m.probe.question,
            gold_answer=m.probe.gold_answer,
            nuggets=tuple(n.text for n in m.probe.rubric),
            cited=shown.cited[i - 1],
            passages=shown.numbers[i - 1],
        )
        for i, m in enumerate(matters, 1)
    )
    complete = _complete(range(1, len(probes) + 1), lambda reply: [c.probe for c in reply.critiques])

    def check(reply: CriticReply) -> Iterator[str]:
        yield from complete(reply)
        for c in reply.critiques:
            if c.verdict == "fine" and not (c.right.strip() and c.wrong.strip()):
                yield f"probe {c.probe} is fine; give a `right` and a `wrong` answer"
            if c.verdict == "reword" and not (c.question.strip() and c.gold_answer.strip() and c.nuggets):
                yield f"probe {c.probe} is to be reworded; give `question`, `gold_answer` and `nuggets` whole"
            named = {n for nugget in c.nuggets for n in nugget.passages}
            if unknown := sorted(named - shown.keys.keys()):
                yield f"probe {c.probe} names passage {unknown[0]}; there are 1 to {len(shown.keys)}"

    inputs = CriticInputs(passages=shown.passages, probes=probes, wishes=tuple(wishes))
    reply: CriticReply = await asker.structured(PROMPTS[2], inputs, place="critic", accept=Acceptance(check=check))
    critiques = {c.probe: c for c in reversed(reply.critiques)}
    return [critiques[i] for i in range(1, len(probes) + 1)]


def _complete(wanted: Iterable[int], given: Callable[..., Sequence[int]]) -> Callable[..., Iterator[str]]:
    every = list(wanted)

    def check(reply: object) -> Iterator[str]:
        if missing := [n for n in every if n not in given(reply)]:
            yield f"number {missing[0]} is missing; there are {every[0]} to {every[-1]}"

    return check


def _answers(matter: Matter, others: Sequence[Probe], critique: Critique, *read: str) -> dict[str, str]:
    probe = matter.probe
    answers = dict(zip(("evidence", "all"), read, strict=True))
    if critique.verdict == "fine":  # new words are tried when they go through the gate themselves
        answers |= {"gold": probe.gold_answer, "right": critique.right, "wrong": critique.wrong}
        answers["altered"] = altered_answer(probe, others)
        answers["unrelated"] = _unrelated(probe, others)
    if not matter.cited:
        answers.pop("evidence")
    return {name: text for name, text in answers.items() if text.strip()}


def altered_answer(probe: Probe, others: Sequence[Probe]) -> str:
    """Return the gold answer with the old value, or one of another probe of the conversation; empty without values."""
    gold, details = probe.gold_answer, probe.details
    if details.new_value and details.old_value and details.new_value in gold:
        return gold.replace(details.new_value, details.old_value)
    own = values_in(gold)
    near = [v for other in others for v in values_in(other.gold_answer) if other.probe_id != probe.probe_id]
    for value in own:
        like = [v for v in near if (v.kind, v.unit) == (value.kind, value.unit) and not v.means_same_as(value)]
        if value.text in gold and like and any(value.text in n.text for n in probe.rubric):
            return gold.replace(value.text, like[0].text)
    return ""


def _unrelated(probe: Probe, others: Sequence[Probe]) -> str:
    """Return the gold answer of the probe that shares fewest words with this one, and that says something."""
    own = set(words_of(f"{probe.gold_answer}\n{probe.question}"))
    rest = [o for o in others if o.ability != probe.ability and not ability_of(o.ability).has(Trait.ABSTAINS)]
    return min(rest, key=lambda o: (len(own & set(words_of(o.gold_answer))), o.probe_id)).gold_answer if rest else ""


async def _mark(asker: Asker, trials: Sequence[_Trial], place: str = "marks") -> None:
    """Have all answers of all trials marked; their order tells nothing of where they come from."""
    orders = [_shuffled(trial) for trial in trials]
    probes = tuple(
        MarkedProbe(
            number=i,
            question=trial.matter.probe.question,
            nuggets=tuple(n.text for n in trial.matter.probe.rubric),
            answers=tuple(trial.answers[name] for name in order),
        )
        for i, (trial, order) in enumerate(zip(trials, orders, strict=True), 1)
    )
    wanted = [(p.number, a) for p in probes for a in range(1, len(p.answers) + 1)]

    def check(reply: MarkReply) -> Iterator[str]:
        given = {(m.probe, m.answer) for m in reply.marks}
        if missing := [pair for pair in wanted if pair not in given]:
            yield f"answer {missing[0][1]} of probe {missing[0][0]} has no mark"

    inputs = MarkInputs(probes=probes)
    reply: MarkReply = await asker.structured(PROMPTS[3], inputs, place=place, accept=Acceptance(check=check))
    marks = {(m.probe, m.answer): frozenset(m.met) for m in reversed(reply.marks)}
    for number, (trial, order) in enumerate(zip(trials, orders, strict=True), 1):
        trial.met |= {name: marks[number, a] for a, name in enumerate(order, 1)}


def _shuffled(trial: _Trial) -> list[str]:
    names = sorted(trial.answers)
    random.Random(trial.matter.probe.probe_id).shuffle(names)
    return names


async def _beside(asker: Asker, trials: Sequence[_Trial]) -> dict[int, tuple[_Trial, tuple[str, ...]]]:
    """Return, where the cited messages do not suffice, what a reader makes of them with their neighbours."""
    lacking = [i for i, t in enumerate(trials) if t.matter.cited and not t.is_full("evidence") and t.is_full("all")]
    if not lacking:
        return {}
    matters = [trials[i].matter for i in lacking]
    shown = _numbered([(*m.cited, *m.neighbours) for m in matters], [{c.message_key for c in m.cited} for m in matters])
    read = await _read(asker, "neighbours", matters, shown)
    again = [_Trial(m, {"beside": r.answer or "-"}, {}) for m, r in zip(matters, read, strict=True)]
    await _mark(asker, again, "neighbour marks")
    used = [tuple(dict.fromkeys(shown.keys[n] for n in r.passages if n in shown.keys)) for r in read]
    return {i: (trial, keys) for i, trial, keys in zip(lacking, again, used, strict=True)}


def _outcome(
    trial: _Trial,
    critique: Critique,
    whole: ReadAnswer,
    shown: _Shown,
    beside: tuple[_Trial, tuple[str, ...]] | None,
) -> Outcome:
    probe = trial.matter.probe
    faults = list(_faults(trial, critique))
    own = {m.message_key for m in trial.matter.cited}
    used = [shown.keys[n] for n in dict.fromkeys(whole.passages) if n in shown.keys]
    mended = probe
    if beside is not None:
        lacked = beside[1] if beside[0].is_full("beside") else tuple(used)
        lacked = tuple(key for key in lacked if key not in own)
        faults.append(Fault("evidence", "the cited messages do not give the answer; others do", lacked))
        mended = _citing(mended, trial.matter, shown, lacked)
    elif own and trial.is_full("all") and len(used) == 1 and used[0] not in own:
        faults.append(Fault("evidence", "one message that is not cited gives the whole answer", (used[0],)))
        mended = _citing(mended, trial.matter, shown, used).model_copy(update={"difficulty": Difficulty.EASY})
    if critique.verdict == "reword":
        mended = _reworded(mended, critique, trial.matter, shown)
    return Outcome(tuple(faults), mended)


def _faults(trial: _Trial, critique: Critique) -> Iterator[Fault]:
    if critique.verdict != "fine":
        yield Fault("refused" if critique.verdict == "refuse" else "reword", critique.reason)
        return
    if not trial.is_full("gold"):
        yield Fault("gold_not_full", "the reference answer does not meet its own rubric")
    if not trial.is_full("all"):
        kind = "changes_answer" if trial.is_full("evidence") else "nothing"
        yield Fault(kind, f"from all that was said on it a reader answers: {trial.answers.get('all', 'nothing')}")
    if trial.is_full("guess"):
        guess = f"a reader who has seen nothing meets the rubric: {trial.answers['guess']}"
        if trial.chance > MEASURING.luck:
            yield Fault("lucky", f"{guess}; one guess of {round(1 / trial.chance)} does")
        else:
            yield Fault("guessed", guess)
    if "right" in trial.answers and not trial.is_full("right"):
        yield Fault("right_refused", f"the rubric refuses a right answer: {trial.answers['right']}")
    for name in ("wrong", "altered", "unrelated"):
        if trial.is_full(name):
            yield Fault("wrong_full", f"a wrong answer meets the rubric: {trial.answers[name]}")


def _citing(probe: Probe, matter: Matter, shown: _Shown, keys: Collection[str]) -> Probe:
    """Return the probe with further messages as evidence for the whole rubric."""
    said = {m.message_key: m for m in (*matter.neighbours, *matter.found, *shown.messages.values())}
    every = tuple(n.nugget_id for n in probe.rubric)
    # The question, too: "18 days" has no word in common with either of the days.
    telling = " ".join((probe.question, probe.gold_answer, *(n.text for n in probe.rubric)))
    added = [
        Evidence(message_key=key, quote=_quote(said[key].content, telling), nugget_ids=every)
        for key in keys
        if key in said
    ]
    evidence = sorted((*probe.evidence, *added), key=lambda e: said[e.message_key].sent_at)  # oldest first
    return probe.model_copy(update={"evidence": tuple(evidence)})


def _quote(content: str, probe: str) -> str:
    """Return the sentence of a message that shares most words with a probe."""
    wanted = set(words_of(probe))
    said = [content[a:b] for a, b in quotable(content)] or [content]
    return max(said, key=lambda s: len(wanted & set(words_of(s))))


def _reworded(probe: Probe, critique: Critique, matter: Matter, shown: _Shown) -> Probe:
    """Return the probe with the critic's words, and with the evidence that a criterion names or its kind demands."""
    rubric = tuple(Nugget(nugget_id=f"{probe.probe_id}.n{i}", text=n.text) for i, n in enumerate(critique.nuggets))
    named = [{shown.keys[number] for number in n.passages} for n in critique.nuggets]
    known = {e.message_key for e in probe.evidence}
    further = [key for key in dict.fromkeys(k for keys in named for k in sorted(keys)) if key not in known]
    cited = _citing(probe, matter, shown, further)
    supported = (
        (e, tuple(n.nugget_id for n, keys in zip(rubric, named, strict=True) if e.message_key in keys))
        for e in cited.evidence
    )
    evidence = tuple(
        e.model_copy(update={"nugget_ids": ids}) for e, ids in supported if ids or e.part != EvidencePart.SUPPORT
    )
    return cited.model_copy(
        update={
            "question": critique.question.strip(),
            "gold_answer": critique.gold_answer.strip(),
            "rubric": rubric,
            "evidence": evidence,
        }
    )
