"""Languages of conversations: what code knows of each, so that generators and checks ask it instead of its name.

English is the only language whose words code reads and writes. Of the others, letters and function words tell
whether a reply is in them; of a language that has no entry here, code knows nothing. Another language gets rules by
an entry with the fields set, and with the word lists that the rules read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Language:
    """One language of a conversation, and the parts of the work that code does in it."""

    name: str
    """English name, as a spec writes it."""
    scripts: tuple[str, ...] = ()
    """Scripts of its letters; empty where unknown, and then no reply is taken for another language's."""
    small_words: frozenset[str] = frozenset()
    """Frequent function words, by which prose is told from other languages of the same script."""
    code: str = ""
    """Two-letter code for the header of a dataset card; empty where unknown."""
    reads_words: bool = False
    """Whether rules on words apply: mood, polarity, `you` and `I`, function words, traces of prompts."""
    reads_days: bool = False
    """Whether days are read out of a text; elsewhere the model writes the day in figures beside the text."""
    writes: bool = False
    """Whether code words sentences: mended bullets, additions, and the gold of abstentions."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SMALL_WORDS = {
    "english": _words("the and of to is that for you with are this your it be have was on"),
    "french": _words("le la les et des est une vous pour dans que qui pas votre avec du sur"),
    "german": _words("der die das und ist nicht sie ein eine mit für auf den von zu ich wir"),
    "spanish": _words("el la los las que es una para con por su del como se en lo más"),
    "italian": _words("il la che di è per una con non sono del della gli le si questo nel"),
    "portuguese": _words("o os as que não uma para com você do da em é por mais seu sua"),
    "dutch": _words("de het een en van is dat niet met voor zijn je op te ik ook aan"),
}
_LATIN = _words("swedish danish norwegian polish czech romanian hungarian turkish vietnamese indonesian")
_SCRIPTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*_SMALL_WORDS, *_LATIN), ("latin",)),
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
ENGLISH = Language(
    "English",
    _SCRIPTS["english"],
    _SMALL_WORDS["english"],
    "en",
    reads_words=True,
    reads_days=True,
    writes=True,
)
WITH_SMALL_WORDS = tuple(
    ENGLISH if name == "english" else Language(name.capitalize(), ("latin",), words)
    for name, words in _SMALL_WORDS.items()
)
"""Languages that are told from each other by their small words."""


@cache
def language_of(name: str) -> Language:
    """Return what is known of the language with this name; case does not matter."""
    known = name.casefold()
    if known == ENGLISH.name.casefold():
        return ENGLISH
    return Language(name, _SCRIPTS.get(known, ()), _SMALL_WORDS.get(known, frozenset()))
