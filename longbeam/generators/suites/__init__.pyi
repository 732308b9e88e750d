from .agentic import BEFORE as BEFORE, AgenticSettings as AgenticSettings, Place as Place
from .base import Draw as Draw
from .multihop import MultihopSettings as MultihopSettings
from .paging import TYPES as TYPES, PagingSettings as PagingSettings
from .planted import PARAPHRASES as PARAPHRASES, TEMPLATES as TEMPLATES
from .registry import SUITES as SUITES, find_suite as find_suite, suite_settings as suite_settings
