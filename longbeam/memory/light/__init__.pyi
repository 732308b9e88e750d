from .settings import LightSettings as LightSettings
from .system import (
    Light as Light,
    Scratchpad as Scratchpad,
    breakpoints as breakpoints,
    seen_by_extractor as seen_by_extractor,
    semantic_chunks as semantic_chunks,
    tail_of as tail_of,
)
