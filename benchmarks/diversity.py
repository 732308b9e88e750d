"""Diversity and form of benchmarks beside each other, for the table of docs/form.md.

    python -m benchmarks.diversity OUT NAME...

Values, names and numbers are masked as in `validate --form`. A shape is a masked question; it is repeated if an earlier
question of the benchmark has it. The 4-grams of a pair of conversations are those of the user's masked messages: the
share of all of them that both have. The recall of the stock phrases is that of the expression of issue 44.
`planted` and `templates` keep at most a tenth of the text and never see the question.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, pstdev

from longbeam.memory import count_templates, learn_templates, shipped_templates, states_or_advises
from longbeam.schemas import BulletKind, ConversationHead, Message, MessageKind, MessageRole, Probe
from longbeam.store import SealedConversation, open_benchmark
from longbeam.text import form_words, sentences
from longbeam.validation import build_index, mask_of

STOCK = re.compile(
    r"\b(?:and by the by|to give you the picture|as background|a word on how things are|where would you start)\b", re.I
)
KEPT = 0.1
"""Share of the text that the floors keep."""
Read = tuple[ConversationHead, Sequence[Message], Sequence[Probe]]


def conversations(out: Path, name: str) -> Iterator[Read]:
    """Yield head, messages and selected probes of each finished conversation."""
    benchmark = open_benchmark(out, name)
    for conversation_id in benchmark.sealed_ids:
        with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
            index = build_index(sealed)
        yield index.head, list(index.messages), index.selected


def repeated_shapes(read: Sequence[Read]) -> float:
    """Return the share of questions whose shape an earlier one has."""
    shapes = [
        " ".join(form_words(probe.question, mask))
        for head, _, probes in read
        for mask in [mask_of(head)]
        for probe in probes
    ]
    return 1 - len(set(shapes)) / len(shapes)


def shared_grams(read: Sequence[Read]) -> float:
    """Return the mean share of 4-grams of the user's messages that both of two conversations have."""
    grams = []
    for head, messages, _ in read:
        mask, own = mask_of(head), set[tuple[str, ...]]()
        for message in messages:
            if message.role is MessageRole.USER:
                words = form_words(message.content, mask)
                own.update(zip(words, words[1:], words[2:], words[3:], strict=False))
        grams.append(own)
    pairs = [len(a & b) / max(len(a | b), 1) for a, b in combinations(grams, 2)]
    return fmean(pairs) if pairs else float("nan")


def stock_recall(read: Sequence[Read]) -> tuple[float, float]:
    """Return the shares of contradictions, and of plain planned statements, that the stock phrases find."""
    found: dict[bool, list[bool]] = {True: [], False: []}
    for head, messages, _ in read:
        kinds = {b.bullet_id: b.kind for plan in head.plans for b in plan.bullets()}
        for message in messages:
            own = {kinds[i] for i in message.bullet_ids if i in kinds}
            if message.role is MessageRole.USER and message.kind is MessageKind.QUESTION and own:
                is_plain = own <= {BulletKind.EVENT, BulletKind.RELATIONSHIP}
                if is_plain or BulletKind.CONTRADICTION in own:
                    found[not is_plain].append(STOCK.search(message.content) is not None)
    return tuple(fmean(found[key]) if found[key] else float("nan") for key in (True, False))  # type: ignore[return-value]


def kept_evidence(read: Sequence[Read]) -> dict[str, float]:
    """Return the share of cited quotes that each floor keeps in a tenth of the text, whatever the question is."""
    counts = [count_templates(messages, probes) for _, messages, probes in read]
    recalls: dict[str, list[float]] = {"planted": [], "templates": []}
    for place, (_, messages, probes) in enumerate(read):
        others = counts[:place] + counts[place + 1 :]
        learnt = learn_templates(others, "the others") if len(others) > 2 else shipped_templates()
        for name, keep in (("planted", states_or_advises), ("templates", learnt.score)):
            rows = []
            for message in messages:
                spans = sentences(message.content)
                for (start, end), score in zip(spans, keep(message, spans), strict=True):
                    # Where `planted` has more than fits, every so manyth of its sentences is kept.
                    rows.append((score, hash_of(message.message_key, start), message.message_key, start, end))
            recalls[name].append(_recall(messages, probes, sorted(rows, reverse=True)))
    return {name: fmean(own) for name, own in recalls.items()}


def hash_of(key: str, start: int) -> int:
    """Return a number without order, the same in every run."""
    return int.from_bytes(f"{key}/{start}".encode()) * 2654435761 % 4294967291


def _recall(
    messages: Sequence[Message], probes: Sequence[Probe], rows: Sequence[tuple[float, int, str, int, int]]
) -> float:
    left = KEPT * sum(end - start for _, _, _, start, end in rows)
    kept: dict[str, list[tuple[int, int]]] = {}
    for score, _, key, start, end in rows:
        if score <= 0 and not kept:
            break
        if end - start <= left:
            left -= end - start
            kept.setdefault(key, []).append((start, end))
    text_of = {m.message_key: m.content for m in messages}
    found = []
    for evidence in (e for probe in probes for e in probe.evidence):
        text = text_of.get(evidence.message_key, "")
        at = text.find(evidence.quote) if evidence.quote else 0
        end = at + (len(evidence.quote) or len(text))
        inside = [span for span in sentences(text) if span[0] < end and span[1] > at]
        found.append(bool(inside) and set(inside) <= set(kept.get(evidence.message_key, ())))
    return fmean(found) if found else float("nan")


def plan_counts(read: Sequence[Read]) -> str:
    """Return mean and deviation of the special bullets of a conversation by kind."""
    said = []
    for kind in (BulletKind.INSTRUCTION, BulletKind.PREFERENCE, BulletKind.UPDATE, BulletKind.CONTRADICTION):
        counts = [sum(b.kind is kind for plan in head.plans for b in plan.bullets()) for head, _, _ in read]
        said.append(f"{fmean(counts):.1f} ± {pstdev(counts):.1f}")
    return ", ".join(said)


def figures(read: Sequence[Read]) -> Mapping[str, str]:
    """Return the figures of a benchmark as text."""
    stock, kept = stock_recall(read), kept_evidence(read)
    return {
        "conversations": str(len(read)),
        "stock phrases: contradictions, statements": f"{stock[0]:.3f}, {stock[1]:.3f}",
        "question shapes repeated": f"{repeated_shapes(read):.3f}",
        "user 4-grams of a pair": f"{shared_grams(read):.3f}",
        "`planted` at 10 % of the text": f"{kept['planted']:.3f}",
        "`templates` at 10 % of the text": f"{kept['templates']:.3f}",
        "instructions, preferences, updates, contradictions": plan_counts(read),
    }


if __name__ == "__main__":
    for each in sys.argv[2:]:
        print(each)
        for said, figure in figures(list(conversations(Path(sys.argv[1]), each))).items():
            print(f"  {said}: {figure}")
