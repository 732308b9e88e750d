"""Values written another way, wrong values of the same kind, and small edits of sentences."""

from __future__ import annotations

import datetime as dt
import re
from random import Random

from benchmarks.seeded_defects.tables import Row

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def in_words(number: int) -> str:
    """Return a number below a million in words: `two hundred and sixty-four`."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")
    thousands, rest = divmod(number, 1000)
    joint = "" if not rest else f" {in_words(rest)}" if rest >= 100 else f" and {in_words(rest)}"
    return f"{in_words(thousands)} thousand{joint}"


def read_day(text: str) -> dt.date | None:
    """Return the day of `March 5, 2024`; None if it is no such text."""
    try:
        return dt.datetime.strptime(text, "%B %d, %Y").date()
    except ValueError:
        return None


def write_day(day: dt.date) -> str:
    """Return `March 5, 2024`, as our conversations write days."""
    return f"{day:%B} {day.day}, {day.year}"


def other_writings(text: str) -> list[str]:
    """Return other ways to write a day, or a text with one number; empty where there is none."""
    day = read_day(text)
    if day is not None:
        return [f"{day.day} {day:%B %Y}", day.isoformat(), f"the {ordinal(day.day)} of {day:%B} {day.year}"]
    found = _NUMBER.findall(text)
    if len(found) != 1 or "." in found[0] or not _is_plain(text):
        return []
    number = int(found[0].replace(",", ""))
    if text.startswith("$"):
        return [f"{found[0]} dollars", f"USD {number}", f"{in_words(number)} dollars"]
    if text.endswith("%"):
        return [f"{found[0]} percent", f"{in_words(number)} per cent"]
    unit = text.replace(found[0], "").strip()
    weeks = [f"{in_words(number // 7)} weeks"] if unit == "days" and number % 7 == 0 and number > 7 else []
    return [f"{in_words(number)} {unit}", *weeks] if unit else [in_words(number)]


def in_other_words(text: str) -> str:
    """Return the writing furthest from the digits, or the text itself where there is none."""
    return (other_writings(text) or [text])[-1]


def wrong_value(text: str, rng: Random) -> str:
    """Return another value of the same kind; an empty text where the kind is not known."""
    day = read_day(text)
    if day is not None:
        return write_day(day + dt.timedelta(days=rng.choice((-9, -6, -4, 3, 5, 8, 11))))
    found = _NUMBER.findall(text)
    if len(found) != 1 or not _is_plain(text):
        return ""
    places = len(found[0].partition(".")[2])
    number = float(found[0].replace(",", ""))
    wrong = round(number * rng.choice((1.3, 1.5, 1.7)), places) if places else int(number * 1.3) + rng.randint(2, 4)
    if text.endswith("%"):
        wrong = (number + rng.randint(5, 40)) % 97
    return text.replace(found[0], f"{wrong:,.{places}f}")


def typed_value(values: list[Row], text: str) -> str:
    """Return the last of these values that the text names and that is a day or has a number; else an empty text."""
    for value in reversed(values):
        if whole(value["text"]).search(text) and (read_day(value["text"]) or _is_plain(value["text"])):
            return str(value["text"])
    return ""


def whole(words: str) -> re.Pattern[str]:
    """Return a pattern of these words that does not match within a longer number: not `9 days` in `19 days`."""
    return re.compile(rf"(?<![\w.,$]){re.escape(words)}(?!\w)")


def sentences(text: str) -> list[str]:
    """Return the sentences of the first paragraph, as they stand there."""
    return [s for s in _SENTENCE_END.split(text.split("\n")[0].strip()) if s]


def ordinal(number: int) -> str:
    """Return `21st`."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _is_plain(text: str) -> bool:
    """Whether a text is a number with an optional unit: `$1,800`, `93%`, `14 days`, `1,470 rows`."""
    return re.fullmatch(r"\$?\d[\d,]*(?:\.\d+)?(?:%| [a-z]+(?: [a-z]+)?)?", text) is not None
