"""How BEAM's 100K conversations repeat themselves, and how people answer: `python -m benchmarks.measure_beam [FOLDER]`.

Prints each conversation and, as JSON, the means that `longbeam/validation/data/beam_published.json` keeps under
`repetition`. Messages are read whole; plan markers (`->-> 1,2`) are taken from the user's text first. The mask knows
the names of the persona and of the people around it, numbers and dates; BEAM has no ledger whose values to mask.
Then it prints the rates of answers and follow-ups that `generators/turn_cards.py` draws by.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from longbeam.keys import MessageKey
from longbeam.schemas import REPETITION_MEASURES, Message, MessageKind, MessageRole
from longbeam.validation import Mask, measure_repetition, measure_sentences

FOLDER = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "beam" / "100K"
_MARKER = re.compile(r"\s*->->[^\n]*\Z")
_NAME = re.compile(r"Name: *(.+)")
_PERSON = re.compile(r"^• *(\S+) \(", re.MULTILINE)
_DAY = dt.datetime(2024, 1, 1)
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_THANKS = re.compile(r"\bthank(?:s| you)\b|\bappreciate\b", re.IGNORECASE)
_ACCEPTS = re.compile(
    r"\b(?:sounds (?:good|great|solid|perfect|like a (?:good|great|solid) plan)|makes (?:a lot of )?sense|"
    r"(?:good|great) (?:plan|idea)|i like (?:that|the)|will do|"
    r"i'll (?:start|try|give|go|make sure|pick|use|check|do|look|definitely|stick|keep))\b",
    re.IGNORECASE,
)


def main() -> None:
    """Measure every conversation of the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="has <number>/chat.json in it")
    folder = parser.parse_args().folder
    chats = sorted(folder.glob("*/chat.json"), key=lambda path: int(path.parent.name))
    if not chats:
        print(f"skipped: no BEAM conversations in {folder}; they are no part of this repository")
        return
    measured, pool = [], []
    for path in chats:
        mask, said = Mask(read_names(path.parent)), read_chat(path)
        measured.append(measure_repetition(said, mask))
        print(path.parent.name, " ".join(f"{value:g}" for value in measured[-1].figures.values()))
        replies = (m for m in said if m.role is MessageRole.ASSISTANT)
        pool += [m.model_copy(update={"content": mask.apply(m.content)}) for m in replies]
    means = {name: round(fmean(m.figures[name] for m in measured), 4) for name in REPETITION_MEASURES}
    found = {"name": folder.name, "conversations": len(measured), "mean": means, "pooled": measure_sentences(pool)[0]}
    print(json.dumps(found, indent=2))
    print(json.dumps(measure_reactions(chats), indent=2))


def measure_reactions(chats: Sequence[Path]) -> dict[str, float]:
    """Return the rates at which users answer and ask on, by turn, and what the answers do, by regular expressions."""
    counts: Counter[str] = Counter()
    for turn in (turn for path in chats for batch in json.loads(path.read_text("utf-8")) for turn in batch["turns"]):
        kinds = [m.get("question_type") for m in turn if m["role"] == "user"]
        answers, follow_ups = kinds.count("answer_ai_question"), kinds.count("followup_question")
        counts.update(turns=1, answers=answers, follow_ups=follow_ups)
        counts.update(answered=answers > 0, asked_on=follow_ups > 0, both=answers > 0 < follow_ups)
        for before, message in pairwise(turn):
            if message.get("question_type") == "answer_ai_question":
                has_question = "?" in _CODE.sub("", before["content"])
                thanks, accepts = (is_said.search(message["content"]) is not None for is_said in (_THANKS, _ACCEPTS))
                counts.update(to_questions=has_question, thanks=thanks, accepts=accepts)
    turns, answers = counts["turns"], counts["answers"]
    return {
        "turns": turns,
        "answers a turn": round(answers / turns, 3),
        "follow-ups a turn": round(counts["follow_ups"] / turns, 3),
        "turns with an answer": round(counts["answered"] / turns, 3),
        "turns with a follow-up": round(counts["asked_on"] / turns, 3),
        "turns with both": round(counts["both"] / turns, 3),
        "answers to a reply with a question mark": round(counts["to_questions"] / answers, 3),
        "answers that thank": round(counts["thanks"] / answers, 3),
        "answers that accept the reply": round(counts["accepts"] / answers, 3),
    }


def read_chat(path: Path) -> list[Message]:
    """Return the messages in order, without the markers; what no measure looks at is made up."""
    batches = json.loads(path.read_text(encoding="utf-8"))
    said = [message for batch in batches for turn in batch["turns"] for message in turn]
    return [_message(i, MessageRole(m["role"]), m["content"]) for i, m in enumerate(said)]


def read_names(folder: Path) -> set[str]:
    """Return the name of the persona, whole and in parts, and those of the people around it."""
    name = _NAME.search((folder / "main_spec.txt").read_text(encoding="utf-8"))
    whole = name[1].strip() if name else ""
    people = _PERSON.findall((folder / "relationships.txt").read_text(encoding="utf-8"))
    return {whole, *whole.split(), *people}


def _message(number: int, role: MessageRole, content: str) -> Message:
    is_user = role is MessageRole.USER
    return Message(
        message_key=str(MessageKey(0, 0, number, 0)),
        role=role,
        speaker=role.value,
        kind=MessageKind.QUESTION if is_user else MessageKind.REPLY,
        sent_at=_DAY,
        content=_MARKER.sub("", content) if is_user else content,
        tokens=0,
    )


if __name__ == "__main__":
    main()
