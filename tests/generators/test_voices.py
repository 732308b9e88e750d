"""How a user writes."""

from __future__ import annotations

from longbeam.generators import HABITS, voice_of
from longbeam.prompts import default_registry
from longbeam.prompts.calls import DialogueContext
from tests.builders import good_conversation
from tests.prompts.samples import SAMPLES

PROFILE = good_conversation().head.profile


def test_a_user_has_one_form_of_each_habit_at_every_age() -> None:
    voice = voice_of(PROFILE)
    assert [line in forms for line, forms in zip(voice, HABITS, strict=True)] == [True] * len(HABITS)
    assert voice_of(PROFILE.model_copy(update={"age": PROFILE.age + 9})) == voice


def test_users_write_differently() -> None:
    voices = {voice_of(PROFILE.model_copy(update={"name": f"Ada {i}"})) for i in range(30)}
    # 4 x 4 x 3 x 3 x 4 x 4 x 3 = 6,912 sheets
    assert len(voices) >= 28


def test_every_writer_of_the_users_messages_sees_the_sheet() -> None:
    sheet = ("typing: careful",)
    for prompt_id in ("user_turns", "more_turns", "user_answer", "user_follow_up", "word_turn", "assistant_reply"):
        inputs = SAMPLES[prompt_id]
        context = getattr(inputs, "context", None)
        is_dialogue = isinstance(context, DialogueContext)
        changed = {"context": context.model_copy(update={"voice": sheet})} if is_dialogue else {"voice": sheet}
        system = default_registry()[prompt_id].render(inputs.model_copy(update=changed))[0].content
        assert (sheet[0] in system) is (prompt_id != "assistant_reply")
