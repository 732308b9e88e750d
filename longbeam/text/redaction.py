"""Private data in chats, replaced by placeholders: keys, passwords, e-mail addresses, numbers, and names.

Presidio's recognisers decide what is a card, an account, an IP address, a social security number or a telephone number;
they read short windows around what may be one, so that the time is linear in the length. Keys, passwords, e-mail
addresses and names have rules here. What was found once is replaced wherever it stands. The same text always gets the
same placeholder, so that a conversation stays coherent. Rules miss names that no list has, addresses, and whatever a
person can only be known by: the table of what was found is there to be read.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from longbeam.errors import require_extra
from longbeam.text.name_tables import PLACES, names_of

KINDS = ("key", "password", "email", "iban", "card", "ssn", "ip", "phone", "name")
"""Kinds of private texts; where two meet, the earlier one counts."""

_HIDDEN = re.compile(
    "[\u00a0\u00ad\u1680\u2000-\u200f\u2010-\u2015\u202f\u205f\u2060\u2212\u3000\ufe63\ufeff\uff00-\uff60]"
)
"""Characters in which private texts hide: spaces of other kinds, none at all, other hyphens, wide letters."""
_ZERO_WIDTH = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_HYPHENS = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d")

_KEY = re.compile(
    r"(?<![\w-])(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abeprs]|hf|npm|pypi|dop_v1|shpat|SG|whsec)[-_.][\w.-]{16,400}"
    r"|(?<![\w-])(?:AIza[\w-]{30,50}|(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)|ya29\.[\w-]{16,400})"
    r"|(?<![\w-])eyJ[\w-]{8,4000}\.[\w-]{8,4000}(?:\.[\w-]{8,4000})?"
    r"|(?i:(?<=bearer )|(?<=basic ))[\w.~+/-]{16,400}=*",
    re.ASCII,
)
_BLOCK = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----")
_BLOCK_END = "-----END"
_SECRET_WORD = (
    r"pass(?:word|wort|phrase|code)?|pwd|passwd|kennwort|parola|contraseña|contrasena|clave|senha|mot de passe|hasło"
    r"|haslo|пароль|密码|密碼|パスワード|비밀번호|secret|token|api[_ -]?key|access[_ -]?key|client[_ -]?secret|pin"
)
_PASSWORD = re.compile(
    rf"(?i)(?<![^\W_])(?:{_SECRET_WORD})['\"]?(?:\s{{0,3}}[:=：]\s{{0,3}}|\s{{1,3}}(?:is|ist|es|est|to|è|é|это)\s{{1,3}}|(?:是|は|는)\s{{0,3}})"
    r"['\"“„«`]?(?P<secret>[^\s'\"“”„«»`,;，。]{4,120})"
)
_BARE_PASSWORD = re.compile(
    r"(?i)(?<![^\W_])(?:pass(?:word|wort|phrase|code)|pwd|passwd|kennwort)\s{1,3}['\"“„«`]?"
    r"(?P<secret>(?=[^\s'\"“”„«»`]{0,80}\d)(?=[^\s'\"“”„«»`]{0,80}[^\W\d_])[^\s'\"“”„«»`,;，。]{6,120})"
)
"""A password right behind its word, `with password hunter2!Zz`: it has a letter and a digit."""
_URL_SECRET = re.compile(r"://[^\s:/@]{1,80}:(?P<secret>[^\s@/]{1,120})@")
_EMAIL = re.compile(
    "(?<![A-Za-z0-9\u00c0-\u052f._%+-])[A-Za-z0-9\u00c0-\u052f][A-Za-z0-9\u00c0-\u052f._%+-]{0,63}"
    "@(?:[A-Za-z0-9\u00c0-\u052f](?:[A-Za-z0-9\u00c0-\u052f-]{0,61}[A-Za-z0-9\u00c0-\u052f])?\\.){1,8}"
    "[A-Za-z\u00c0-\u052f]{2,24}"
)
"""Letters are those of scripts with spaces: others may stand beside an address without being a part of it."""
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,32}|[a-z]{2}\d{2}[a-z0-9]{11,30})(?![A-Za-z0-9])", re.ASCII
)
_DIGITS = re.compile(
    r"(?<![\w.])(?:\+|\(\+?|00)?\d(?:[ ()./\\-]{0,3}\d){6,22}(?:(?: ?x| ext\.? ?)\d{1,6})?(?!\w|[.,]\d)", re.ASCII
)
_SECOND_SERIES = re.compile(r"(?<!\d)2[2-7]\d{2}(?:[ -]?\d{4}){3}(?!\d)")
"""Cards of a range that Presidio's pattern lacks; its checksum decides on them, too."""
_NUMBERED = re.compile(r"(?i)(?:chapter|section|version|release|table|figure|part|kapitel|abschnitt|§|v)\.? ?$")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)|(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])",
    re.ASCII,
)
_DATE = re.compile(
    r"\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}(?:[ T]\d{2})?|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{2,4}"
    r"|(?:19|20)\d{2} ?[-/] ?(?:19|20)\d{2}"
)
_PHONE_WORD = re.compile(
    r"(?i)(?:phone|call|mobile|cell|tel|fax|whatsapp|ring|text me|sms|number|handy|nummer|anruf|teléfono|móvil|numéro"
    r"|telefon|numer|cellulare|телефон|номер|звони|电话|電話|手机|携帯|전화|رقم|هاتف|फ़ोन|नंबर)[^\n]{0,25}$"
)
_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "PL", "NL", "BR", "IN", "JP", "CN", "KR", "RU", "AU")
_PLACEHOLDER = re.compile(
    rf"\bPerson (?P<person>\d{{1,6}})\b|\[(?P<kind>{'|'.join(KINDS[:-1])}) (?P<number>\d{{1,6}})\]"
)
_NAME = re.compile(r"\b([A-Z][\w'’-]{1,40})((?: [A-Z][\w'’-]{1,40})?)")
_WORDS = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "amber angel april art august austin autumn bill brandy brooke brooklyn candy carol charity charlotte chase "
        "chelsea china christian cliff crystal daisy dakota dale dallas dawn dean destiny don drew edit else faith "
        "florence forest frank gala gene georgia ginger glen grace grant guy harmony heather holly hope hunter iris "
        "israel ivy jack jackson jade jasmine jean jewel jordan joy june kelly lance lane laurel lily logan madison "
        "marina mark mason max may melody mercedes miles misty nick norma olive paige paris pat patience pearl peer "
        "penny phoenix precious ray rich rob robin rocky rose ruby rusty sandy savannah sierra sky skyler stacy stone "
        "summer sue sydney taylor terry tiffany timber tracy trinity tyler urban van victoria violet virginia wade will"
    ).split()
)
"""First names that are words or places, too: taken for names only before a family name."""
_NO_FAMILY = frozenset(
    (  # noqa: SIM905 - a word list reads better as words
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August "
        "September October November December The And But Can Could Should Would Will Please Thanks When What Where How"
    ).split()
)
"""Words in capitals that follow a first name without being a family name."""
_LEAST_REPEATED = 4
"""Characters of a text that is looked for where no rule finds it."""


