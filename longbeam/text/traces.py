"""Traces of the machinery in messages: plan markers, prompt words, placeholders, special tokens.

Generators retry a text that has a trace; the check `leaks` reports the traces that remain. A pattern is tried only
where its trigger, a literal, is in the case-folded text, because most texts have no trace. Kinds that begin with
`maybe_` are those that people may have reasons to write: `TODO`, `[Your Name]` in a drafted letter, `{id}` in a path.
Most patterns do not search fenced and inline code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longbeam.schemas import Category, MessageRole
from longbeam.text.languages import ENGLISH, Language
from longbeam.text.sentences import prose_spans

ENGLISH_KINDS = ("plan_word", "role_prefix", "ai_phrase", "placeholder", "maybe_placeholder", "maybe_plan_word")
"""Kinds whose patterns consist of English words."""

_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_MATH = re.compile(r"\$\$.*?\$\$|(?<![\w$])\$[^$\n]{1,200}\$(?!\w)|\\\(.*?\\\)|\\\[.*?\\\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of a trace."""

    kind: str
    trigger: str
    """Literal that every matching text holds when it is case-folded."""
    pattern: re.Pattern[str]
    in_code: bool = False
    """Whether fenced and inline code is searched, too."""
    role: MessageRole | None = None
    """Role whose messages are searched; both when None."""
    categories: tuple[Category, ...] = tuple(Category)
    """Categories of domains whose conversations are searched."""


def _p(kind: str, trigger: str, pattern: str, flags: int = re.IGNORECASE, **where: object) -> Pattern:
    return Pattern(kind, trigger, re.compile(pattern, flags), **where)  # type: ignore[arg-type]


_SLOT = r"(?<![\w}^_\\/$])\{\{?\s*[a-z][a-z0-9]*(?:[_ ][a-z0-9]+)+\s*\}?\}(?![{^_])"
_BLANK = (
    r"(?<!\w)\[(?:your|my|the|user'?s?|insert|name of|add|enter|date|amount|company|city|first|last|recipient)"
    r"(?:[ _][\w' ]{1,40})?\](?![(\[:])"
)
# Names that prompts give their fenced slots; `~~~python` is markdown that anybody may write.
_SLOTS = (
    "text|reason|reply|messages?|history|summary|plan|bullets?|seed|profile|people|context|narratives?|ledger|"
    "questions?|facts?|excerpts?|state|instructions?|stages?"
)
# Tokens with which chat templates open and close a message. Others, `<|startoftext|>`, are named by people, too.
_CHAT_TOKENS = "im_start|im_end|im_sep|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|user|assistant|system"
# A pattern that begins with a letter, and looks behind from there, is tried at that letter only: this is fast.
PATTERNS = (
    _p("marker", "->->", r"->\s?->", in_code=False),
    _p("marker", ".s", r"[Pp](?<![\w.].)\d+\.[Ss]\d+(?:\.[BTXbtx]\d+)?(?:\.[Nn]\d+)?(?!\w)", 0, in_code=True),
    _p("marker", "bullet_id", r"\bbullet_ids?\b", in_code=True),
    _p("marker", "<|", rf"<\|(?:{_CHAT_TOKENS})\|>"),
    _p("marker", "<|", r"<\|endoftext\|>\s*\Z"),
    _p("maybe_marker", "<|", rf"<\|(?!(?:startoftext|endoftext|{_CHAT_TOKENS})\|)[a-z_]{{2,20}}\|>"),
    _p("marker", "~~~", rf"(?m)^~{{3,}}(?:{_SLOTS})[ ]*$", in_code=True),
    _p("plan_word", "sub", r"[Ss](?<!\w.)(?i:ub[- ]?plans?)\b", 0),
    _p("plan_word", "time anchor", r"\btime anchors?\b"),
    _p("plan_word", "special bullet", r"\bspecial bullets?\b"),
    _p("plan_word", "narrative label", r"\bnarrative labels?\b"),
    _p("plan_word", "[", r"\[(?:update|instruction|contradiction|preference|event|introduction)\]"),
    _p("plan_word", "information update", r"(?m)^\W{0,4}information update\W{0,3}:"),
    _p("plan_word", "logical contradiction", r"(?m)^\W{0,4}logical contradiction\W{0,3}:"),
    _p("plan_word", "user instruction", r"(?m)^\W{0,4}user instruction\W{0,3}:"),
    _p("role_prefix", ":", r"\A\s*\W{0,2}(?:user|assistant|human|ai|system)\W{0,2}:\s"),
    _p(
        "ai_phrase",
        "as an ai",
        r"\bas an ai(?: (?:language )?(?:model|assistant))?\b(?=[,.]| (?:I|my)\b)",
        role=MessageRole.ASSISTANT,
    ),
    _p("ai_phrase", "as an ai", r"\bas an ai (?:language )?model\b", role=MessageRole.USER),
    _p("placeholder", "[", _BLANK, role=MessageRole.USER, categories=(Category.GENERAL, Category.MATH)),
    _p("plan_word", "[today is", r"\[today is \d{4}-\d\d-\d\d\b"),
    _p("plan_word", "length of the answer", r"\blength of the answer: \d+ to \d+ (?:words|tokens)\b"),
    _p("plan_word", "goes on here", r"\[the conversation goes on here\.?\]"),
    _p("plan_word", "last reply", r"\b(?:your|the) last reply could not be used\b"),
    _p(
        "plan_word",
        "here",
        r"\A\W*(?:sure|certainly|of course)\W+here(?:'s|’s| is| are) (?:an?|the|some|my|your) [^\n:]{0,60}\b"
        r"(?:questions?|follow-?ups?|turns?)\b[^\n:]{0,60}:\s*\n",
        role=MessageRole.USER,
    ),
    _p("plan_word", "respond only in", r"\bplease respond only in \w+"),
    _p("placeholder", "[insert", r"\[insert\b[^\]\n]{0,60}\]", role=MessageRole.USER),
    _p("placeholder", "(insert", r"\(insert [^)\n]{1,60}\)", role=MessageRole.USER),
    _p("maybe_placeholder", "[insert", r"\[insert\b[^\]\n]{0,60}\]", role=MessageRole.ASSISTANT),
    _p("maybe_placeholder", "(insert", r"\(insert [^)\n]{1,60}\)", role=MessageRole.ASSISTANT),
    _p("placeholder", "{", _SLOT, categories=(Category.GENERAL,)),
    _p("placeholder", "{{", r"\{\{\s*[a-z_]\w*\s*\}\}", categories=(Category.GENERAL,)),
    _p("placeholder", "{%", r"\{%-?\s*(?:if|for|set|block|endif|endfor)\b", categories=(Category.GENERAL,)),
    _p("placeholder", "lorem ipsum", r"\blorem ipsum\b"),
    _p("maybe_placeholder", "<", r"<(?:your|user|insert|person|name|first|last|date|city|amount|value)(?:[_ ]\w+)*>"),
    _p("maybe_placeholder", "[", _BLANK, role=MessageRole.ASSISTANT),
    _p("maybe_placeholder", "{", _SLOT, categories=(Category.CODING,)),
    _p("maybe_placeholder", "todo", r"\bTODO\b", flags=0),
    _p(
        "maybe_placeholder",
        "xxx",
        r"(?<![\w-])XXX(?![\w-])",
        flags=0,
        role=MessageRole.USER,
        categories=(Category.GENERAL, Category.MATH),
    ),
    _p("maybe_plan_word", "the user", r"\(the user (?:will|should|must|may|now|then)\b[^()\n]{3,80}\)"),
    _p("maybe_plan_word", "bullet", r"\b(?:this|the (?:next|previous|above)) bullet\b(?![ -](?:point|train|list))"),
    _p("maybe_plan_word", "bullet", r"\bbullet(?: point)? \d+ of (?:my|the) plan\b"),
    _p("maybe_plan_word", "probing question", r"\bprobing questions?\b"),
)
"""All patterns; the first match of each pattern in a message is reported."""


