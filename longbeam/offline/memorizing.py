"""Rule-based replies to the prompts of memory systems and of chats.

They extract sentences and never reword them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from longbeam.models import load_tokenizer
from longbeam.offline import answering
from longbeam.prompts.calls import (
    MOST_STATEMENTS,
    AnswerInputs,
    ArtifactDraft,
    ArtifactKind,
    ArtifactsReply,
    BookmarkDraft,
    BookmarkPagesInputs,
    BookmarkPagesReply,
    CompressNotesInputs,
    ExtractArtifactsInputs,
    ExtractFactsInputs,
    ExtractFactsReply,
    ExtractKeysInputs,
    ExtractKeysReply,
    GleanArtifactsInputs,
    KeyValue,
    NotesRelevantInputs,
    NotesRelevantReply,
    ReadMessage,
    ReasonedAnswerInputs,
    ReasonedAnswerReply,
    RecallStepInputs,
    RecallStepReply,
    SearchStepInputs,
    SearchStepReply,
    SelectNotesInputs,
    SelectNotesReply,
    StatementDraft,
    TakeNotesInputs,
    TakeNotesReply,
    UpdateSummaryInputs,
)
from longbeam.schemas import MessageRole, ValueKind
from longbeam.text import content_words, sentences, stated_in, words_of

_WISH = re.compile(
    r"\b(?:always|never|prefer|please (?:use|give|keep|write|show|include|answer)|from now on|whenever|instead of|"
    r"i (?:like|hate|love|want|need)|rather than|make sure|no longer|changed?|moved?|now)\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\d")
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_SPEAKER = re.compile(r"^(\S{1,40}): ", re.MULTILINE)
_PLAIN = re.compile(r"[^\W_][\w'’-]*")
_MOST_ENTRIES, _MOST_KEY_WORDS, _MOST_NOTES = 8, 6, 8
_LEAST_SHARED = 0.3
"""Share of the question's words that a relevant piece of notes has."""
_TOKENIZER = "o200k_base"
"""Tokenizer for limits; the call does not name the benchmark's, and the memory checks the result by its own."""
_WEIGHT_WISH, _WEIGHT_VALUE, _WEIGHT_NAME = 3, 2, 1


def extract_keys(inputs: ExtractKeysInputs) -> ExtractKeysReply:
    """Return each telling sentence under its names and rarest words, the user's first, and the openings as summary."""
    said = _said(inputs.exchange)
    telling = [text for text in said if weight_of(text)][:_MOST_ENTRIES]
    entries = tuple(KeyValue(key=_key_of(text), value=text) for text in telling)
    return ExtractKeysReply(entries=entries, summary=said[0] if said else inputs.exchange.strip() or "nothing")


def take_notes(inputs: TakeNotesInputs) -> TakeNotesReply:
    """Return the telling sentences of the first speaker, verbatim."""
    first = turns_of(inputs.exchange)[:1]
    notes = [text for _, body in first for text in sentences_of(body) if weight_of(text) and not text.endswith("?")]
    return TakeNotesReply(notes=tuple(notes[:_MOST_NOTES]))


def compress_notes(inputs: CompressNotesInputs) -> str:
    """Return the most telling lines that fit, in their order; of equally telling lines, the newer ones."""
    return _shortened(inputs.notes.split("\n"), inputs.max_tokens)


def update_summary(inputs: UpdateSummaryInputs) -> str:
    """Return the summary so far with the telling sentences of the new exchanges, shortened to fit."""
    lines = [*inputs.summary.split("\n"), *(text for text in _said(inputs.said) if weight_of(text))]
    return _shortened(lines, inputs.max_tokens) or "Nothing was told yet."


def notes_relevant(inputs: NotesRelevantInputs) -> NotesRelevantReply:
    """Return yes if a piece has enough of the question's words, or is a wish that shares one of them."""
    return NotesRelevantReply(verdict="yes" if _is_relevant(set(words_of(inputs.question)), inputs.notes) else "no")


_BOOKMARK = re.compile(r"\[p(\d+):([^\]]*)\]")


def select_notes(inputs: SelectNotesInputs) -> SelectNotesReply:
    """Return the pieces that `notes_relevant` would keep."""
    asked = set(words_of(inputs.question))
    return SelectNotesReply(pieces=tuple(i for i, piece in enumerate(inputs.pieces) if _is_relevant(asked, piece)))


def search_step(inputs: SearchStepInputs) -> SearchStepReply:
    """Search once, with the question's words, then quote from the results."""
    if not inputs.searches and inputs.searches_left:
        return SearchStepReply(action="search", query=inputs.question)
    given = AnswerInputs(context=inputs.found, question=inputs.question, asked_on=inputs.asked_on)
    return SearchStepReply(action="answer", answer=answering.answer(given))


