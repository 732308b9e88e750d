"""The requests that BEAM's dialogue stage would send for a dialogue, as its released code lays them out.

Per sub-plan, the assistant sees rules and all earlier bullets, then a buffer that begins empty; the user simulator and
the follow-up detector see a second buffer; the question detector sees the last reply. A buffer that outgrows its budget
keeps its ten newest messages and a summary of the rest. Every user message costs three calls: main question: assistant
and both detectors; answer: user, assistant, question detector; follow-up: user, assistant, follow-up detector.

Our own rules and knowledge stand in the place of BEAM's, so that only the layout differs, and what is fixed stands
first wherever BEAM's order is not known. Source: shared reference on BEAM's code, sections 1.7 and 8.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from longbeam.schemas import ChatMessage, Message, MessageKind

RECENT = 10
ASSISTANT_WINDOW, ASSISTANT_SUMMARY = 28_000, 1_000
USER_WINDOW, USER_SUMMARY = 19_000, 2_000
HEADROOM = 400

Count = Callable[[str], int]
Request = tuple[ChatMessage, ...]


@dataclass(frozen=True)
class SubPlanTalk:
    """One sub-plan's dialogue with the fixed texts that its calls begin with."""

    messages: Sequence[Message]
    assistant_system: str
    user_system: str
    question_rules: str
    follow_up_rules: str
    summary_rules: str


@dataclass
class Buffer:
    """The newest messages, and a summary of those before them."""

    max_tokens: int
    summary_tokens: int
    count: Count
    is_sliding: bool = False
    """Whether there are never more than twice RECENT messages, as a sliding window has it."""
    recent: list[ChatMessage] = field(default_factory=list)
    summary: str = ""

    def add(self, message: ChatMessage) -> Request | None:
        """Take a message in; return the older messages when they have to be summarised."""
        self.recent.append(message)
        too_many = self.is_sliding and len(self.recent) >= 2 * RECENT
        if not too_many and self.tokens() <= self.max_tokens:
            return None
        room = self.max_tokens - self.summary_tokens - HEADROOM
        keep = 0
        while keep < min(RECENT, len(self.recent)):
            room -= self.count(self.recent[-keep - 1].content)
            if room < 0:
                break
            keep += 1
        older, self.recent = self.recent[: len(self.recent) - keep], self.recent[len(self.recent) - keep :]
        return tuple(older)

    def tokens(self) -> int:
        """Tokens of what the buffer gives a prompt."""
        return self.count(self.summary) + sum(self.count(m.content) for m in self.recent)

    def messages(self) -> list[ChatMessage]:
        """Return the buffer's messages for a prompt."""
        if not self.summary:
            return list(self.recent)
        return [ChatMessage(role="system", content=f"Summary of earlier messages: {self.summary}"), *self.recent]


def requests_of(talk: SubPlanTalk, count: Count, *, is_sliding: bool) -> Iterator[Request]:
    """Yield the requests of one sub-plan in order. `is_sliding`: with never more than ten to twenty messages."""
    window = ASSISTANT_WINDOW - count(talk.assistant_system)
    assistant = Buffer(window, ASSISTANT_SUMMARY, count, is_sliding)
    user = Buffer(USER_WINDOW, USER_SUMMARY, count, is_sliding)
    kind = MessageKind.QUESTION
    for message in talk.messages:
        said = ChatMessage(role=message.role.value, content=message.content)
        if message.kind is MessageKind.REPLY:
            yield _begun(talk.assistant_system, assistant.messages())
        else:
            kind = message.kind
            if kind is not MessageKind.QUESTION:
                yield _begun(talk.user_system, user.messages())
        for buffer in (assistant, user):
            if older := buffer.add(said):
                yield _asked(talk.summary_rules, buffer.summary, *(m.content for m in older))
                buffer.summary = _summarised(buffer, older)
        if message.kind is MessageKind.REPLY:
            if kind is not MessageKind.FOLLOW_UP:
                yield _asked(talk.question_rules, message.content)
            if kind is not MessageKind.ANSWER:
                yield _asked(talk.follow_up_rules, *(m.content for m in user.messages()), message.content)


def _begun(system: str, messages: Sequence[ChatMessage]) -> Request:
    return (ChatMessage(role="system", content=system), *messages)


def _asked(rules: str, *texts: str) -> Request:
    return (ChatMessage(role="user", content="\n\n".join([rules, *(t for t in texts if t)])),)


def _summarised(buffer: Buffer, older: Sequence[ChatMessage]) -> str:
    """A summary of the length that the buffer allows: what counts here is its size, and that it changes."""
    lines = [buffer.summary, *(m.content.replace("\n", " ")[:400] for m in older)]
    text = "\n".join(line for line in lines if line)
    while buffer.count(text) > buffer.summary_tokens:
        text = text[len(text) // 8 :]
    return text