class RedactedSpan(NamedTuple):
    """A private text in a text."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Found:
    """One private text, and what stands in its place."""

    kind: str
    text: str
    placeholder: str
    count: int
    """Times that it was met."""


@dataclass
class Redaction:
    """Replaces private texts of one source, and keeps what it found."""

    names: Collection[str] = ()
    """Names to replace besides those that the rules find."""
    _placeholders: dict[tuple[str, str], str] = field(default_factory=dict)
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)
    """The first form in which each text was met."""
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _taken: dict[str, int] = field(default_factory=dict)
    """Highest number of an earlier redaction's placeholders, by kind."""
    _known: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """Texts that are replaced wherever they stand, with their kinds, by their first word."""

    def pass_over(self, text: str) -> None:
        """Number new placeholders behind those that a text has already, which stand for others."""
        for match in _PLACEHOLDER.finditer(text):
            kind, number = match["kind"] or "name", int(match["person"] or match["number"])
            self._taken[kind] = max(self._taken.get(kind, 0), number)

    def learn(self, text: str) -> None:
        """Note the private texts of a text, so that they are replaced before the place where a rule finds them, too."""
        for span in self.spans(text):
            self._remember(text[span.start : span.end], span.kind)

    def redacted(self, text: str) -> str:
        """Return a text with placeholders."""
        found = self.spans(text)
        for span in found:
            self._remember(text[span.start : span.end], span.kind)
        pieces, at = [], 0
        for span in _apart([*found, *self._repeats(text)]):
            pieces += [text[at : span.start], self._put(span.kind, text[span.start : span.end])]
            at = span.end
        return "".join([*pieces, text[at:]])

    def found(self) -> list[Found]:
        """Return everything that was replaced, in the order of finding."""
        return [
            Found(key[0], self._texts.get(key, key[1]), self._placeholders[key], n) for key, n in self._counts.items()
        ]

    def spans(self, text: str) -> list[RedactedSpan]:
        """Return the private texts of a text that the rules find, in order; none lies in another."""
        plain, places = _plain(text)
        found = list(_structured(plain))
        found += self._named(plain)
        if places is not None:
            found = [RedactedSpan(places[span.start], places[span.end - 1] + 1, span.kind) for span in found]
        return _apart(found)

    def _named(self, text: str) -> Iterator[RedactedSpan]:
        if self.names:
            longest_first = sorted(filter(None, self.names), key=len, reverse=True)
            given = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
            yield from (RedactedSpan(*match.span(), "name") for match in given.finditer(text))
        for match in _NAME.finditer(text):
            first, last = _bare(match[1]), _bare(match[2].strip())
            is_word = first.casefold() in _WORDS
            has_family = last in family_names()
            if first not in first_names() or (is_word and not has_family):
                continue
            has_family = has_family or (len(last) > 2 and last not in _NO_FAMILY)
            yield RedactedSpan(
                match.start(), match.start(2) + 1 + len(last) if has_family else match.start() + len(first), "name"
            )

    def _remember(self, text: str, kind: str) -> None:
        if len(text) >= _LEAST_REPEATED and (first := _WORD.search(text)):
            self._known.setdefault(first[0], set()).add((text, kind))

    def _repeats(self, text: str) -> Iterator[RedactedSpan]:
        """Yield the places where a text that was found once stands again."""
        for word in _WORD.finditer(text):
            for known, kind in self._known.get(word[0], ()):
                start = word.start() - known.index(word[0])
                if start >= 0 and text.startswith(known, start) and not _goes_on(text, start, start + len(known)):
                    yield RedactedSpan(start, start + len(known), kind)

    def _put(self, kind: str, text: str) -> str:
        key = kind, text if kind in {"name", "password", "key"} else re.sub(r"\W", "", text).casefold()
        if kind == "name" and (whole := self._whole_name(text)):
            key = kind, whole
        if key not in self._placeholders:
            number = 1 + self._taken.get(kind, 0) + sum(known == kind for known, _ in self._placeholders)
            self._placeholders[key] = f"Person {number}" if kind == "name" else f"[{kind} {number}]"
            self._texts[key] = text
        self._counts[key] += 1
        return self._placeholders[key]

    def _whole_name(self, first: str) -> str:
        """Return the first full name met that a first name belongs to; empty if there is none."""
        return next((n for k, n in self._placeholders if k == "name" and n.split()[0] == first), "")


