from . import registry as registry
from .beam import (
    ABSTENTION as ABSTENTION,
    CONTRADICTION_RESOLUTION as CONTRADICTION_RESOLUTION,
    EVENT_ORDERING as EVENT_ORDERING,
    INFORMATION_EXTRACTION as INFORMATION_EXTRACTION,
    INSTRUCTION_FOLLOWING as INSTRUCTION_FOLLOWING,
    KNOWLEDGE_UPDATE as KNOWLEDGE_UPDATE,
    MULTI_SESSION_REASONING as MULTI_SESSION_REASONING,
    PREFERENCE_FOLLOWING as PREFERENCE_FOLLOWING,
    SUMMARIZATION as SUMMARIZATION,
    TEMPORAL_REASONING as TEMPORAL_REASONING,
)
from .kinds import QuestionKind as QuestionKind, is_kind as is_kind
from .record import Ability as Ability, EvidenceRole as EvidenceRole, Trait as Trait
from .registry import (
    abilities as abilities,
    ability_named as ability_named,
    ability_names as ability_names,
    ability_of as ability_of,
    find_ability as find_ability,
    resolve as resolve,
)
