"""LIGHT on a conversation small enough to check by eye: windows, scratchpad, filter, assembly, released faults."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import pytest

from longbeam.errors import SpecError
from longbeam.memory import Tools, exchanges_of, find_system, in_order, released_ids, settings_of, with_released_copies
from longbeam.memory.light import (
    Light,
    LightSettings,
    Scratchpad,
    breakpoints,
    seen_by_extractor,
    semantic_chunks,
    tail_of,
)
from longbeam.models import ChatModel, ModelCall
from longbeam.models.embedders import HashedEmbedder
from longbeam.offline import OfflineWriter
from longbeam.schemas import Context, Exchange, Message, MessageKind, MessageRole, ModelReply, Question
from tests.generators.scripted import asker_for

START = dt.datetime(2023, 3, 6, 9, 0)


def words(text: str) -> int:
    return len(text.split())


def exchange_list(said: Sequence[tuple[int, str, str]], *, plan: int = 0) -> list[Exchange]:
    """Exchanges of (turn, user, assistant); those of one turn are its follow-ups."""
    found: list[Message] = []
    for n, (turn, user, reply) in enumerate(said):
        for side, (role, kind, text) in enumerate(
            ((MessageRole.USER, MessageKind.QUESTION, user), (MessageRole.ASSISTANT, MessageKind.REPLY, reply))
        ):
            found.append(
                Message(
                    message_key=f"p{plan}.s0.t{turn}.n{2 * n + side}",
                    role=role,
                    speaker=role.value,
                    kind=kind,
                    plan_index=plan,
                    sub_plan_index=0,
                    turn_index=turn,
                    sent_at=START + dt.timedelta(days=n, minutes=side),
                    content=text,
                    tokens=words(text),
                )
            )
    return list(exchanges_of(found))


TALK = exchange_list(
    [
        (0, "The kiln costs 4,200 euros.", "Fair for a used one."),
        (0, "And delivery is 300 euros.", "Then it is 4,500 in all."),
        (1, "Gunnar wants to see the lease.", "Send him a copy."),
        (2, "I moved the opening night to 17 June.", "Then change the invitations."),
        (3, "What glaze is safe for bowls?", "A lead-free one."),
    ]
)


async def light(
    exchanges: Sequence[Exchange] = TALK, model: ChatModel | None = None, *, embedder: Any = None, **values: object
) -> Light:
    asker = asker_for(model or OfflineWriter())  # type: ignore[arg-type]
    settings = settings_of("light", find_system("light"), values)
    assert isinstance(settings, LightSettings)
    system = Light(settings, Tools(count_tokens=words, asker=asker, embedder=embedder))
    for exchange in exchanges:
        await system.add(exchange)
    await system.finish()
    return system


def asked(text: str) -> Question:
    return Question(text=text, asked_at=START + dt.timedelta(days=30))


async def context_of(question: str, budget: int = 1_000, **values: object) -> Context:
    return await (await light(**values)).context(asked(question), budget=budget)  # type: ignore[arg-type]


class Answering:
    """The offline writer, but for prompts that a test answers itself."""

    def __init__(self, **answers: Callable[[ModelCall], str]) -> None:
        self._answers = answers
        self._inner = OfflineWriter()
        self.calls: list[ModelCall] = []

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        if (answer := self._answers.get(call.prompt.prompt_id)) is not None:
            return ModelReply(text=answer(call))
        return await self._inner.complete(call)

    def of(self, prompt_id: str) -> list[ModelCall]:
        return [call for call in self.calls if call.prompt.prompt_id == prompt_id]


# --- what an extractor sees ------------------------------------------------------------------------------------


def test_history_is_the_turn_before_or_the_earlier_exchanges_of_the_same_turn() -> None:
    seen = list(seen_by_extractor(TALK, LightSettings(), words))
    assert seen[0].before == ""
    assert seen[1].before == seen[0].text
    assert seen[2].before == f"{seen[0].text}\n{seen[1].text}"
    assert seen[3].before == seen[2].text


def test_history_keeps_its_end_and_a_long_reply_its_beginning() -> None:
    long = exchange_list([(0, "first line\nsecond line", "yes"), (1, "now", "word " * 50)])
    settings = LightSettings(history_limit=18, reply_limit=20, reply_kept_chars=25)
    seen = list(seen_by_extractor(long, settings, words))
    assert seen[1].text == "user: now\nassistant: " + ("word " * 5)
    # "user: now", "assistant:" and five times "word" are 8 words, so 10 are left for the 7 said before.
    assert words(seen[1].text) == 8
    assert seen[1].before == "user: first line\nsecond line\nassistant: yes"
    assert settings.history_limit - 8 >= words(seen[1].before)
    # With 6 left, "assistant: yes" and "second line" take 2 and a line break each.
    shorter = settings.model_copy(update={"history_limit": 14})
    assert list(seen_by_extractor(long, shorter, words))[1].before == "second line\nassistant: yes"


def test_tail_begins_with_a_line() -> None:
    assert tail_of("a b\nc d\ne f", 3, words) == "e f"
    assert tail_of("a b\nc d\ne f", 6, words) == "a b\nc d\ne f"


# --- scratchpad -------------------------------------------------------------------------------------------------


async def folded(compress: Callable[[str, int, int], Awaitable[str]], lines: int = 30) -> Scratchpad:
    pad = Scratchpad(trigger=40, limit=12, count=words, compress=compress)
    for n in range(lines):
        await pad.fold([f"note {n} here"])  # 3 words and a line break
    return pad


async def test_pad_is_compressed_beyond_the_trigger_and_not_before() -> None:
    async def last_two(notes: str, number: int, limit: int) -> str:
        return "\n".join(notes.split("\n")[-2:])

    assert (await folded(last_two, 10)).compressions == 0  # 10 * 4 = 40: at the trigger, not beyond
    assert (await folded(last_two, 11)).lines == ["note 9 here", "note 10 here"]


async def test_a_compressor_that_does_not_obey_is_cut_and_not_asked_for_ever() -> None:
    async def nothing_dropped(notes: str, number: int, limit: int) -> str:
        return notes

    pad = await folded(nothing_dropped)
    assert pad.lines[-1] == "note 29 here"
    # 11 notes until the first (44 > 40), 3 are left of each (12); 8 more make 44 again: 11, 19, 27.
    assert pad.compressions == 3
    assert len(pad.lines) == 6


async def test_light_compresses_to_the_limit() -> None:
    model = Answering()
    system = await light(model=model, pad_trigger=16, pad_limit=13, filter="none")
    assert len(model.of("compress_notes")) >= 1
    context = await system.context(asked("anything"), budget=1_000)
    assert next(p.tokens for p in context.parts if p.name == "scratchpad") <= 13
    # Released: compression raises, and no question of that conversation has an answer.
    broken = await light(pad_trigger=16, pad_limit=13, compression="fails")
    assert await broken.context(asked("anything"), budget=1_000) == Context(text="", tokens=0)


def test_breakpoints_are_the_distances_above_the_percentile() -> None:
    # Angles of neighbours: 0, 90, 0, 30, 0 degrees; the 80th percentile of (0, 1, 0, .13, 0) is .13 + .2 * 0 = .13.
    degrees = [0, 0, 90, 90, 120, 120]
    vectors = np.array([[np.cos(np.radians(d)), np.sin(np.radians(d))] for d in degrees], dtype=np.float32)
    assert breakpoints(vectors, 80) == [1]
    assert breakpoints(vectors, 50) == [1, 3]
    assert breakpoints(vectors[:1], 80) == []


async def test_chunks_hold_every_line_once_and_part_where_the_topic_changes() -> None:
    lines = ["the kiln fires at noon", "the kiln fires hot", "taxes are due in May", "taxes are due by post"]
    chunks = await semantic_chunks(lines, HashedEmbedder(), percentile=60, buffer=0)
    assert "\n".join(chunks).split("\n") == lines
    assert chunks == ("\n".join(lines[:2]), "\n".join(lines[2:]))


async def test_filter_keeps_the_chunks_with_a_yes() -> None:
    def verdict(call: ModelCall) -> str:
        return '{"verdict": "yes"}' if "June" in call.inputs.notes else '{"verdict": "no"}'  # type: ignore[attr-defined]

    values: dict[str, object] = {"percentile": 1, "buffer": 0, "k": 1, "z": 1}
    system = await light(model=Answering(notes_relevant=verdict), **values)
    text = (await system.context(asked("What about glaze?"), budget=1_000)).text
    assert "March 9, 2023: I moved the opening night to 17 June." in text
    assert "kiln" not in text
    whole = await light(model=Answering(notes_relevant=verdict), without="filter", **values)
    assert "kiln costs 4,200" in (await whole.context(asked("What about glaze?"), budget=1_000)).text


async def test_one_call_can_filter_all_chunks() -> None:
    model = Answering(select_notes=lambda call: '{"pieces": [0, 99]}')
    system = await light(model=model, filter="once", percentile=1, buffer=0, k=1, z=1)
    text = (await system.context(asked("What about glaze?"), budget=1_000)).text
    assert "March 6, 2023: The kiln costs 4,200 euros." in text
    assert len(model.of("select_notes")) == 1
    assert model.of("notes_relevant") == []


@pytest.mark.parametrize("filter_by", ["chunks", "once"])
@pytest.mark.parametrize("reply", ["{}", None])
async def test_questions_add_nothing_to_the_usage_of_preparation(filter_by: str, reply: str | None) -> None:
    unusable = {} if reply is None else dict.fromkeys(("notes_relevant", "select_notes"), lambda call: reply)
    model = Answering(**unusable)
    system = await light(model=model, filter=filter_by)
    prepared = system.usage()
    await system.context(asked("What about glaze?"), budget=1_000)
    assert model.of("notes_relevant") + model.of("select_notes") != []
    assert system.usage() == prepared


# --- retrieval and assembly ----------------------------------------------------------------------------------------


async def test_a_key_leads_to_the_exchange_as_it_was_said() -> None:
    def keys(call: ModelCall) -> str:
        is_it = "lease" in call.inputs.exchange  # type: ignore[attr-defined]
        return '{"entries": [{"key": "landlord papers", "value": "%s"}], "summary": "-"}' % ("zebra" if is_it else "x")

    system = await light(model=Answering(extract_keys=keys))
    (found,) = await system.retrieve(asked("zebra"), k=1)
    assert found.text.startswith("user: Gunnar wants to see the lease.")


@pytest.mark.parametrize("embedder", [None, HashedEmbedder()])
async def test_a_failed_extraction_is_indexed_by_the_exchange_itself(embedder: HashedEmbedder | None) -> None:
    model = Answering(extract_keys=lambda call: "no json")
    system = await light(model=model, embedder=embedder)
    assert system.usage().failed_calls == len(TALK)
    (found,) = await system.retrieve(asked("Gunnar lease"), k=1)
    assert "Gunnar" in found.text
    released = await light(model=model, embedder=embedder, failures="absent")
    assert await released.retrieve(asked("Gunnar lease"), k=1) == []


async def test_context_is_retrieved_then_recent_then_notes() -> None:
    context = await context_of("What does the kiln cost?", k=1, z=2, recent_share=0.3, pad_share=0.3)
    assert [p.name for p in context.parts] == ["retrieved", "recent", "scratchpad"]
    places = [
        context.text.index(t) for t in ("Fair for a used one", "invitations", "lead-free", "March 6, 2023: The kiln")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("budget", [10, 20, 40, 60, 80])
@pytest.mark.parametrize("without", ["nothing", "retrieval", "scratchpad", "working", "filter"])
async def test_budget_is_never_exceeded_and_what_is_left_out_is_not_read(budget: int, without: str) -> None:
    context = await context_of("What does the kiln cost?", budget, without=without)
    assert context.tokens <= budget
    part = {"retrieval": "retrieved", "scratchpad": "scratchpad", "working": "recent"}.get(without)
    assert part not in [p.name for p in context.parts]


async def test_the_newest_exchanges_are_kept_when_the_budget_binds() -> None:
    values: dict[str, object] = {"without": "scratchpad", "k": 1, "recent_share": 0.5}
    mended = await context_of("What does the kiln cost?", 30, **values)
    assert "glaze" in mended.text
    # The mended one does not fill up from the oldest end, which the released one does.
    released = await context_of("What does the kiln cost?", 30, fill="oldest", z=4, **values)
    assert "glaze" not in released.text
    assert "delivery" in released.text


async def test_working_memory_holds_z_distinct_exchanges_released_only_the_copies_of_two() -> None:
    values: dict[str, object] = {"without": "scratchpad", "k": 1, "z": 4, "dates": False}
    mended = await context_of("nothing of this", 1_000, **values)
    keys = [e.message_keys[0] for e in TALK]
    assert [k for k in mended.message_keys if k in keys] == keys[1:]
    released = await context_of("nothing of this", 1_000, copies="released", **values)
    assert [k for k in released.message_keys if k in keys] == keys[3:]
    assert released.text.count("lead-free") == 2


# --- the released variant -------------------------------------------------------------------------------------------


def test_released_sets_every_fault_and_each_can_be_set_back() -> None:
    released = settings_of("light", find_system("light"), {"variant": "released", "fill": "newest"})
    assert isinstance(released, LightSettings)
    assert (released.copies, released.fill, released.compression, released.z) == ("released", "newest", "fails", 100)
    with pytest.raises(SpecError, match="must be below pad_trigger"):
        settings_of("light", find_system("light"), {"pad_limit": "40000"})
    with pytest.raises(SpecError, match=r"light\.retriever = 'dense' needs an embedding model"):
        Light(LightSettings(retriever="dense"), Tools(count_tokens=words, asker=asker_for(OfflineWriter())))


def test_released_ids_sort_as_text_and_are_shared_by_plans() -> None:
    first = exchange_list([(n, f"turn {n}", "ok") for n in range(11)])
    second = exchange_list([(0, "another plan", "ok")], plan=1)
    ids = released_ids([*first, second[0].model_copy(update={"position": 11})])
    assert sorted(ids[:11]).index("0, 10, 0") < sorted(ids[:11]).index("0, 2, 0")
    assert ids[11] == ids[0]


async def test_a_hit_of_the_released_variant_brings_its_namesakes() -> None:
    second = exchange_list([(1, "Yesterday the boat sank.", "Sorry.")], plan=1)[0]
    talk = [*TALK, second.model_copy(update={"position": len(TALK)})]
    values: dict[str, object] = {"k": 1, "z": 1, "without": "scratchpad", "fill": "oldest", "dates": False}
    mended = await (await light(talk, **values)).context(asked("Gunnar lease"), budget=1_000)
    released = await (await light(talk, ids="released", **values)).context(asked("Gunnar lease"), budget=1_000)
    in_first_part = [p.tokens for c in (mended, released) for p in c.parts if p.name == "retrieved"]
    assert in_first_part[1] > in_first_part[0]


def test_copies_are_for_each_message_of_the_turn() -> None:
    copied = with_released_copies(TALK)
    assert [copied.count(e) for e in TALK] == [4, 4, 2, 2, 2]


# --- determinism ---------------------------------------------------------------------------------------------------


async def test_nothing_depends_on_which_call_is_answered_first() -> None:
    class Late(OfflineWriter):
        async def complete(self, call: ModelCall) -> ModelReply:
            for _ in range(sum(call.key.encode()) % 7):
                await asyncio.sleep(0)
            return await super().complete(call)

    first = await (await light()).context(asked("What does the kiln cost?"), budget=200)
    late = await (await light(model=Late())).context(asked("What does the kiln cost?"), budget=200)
    assert first == late


async def test_work_in_order_waits_for_what_is_under_way_before_it_raises() -> None:
    ended: list[int] = []

    async def one(n: int) -> int:
        await asyncio.sleep(0)
        if n == 1:
            raise ValueError("one")
        await asyncio.sleep(0)
        ended.append(n)
        return n

    assert await in_order([lambda n=n: one(n) for n in (5, 0, 7)], at_once=2) == [5, 0, 7]
    ended.clear()
    with pytest.raises(ValueError, match="one"):
        await in_order([lambda n=n: one(n) for n in range(3)], at_once=3)
    assert ended == [0, 2]
