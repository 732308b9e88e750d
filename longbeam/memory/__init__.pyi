from .base import (
    AnsweringSystem as AnsweringSystem,
    ExchangeMemory as ExchangeMemory,
    MemorySystem as MemorySystem,
    NotingSystem as NotingSystem,
    Tools as Tools,
    close_system as close_system,
    in_order as in_order,
)
from .baselines import (
    LongContext as LongContext,
    LongContextSettings as LongContextSettings,
    Rag as Rag,
    RagSettings as RagSettings,
    SearchTool as SearchTool,
    SearchToolSettings as SearchToolSettings,
    chunks_of as chunks_of,
)
from .context import ContextBuilder as ContextBuilder
from .exchanges import (
    dated as dated,
    exchanges_of as exchanges_of,
    released_ids as released_ids,
    said as said,
    with_released_copies as with_released_copies,
)
from .index import SparseEncoderRetriever as SparseEncoderRetriever
from .planted import states_or_advises as states_or_advises
from .product import (
    AnsweringProduct as AnsweringProduct,
    Memory as Memory,
    ProductMemory as ProductMemory,
    ProductSettings as ProductSettings,
    memory_of as memory_of,
)
from .registry import (
    FLOORS as FLOORS,
    PRODUCTS as PRODUCTS,
    SYSTEMS as SYSTEMS,
    Registered as Registered,
    find_system as find_system,
    registered as registered,
    settings_of as settings_of,
)
from .retrieval import Bm25Index as Bm25Index, StoredEmbedder as StoredEmbedder, ranked as ranked
from .templates import (
    SHIPPED as SHIPPED,
    TemplateCounts as TemplateCounts,
    Templates as Templates,
    count_templates as count_templates,
    grams_of as grams_of,
    learn_templates as learn_templates,
    shipped_templates as shipped_templates,
)
from .tuning import MEMORIZING as MEMORIZING
from .vendor_systems import make_system as make_system
from .vendors import Host as Host, copied as copied, name_of as name_of
