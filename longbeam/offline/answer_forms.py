"""Verdicts on nuggets that ask for a form of the answer: a table, a unit, a question at the end, a thing left unsaid.

A form is seen in the answer and not in words about it: sentences that repeat the wish or promise to follow it are left
out, and an answer that has nothing else has no form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from text_to_num import alpha2digit

from longbeam.prompts.calls import JudgeInputs, JudgeReply
from longbeam.text import content_words, says, sentences, values_in

_FORM = re.compile(
    r"^\W*(?:gives|shows|contains|closes|ends|opens|begins|starts|puts|uses|says (?:for|how (?:many|long|much))|"
    r"names (?:a|an|at|for|with)|states in what|includes (?:a|an|one))\b",
    re.IGNORECASE,
)
"""Beginning of a nugget on how the answer is made; other nuggets are on what it says.

The offline writer's begin otherwise (`The response ...`): its gold answers describe a form and do not have it.
"""
_ON_THE_WISH = re.compile(
    r"\b(?:when(?:ever)? (?:i|you)(?:['’]re| are)? ask|your (?:wish|preference|rule|request)|of course|happy to)\b|"
    r"\bas (?:you|i)(?:['’]ve| have)? (?:asked|wish|want|like|prefer|request)|"
    r"\b(?:you|i)(?:['’]d| would)? (?:asked|wish|wanted|like|prefer|want) (?:me|it|that)\b|"
    r"\bi(?:['’]ll| will| shall|['’]ve| have) (?:\w+ )?(?:give|keep|make sure|do|follow|stick|bear|remember|note|"
    r"respect|show|put|add|close|end|open|use|name)",
    re.IGNORECASE,
)
"""Words of a sentence that repeats a wish or promises to follow it."""
_UNSAID = re.compile(r"Says of .+?: (.+), without giving the amount of (.+?)(?: or any hint of it)?$")
_ONLY = re.compile(r"Names (.+?) and no other person\b")
_WITHIN = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\b")
"""Capitalized words within a sentence."""
_UNIT = re.compile(
    r"\b(?:in|many|the|a|working) (seconds?|minutes?|hours?|days?|weeks?|months?|years?|grams?|kilos?|litres?|metres?|"
    r"\w+spoon(?:ful)?s?|spoonfuls)\b",
    re.IGNORECASE,
)
_FOR_EACH = re.compile(r"\b(?:for|of|with|beside|at) (?:each|every|all)\b", re.IGNORECASE)
_EACH = 2
"""Figures in an answer that gives the unit for each of several things."""
_BRIEF = 6
"""Words of its own below which an answer has to share one with the question."""
_FIGURE = re.compile(r"\d[\d.,/]*|\b(?:half|quarter|an?)\b", re.IGNORECASE)
_DEGREES = {
    "worst": r"worst|bad(?:ly)?\b|goes? wrong|fails?\b|pessimis",
    "likely": r"likely|probabl|expect|usual|realistic|mostly|normal",
    "best": r"best|ideal|goes? well|optimis",
}
_ORDER = re.compile(rf"\b({'|'.join(_DEGREES)})\b.*\bbefore\b.*\b({'|'.join(_DEGREES)})\b", re.IGNORECASE)
_SHORTCOMING = re.compile(r"\b(?:falls? short|drawback|downside|disadvantage|shortcoming|weakness)\w*", re.IGNORECASE)
_FALLS_SHORT = re.compile(
    r"\b(?:lack|without|miss|weaker|less|lose|fade|falls? short|drawback|downside|disadvantage|but|not as)\w*|\bno \w+",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\bquestion\b", re.IGNORECASE)
_TO_THE_USER = re.compile(
    r"\b(?:(?:would you like|do you want) me|shall i|should i|can i|could i|may i|(?:right|correct|true|holds)\?)",
    re.IGNORECASE,
)
"""Questions of the assistant's that nobody else can be asked."""
_TABLE = re.compile(r"^\s*\|.*\|.*\n\s*\|[\s:|-]+\|", re.MULTILINE)
_CODE = {
    "sql": re.compile(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE)\b"),
    "test": re.compile(r"\bdef test|\bassert\w*|\bexpect\(|\btest\("),
    "code": re.compile(r"```|`[^`\n]+`"),
}
"""Signs of what a nugget names."""
_LANGUAGE = re.compile(r"\bin (Polish|German|French|Spanish|Italian|Dutch|Portuguese|Swedish|Czech|Turkish|Russian)\b")
_AT_END = re.compile(r"\b(?:closes|ends)\b", re.IGNORECASE)
_AT_START = re.compile(r"\b(?:opens|begins|starts)\b", re.IGNORECASE)


def judge_answer_form(inputs: JudgeInputs) -> tuple[JudgeReply | None, str]:
    """Return the verdict on a nugget that asks for a form, and the part of the answer that other rules may read.

    None where no rule knows the form; then the words of that part decide.
    """
    for rule in (_judge_unsaid, _judge_only):
        if (reply := rule(inputs)) is not None:
            return reply, inputs.answer
    if not _FORM.search(inputs.nugget) or values_in(inputs.nugget):
        return None, inputs.answer
    done = _done(inputs)
    if not done.strip():
        return verdict("do", "more than repeat what is asked for", is_met=False), ""
    # Few words in a unit may be on anything.
    is_brief = len(content_words(done)) < _BRIEF
    if is_brief and not content_words(done) & content_words(inputs.question):
        return verdict("treat", "the question's subject", is_met=False), ""
    checked = list(_checked(inputs.nugget, done))
    if checked:
        failing = [what for what, is_met in checked if not is_met]
        return verdict("have", " and ".join(failing or [what for what, _ in checked]), is_met=not failing), done
    return None, _placed(inputs.nugget, done)