_BY_PLACE = {
    (role, category): tuple(p for p in PATTERNS if p.role in (None, role) and category in p.categories)
    for role in MessageRole
    for category in Category
}
_REFUSED = {place: tuple(p for p in found if not p.kind.startswith("maybe_")) for place, found in _BY_PLACE.items()}


def find_traces(text: str, folded: str, role: MessageRole, category: Category) -> Iterator[tuple[str, str]]:
    """Yield the kind and the words of each pattern's first match; `folded` is the case-folded text."""
    return _matches(text, folded, _BY_PLACE[role, category])


def _matches(text: str, folded: str, patterns: Sequence[Pattern]) -> Iterator[tuple[str, str]]:
    prose: str | None = None
    for pattern in patterns:
        if pattern.trigger not in folded:
            continue
        # Code is cut out only where the pattern matches somewhere in the whole text: cutting is the slow part.
        match = pattern.pattern.search(text)
        if match is not None and not pattern.in_code:
            prose = without_code(text) if prose is None else prose
            match = pattern.pattern.search(prose)
        if match is not None:
            yield pattern.kind, match.group()


def trace_problem(text: str, role: MessageRole, category: Category, language: Language = ENGLISH) -> str | None:
    """Return the problem of a text with a trace, worded for its writer, or None."""
    for kind, words in _matches(text, text.casefold(), _REFUSED[role, category]):
        if language.reads_words or kind not in ENGLISH_KINDS:
            return f"the text says {' '.join(words.split())[:60]!r}, which nobody in a conversation would; leave it out"
    return None


def is_of_machinery(text: str, role: MessageRole, category: Category) -> bool:
    """Return whether a text has plan markers, special tokens or words about its task: no message of anybody's."""
    return any(kind in ("marker", "plan_word") for kind, _ in find_traces(text, text.casefold(), role, category))


def without_code(text: str) -> str:
    """Return the prose of a text, without fenced code, inline code and formulas."""
    prose = "\n".join(text[a:b] for a, b in prose_spans(text))
    if "`" in prose:
        prose = _INLINE_CODE.sub(" ", prose)
    return _MATH.sub(" ", prose) if "$" in prose or "\\" in prose else prose
