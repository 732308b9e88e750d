"""Probes over imported chats: the ledger is read out of them, and probes are made, checked and selected as for a
generated conversation.

Everything that a model says is in the conversation's work log, so that a stopped command continues. The sealed file is
written anew at the end: the same messages, now with the bullets that they voice, a plan, and probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from longbeam.errors import UserError
from longbeam.formats.chat import FORMAT
from longbeam.generators import (
    CALIBRATION_PROMPT,
    CHATS,
    CONTRADICTION_PROMPTS,
    EXTRACT_PROMPT,
    ChatStatement,
    Opposed,
    confirmed,
    opposed_pairs,
    passages_of,
    read_passage,
    with_replies_advice,
    without_echoes,
)
from longbeam.generators.chat_ledger import plan_of
from longbeam.models import Asker, JournalledModel, Models, has_model_checks
from longbeam.pipeline.run.driver import limited_models
from longbeam.pipeline.run.gaps import making_of
from longbeam.pipeline.run.probing import ConversationText, check_worded, word_probes
from longbeam.pipeline.run.unit_spec import Digested, UnitSpec
from longbeam.pipeline.run.units import Blocked, Progress, SilentProgress, Units, all_of
from longbeam.prompts import registry_for
from longbeam.schemas import BenchmarkSpec, ConversationHead, Message, NoteKind, Probe, Role, digest_of
from longbeam.store import Benchmark, SealedConversation, WorkLog, seal_conversation, write_spec

READ = UnitSpec("ledger", ChatStatement, prompts=(EXTRACT_PROMPT,), acting=Role.CHECKER)
"""The statements of one passage. The checker reads also where `[checks] model = false`, so the role is named here."""

OPPOSED = UnitSpec("ledger", Opposed, prompts=CONTRADICTION_PROMPTS, unversioned_prompts=(CALIBRATION_PROMPT,))
"""A pair of statements that the checkers find to contradict each other; nothing of one that they do not."""

PROBING_FIELDS = (
    "models",
    "endpoints",
    "sampling",
    "limits",
    "checks",
    "abilities",
    "probes_per_ability",
    "probes",
    "language",
    "seed",
)
"""Fields of a spec that decide how probes are made over chats; the others are of text that is to be generated."""


@dataclass(frozen=True)
class ChatProbes:
    """Counts of the statements and probes made from a benchmark's chats, and the failures."""

    statements: int
    probes: int
    """Selected probes."""
    failures: tuple[str, ...]
    """One line for each part that no usable reply came for."""


def chats_of(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark; UserError if it was not imported from chats."""
    if benchmark.spec.imported_from != FORMAT:
        raise UserError(
            f"benchmark {benchmark.spec.name!r} holds no imported chats; "
            "`longbeam probe` makes probes for what `longbeam import chat` read"
        )
    return benchmark


def probing_spec(benchmark: Benchmark, given: BenchmarkSpec) -> BenchmarkSpec:
    """Return the benchmark's spec with the fields PROBING_FIELDS of another one."""
    return benchmark.spec.model_copy(update={name: getattr(given, name) for name in PROBING_FIELDS})


async def probe_chats(benchmark: Benchmark, models: Models, progress: Progress | None = None) -> ChatProbes:
    """Make the probes of every conversation of a benchmark whose spec names the models, and seal it with them."""
    made: list[ChatProbes] = []
    async with limited_models(models, benchmark.spec) as limited:
        for conversation_id in benchmark.sealed_ids:
            made.append(await _probe(benchmark, conversation_id, limited, progress or SilentProgress()))
    write_spec(benchmark.root, benchmark.spec)
    return ChatProbes(
        statements=sum(one.statements for one in made),
        probes=sum(one.probes for one in made),
        failures=tuple(line for one in made for line in one.failures),
    )


async def _probe(benchmark: Benchmark, conversation_id: str, models: Models, progress: Progress) -> ChatProbes:
    path = benchmark.sealed_path(conversation_id)
    with SealedConversation(path) as sealed:
        head, messages = sealed.head, [m.model_copy(update={"bullet_ids": ()}) for m in sealed.messages()]
    with WorkLog.open(benchmark.work_path(conversation_id)) as log:
        journalled = JournalledModel(models.chat, log.journal)
        asked = replace(models, chat=journalled)
        units = Units(conversation_id, benchmark.spec, log, asked, registry_for(benchmark.spec))
        units.reporting_to(progress, journalled)
        is_dated = all(note.kind is not NoteKind.NO_DATE for note in head.import_notes)
        statements = without_echoes(messages, await _statements(units, messages, is_dated=is_dated))
        told = plan_of(messages, statements, await _denied(units, messages, statements))
        plan, voiced = with_replies_advice(*told, messages)
        messages = [m.model_copy(update={"bullet_ids": voiced.get(m.message_key, ())}) for m in messages]
        head = head.model_copy(update={"plans": (plan,), "narratives": (CHATS,), "user_turns": ()})
        text = ConversationText(head, messages, digest_of([m.digest for m in messages]))
        pool = await check_worded(await word_probes(units, text))
        _seal(benchmark, head, messages, pool.probes, log)
        failures = tuple(f"{conversation_id}/{u.stage}/{u.unit_key}: {u.error}" for u in units.failed)
    return ChatProbes(len(statements), sum(p.is_selected for p in pool.probes), failures)


async def _statements(units: Units, messages: Sequence[Message], *, is_dated: bool) -> list[ChatStatement]:
    """Return the statements of all passages, one after the other: each is shown what those before it stated.

    `is_dated`: whether the file gave the times of all messages.
    """
    found: list[ChatStatement] = []
    passages = list(passages_of(messages))
    units.expect(READ.stage, len(passages))
    for number, passage in enumerate(passages):
        known = tuple(dict.fromkeys(s.line for s in found if s.says != "denial"))
        read = Digested(passage, digest_of([m.digest for m in passage]))
        try:
            found += await units.run(READ, f"passage{number}", read, known, is_dated, work=_read)
        except Blocked:
            continue  # it is in `units.failed`
    return found


async def _read(
    asker: Asker, passage: Digested[tuple[Message, ...]], known: tuple[str, ...], is_dated: bool
) -> Sequence[ChatStatement]:
    return await read_passage(asker, passage.value, known, is_dated=is_dated, reads_lists=True)


async def _denied(units: Units, messages: Sequence[Message], statements: Sequence[ChatStatement]) -> dict[str, str]:
    """Return the statements that contradict an earlier one with this one, by digest; none where no model checks."""
    if not has_model_checks(units.spec):
        return {}
    pairs = opposed_pairs(messages, statements)
    judged = await all_of([_judged(units, f"pair{number}", pair) for number, pair in enumerate(pairs)])
    # A denial may contradict several remarks: it is asked for with the closest one.
    return {pair.later.digest: pair.earlier.digest for found in reversed(judged) for pair in found}


async def _judged(units: Units, key: str, pair: Opposed) -> Sequence[Opposed]:
    try:
        return await units.run(OPPOSED, key, pair, work=confirmed)
    except Blocked:
        return ()  # it is in `units.failed`


def _seal(
    benchmark: Benchmark, head: ConversationHead, messages: Sequence[Message], probes: Sequence[Probe], log: WorkLog
) -> None:
    authors, making = log.journal.authors(), making_of(log)
    notes = tuple(note for note in head.import_notes if note.kind is not NoteKind.NO_PROBES)
    whole = head.model_copy(update={"authors": authors, "making": making, "import_notes": notes})
    seal_conversation(benchmark.sealed_path(head.conversation_id), whole, messages, probes)