def recall_step(inputs: RecallStepInputs) -> RecallStepReply:
    """Recall once the pages whose bookmarks share words with the question, then answer from the context."""
    asked = set(words_of(inputs.question))
    marks = ((int(m[1]), set(words_of(m[2]))) for m in _BOOKMARK.finditer(inputs.context))
    shared = [(-len(asked & words), page_id) for page_id, words in marks if page_id in inputs.page_ids]
    best = tuple(page_id for shares, page_id in sorted(shared) if shares)
    if best and inputs.recalls_left and not inputs.recalled:
        return RecallStepReply(page_ids=best)
    given = AnswerInputs(context=inputs.context, question=inputs.question, asked_on=inputs.asked_on)
    return RecallStepReply(answer=answering.answer(given))


def bookmark_pages(inputs: BookmarkPagesInputs) -> BookmarkPagesReply:
    """Return the longest words of each page that no other page or bookmark has; any words if there are none."""
    said = [_PLAIN.findall(page.text) for page in inputs.pages]
    stems = [frozenset(words_of(page.text)) for page in inputs.pages]
    taken = set(words_of(" ".join(inputs.others)))
    frequency = Counter(stem for found in stems for stem in found)
    drafts = []
    for page, words in zip(inputs.pages, said, strict=True):
        telling = [w for w in dict.fromkeys(words) if words_of(w)]
        own = [w for w in telling if all(frequency[s] == 1 and s not in taken for s in words_of(w))]
        best = sorted(own or telling or ["nothing"], key=lambda w: (-len(w), w))[: inputs.most]
        drafts.append(BookmarkDraft(page_id=page.page_id, keywords=tuple(best)))
    return BookmarkPagesReply(bookmarks=tuple(drafts))


def _is_relevant(asked: set[str], piece: str) -> bool:
    shared = len(asked & set(words_of(piece)))
    return shared >= max(1, _LEAST_SHARED * len(asked)) or (shared > 0 and _WISH.search(piece) is not None)


def turns_of(exchange: str) -> list[tuple[str, str]]:
    """Return (speaker, text) in order; a text without speakers is one turn."""
    marks = [*_SPEAKER.finditer(exchange)]
    if not marks:
        return [("", exchange)]
    ends = [*(m.start() for m in marks[1:]), len(exchange)]
    return [(m[1], exchange[m.end() : end]) for m, end in zip(marks, ends, strict=True)]


def _said(exchange: str) -> list[str]:
    """Return the sentences of an exchange, those of the first speaker first."""
    turns = turns_of(exchange)
    first = turns[0][0]
    ordered = sorted(turns, key=lambda turn: turn[0] != first)
    return [text for _, body in ordered for text in sentences_of(body)]


def sentences_of(text: str) -> Iterable[str]:
    """Return the sentences of a text, each on one line."""
    return (" ".join(text[start:end].split()) for start, end in sentences(text))


def weight_of(text: str) -> int:
    """Return how telling a sentence is, by its wishes, values and names."""
    found = (_WISH, _WEIGHT_WISH), (_VALUE, _WEIGHT_VALUE), (_NAME, _WEIGHT_NAME)
    return sum(weight for pattern, weight in found if pattern.search(text))


def _key_of(text: str) -> str:
    if names := _NAME.findall(text):
        return ", ".join(dict.fromkeys(names))
    return " ".join(sorted(dict.fromkeys(words_of(text)), key=len, reverse=True)[:_MOST_KEY_WORDS])


def _shortened(lines: Sequence[str], max_tokens: int) -> str:
    count = load_tokenizer(_TOKENIZER).count
    distinct = list(dict.fromkeys(line for line in reversed(lines) if line.strip()))[::-1]
    kept, room = [], max_tokens
    for place in sorted(range(len(distinct)), key=lambda i: (-weight_of(distinct[i]), -i)):
        tokens = count(distinct[place]) + 1  # the line break
        if tokens <= room:
            kept.append(place)
            room -= tokens
    return "\n".join(distinct[place] for place in sorted(kept))