_WORD = re.compile(r"\w+")


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the words at either end of a place go on beyond it."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return (before.isalnum() and text[start].isalnum()) or (after.isalnum() and text[end - 1].isalnum())


def _bare(name: str) -> str:
    return name.removesuffix("'s").removesuffix("’s")


def _plain(text: str) -> tuple[str, list[int] | None]:
    """Return a text without characters that hide others, and the place of each of its characters; None: the same."""
    if not _HIDDEN.search(text) and text.isascii():
        return text, None
    characters, places = [], []
    for place, character in enumerate(text):
        if character in _ZERO_WIDTH:
            continue
        if character in _HYPHENS:
            character = "-"
        elif "\uff01" <= character <= "\uff5e":
            character = chr(ord(character) - 0xFEE0)
        elif character.isspace() and character not in "\n\r\t":
            character = " "
        elif not character.isascii() and (digit := unicodedata.decimal(character, -1)) >= 0:
            character = str(digit)
        characters.append(character)
        places.append(place)
    return "".join(characters), places


def _apart(spans: Iterable[RedactedSpan]) -> list[RedactedSpan]:
    """Return spans in order, without those that overlap one of an earlier kind, or a longer one of the same kind."""
    kept: list[RedactedSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if kept and span.start < kept[-1].end:
            last = kept[-1]
            if (KINDS.index(span.kind), last.end - last.start) < (KINDS.index(last.kind), span.end - span.start):
                kept[-1] = span
            continue
        kept.append(span)
    return kept


# --- rules ------------------------------------------------------------------------------------------------


def _structured(text: str) -> Iterator[RedactedSpan]:
    """Yield what has a form: keys, passwords, addresses of computers and people, numbers."""
    yield from _blocks(text)
    yield from (RedactedSpan(*match.span(), "key") for match in _KEY.finditer(text))
    yield from _passwords(text)
    yield from (RedactedSpan(*match.span(), "email") for match in _EMAIL.finditer(text))
    analysers = _analysers()
    for match in _IBAN.finditer(text):
        window = match.group().upper()
        while len(window) > 14 and not (found := analysers["iban"](window)):
            window = window.rpartition(" ")[0]  # a word in capitals stands behind it
        yield from (RedactedSpan(match.start() + begin, match.start() + end, "iban") for begin, end in found if window)
    for match in _ADDRESS.finditer(text):
        is_time = match.group().count(":") == 2 and "::" not in match.group()
        if not is_time and not _NUMBERED.search(text[max(0, match.start() - 12) : match.start()]):
            found = analysers["ip"](match.group())
            yield from (RedactedSpan(match.start() + begin, match.start() + end, "ip") for begin, end in found)
    for match in _DIGITS.finditer(text):
        yield from _numbers(text, match.start(), match.end(), analysers)


def _blocks(text: str) -> Iterator[RedactedSpan]:
    at = 0
    while (begin := _BLOCK.search(text, at)) is not None:
        end = text.find(_BLOCK_END, begin.end())
        line = text.find("-----", end + len(_BLOCK_END)) if end >= 0 else -1
        at = line + 5 if line >= 0 else len(text)
        yield RedactedSpan(begin.start(), at, "key")


def _passwords(text: str) -> Iterator[RedactedSpan]:
    for match in _PASSWORD.finditer(text):
        secret = match["secret"].rstrip(".!?):]")
        told = text[match.start() : match.start("secret")]
        # "the password is wrong" tells none: after a verb a secret has a digit, a sign or a capital inside.
        is_odd = bool(re.search(r"[\d\W_]|[a-z][A-Z]", secret))
        if len(secret) >= 4 and (is_odd or re.search(r"[:=：]", told)):
            yield RedactedSpan(match.start("secret"), match.start("secret") + len(secret), "password")
    for match in _BARE_PASSWORD.finditer(text):
        secret = match["secret"].rstrip(".!?):]")
        yield RedactedSpan(match.start("secret"), match.start("secret") + len(secret), "password")
    yield from (RedactedSpan(*match.span("secret"), "password") for match in _URL_SECRET.finditer(text))


Analyser = Callable[[str], list[tuple[int, int]]]
"""Returns the places of one kind in a short text."""


def _numbers(text: str, start: int, end: int, analysers: dict[str, Analyser]) -> Iterator[RedactedSpan]:
    """Yield the cards, social security numbers and telephone numbers in a run of digits."""
    run = text[start:end]
    for kind in ("card", "ssn"):
        if found := analysers[kind](run):
            yield from (RedactedSpan(start + begin, start + stop, kind) for begin, stop in found)
            return
    digits = sum(character.isdigit() for character in re.split("x|ext", run)[0])
    if digits > 15 or _DATE.fullmatch(run.strip("() ")):
        return
    is_international = run.lstrip("(").startswith(("+", "00"))
    if run.lstrip("(").startswith("+") and digits >= 8:
        yield RedactedSpan(start, end, "phone")
        return
    is_told = _PHONE_WORD.search(text[max(0, start - 40) : start]) is not None
    is_grouped = bool(re.search(r"[ ()/-]", run)) and (run[0] in "(0" or len(re.findall(r"\d+", run)) >= 3)
    if is_international or is_told or is_grouped:
        window = f"+{run[2:]}" if run.startswith("00") else run
        if analysers["phone"](window) or ((is_international or is_told) and analysers["possible phone"](window)):
            yield RedactedSpan(start, end, "phone")


@cache
def _analysers() -> dict[str, Analyser]:
    """Return the recognisers by kind; loading them takes some seconds, once."""
    require_extra("redact", "redaction", "presidio_analyzer")
    from presidio_analyzer import predefined_recognizers as known

    def of(recogniser: Any, entity: str) -> Analyser:
        def analyse(window: str) -> list[tuple[int, int]]:
            return [
                (found.start, found.end) for found in recogniser.analyze(window, [entity], None) if found.score > 0.1
            ]

        return analyse

    cards = known.CreditCardRecognizer()
    usual = of(cards, "CREDIT_CARD")

    def card(window: str) -> list[tuple[int, int]]:
        second = [match.span() for match in _SECOND_SERIES.finditer(window)]
        return [*usual(window), *((a, b) for a, b in second if cards.validate_result(window[a:b].replace(" ", "")))]

    return {
        "iban": of(known.IbanRecognizer(), "IBAN_CODE"),
        "card": card,
        "ssn": of(known.UsSsnRecognizer(), "US_SSN"),
        "ip": of(known.IpRecognizer(), "IP_ADDRESS"),
        "phone": of(known.PhoneRecognizer(supported_regions=_REGIONS), "PHONE_NUMBER"),
        "possible phone": of(known.PhoneRecognizer(supported_regions=_REGIONS, leniency=0), "PHONE_NUMBER"),
    }


@cache
def first_names() -> frozenset[str]:
    """Return the first names of the lists of seven countries."""
    return _listed("first_names")


@cache
def family_names() -> frozenset[str]:
    """Return the family names of the same lists."""
    return _listed("last_names")


def _listed(which: str) -> frozenset[str]:
    return frozenset(name for place in PLACES for name in getattr(names_of(place), which) if len(name) > 2)


def render_found(found: Collection[Found]) -> str:
    """Return a table of private texts, a line each; ends a line. It is for the owner's eyes: it shows the texts."""
    if not found:
        return "No name, address, number or key was found by the rules; read the text before you send it anywhere.\n"
    width = max(len(one.placeholder) for one in found)
    lines = [f"{one.placeholder.ljust(width)}  {one.count:>4}  {_one_line(one.text)}" for one in found]
    kinds = Counter(one.kind for one in found)
    lines.append(", ".join(f"{kind} {kinds[kind]}" for kind in KINDS if kinds[kind]))
    return "".join(f"{line}\n" for line in lines)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
