"""Currencies: the signs and English words that name each one, by ISO 4217 code.

Codes and names are Unicode CLDR's, in `data/currencies.tsv`; the package that reads CLDR (Babel) weighs 33 MB for these
150 lines. A sign or word that several currencies share means the one in `_USUAL`. Where no currency is the usual one,
the value keeps the word itself as its unit: `500 kr` is equal to `500 kronor` in no report of another country.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

SIGNS = "$€£¥₹₩₪₫₱₺₽₴₦₸₼₾฿₡₲₵₮₭"
"""Signs of one character that stand for a currency and for nothing else."""
CURRENCY_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
"""Signs that longbeam itself writes, in front of the amount; other currencies get their code behind it."""
_SIGN_OF = {
    "USD": "$ US$", "EUR": "€", "GBP": "£", "JPY": "¥ JP¥", "AUD": "A$ AU$", "CAD": "C$ CA$", "NZD": "NZ$",
    "HKD": "HK$", "SGD": "S$", "TWD": "NT$", "MXN": "MX$", "BRL": "R$", "CNY": "CN¥", "INR": "₹ Rs Rs.", "KRW": "₩",
    "ILS": "₪", "VND": "₫", "PHP": "₱", "TRY": "₺", "RUB": "₽", "UAH": "₴", "NGN": "₦", "KZT": "₸", "AZN": "₼",
    "GEL": "₾", "THB": "฿", "CRC": "₡", "PYG": "₲", "GHS": "₵ GH₵", "MNT": "₮", "LAK": "₭", "PLN": "zł", "CZK": "Kč",
    "HUF": "Ft", "CHF": "SFr. SFr", "IDR": "Rp", "MYR": "RM", "KES": "KSh Ksh", "kr": "kr kr.",
}  # fmt: skip
"""Signs of each currency, and the one sign of the four crowns. `$`, `£`, `¥` and `Rs` mean the usual one of several."""
_SIGNS_BEHIND = ("zł", "Kč", "Ft", "kr", "kr.")
"""Signs of letters that stand behind an amount."""
_USUAL = {"dollar": "USD", "franc": "CHF", "rupee": "INR", "ruble": "RUB", "leu": "RON", "krona": "SEK"}
"""Currency that a shared word means without the name of a country."""
_SHARED = {"krone": "kr", "kroner": "kr", "peso": "peso", "dinar": "dinar", "shilling": "shilling", "riyal": "riyal"}
"""Unit of the shared words that have no usual currency."""
_MORE_WORDS = {
    "bucks": "USD", "quid": "GBP", "pounds sterling": "GBP", "zlotych": "PLN", "złoty": "PLN", "złotych": "PLN",
    "złote": "PLN", "rouble": "RUB", "roubles": "RUB", "renminbi": "CNY", "RMB": "CNY", "shekel": "ILS",
    "shekels": "ILS", "reais": "BRL", "kronas": "SEK", "crowns": "kr",
}  # fmt: skip
_OTHER_MEANINGS = frozenset("gold mark pound lev lek kip tala pula sol leone dram real won som manat dong".split())  # noqa: SIM905
"""Last words of names that mean something else than money when they stand alone."""
_WORDS_AS_CODES = frozenset("ALL AMD BAM COP CUP GEL LAK MAD MOP PEN SOS STN TOP TRY".split())  # noqa: SIM905
"""Codes that are words or other abbreviations: they name a currency behind an amount only."""


@cache
def _names() -> dict[str, tuple[str, str]]:
    """Return singular and plural English name of each currency, by code."""
    lines = (Path(__file__).parent / "data" / "currencies.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {code: (one, many) for code, one, many in rows}


@cache
def _units() -> dict[str, str]:
    """Return the unit (ISO code, or a shared word) of each sign and each word, case-folded."""
    units: dict[str, str] = {}
    last_words = Counter(one.split()[-1].casefold() for one, _ in _names().values())
    for code, names in _names().items():
        one = names[0].split()[-1].casefold()
        unit = code if last_words[one] == 1 and one not in _OTHER_MEANINGS else _USUAL.get(one) or _SHARED.get(one)
        for name in {*names, f"{names[0]}s"}:
            units[name.casefold()] = code
            if unit is not None:
                units[name.split()[-1].casefold()] = unit
    units |= {word.casefold(): unit for word, unit in _MORE_WORDS.items()}
    units |= {sign.casefold(): code for code, signs in _SIGN_OF.items() for sign in signs.split()}
    return units | {code.casefold(): code for code in _names()}


def currency_of(said: str) -> str:
    """Return the ISO 4217 code of a sign, code or word; the word itself where it names no single currency.

    Raises KeyError for text that names no currency.
    """
    return _units()[" ".join(said.split()).casefold()]


def _alternation(forms: set[str]) -> str:
    # Longest first, so that `US dollars` is not read as `US`; sorted, so that a pattern is the same in every process.
    return "|".join(re.escape(f).replace(r"\ ", r"\s") for f in sorted(forms, key=lambda f: (-len(f), f)))


@cache
def prefixes() -> str:
    """Return the pattern of what names a currency in front of an amount: `$`, `CHF`, `kr`. Upper case counts."""
    signs = {sign for signs in _SIGN_OF.values() for sign in signs.split()}
    codes = _names().keys() - _WORDS_AS_CODES
    return f"(?-i:{_alternation(signs)}|{_alternation(set(codes))})"


@cache
def suffixes() -> str:
    """Return the pattern of what names a currency behind an amount and a space: `PLN`, `Swiss francs`, `bucks`."""
    words = {word for word in _units() if len(word) > 3 or word in ("yen", "leu", "lei", "rmb")}
    codes = "|".join(sorted(_names()))
    return f"(?:(?-i:{codes})|usd|eur|gbp|{_alternation(words)})"


@cache
def suffix_signs() -> str:
    """Return the pattern of the signs that stand behind an amount, with or without a space: `€`, `zł`, `kr`."""
    signs = {sign for code, signs in _SIGN_OF.items() for sign in signs.split() if code not in ("IDR", "MYR")}
    return f"(?-i:{_alternation({s for s in signs if s[0] in SIGNS or s in _SIGNS_BEHIND})})"


@cache
def forms_of(unit: str) -> tuple[str, str]:
    """Return the patterns of the signs and of the words of a currency, by ISO code or shared word."""
    signs = set(_SIGN_OF.get(unit, "").split())
    words = {word for word, meant in _units().items() if meant == unit and word[0].isalpha()} | {unit}
    if unit in ("SEK", "NOK", "DKK", "ISK"):
        signs |= {"kr", "kr."}
        words |= {"kr", "kroner", "krone", "kronor", "krona"}
    if unit == "GBP":
        words |= {"pound", "pounds"}
    # Shared plurals keep the patterns short: they are compiled for every value.
    plurals = {word for word in words if f"{word}s" in words}
    rest = {word.casefold() for word in words - plurals - {f"{word}s" for word in plurals}}
    named = "|".join(filter(None, (_alternation(rest), *(f"{re.escape(w)}s?" for w in sorted(plurals)))))
    return _alternation({*signs, unit}), named