def verdict(verb: str, said: str, is_met: object) -> JudgeReply:
    """Return "met" or "not met"; the reason says that the answer does this, or that it does not."""
    if is_met:
        return JudgeReply(reason=f"the answer {'has' if verb == 'have' else verb + 's'} {said}", verdict="met")
    return JudgeReply(reason=f"the answer does not {verb} {said}", verdict="not met")


def _done(inputs: JudgeInputs) -> str:
    """Return the answer without the sentences that speak of the wish, or say nothing beyond nugget and question."""
    known = content_words(inputs.nugget) | content_words(inputs.question)
    text, cut = inputs.answer, []
    for start, end in sentences(text):
        said = text[start:end]
        new = content_words(said) - known
        is_empty = not new and not re.search(r"[\d|]", said)  # a row of a table may have few words
        if is_empty or _ON_THE_WISH.search(said):
            cut.append((start, end))
    for start, end in reversed(cut):
        text = text[:start] + text[end:]
    return text


def _checked(nugget: str, done: str) -> Iterator[tuple[str, bool]]:
    """Yield the forms that a nugget names, and whether the text has them."""
    digits = alpha2digit(done, "en", threshold=0)
    if order := _ORDER.search(nugget):
        first, second = (re.search(_DEGREES[word.casefold()], done, re.IGNORECASE) for word in order.groups())
        is_met = first is not None and second is not None and first.start() < second.start()
        yield f"the {order[1]} before the {order[2]}", is_met
    if _QUESTION.search(nugget):
        asked = [said for said in _pieces(done) if "?" in said and not _TO_THE_USER.search(said)]
        is_last = not _AT_END.search(nugget) or "?" in _pieces(done)[-1]
        yield "a question to put", bool(asked) and is_last
    elif unit := _UNIT.search(nugget):
        wanted = _EACH if _FOR_EACH.search(nugget) else 1
        yield f"{unit[1]}{f' at least {wanted} times' if wanted > 1 else ''}", _figures(unit[1], digits) >= wanted
    if re.search(r"\btable\b", nugget, re.IGNORECASE):
        yield "a table", _TABLE.search(done) is not None
    for name, signs in _CODE.items():
        if re.search(rf"\b{name}\b", nugget, re.IGNORECASE):
            yield name, signs.search(done) is not None
    if language := _LANGUAGE.search(nugget):
        yield f"words in {language[1]}", re.search(r"[a-z]*[^\W\d_a-zA-Z][a-z]*", done) is not None
    if _SHORTCOMING.search(nugget):
        yield "what is lacking", _FALLS_SHORT.search(done) is not None


def _figures(unit: str, digits: str) -> int:
    """Return how many figures a text gives in a unit, which a list or a table may name once."""
    stem = {"minute": "min"}.get(name := re.sub(r"s$|fuls?$", "", unit.casefold()), name)
    beside = re.findall(rf"(?:{_FIGURE.pattern})(?: to \d+| ?[-–] ?\d+)?[- ](?:\w+ )?\w*{stem}", digits, re.IGNORECASE)
    rows = [
        line for line in digits.splitlines() if re.match(r"\s*(?:[-*•|]|\d+[.)])", line) and _FIGURE.search(line[3:])
    ]
    return max(len(beside), len(rows) if re.search(stem, digits, re.IGNORECASE) else 0)


def _placed(nugget: str, done: str) -> str:
    """Return the first or the last two sentences where the nugget names that place."""
    pieces = _pieces(done)
    if _AT_END.search(nugget):
        return " ".join(pieces[-2:])
    return " ".join(pieces[:2]) if _AT_START.search(nugget) else done


def _pieces(text: str) -> list[str]:
    return [said for span in sentences(text) if (said := text[slice(*span)].strip())]


def _judge_unsaid(inputs: JudgeInputs) -> JudgeReply | None:
    """Return "met" for an answer that says the one thing and leaves the amount unsaid."""
    if (match := _UNSAID.match(inputs.nugget)) is None:
        return None
    wanted, said = content_words(match[1]), content_words(inputs.answer)
    leaks = any(says(inputs.answer, v) for v in values_in(match[2]))
    return verdict("say", f"{match[1]} without {match[2]}", wanted <= said and not leaks)


def _judge_only(inputs: JudgeInputs) -> JudgeReply | None:
    """Return "met" for an answer that names these people and, within its sentences, no other name."""
    if (match := _ONLY.match(inputs.nugget)) is None:
        return None
    wanted = set(re.split(r", | and ", match[1]))
    named = set(_WITHIN.findall(inputs.answer)) - set(re.findall(r"\w+", inputs.question))
    has_all = all(re.search(rf"\b{re.escape(name)}\b", inputs.answer) for name in wanted)
    return verdict("name", f"{match[1]} and nobody else", has_all and named <= wanted)