_FIRST, _GLEANED = 2, 1
"""Number of artifacts of the first pass over an exchange, and of gleaning."""
_LEAST_WORDS = 3
_CUES: dict[ArtifactKind, str] = {
    "decision": r"decided|decision|chose|chosen|settled|agreed|picked|opted|we(?:'ll| will) (?:go with|use|take)|"
    r"going with|went with|let's (?:use|go)|approved",
    "reminder": r"remember|don't forget|keep in mind|deadline|must not|never|always|important|allergic|due|"
    r"no more than|from now on|make sure|at most|budget|limit",
    "todo": r"todo|to-do|need(?:s)? to|have to|has to|should|must|going to|plan(?:ning)? to|task",
    "insight": r"reali[sz]ed?|learn(?:ed|t)|turns out|insight|understood|figured out|noticed|because",
    "relationship": r"(?:my|his|her|our|their) (?:wife|husband|partner|mother|father|mum|mom|dad|parents?|sister|"
    r"brother|son|daughter|kids?|child(?:ren)?|friends?|boss|colleague|neighbour|neighbor|aunt|uncle|cousin|family)",
    "event": r"yesterday|tomorrow|last|next|ago|went|visited|attended|happened|happens|meeting|trip|party|wedding|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)day|this (?:morning|week|weekend|month|year)",
    "person_attribute": r"i(?:'m| am)|my name|(?:he|she)(?:'s| is)|i (?:like|love|hate|prefer|live|work|feel|felt)",
}
"""Cue words of each kind. A sentence is of the first kind whose cue it contains, and a key fact if there is none."""
_KINDS: list[tuple[ArtifactKind, re.Pattern[str]]] = [
    (kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _CUES.items()
]


def extract_artifacts(inputs: ExtractArtifactsInputs) -> ArtifactsReply:
    """Return the most telling sentences of the user, or of the assistant if the user has none, in their order."""
    told = [*_telling(inputs.exchange)]
    people = [t for t in told if t[1] != MessageRole.ASSISTANT.value] or told
    return ArtifactsReply(artifacts=_best(people, _FIRST))


def glean_artifacts(inputs: GleanArtifactsInputs) -> ArtifactsReply:
    """Return the most telling sentence that the first pass left."""
    left = [t for t in _telling(inputs.exchange) if not any(t[2] in found for found in inputs.found)]
    return ArtifactsReply(artifacts=_best(left, _GLEANED))


def answer_by_reasoning(inputs: ReasonedAnswerInputs) -> ReasonedAnswerReply:
    """Return the rule-based reader's answer; the reader never guesses, even where it may not abstain."""
    given = AnswerInputs(context=inputs.context, question=inputs.question, asked_on=inputs.asked_on)
    return ReasonedAnswerReply(answer=answering.answer(given))


_Told = tuple[int, str, str]
"""Place in the exchange, speaker, sentence."""


def _telling(exchange: str) -> Iterator[_Told]:
    """Yield the sentences that state something; questions are left out."""
    place = 0
    for speaker, body in turns_of(exchange):
        for text in sentences_of(body):
            if not text.endswith("?") and len(words_of(text)) >= _LEAST_WORDS:
                yield place, speaker, text
                place += 1


def _best(told: Sequence[_Told], most: int) -> tuple[ArtifactDraft, ...]:
    ranked = sorted(told, key=lambda t: (-weight_of(t[2]), t[0]))[:most]
    return tuple(_draft(text, speaker) for _, speaker, text in sorted(ranked))


def _draft(text: str, speaker: str) -> ArtifactDraft:
    kind: ArtifactKind = next((kind for kind, words in _KINDS if words.search(text)), "key_fact")
    is_role = speaker in {"", MessageRole.USER.value, MessageRole.ASSISTANT.value}
    return ArtifactDraft(
        kind=kind,
        content=text if is_role else f"{speaker}: {text}",
        citation=text,
        confidence=0.9 if weight_of(text) else 0.7,
    )


_MOST = 2
"""Statements of one message."""
_WORDS = 3
"""Words that name a thing."""


def extract_facts(inputs: ExtractFactsInputs) -> ExtractFactsReply:
    """Return what the messages state by the rule; a value noted before under the same name is changed."""
    noted = {line.rpartition(":")[0] for line in inputs.known}
    found = [draft for message in inputs.messages for draft in _stated(message)]
    return ExtractFactsReply(
        statements=[
            draft.model_copy(update={"says": "change"})
            if f"{inputs.messages[draft.message].role.value}: {draft.subject}, {draft.attribute}" in noted
            else draft
            for draft in found[:MOST_STATEMENTS]
        ]
    )


def _stated(message: ReadMessage) -> Iterator[StatementDraft]:
    left = _MOST if message.role is MessageRole.USER else 0
    for start, end in sentences(message.content):
        sentence = message.content[start:end]
        values = stated_in(sentence)
        if not left or len(values) != 1 or values[0].value.kind is ValueKind.TEXT:
            continue
        words = [w for w in re.findall(r"[^\W\d_]+", sentence[: values[0].start]) if content_words(w)][-_WORDS:]
        if not words:
            continue
        left -= 1
        value = values[0].value
        yield StatementDraft(
            message=message.number,
            quote=sentence,
            says="fact",
            subject=" ".join(words),
            attribute=value.kind.value,
            value=value.text,
        )
