"""Private data in chats, replaced by placeholders: keys, passwords, e-mail addresses, numbers, and names.

Presidio's recognisers decide what is an account, an IP address or a social security number, check digits what is a
card, and the numbering plans of `phonenumbers` what is a telephone number;
they read short windows around what may be one, so that the time is linear in the length. Keys, passwords, e-mail
addresses and names have rules here. What was found once is replaced wherever it stands. The same text always gets the
same placeholder, so that a conversation stays coherent. Rules miss names that no list has, addresses, and whatever a
person can only be known by: the table of what was found is there to be read.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from ipaddress import ip_address
from itertools import accumulate
from typing import Any, NamedTuple

from longbeam.errors import require_extra
from longbeam.text.tuning import READING

KINDS = ("key", "password", "email", "iban", "card", "ssn", "ip", "phone", "name")
"""Kinds of private texts; where two meet, the earlier one counts."""

_ZERO_WIDTH = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_HYPHENS = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d")

_KEY = re.compile(
    r"(?<![\w-])(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abeprs]|hf|npm|pypi|dop_v1|shpat|SG|whsec|ya29|sq0csp"
    r"|AGE-SECRET-KEY)[-_.](?=[\w.-]{0,400}[A-Z0-9])[\w.-]{16,400}"
    r"|(?<![\w-])EAA[A-Za-z0-9]{20,400}(?![\w-])|(?<=hooks\.slack\.com/services/)[\w/]{20,100}"
    r"|(?<![\w-])(?:(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)|\d{8,12}:[\w-]{30,50})"
    r"|(?<![\w-])eyJ[\w-]{8,4000}\.[\w-]{8,4000}(?:\.[\w-]{8,4000})?"
    r"|(?i:(?<=bearer )|(?<=basic ))(?=[\w.~+/-]{0,400}[A-Z0-9])[\w.~+/-]{16,400}=*",
    re.ASCII,
)
_DRAWN = re.compile(
    r"(?<!base64,)(?<![\w/+.-])(?:[\w-]{24,400}(?![\w/+-])|(?<!:)[A-Za-z0-9+/]{40,400}={0,2}(?![\w/+-]))", re.ASCII
)
_LONG = re.compile(r"[\w.~+/-]{16}", re.ASCII)
"""Each key has so many characters without a space."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_BLOCK = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----")
_BLOCK_END = "-----END"
_WORDS_OF_PASSWORDS = (
    "pwd|passwd|kennwort|parola|wachtwoord|lösenord|kodeord|adgangskode|passord|salasana"
    "|contraseña|contrasena|clave|senha|mot de passe|hasło|haslo|heslo|jelszó|parolă|şifre|sifre|mật khẩu|kata sandi"
    "|пароль|паролем|парола|κωδικός|κωδικό|كلمة المرور|كلمة السر|رمز عبور|סיסמה|סיסמא|पासवर्ड|পাসওয়ার্ড|รหัสผ่าน"
    "|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호"
)
_PASSWORD_WORD = rf"pass(?:word|wort|phrase|code)s?|pw(?=\s?[:=])|wi-?fi key|{_WORDS_OF_PASSWORDS}"
_STEMS = tuple(
    f"pass|pw|fi key|secret|token|api|access|pin|otp|cvv|cvc|login|cred|{_WORDS_OF_PASSWORDS}".casefold().split("|")
)
"""Each text that tells a secret has one of these; most texts have none, and looking for these is quick."""
_SECRET_WORD = rf"{_PASSWORD_WORD}|pass|secret|token|api[_ -]?key|access[_ -]?key|client[_ -]?secret|pin"
_BEFORE_WORD = "(?<![A-Za-z0-9\u00c0-\u024f])"
"""A word of a Latin script begins here; scripts that join words to others may have anything before it."""
_IS = "(?:is|ist|es|est|to|è|é|это)"
_PASSWORD = re.compile(
    rf"(?i){_BEFORE_WORD}(?:{_SECRET_WORD})['\"]?"
    rf"(?:(?:\s{{1,3}}{_IS})?\s{{0,3}}[:=：>]\s{{0,3}}|\s{{1,3}}{_IS}\s{{1,3}}|['’]s | - )"
    r"['\"“„«`]?(?P<secret>(?:[^\s'\"“”„«»`,;，。<]|<(?!/)){4,120})"
)
_TOLD_PASSWORD = re.compile(
    rf"(?i){_BEFORE_WORD}(?:{_PASSWORD_WORD})(?:[^\x00-\x7f]{{0,8}}|(?:\s{{1,3}}[^\s\d!-@\[-`{{-~]{{1,12}}){{0,4}})\s{{0,3}}"
    r"(?:(?<![!-~])|['\"`])(?P<secret>(?=[!-~]{0,80}\d)(?=[!-~]{0,80}[A-Za-z])[!-~][^\s'\"“”„«»`,;，。]{5,119})"
)
"""A password at most four words behind its own, `with password hunter2!Zz`: it has a letter and a digit."""
_LINK_SECRET = re.compile(r"://[^\s:/@]{1,80}:(?P<secret>[^\s@/:]{1,120})@")
_MORE_SECRETS = (
    re.compile(r"(?i)\bpass ?phrase\s{0,3}[:=]\s{0,3}['\"“„«`]?(?P<secret>[\w-]{2,20}(?: [\w-]{2,20}){1,11})"),
    re.compile(
        rf"(?i)\b(?:pin|otp|cvv|cvc)(?:[ -]?(?:code|number))?[\s:=]{{1,3}}(?:{_IS} )?"
        r"(?P<secret>\d{3,8})(?![\w-]|[.,]\d)"
    ),
    re.compile(
        r"(?i)\b(?:login|credentials|creds)[ :]{1,3}\S{1,40} ?[:/] ?"
        r"(?P<secret>(?=[!-~]{0,80}\d)(?=[!-~]{0,80}[A-Za-z])[!-~]{6,120})"
    ),
)
"""Passphrases of several words, numbers that let somebody in, and a login with its password."""
_CODE = re.compile(
    rf"(?i)[{{(\[<]|\$[{{(]|%[(s]|(?:none|null|nil|true|false|undefined)\b|[a-z_][\w.]*[(\[]|[a-z_]+\.[a-z_.]+$|\w*(?:{_SECRET_WORD}|hash)\w*[^\w\s]?$"
)
"""Code that reads a password from somewhere, `request.form[`, `${PASSWORD}`, `user_password`, tells none."""
_LETTER = "A-Za-z0-9\u00c0-\u052f"
"""Letters of scripts with spaces: others may stand beside an address without being a part of it."""
_EMAIL = re.compile(
    f'(?<![{_LETTER}._%+-])[{_LETTER}][{_LETTER}._%+-]{{0,63}}["”]?(?:@| @ | ?[(\\[]at[)\\]] ?)'
    f"(?:[{_LETTER}](?:[{_LETTER}-]{{0,61}}[{_LETTER}])?\\.){{1,8}}"
    "[A-Za-z\u00c0-\u052f]{2,24}(?![A-Za-z\u00c0-\u052f]|:[\\w~/.])"  # `git@host:path` is a place of a repository
    "|[\\w\u0900-\u0dff.%+-]{1,64}@(?=[^\\W\\x00-\u052f])"  # of any script where the domain is of another one
    "(?:[\\w\u0900-\u0dff-]{1,63}\\.){1,8}[^\\W\\d_][\\w\u0900-\u0dff]{1,23}"
)
_AT = re.compile(r"@|at[)\]]|at [)\]]")
"""What every address has; most texts have none."""
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}\d{2}(?:[ ./-]?[A-Z0-9]){11,32}|[a-z]{2}\d{2}[a-z0-9]{11,30}"
    r"|[a-z]{2}\d{2}(?:[ ./-][a-z0-9]{4}){2,7}(?:[ ./-][a-z0-9]{1,4})?)(?![A-Za-z0-9])",
    re.ASCII,
)
_LETTER_DIGITS = {ord(letter): str(int(letter, 36)) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_DIGITS = re.compile(
    r"(?<![\w.])(?:\+|\(\+?|00)?\d(?:(?:[ ()/\\-]{0,3}|\.)\d){6,22}(?:(?: ?x| ext\.? ?)\d{1,6})?(?!\w|[.,]\d)", re.ASCII
)
_CARD = re.compile(r"(?:[39]\d{13,18}|2[2-7]\d{14,17}|(?:1800|2131)\d{11}|4\d{12,18}|[56]\d{11,18})")
"""First digits and lengths of cards by ISO/IEC 7812; a check digit decides."""
_CARD_SIGNS = re.compile(r"[\d -]+|\d{4}([./])\d{4}(?:\1\d{4}){1,2}(?:\1\d{1,4})?")
"""How a card is written; with dots and slashes only in groups of four."""
_DOUBLED = str.maketrans("0123456789", "0246813579")
"""Twice a digit, and the sum of the digits of that."""
_NUMBERED = re.compile(r"(?i)(?:chapter|section|version|release|table|figure|part|kapitel|abschnitt|§|v)\.? ?$")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.|\[\.\])){3}\d{1,3}(?![\w.]{0,20}\d)"
    r"|(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F]{0,4})(?![\w:])",
    re.ASCII,
)
_DATE = re.compile(
    r"\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}(?:[ T]\d{2})?|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{2,4}"
    r"|(?:19|20)\d{2} ?[-/] ?(?:19|20)\d{2}"
)
_SSN_WORD = re.compile(r"(?i)(?:\bssn|social security)\D{0,20}$")
_PHONE_WORD = re.compile(
    r"(?i)(?:phone|call|mobile|cell|tel|fax|whatsapp|ring|text me|sms|handy|meine nummer"
    r"|(?:my|your|her|his|our|their) number|anruf|teléfono|móvil|telefon|cellulare"
    r"|телефон|тел|звони|τηλ|κινητό|电话|電話|手机|手機|携帯|전화|휴대폰"
    r"|رقم|هاتف|جوال|تلفن|טלפון|נייד|फ़ोन|नंबर|मोबाइल|โทร|เบอร์)[^\n]{0,25}$"
)
_REGIONS = (
    *("US", "GB", "DE", "FR", "ES", "IT", "PL", "NL", "BR", "IN", "JP", "CN", "KR", "RU", "AU"),
    *("GR", "IL", "SA", "IR", "TH", "TW", "UA", "BG", "TR", "SE"),
)
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
_LEAST_REPEATED, _MOST_REPEATED = 4, 400
"""Characters of a text that is looked for where no rule finds it; a block of a key has more, and has a rule."""


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
    """Highest number of a placeholder, by kind; an earlier redaction's count."""
    _whole_names: dict[str, str] = field(default_factory=dict)
    """The first name met that begins with a first name, by that."""
    _known: dict[str, dict[tuple[int, int], dict[str, str]]] = field(default_factory=dict)
    """Texts that are replaced wherever they stand, with their kinds: by their first word, its place and their length,
    so that many texts of one first word are looked up at once."""

    def pass_over(self, text: str) -> None:
        """Number new placeholders behind those that a text has already, which stand for others."""
        for match in _PLACEHOLDER.finditer(text):
            kind, number = match["kind"] or "name", int(match["person"] or match["number"])
            self._taken[kind] = max(self._taken.get(kind, 0), number)

    def redacted(self, text: str) -> str:
        """Return a text with placeholders."""
        pieces, at = [], 0
        for span in self.spans(text):
            pieces += [text[at : span.start], self._put(span.kind, text[span.start : span.end])]
            at = span.end
        return "".join([*pieces, text[at:]])

    def found(self) -> list[Found]:
        """Return everything that was replaced, in the order of finding."""
        return [
            Found(key[0], self._texts.get(key, key[1]), self._placeholders[key], n) for key, n in self._counts.items()
        ]

    def spans(self, text: str) -> list[RedactedSpan]:
        """Return the private texts of a text, in order; none lies in another.

        They are those that a rule finds, and those that a rule found in a text that was read before.
        """
        plain, places = _plain(text)
        found = [*_structured(plain), *self._named(plain)]
        if places is not None:
            found = [RedactedSpan(places[start], places[end - 1] + 1, kind) for start, end, kind in found]
        for span in found:
            self._remember(text[span.start : span.end], span.kind)
        return _apart([*found, *self._repeats(text, sorted(span for span in found if span.kind != "name"))])

    def _named(self, text: str) -> Iterator[RedactedSpan]:
        if self.names:
            longest_first = sorted(filter(None, self.names), key=len, reverse=True)
            given = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
            yield from (RedactedSpan(*match.span(), "name") for match in given.finditer(text))
        first_names, family_names = _listed("first_names_female", "first_names_male"), _listed("last_names")
        for match in _NAME.finditer(text):
            first, last = _bare(match[1]), _bare(match[2].strip())
            is_word = first.casefold() in _WORDS
            has_family = last in family_names
            if first not in first_names or (is_word and not has_family):
                continue
            has_family = has_family or (len(last) > 2 and last not in _NO_FAMILY)
            yield RedactedSpan(
                match.start(), match.start(2) + 1 + len(last) if has_family else match.start() + len(first), "name"
            )

    def _remember(self, text: str, kind: str) -> None:
        is_word = kind == "password" and not _is_odd(text)  # "password: required" is no reason to replace "required"
        first = _WORD.search(text)
        if first is not None and _LEAST_REPEATED <= len(text) <= _MOST_REPEATED and not is_word:
            self._known.setdefault(first[0], {}).setdefault((first.start(), len(text)), {})[text] = kind

    def _repeats(self, text: str, found: list[RedactedSpan]) -> Iterator[RedactedSpan]:
        """Yield the places where a text that was found once stands again, outside of those that have a form."""
        places = iter([*found, RedactedSpan(len(text), len(text), "")])
        place = next(places)
        for word in _WORD.finditer(text) if self._known else ():
            while place.end <= word.start():
                place = next(places)
            if place.start <= word.start():
                continue
            for (before, length), known in self._known.get(word[0], {}).items():
                start = word.start() - before
                kind = known.get(text[start : start + length]) if start >= 0 else None
                if kind is not None and not _goes_on(text, start, start + length):
                    yield RedactedSpan(start, start + length, kind)

    def _put(self, kind: str, text: str) -> str:
        key = kind, text if kind in {"name", "password", "key"} else re.sub(r"\W", "", text).casefold()
        if kind == "name":
            key = kind, self._whole_names.get(text, text)
        if key not in self._placeholders:
            number = self._taken[kind] = self._taken.get(kind, 0) + 1
            self._placeholders[key] = f"Person {number}" if kind == "name" else f"[{kind} {number}]"
            self._texts[key] = text
            if kind == "name":
                self._whole_names.setdefault(text.split()[0], text)
        self._counts[key] += 1
        return self._placeholders[key]


