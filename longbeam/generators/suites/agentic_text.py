"""Texts of the agentic suite: outputs of a coding agent's tools, made by rules, in realistic sizes.

Every function depends on its random generator only. The texts look like the output of tools; no tool is run.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

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
