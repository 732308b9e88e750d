"""A small domain pack that keeps every rule, as plain data to spoil."""

from __future__ import annotations

import json
from typing import Any


def _standing(number: int) -> dict[str, Any]:
    return {
        "tell": [f"when I ask about matter {number}, be brief", f"be brief when I ask about matter {number}"],
        "topic": f"matter {number}",
        "condition": f"when I ask about matter {number}",
        "requirement": "is brief",
        "probe": ["What now?", "What then?"],
        "honour": ["In brief.", "Briefly."],
    }


def _thread(name: str) -> dict[str, Any]:
    ask = [{"q": "How do I begin {it}?", "card": "c0"}, {"q": "What about {it}?", "card": "c1"}]
    points = [{"do": f"begin {{it}} at end {i}", "why": "it is near", "how": "Take the left one."} for i in range(4)]
    return {
        "thread": name,
        "narrative": f"Narrative {name}",
        "about": "What happens",
        "sub_labels": ["one", "two", "three"],
        "things": [f"the gate of {name}"],
        "slots": {
            "due": {"attribute": "due date", "type": "date", "in_days": [3, 9], "moved": ["{it} is due on {new}"]},
            "size": {"attribute": "size", "type": "number", "trend": "either", "range": [2, 9]},
            "paid": {"attribute": "price", "type": "money", "range": [10, 90], "misremember": ["{it} was {other}"]},
        },
        "beats": [
            {"beat": "plan", "tell": ["{it} is due on {due}", "by {due} I want {it}"], "sets": ["due"], "ask": ask},
            {
                "beat": "pay",
                "who": "friend",
                "tell": ["{who} had {paid} from me for {it}", "{it} cost {paid}, says {who}"],
                "fixed": ["paid"],
                "deny": ["I've never paid for {it}"],
                "not_yet": ["I still haven't paid for {it}"],
                "ask": ask,
            },
            {"beat": "move", "tell": ["{it} moves to {due}", "{due} now for {it}"], "updates": ["due"], "ask": ask},
            {"beat": "rest", "tell": ["{it} rests", "nothing new on {it}"], "ask": ask},
        ],
        "cards": [
            {
                "card": f"c{i}",
                "about": f"matter {i}",
                "ask": ["What is {it}?", "Why {it}?", "When {it}?"],
                "points": points,
                "watch": ["Mind {it}.", "Mind the gap."],
                "check": ["It shuts.", "It opens."],
            }
            for i in range(3)
        ],
        "outcome": ["{it} stands", "{it} cost {paid} in the end"],
        "ask_back": [{"q": f"Is {{it}} number {i}?", "a": ["Yes.", "No.", "Perhaps."]} for i in range(3)],
        "options": [{"name": f"way {i}", "good": "short", "bad": "steep", "fits": "if dry"} for i in range(2)],
    }


def good_pack() -> dict[str, Any]:
    """A small sound pack; through JSON and back, so that no two of its parts are the same object."""
    data = {
        "pack": "good",
        "domain": "coding",
        "match": ["gate"],
        "intro": ["I'm {name}."] * 3,
        "ending": ["it is over and it held", "that was the end, and I'd do it again"],
        "intro_ask": [{"q": "Where to begin?", "card": "t0/c0"}, {"q": "And then?", "card": "t1/c1"}],
        "threads": [_thread(f"t{i}") for i in range(5)],
        "instructions": [_standing(i) for i in range(12)],
        "preferences": [_standing(20 + i) for i in range(12)],
        "snippets": [
            {"snippet": "s", "kind": "bug", "lang": "python", "fault": "x", "code": "a", "fixed": "b", "why": "c"}
        ],
    }
    pack: dict[str, Any] = json.loads(json.dumps(data))
    return pack