_WORD = re.compile(r"\w+")


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the words at either end of a place go on beyond it."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return (before.isalnum() and text[start].isalnum()) or (after.isalnum() and text[end - 1].isalnum())


def _bare(name: str) -> str:
    return name.removesuffix("'s").removesuffix("’s")


def _plain(text: str) -> tuple[str, list[int] | None]:
    """Return a text without characters that hide others, and the place of each of its characters; None: the same."""
    if text.isascii():
        return text, None
    plain = text.translate({ord(character): _shown(character) for character in set(text)})
    if len(plain) == len(text):
        return plain, None
    return plain, [place for place, character in enumerate(text) if character not in _ZERO_WIDTH]


@lru_cache(maxsize=65_536)
def _shown(character: str) -> str:
    """Return what a character looks like to a reader: an ASCII hyphen, space, letter or digit, nothing, or itself."""
    if character in _ZERO_WIDTH:
        return ""
    if character in _HYPHENS:
        return "-"
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - 0xFEE0)
    if character.isspace() and character not in "\n\r\t":
        return " "
    return str(unicodedata.decimal(character, character))


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
    if _LONG.search(text):
        yield from (RedactedSpan(*match.span(), "key") for match in _KEY.finditer(text))
        yield from (RedactedSpan(*match.span(), "key") for match in _DRAWN.finditer(text) if _is_drawn(match[0]))
    folded = text.casefold()
    if any(stem in folded for stem in _STEMS):
        yield from _passwords(text)
    if "://" in text:
        yield from (RedactedSpan(*match.span("secret"), "password") for match in _LINK_SECRET.finditer(text))
    if _AT.search(text):
        yield from (RedactedSpan(*match.span(), "email") for match in _EMAIL.finditer(text))
    _analysers()  # it is missed here, whatever the text holds
    for match in _IBAN.finditer(text):
        window = match.group()
        while len(window) > 14 and not _is_iban(re.sub(r"[ ./-]", "", window).upper()):
            window = re.sub(r"(?:^|[ ./-])[^ ./-]*$", "", window)  # a word stands behind it
        if len(window) > 14:
            yield RedactedSpan(match.start(), match.start() + len(window), "iban")
    for match in _ADDRESS.finditer(text):
        address, before = match.group(), text[max(0, match.start() - 12) : match.start()]
        is_time = address.count(":") == 2 and "::" not in address
        is_nobody = address in {"0.0.0.0", "::", "::1"} or address.startswith("127.")
        if not (is_time or is_nobody or _NUMBERED.search(before)) and _is_address(address):
            yield RedactedSpan(*match.span(), "ip")
    for match in _DIGITS.finditer(text):
        yield from _numbers(text, match.start(), match.end())


