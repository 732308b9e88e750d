"""How a person asks for a value: the clauses of `data/questions.yaml`, and the names of days made from them.

A form says `the patient share of the scan`; a person asks "what I had to pay myself for the scan".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from longbeam.offline.packs import load_pack, pack_paths, read_yaml

QUESTIONS = Path(__file__).parent / "data" / "questions.yaml"
BY_ASSISTANT = "assistant"
_AT = " @ "
_OF_ONE_THING = re.compile(r"when ((?:the|my|your) .+) was$")


@lru_cache(maxsize=1)
def question_clauses() -> Mapping[str, str]:
    """Return the clauses by attribute, some of them by `attribute @ pack/thread`."""
    return {str(key): str(clause) for key, clause in read_yaml(QUESTIONS).items()}


@lru_cache(maxsize=1)
def _places() -> Mapping[tuple[str, str], str]:
    """Return the clause of an attribute for a thing whose thread has one of its own."""
    found: dict[tuple[str, str], str] = {}
    own = [key for key in question_clauses() if _AT in key]
    for path in pack_paths():
        pack = load_pack(path)
        for thread in pack.threads:
            for key in own:
                attribute, _, place = key.partition(_AT)
                if place == f"{pack.pack}/{thread.thread}":
                    found.update({(attribute, thing): question_clauses()[key] for thing in thread.things})
    return found


def clause_for(attribute: str, subject: str, *, is_of_assistant: bool = False) -> str:
    """Return the clause with {it} that asks for an attribute of a thing.

    Empty for the user's own attributes and for those of no pack.
    """
    if subject == "me":
        return ""
    if is_of_assistant:
        return question_clauses().get(f"{attribute}{_AT}{BY_ASSISTANT}", "")
    return _places().get((attribute, subject)) or question_clauses().get(attribute, "")


def day_named(clause: str) -> str:
    """Return the name of a day: `the trial day for it` of `when the trial day for it was`, else `the day I ...`."""
    if match := _OF_ONE_THING.match(clause):
        return match[1]
    return re.sub(r"^(?:when|what day) ", "the day ", clause)
