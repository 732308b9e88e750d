from . import lock as lock, registry as registry
from .declarations import (
    PROMPTS as PROMPTS,
    default_registry as default_registry,
    overridden_prompts as overridden_prompts,
    registry_for as registry_for,
)
from .environment import (
    TEMPLATES as TEMPLATES,
    Trusted as Trusted,
    day as day,
    environment_of as environment_of,
    fenced as fenced,
    inline as inline,
    listed as listed,
    only_trusted as only_trusted,
    parse as parse,
    parts_of as parts_of,
)
from .passages import find_copied as find_copied
from .registry import MessageCache as MessageCache, Prompt as Prompt, PromptRegistry as PromptRegistry