@lru_cache(maxsize=65_536)
def _is_iban(account: str) -> bool:
    """Whether an account number has its check digits (ISO 7064), which is quick to say, and is of a country."""
    turned = account[4:] + account[:4]
    return int(turned.translate(_LETTER_DIGITS)) % 97 == 1 and _is_recognised(account, "IBAN_CODE")


@lru_cache(maxsize=65_536)
def _is_address(text: str) -> bool:
    with suppress(ValueError):
        return ip_address(text.replace("[.]", ".")) is not None
    return False


def _blocks(text: str) -> Iterator[RedactedSpan]:
    at = 0
    while (begin := _BLOCK.search(text, at)) is not None:
        end = text.find(_BLOCK_END, begin.end())
        line = text.find("-----", end + len(_BLOCK_END)) if end >= 0 else -1
        at = line + 5 if line >= 0 else len(text)
        yield RedactedSpan(begin.start(), at, "key")


def _is_drawn(token: str) -> bool:
    """Whether chance made a token: letters and digits in turn, as in no word, no name in code and no hash."""
    parts = _PARTS.findall(token)
    is_mixed = any(part.isdigit() for part in parts) and re.search("[g-z]", token) is not None  # a hash has a to f
    return is_mixed and len(parts) >= READING.drawn_parts * len(token)


