__version__: str

from .errors import (
    LongbeamError as LongbeamError,
    ProviderError as ProviderError,
    SpecError as SpecError,
    StoreError as StoreError,
    UserError as UserError,
)
from .formats import export_jsonl as export_jsonl
from .library import (
    Evaluation as Evaluation,
    LoadedBenchmark as LoadedBenchmark,
    LoadedConversation as LoadedConversation,
    Table as Table,
    evaluate as evaluate,
    export as export,
    generate as generate,
    import_benchmark as import_benchmark,
    load as load,
    run as run,
    validate as validate,
)
from .pipeline import load_spec as load_spec
from .schemas import BenchmarkSpec as BenchmarkSpec
from .store import Benchmark as Benchmark, create_benchmark as create_benchmark, open_benchmark as open_benchmark
from .validation import (
    benchmark_statistics as benchmark_statistics,
    check_benchmark as check_benchmark,
    check_conversation as check_conversation,
)
