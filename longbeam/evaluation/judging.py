"""Verdicts on answers, nugget by nugget, and the list items that event ordering aligns.

A failed judgement is recorded as such and is never a zero.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import TypeVar

from longbeam.errors import ReplyError
from longbeam.evaluation.scoring import scorer_of
from longbeam.models import Acceptance, Asker
from longbeam.prompts.calls import AlignInputs, AlignReply, JudgeInputs, JudgeReply
from longbeam.schemas import Answer, Judgement, Nugget, NuggetJudgement, Probe

T = TypeVar("T")
CREDIT = {"met": 1.0, "partly met": 0.5, "not met": 0.0}
JUDGE_PROMPTS = ("judge_nugget", "align_event")
_MARK = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.):]|\(?[a-z][.)])\s+", re.IGNORECASE)
_INLINE_MARK = re.compile(r"(?:(?<=\s)|^)\(?\d{1,2}[.)]\s+")
_LEAD = re.compile(r"^[^:]{0,120}:\s+(?=\S)")
_ENDING = re.compile(r"[\s,;.]+(?:and|then)?\s*$")


async def judge_answer(probe: Probe, answer: Answer, asker: Asker, *, judge: str, is_strict: bool) -> Judgement:
    """Return the verdicts on one answer; `judge` names the model and its prompts in the result.

    Raises ProviderError if the judge cannot be reached; an unusable reply is a failed verdict instead.
    """
    nuggets = await judge_nuggets(probe, answer.text, asker, is_strict=is_strict)
    items: Sequence[int | None] = ()
    lines: Sequence[int | None] = ()
    if scorer_of(probe.ability).needs_alignment:
        items, lines = await _aligned(probe, answer.text, asker)
    return Judgement(
        conversation_id=answer.conversation_id,
        probe_id=probe.probe_id,
        system=answer.system,
        judge=judge,
        nuggets=nuggets,
        aligned_items=tuple(items),
        aligned_lines=tuple(lines),
    )


async def judge_nuggets(probe: Probe, text: str, asker: Asker, *, is_strict: bool) -> tuple[NuggetJudgement, ...]:
    """Return the verdict on each nugget; a blank answer meets none of them without asking the judge."""
    verdicts = (judge_nugget(probe, nugget, text, asker, is_strict=is_strict) for nugget in probe.rubric)
    return tuple(await all_judged(verdicts))


async def all_judged(judging: Iterable[Awaitable[T]]) -> list[T]:
    """Return the results of all; raise the first error when all have ended, so that every reply is in the journal."""
    ended = await asyncio.gather(*judging, return_exceptions=True)
    for result in ended:
        if isinstance(result, BaseException):
            raise result
    return [result for result in ended if not isinstance(result, BaseException)]


async def judge_nugget(probe: Probe, nugget: Nugget, text: str, asker: Asker, *, is_strict: bool) -> NuggetJudgement:
    """Return the verdict on one nugget of a probe; a blank answer does not meet it, without asking the judge."""
    if not text.strip():
        return NuggetJudgement(nugget_id=nugget.nugget_id, score=0, reason="the answer is blank")
    inputs = JudgeInputs(question=probe.question, nugget=nugget.text, answer=text, is_strict=is_strict)
    try:
        reply: JudgeReply = await asker.structured("judge_nugget", inputs, place=nugget.nugget_id)
    except ReplyError as exc:
        return NuggetJudgement(nugget_id=nugget.nugget_id, score=None, error=str(exc))
    return NuggetJudgement(nugget_id=nugget.nugget_id, score=CREDIT[reply.verdict], reason=reply.reason)


async def _aligned(probe: Probe, text: str, asker: Asker) -> tuple[list[int | None], list[int | None]]:
    """Align the answer's list items with the events, and its lines as BEAM's code splits them; no call is repeated."""
    events = probe.details.items or tuple(n.text for n in probe.rubric)
    known: dict[tuple[str, tuple[int, ...]], int | None] = {}
    of_items = await _greedy(items_of(text), events, asker.within("items"), known)
    of_lines = await _greedy([clean_item(line) for line in text.split("\n")], events, asker.within("lines"), known)
    return of_items, of_lines


async def _greedy(
    texts: Sequence[str], events: Sequence[str], asker: Asker, known: dict[tuple[str, tuple[int, ...]], int | None]
) -> list[int | None]:
    """Return the event that each text is about, in the order of the texts; an event is used once.

    `known` maps a text and the free events to the event found; new results are added.
    """
    aligned: list[int | None] = []
    for i, text in enumerate(texts):
        free = tuple(e for e in range(len(events)) if e not in aligned)
        if text and free and (text, free) not in known:
            inputs = AlignInputs(item=text, events=tuple(events[e] for e in free))
            known[text, free] = await _event_of(inputs, free, asker, str(i))
        aligned.append(known.get((text, free)))
    return aligned


async def _event_of(inputs: AlignInputs, free: Sequence[int], asker: Asker, place: str) -> int | None:
    def in_range(reply: AlignReply) -> Iterator[str]:
        if reply.event is not None and not 0 <= reply.event < len(free):
            yield f"event {reply.event} is none of 0 to {len(free) - 1}; give one of these, or null"

    reply: AlignReply = await asker.structured("align_event", inputs, place=place, accept=Acceptance(check=in_range))
    return None if reply.event is None else free[reply.event]


def items_of(answer: str) -> list[str]:
    """Return the items of the list in an answer, in order; headings, lead-ins and closing lines are no items.

    A numbered or bulleted list wins; then numbers in running text (`1) a, 2) b`); then lines, where there are
    several; then the parts of a sentence between `;`, `then` or commas.
    """
    lines = [line for line in answer.splitlines() if line.strip()]
    # One marked line alone may be a sentence that begins with a dash or a number.
    if len(marked := [line for line in lines if _MARK.match(line)]) >= 2:
        return [clean_item(line) for line in marked]
    text = " ".join(lines)
    starts = [*_INLINE_MARK.finditer(text)]
    if len(starts) >= 2:
        ends = [*(m.start() for m in starts[1:]), len(text)]
        return [clean_item(text[m.end() : end]) for m, end in zip(starts, ends, strict=True)]
    # Two lines may be a lead-in and a sentence.
    if len(lines) >= 3:
        return [clean_item(line) for line in lines if not line.rstrip().endswith(":")]
    # From the separator that is surest to the one that also divides other sentences.
    body = _LEAD.sub("", text)
    for separator in (r";\s*", r"(?:,\s*)?\b(?:and )?then\s+", r",(?!\d)\s*(?:and\s+)?"):  # no comma of $39,900
        if len(parts := [p for p in re.split(separator, body) if p.strip()]) >= 2:
            return [clean_item(p) for p in parts]
    return [clean_item(body)] if body.strip() else []


def clean_item(item: str) -> str:
    """Return an item without list mark, emphasis and final punctuation."""
    return _ENDING.sub("", _MARK.sub("", item)).strip().strip("*_").strip()
