"""Dialogue that prompts show: a summary of the older part and the newest messages as they are.

A history that grows beyond its limit is folded: the older part goes into the summary. The limit follows the context of
the assistant's model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from longbeam.errors import ProviderError, is_final, reason_of
from longbeam.generators.tuning import DIALOGUE
from longbeam.models import CALLING, Acceptance, Asker, model_context
from longbeam.prompts.calls import CompactInputs, DialogueContext
from longbeam.schemas import BenchmarkSpec, ChatMessage, Incident, IncidentKind, MessageRole, Role


def history_tokens(spec: BenchmarkSpec) -> int:
    """Return the length at which a dialogue is folded: what the context of the assistant's model leaves room for."""
    context = model_context(spec, spec.model_for(Role.ASSISTANT))
    if context is None:
        return DIALOGUE.history_tokens
    room = round(context / CALLING.tokenizer_margin) - DIALOGUE.beside_history_tokens
    return min(DIALOGUE.history_tokens, max(DIALOGUE.least_history_tokens, room))


@dataclass
class DialogueHistory:
    """The newest messages of a dialogue, oldest first, behind a summary of those before."""

    limit: int
    """Tokens of the messages beyond which the older ones are folded or forgotten."""
    messages: list[ChatMessage] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """Tokens of each message."""
    summary: str = ""
    folds: int = 0

    def add(self, role: MessageRole, text: str, tokens: int) -> None:
        """Append a message."""
        self.messages.append(ChatMessage(role=role.value, content=text))
        self.sizes.append(tokens)

    def take_back(self) -> None:
        """Remove the last message."""
        self.messages.pop()
        self.sizes.pop()

    async def fold(self, asker: Asker, context: DialogueContext) -> None:
        """Put the older part of a long history into the summary, in a model's words."""
        if sum(self.sizes) <= self.limit:
            return
        if (keep := self._kept_from()) == 0:
            return  # the dialogue begins with a message beyond the limit
        inputs = CompactInputs(
            context=context,
            summary=self.summary,
            messages=tuple(self.messages[:keep]),
            max_tokens=DIALOGUE.summary_tokens,
        )
        place = f"fold{self.folds}"
        self.folds += 1
        try:
            self.summary = await asker.prose(
                "compact_memory", inputs, place=place, accept=Acceptance(mend=lambda text: text)
            )
        except ProviderError as exc:
            if not is_final(exc):
                raise
            # The older messages are dropped: the plan still says what was told, and the former summary stays.
            detail = f"the summary stays as it was: {reason_of(exc)}"
            asker.note(Incident(kind=IncidentKind.DEFAULTED, prompt_id="compact_memory", place=place, detail=detail))
        del self.messages[:keep], self.sizes[:keep]

    def _kept_from(self) -> int:
        keep = len(self.sizes) - 1  # the newest message is kept, however long
        kept = self.sizes[keep]
        while keep > 1 and kept + self.sizes[keep - 1] <= self.limit // DIALOGUE.kept_part:
            keep -= 1
            kept += self.sizes[keep]
        if self.messages[keep].role == "assistant" and keep + 1 < len(self.messages):
            keep += 1  # what is kept begins with the user, as chat templates want it
        return keep

    def forget(self) -> None:
        """Leave the newest messages alone in a long history, without the summary that would have to be paid for."""
        if sum(self.sizes) > self.limit:
            keep = self._kept_from()
            del self.messages[:keep], self.sizes[:keep]

    def exchanged_end(self, own: int) -> tuple[ChatMessage, ...]:
        """Return the newest messages with the roles exchanged: at least the `own` messages of the present turn.

        The user's side knows the rest from the plan. It is rarely asked, so no cache would hold a whole dialogue with
        the roles exchanged for it.
        """
        return tuple(_exchanged(m) for m in self.messages[-max(own, DIALOGUE.user_messages) :])


def _exchanged(message: ChatMessage) -> ChatMessage:
    return ChatMessage(role="user" if message.role == "assistant" else "assistant", content=message.content)
