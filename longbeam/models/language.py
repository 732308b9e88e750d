"""Whether a text is in the language that was asked for: by its script, and by its small words.

A rule of two tables in place of a library: those that tell languages apart well weigh 100 MB or have not been kept for
years, and what goes wrong in practice is coarse (a model falls into Chinese, or answers in English). A language that is
in neither table is not checked. docs/models.md has the false alarms that were measured.
"""

from __future__ import annotations

import re

_SCRIPTS = {
    "latin": "A-Za-z\u00aa-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "hebrew": "\u0590-\u05ff",
    "devanagari": "\u0900-\u097f",
    "bengali": "\u0980-\u09ff",
    "thai": "\u0e00-\u0e7f",
    "hangul": "\u1100-\u11ff\uac00-\ud7af",
    "kana": "\u3040-\u30ff",
    "han": "\u3400-\u4dbf\u4e00-\u9fff",
}
_LETTERS = {name: re.compile(f"[{ranges}]") for name, ranges in _SCRIPTS.items()}
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LATIN = _words(
    "english french german spanish italian portuguese dutch swedish danish norwegian polish czech romanian hungarian "
    "turkish vietnamese indonesian"
)
SCRIPTS_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_LATIN, ("latin",)),
    **dict.fromkeys(("russian", "ukrainian", "bulgarian"), ("cyrillic",)),
    **dict.fromkeys(("arabic", "persian", "urdu"), ("arabic",)),
    **dict.fromkeys(("hindi", "marathi", "nepali"), ("devanagari",)),
    "greek": ("greek",),
    "hebrew": ("hebrew",),
    "bengali": ("bengali",),
    "thai": ("thai",),
    "korean": ("hangul",),
    "japanese": ("kana", "han"),
    "chinese": ("han",),
}
SMALL_WORDS: dict[str, frozenset[str]] = {
    "english": _words("the and of to is that for you with are this your it be have was on"),
    "french": _words("le la les et des est une vous pour dans que qui pas votre avec du sur"),
    "german": _words("der die das und ist nicht sie ein eine mit für auf den von zu ich wir"),
    "spanish": _words("el la los las que es una para con por su del como se en lo más"),
    "italian": _words("il la che di è per una con non sono del della gli le si questo nel"),
    "portuguese": _words("o os as que não uma para com você do da em é por mais seu sua"),
    "dutch": _words("de het een en van is dat niet met voor zijn je op te ik ook aan"),
}
READ_CHARACTERS = 2_000
"""Characters read from the start of a text; the rest is taken to be in the same language."""
FIRST_CHARACTERS = 500
"""Characters read first; the other ones are read only if these look wrong, which is rare."""
LEAST_LETTERS = 60
"""Shorter texts may be a name, a number, a formula."""
FOREIGN_SHARE = 0.5
"""Share of foreign letters outside code that makes a text foreign; below it, the text may quote another script."""
LEAST_WORDS = 40
"""Below, small words are too few to count."""
OTHER_SHARE, OWN_SHARE = 0.12, 0.03
"""A text is in another language if that one's small words are more than the first share of it, its own less than the
second."""


def wrong_language(text: str, language: str, *, is_prose: bool) -> str:
    """Return the script or language that `text` is in, in place of `language`; empty if nothing speaks against it.

    JSON (`is_prose` false) is judged by its script alone and for languages in Latin letters only: its keys are English.
    """
    asked = language.casefold()
    scripts = SCRIPTS_OF.get(asked)
    if scripts is None or (not is_prose and scripts != ("latin",)):
        return ""
    text = text[:READ_CHARACTERS]
    if text.isascii() and (not is_prose or len(text) < LEAST_LETTERS):
        return "" if scripts == ("latin",) or len(text) < LEAST_LETTERS else "Latin letters"
    plain = _CODE.sub(" ", text) if "`" in text or "://" in text else text
    others = len(plain) - len(plain.encode("ascii", "ignore"))  # dashes, quotation marks, accents, other scripts
    if scripts != ("latin",) or others > FOREIGN_SHARE * LEAST_LETTERS:
        counts = {name: len(letters.findall(plain)) for name, letters in _LETTERS.items()}
        foreign = {name: count for name, count in counts.items() if name not in scripts}
        total = sum(counts.values())
        most = max(foreign, key=lambda name: foreign[name])
        if total >= LEAST_LETTERS and sum(foreign.values()) > FOREIGN_SHARE * total:
            return f"{most.capitalize()} letters"
    return _other_language(plain, asked) if is_prose and asked in SMALL_WORDS else ""


def _other_language(text: str, asked: str) -> str:
    own = SMALL_WORDS[asked]
    # Nearly all texts are in their language, which their first lines show: enough of its small words between blanks.
    first = text[:FIRST_CHARACTERS].casefold()
    if sum(map(own.__contains__, first.split())) >= OWN_SHARE * (len(first) + 1) / 2:
        return ""
    words = _WORD.findall(text.casefold())
    if len(words) < LEAST_WORDS or sum(map(own.__contains__, words)) >= OWN_SHARE * len(words):
        return ""
    shares = {language: sum(map(small.__contains__, words)) / len(words) for language, small in SMALL_WORDS.items()}
    best = max(shares, key=lambda language: shares[language])
    return best.capitalize() if shares[best] > OTHER_SHARE else ""