def _passwords(text: str) -> Iterator[RedactedSpan]:
    for pattern in (_PASSWORD, _TOLD_PASSWORD):
        for match in pattern.finditer(text):
            secret = match["secret"].rstrip(".!?):]")
            told = text[match.start() : match.start("secret")]
            # "the password is wrong" tells none: after a verb a secret has a digit, a sign or a capital inside.
            is_told = re.search(r"[:=：]", told) is not None or _is_odd(secret)
            if len(secret) >= _LEAST_REPEATED and is_told and not _CODE.match(match["secret"]):
                yield RedactedSpan(match.start("secret"), match.start("secret") + len(secret), "password")
    for pattern in _MORE_SECRETS:
        yield from (RedactedSpan(*match.span("secret"), "password") for match in pattern.finditer(text))


def _is_odd(secret: str) -> bool:
    """Whether a text has a digit, a sign or a capital inside, as no common word has."""
    return re.search(r"[\d\W_]|[a-z][A-Z]", secret) is not None


def _numbers(text: str, start: int, end: int) -> Iterator[RedactedSpan]:
    """Yield the cards, social security numbers and telephone numbers in a run of digits."""
    run = text[start:end]
    digits = len(re.sub(r"[ex].*|\D", "", run))
    groups = re.findall(r"\d+", run)
    if digits > 11 and digits >= 2 * len(groups) and (cards := _cards(run)):
        yield from (RedactedSpan(start + begin, start + stop, "card") for begin, stop in cards)
        return
    if digits == 9 and (_is_recognised(run, "US_SSN") or _SSN_WORD.search(text[max(0, start - 40) : start])):
        yield RedactedSpan(start, end, "ssn")
        return
    is_series = digits < 2 * len(groups) or (len(groups[0]) < 3 and len(groups) > 2 and {*map(len, groups[1:])} == {3})
    if digits > 15 or _DATE.fullmatch(run.strip("() ")):
        return
    if run.lstrip("(").startswith("+") and digits >= 8:
        yield RedactedSpan(start, end, "phone")
        return
    if is_series:  # 1 2 3 4 5 6 7, or 1 234 567 890
        return
    is_grouped = digits >= 9 and re.search(r"[ ()/-]|\d\.\d+\.\d", run) is not None
    window = f"+{run[2:]}" if run.startswith("00") else run
    if digits > 8:  # the last four are a subscriber's in every plan: thousands of numbers are few questions
        window = re.sub(r"\d(?=\D*$|\D*(?:\d\D*){1,3}$)", "5", window)
    if ((is_grouped or re.match(r"\(|0\d", run)) and _is_phone(window)) or (
        (run.startswith("00") or _PHONE_WORD.search(text[max(0, start - 40) : start]))
        and _is_phone(window, is_possible_enough=True)
    ):
        yield RedactedSpan(start, end, "phone")


