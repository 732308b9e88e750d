"""How the user's messages read, beside BEAM's and LoCoMo's: `python -m benchmarks.turn_style [BENCHMARK_FOLDER ...]`.

Prints a table. Each folder is a generated benchmark with sealed conversations; BEAM's and LoCoMo's conversations are
added where `../shared/data` has them. A *turn* is a main question with the answers and follow-ups behind it. Words are
those outside of code. LoCoMo's two speakers both count as users, and the message before stands for the reply.

- Opening entropy: bits of the distribution of the first two words, of the first 60 turns of a conversation.
- Self-BLEU: mean BLEU-4 (smoothed by one) of each of these turns against the others (Zhu et al., 2018, Texygen).
- Takes up the reply: turns that thank for, agree to, object to or name what the assistant said (`_TAKEN_UP`).
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean, quantiles

from longbeam.schemas import MessageKind, MessageRole
from longbeam.store import SealedConversation
from longbeam.text import without_code

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
SAMPLE = 60
"""Turns of a conversation whose openings and words are compared: both measures grow with the number."""
_MARKER = re.compile(r"\s*->->[^\n]*\Z")
_BEAM_KINDS = {
    "main_question": MessageKind.QUESTION,
    "answer_ai_question": MessageKind.ANSWER,
    "followup_question": MessageKind.FOLLOW_UP,
}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TAKEN_UP = re.compile(
    r"\A\W*(?:thanks|thank you|ok(?:ay)?|right|sure|great|good (?:point|idea)|got it|makes sense|sounds|yes|"
    r"yeah|no,|hmm?|fair|agreed|wow|true|interesting|i see|i tried|not sure (?:about|i)|"
    r"that (?:makes|sounds|helps?|worked|was))\b"
    r"|\b(?:you (?:said|mentioned|suggested|wrote|told|recommended|explained|gave|put)|as you (?:say|said|put)|your "
    r"(?:last|answer|advice|reply|suggestion|tip|point|list|plan|explanation|steps?|idea|version|way))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Said:
    """A message of the user's side."""

    kind: MessageKind
    text: str
    bullets: int = 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, help="folders of benchmarks")
    rows = [
        (folder.name, [_sealed(p) for p in sorted(folder.glob("conversations/*.duckdb"))])
        for folder in parser.parse_args().folders
    ]
    rows.append(("BEAM 100K", [_beam(p) for p in sorted(DATA.glob("beam/100K/*/chat.json"))]))
    rows.append(("LoCoMo", [talk for p in sorted(DATA.glob("locomo/*.json")) for talk in _locomo(p)]))
    table = {name: measure(talks) for name, talks in rows if talks}
    names = list(next(iter(table.values()), {}))
    print(f"| | {' | '.join(table)} |\n|---|{'---:|' * len(table)}")
    for name in names:
        print(f"| {name} | {' | '.join(row[name] for row in table.values())} |")


def measure(talks: Sequence[Sequence[Said]]) -> dict[str, str]:
    """Return the figures of some conversations, as the table prints them."""
    said = [m for talk in talks for m in talk]
    turns = [m for m in said if m.kind is MessageKind.QUESTION]
    prose = [without_code(m.text) for m in turns]
    words = [len(text.split()) for text in prose]
    samples = [[m.text for m in islice((m for m in talk if m.kind is MessageKind.QUESTION), SAMPLE)] for talk in talks]
    rate = {kind: sum(m.kind is kind for m in said) / len(turns) for kind in MessageKind}
    taken = [m for talk in talks for m in talk[1:] if m.kind is MessageKind.QUESTION]
    deciles = quantiles(words, n=10)
    bullets = [m.bullets for m in turns if m.bullets]
    return {
        "conversations": f"{len(talks)}",
        "turns": f"{len(turns)}",
        "words a turn": f"{fmean(words):.1f}",
        "words: 1st, 5th, 9th decile": f"{deciles[0]:.0f}, {deciles[4]:.0f}, {deciles[8]:.0f}",
        "questions a turn": f"{fmean(text.count('?') for text in prose):.2f}",
        "turns with several questions": f"{fmean(text.count('?') > 1 for text in prose):.0%}",
        "bullets a turn that tells": f"{fmean(bullets):.2f}" if bullets else "-",
        "written years per 100 messages": f"{100 * fmean(len(_YEAR.findall(m.text)) for m in said):.1f}",
        "opening entropy (bits)": f"{fmean(map(opening_entropy, samples)):.2f}",
        "self-BLEU": f"{fmean(map(self_bleu, samples)):.3f}",
        "takes up the reply": f"{fmean(bool(_TAKEN_UP.search(m.text)) for m in taken):.0%}",
        "turns with code": f"{fmean('```' in m.text for m in turns):.0%}",
        "answers a turn": f"{rate[MessageKind.ANSWER]:.2f}",
        "follow-ups a turn": f"{rate[MessageKind.FOLLOW_UP]:.2f}",
    }


def opening_entropy(texts: Sequence[str]) -> float:
    """Return the entropy, in bits, of the first two words of texts."""
    counts = Counter(" ".join(text.casefold().split()[:2]) for text in texts)
    return -sum(n / len(texts) * math.log2(n / len(texts)) for n in counts.values())


def self_bleu(texts: Sequence[str]) -> float:
    """Return the mean BLEU-4 of each text against all others; add-one smoothing, closest length for the brevity."""
    tokens = [re.findall(r"\w+|[^\w\s]", text.casefold()) for text in texts]
    grams = [[Counter(zip(*(t[i:] for i in range(n)), strict=False)) for n in range(1, 5)] for t in tokens]
    return fmean(_bleu(i, tokens, grams) for i in range(len(texts))) if len(texts) > 1 else 0.0


def _bleu(i: int, tokens: Sequence[list[str]], grams: Sequence[Sequence[Counter[tuple[str, ...]]]]) -> float:
    logs = 0.0
    for n in range(4):
        own = grams[i][n]
        best: Counter[tuple[str, ...]] = Counter()
        for j, other in enumerate(grams):
            if j != i:
                best |= own & other[n]
        logs += math.log((sum(best.values()) + 1) / (sum(own.values()) + 1))
    size = len(tokens[i])
    nearest = min((len(t) for j, t in enumerate(tokens) if j != i), key=lambda length: (abs(length - size), length))
    return math.exp(logs / 4) * min(1.0, math.exp(1 - nearest / max(size, 1)))


def _sealed(path: Path) -> list[Said]:
    with SealedConversation(path) as sealed:
        messages = [m for m in sealed.messages() if m.role is MessageRole.USER]
    return [Said(m.kind, m.content, len(m.bullet_ids)) for m in messages]


def _beam(path: Path) -> list[Said]:
    batches = json.loads(path.read_text(encoding="utf-8"))
    messages = [m for batch in batches for turn in batch["turns"] for m in turn if m["role"] == "user"]
    # BEAM's questions are written for one bullet each; the marker at the end names it.
    kinds = ((_BEAM_KINDS.get(m.get("question_type", ""), MessageKind.QUESTION), m["content"]) for m in messages)
    return [Said(kind, _MARKER.sub("", text), int(bool(_MARKER.search(text)))) for kind, text in kinds]


def _locomo(path: Path) -> Iterator[list[Said]]:
    for sample in json.loads(path.read_text(encoding="utf-8")):
        talk = sample["conversation"]
        sessions = sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:]))
        yield [Said(MessageKind.QUESTION, turn["text"]) for k in sessions for turn in talk[k]]


if __name__ == "__main__":
    main()
