"""How much a message asks for, read from its words, so that replies are as long as their questions deserve.

A plain question counts about 1. Each further question, a piece of work (a draft, a plan, a comparison) and pasted
material raise the demand; a message that asks nothing, or only whether something is right, lowers it.
"""

from __future__ import annotations

import re

from longbeam.generators.tuning import DIALOGUE
from longbeam.text import without_code

_QUESTION = re.compile(r"[?？؟][\"'”’)]*(?=\s|\Z)")
_WORK = re.compile(
    r"\b(?:draft|write|rewrite|plan|outline|check ?list|table|compare|comparison|step[- ]by[- ]step|walk me through|"
    r"steps|examples?|explain|in detail|pros and cons|schedule|template|debug|refactor|implement|prove|derive|solve|"
    r"summar\w+|list)\b",
    re.IGNORECASE,
)
"""Words that ask for a piece of work; other languages are read by their questions and material alone."""
_CONFIRMING = re.compile(
    r"(?:\A|[.!?:,;–—]\s*(?:so |and |but |ok(?:ay)?,? )?)(?:okay|agreed|right|correct|deal|got it|shall we [^?]{1,50}|"
    r"would that [^?]{1,50}|(?:is|are|was|were|do|does|did|has|have|had|may|will|can)(?:n['’]t)? "
    r"(?!you (?:help|show|tell|give|make|suggest|think of|explain|look))"
    r"(?:(?!\b(?:or|how|why|what|which|where|when|who)\b)[^?]){1,70})\?\W*\Z",
    re.IGNORECASE,
)
"""A short question at the end that wants a yes or a no: no choice of two, and no question of another kind within."""
_SENTENCE_END = re.compile(r"[.!?]\s")
_OPEN_QUESTION = re.compile(
    r"\b(?:how|why|what|which|where|when|who|whose) (?!(?:i|you|we|he|she|it|they)\b)", re.IGNORECASE
)
"""Words that open a question which a yes does not answer; before a subject they open a clause: `is it what I owe?`."""
_SHORT_YES = re.compile(r"\b(?:short|quick|simple|plain|brief) (?:yes|ok|okay)\b[^.!?]*[.!?]?\W*\Z", re.IGNORECASE)
"""A last sentence that wants a yes and nothing else."""
_PROMISE = re.compile(
    r"[.!?:,;–—]\s*(?:so |and |but |ok(?:ay)?,? )?(?:(?:will|can|could|would) you (?:please )?"
    r"(?:do|keep to|stick to|remember) (?:that|this|it|so)(?: for [^.!?]{1,30})?|"
    r"is that (?:all right|okay|ok|fine|possible)|yes|okay|ok|agreed|deal|all right)\?\W*\Z",
    re.IGNORECASE,
)
"""A last question that wants a promise to do what the message wishes."""
_BRIEF = re.compile(
    r"\b(?:(?:short|brief|quick) (?:one|text|note|line|answer|version|message|letter|reply|e?mail|summary|list|word)s?|"
    r"briefly|one[- ]liner?|in (?:one|a|two) sentences?)\b[^.!?]*[.!?]?\W*\Z",
    re.IGNORECASE,
)
"""A last sentence that wants little of what it asks for ..."""


def _wants_yes_or_no(prose: str) -> bool:
    """Return whether a message ends with a question for a yes or a no, in a sentence without another question."""
    last = _SENTENCE_END.split(prose.rstrip(' \n"”’?？؟'))[-1]
    return _CONFIRMING.search(prose) is not None and _OPEN_QUESTION.search(last) is None


def demand_of(text: str) -> float:
    """Return how much a message asks for: 1 is a usual question, DIALOGUE.least_demand to DIALOGUE.greatest_demand."""
    prose = without_code(text)
    questions = len(_QUESTION.findall(prose))
    works = bool(_WORK.search(prose))
    if (not questions and _SHORT_YES.search(prose)) or (questions == 1 and _PROMISE.search(prose)):
        demand = DIALOGUE.yes
    elif questions == 1 and not works and _wants_yes_or_no(prose):
        demand = DIALOGUE.quick
    elif not questions and not works:
        demand = DIALOGUE.statement
    else:
        demand = (
            DIALOGUE.question
            + DIALOGUE.further * min(max(questions - 1, 0), DIALOGUE.most_further)
            + DIALOGUE.work * works
        )
    if _BRIEF.search(prose):
        demand *= DIALOGUE.little
    demand += DIALOGUE.material * (len(text) - len(prose) > DIALOGUE.long_material)
    return min(max(demand, DIALOGUE.least_demand), DIALOGUE.greatest_demand)