@lru_cache(maxsize=65_536)
def _is_phone(window: str, *, is_possible_enough: bool = False) -> bool:
    """Whether a number is one of the plan of a region, and written like one; or has a length of that plan."""
    import phonenumbers

    for region in (None,) if window.startswith("+") else _REGIONS:
        with suppress(phonenumbers.NumberParseException):
            number = phonenumbers.parse(window, region)
            if is_possible_enough and phonenumbers.is_possible_number(number):
                return True
            # The matcher is slow, and refuses what no telephone number is written like: (20-8)(20-15).
            if phonenumbers.is_valid_number(number) and phonenumbers.PhoneNumberMatcher(window, region).has_next():
                return True
    return False


def _cards(run: str) -> list[tuple[int, int]]:
    """Return the places of the longest series of groups that are cards."""
    groups = [match.span() for match in re.finditer(r"\d+", run)]
    digits = re.sub(r"\D", "", run)
    before = [0, *accumulate(end - begin for begin, end in groups)]
    found, at = [], 0
    while at < len(groups):
        for stop in range(min(len(groups), at + READING.card_groups), at, -1):
            number = digits[before[at] : before[stop]]
            if len(number) < 12:  # as many as the shortest card has
                break
            begin, end = groups[at][0], groups[stop - 1][1]
            if _CARD.fullmatch(number) and _is_checked(number) and _CARD_SIGNS.fullmatch(run, begin, end):
                found.append((begin, end))
                at = stop - 1
                break
        at += 1
    return found


def _is_checked(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (Luhn)."""
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


@cache
def _analysers() -> dict[str, Any]:
    """Return the recognisers by kind; loading them takes some seconds, once."""
    require_extra("redact", "redaction", "presidio_analyzer")
    from presidio_analyzer import predefined_recognizers as known

    return {"IBAN_CODE": known.IbanRecognizer(), "US_SSN": known.UsSsnRecognizer()}


def _is_recognised(window: str, entity: str) -> bool:
    """Whether Presidio finds something of a kind in a short text."""
    return any(found.score > 0.1 for found in _analysers()[entity].analyze(window, [entity], None))


_NAMED_IN = ("en_US", "en_GB", "en_IN", "de_DE", "fr_FR", "es_ES", "it_IT")
"""Countries and languages whose names, as the installed Faker lists them, are recognised in texts."""


@cache
def _listed(*lists: str) -> frozenset[str]:
    """Return the names in the lists of seven countries."""
    tables = (import_module(f"faker.providers.person.{place}").Provider for place in _NAMED_IN)
    return frozenset(name for table in tables for which in lists for name in getattr(table, which) if len(name) > 2)


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
