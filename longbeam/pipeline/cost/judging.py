"""The judging of wordings in a rehearsal: the stand-in repeats the plan's words, so no rule is in doubt about them.

Where a language model writes, the checker is asked about messages that put a bullet in words of their own, and about
its calibration. A rehearsal asks both, so that an estimate prices them and knows the sizes of these calls.
"""

from __future__ import annotations

from dataclasses import replace

from longbeam.generators import measured_fitness, unsaid_claims
from longbeam.keys import UnitKey
from longbeam.models import Asker, Models, has_model_checks
from longbeam.pipeline.run.units import DIALOGUE
from longbeam.prompts import default_registry
from longbeam.schemas import MessageRole, TurnWriting
from longbeam.store import Benchmark, SealedConversation

JUDGED_EVERY = 8
"""Messages for one that is judged. In the recorded run rules are in doubt about 9 of 70 messages, each with one bullet
(docs/checks.md); of a writer that rewords what it is given, about up to three in four."""


async def rehearse_judging(benchmark: Benchmark, models: Models, conversation_id: str) -> None:
    """Ask the checker of a rehearsed conversation what a good writer's wordings would have it asked."""
    spec = benchmark.spec
    if not has_model_checks(spec):
        return
    asker = Asker(models, default_registry(), spec, UnitKey(conversation_id, "user_turns", "judged"))
    worded = replace(asker, unit_key=UnitKey(conversation_id, DIALOGUE, "judged"))
    with SealedConversation(benchmark.sealed_path(conversation_id)) as sealed:
        told = {b.bullet_id: b.text for p in sealed.head.plans for s in p.sub_plans for b in s.bullets}
        voicing = [m for m in sealed.messages() if m.role is MessageRole.USER and m.bullet_ids]
    for message in voicing[::JUDGED_EVERY]:
        claims = (told[message.bullet_ids[0]],)
        await unsaid_claims(asker, message.message_key, message.content, claims)
        if spec.turns is TurnWriting.IN_DIALOGUE:  # as its batch has it, and as it is worded when it is due
            await unsaid_claims(worded, message.message_key, message.content, claims)
    if spec.checks.least_accuracy:
        await measured_fitness(asker)
        await measured_fitness(asker, marks=True)
