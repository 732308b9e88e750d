"""Faults of messages: beam.md 7.10, 7.11 and 7.14. They take messages that no probe cites and no bullet stands in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from benchmarks.seeded_defects.changes import Change, Site, said
from benchmarks.seeded_defects.tables import Row
from benchmarks.seeded_defects.wording import sentences

_VOCABULARY = (
    ("user", "Time Anchor: {day}. {text}"),
    ("assistant", "{text}\n\nPlease respond only in English."),
    ("user", "As bullet point {number} of my plan says, here goes. {text}"),
    ("user", "Narrative: daily life, sub-plan {number}. {text}"),
    ("assistant", "{text}\n\n(The user will now ask a follow-up question about the bullet.)"),
    ("assistant", "{text}\n\nAs an AI language model, I was told to stay in character for this sub-plan."),
)
_PLACEHOLDERS = (
    ("assistant", "{text}\n\n(insert example here)"),
    ("user", "[your name] here again. {text}"),
    ("assistant", "{text}\n\nYou can read more at <insert link>."),
    ("user", "{text} I am asking because of XXX."),
    ("assistant", "{text}\n\nGood luck, {{user_name}}!"),
)
_JUNK = (" " * 9_000, "\n/" * 3_000, "I hope that this helps you with your plan. " * 70, "step step step " * 400)
_SHORT = 500
"""Characters of a reply that is left whole before it degenerates."""


def leave_a_plan_marker(site: Site) -> Change | None:
    """A message ends with the marker of a plan's bullet."""
    role = site.rng.choice(("user", "assistant"))
    mark = f" ->-> {site.rng.randint(1, 9)},{site.rng.randint(1, 19)}"
    return _on_spare(site, role, lambda m: m["content"] + mark)


def speak_of_the_prompt(site: Site) -> Change | None:
    """A message says words of the prompts that made it."""
    return _written(site, _VOCABULARY)


def leave_a_placeholder(site: Site) -> Change | None:
    """A message has a placeholder that nobody filled."""
    return _written(site, _PLACEHOLDERS)


def _written(site: Site, wordings: tuple[tuple[str, str], ...]) -> Change | None:
    role, wording = site.rng.choice(wordings)
    number = site.rng.randint(2, 9)
    return _on_spare(
        site, role, lambda m: wording.format(text=m["content"], day=f"March {number}, 2024", number=number)
    )


def degenerate_reply(site: Site) -> Change | None:
    """A reply runs out in blanks, in rubbish, or in one sentence again and again."""
    junk = site.rng.choice(_JUNK)
    return _on_spare(site, "assistant", lambda m: m["content"][:_SHORT] + junk)


def cut_reply(site: Site) -> Change | None:
    """A long reply breaks off within a word."""
    spare = [m for m in site.chat.spare_messages("assistant") if len(m["content"]) > 2 * _SHORT]
    if not spare:
        return None
    message = site.rng.choice(spare)
    end = message["content"].rindex(" ", 0, len(message["content"]) - 100)
    while not message["content"][end - 1].isalpha():
        end -= 1
    return Change(messages=(said(message, message["content"][: end - 1]),))


def say_the_same_again(site: Site) -> Change | None:
    """The user sends a message a second time."""
    return _again(site, lambda text: text)


def say_nearly_the_same_again(site: Site) -> Change | None:
    """The user sends a message a second time with two words before it."""
    return _again(site, lambda text: f"Well then. {text}")


def _again(site: Site, change: Callable[[str], str]) -> Change | None:
    spare = [m for m in site.chat.spare_messages("user") if len(m["content"]) > 80]
    if len(spare) < 2:
        return None
    first, second = sorted(site.rng.sample(spare, 2), key=lambda m: m["message_id"])
    return Change(messages=(said(second, change(first["content"])),), twins=(first["message_key"],))


def go_back_hours(site: Site) -> Change | None:
    """A message is sent hours before the one in front of it."""
    return _go_back(site, dt.timedelta(hours=site.rng.randint(2, 9)))


def go_back_days(site: Site) -> Change | None:
    """A message is sent days before the one in front of it."""
    return _go_back(site, dt.timedelta(days=site.rng.randint(2, 40)))


def _go_back(site: Site, by: dt.timedelta) -> Change | None:
    spare = site.chat.spare_messages(site.rng.choice(("user", "assistant")), after=20)
    if not spare:
        return None
    message = site.rng.choice(spare)
    before = site.chat.messages[message["message_id"] - 1]
    time = dt.datetime.fromisoformat(before["sent_at"]) - by
    return Change(messages=(message | {"sent_at": time.isoformat()},))


def _on_spare(site: Site, role: str, change: Callable[[Row], str]) -> Change | None:
    spare: list[Row] = [m for m in site.chat.spare_messages(role) if sentences(m["content"])]
    if not spare:
        return None
    message = site.rng.choice(spare)
    return Change(messages=(said(message, change(message)),))
