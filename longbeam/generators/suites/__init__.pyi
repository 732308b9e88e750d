from .agentic import BEFORE as BEFORE, AgenticSettings as AgenticSettings, PlantedPlace as PlantedPlace
from .base import Draw as Draw
from .multihop import MultihopSettings as MultihopSettings
from .paging import TYPES as TYPES, PagingSuiteSettings as PagingSuiteSettings
from .planted import PARAPHRASES as PARAPHRASES, TEMPLATES as TEMPLATES
from .registry import SUITES as SUITES, find_suite as find_suite, suite_settings as suite_settings
