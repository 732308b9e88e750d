from .benchmark import LoadedBenchmark as LoadedBenchmark, LoadedConversation as LoadedConversation
from .database import open_database as open_database, view_names as view_names
from .evaluation_file import read_evaluation as read_evaluation, write_evaluation as write_evaluation
from .measuring import MeasuringOptions as MeasuringOptions, measurement_of as measurement_of
from .operations import (
    Evaluation as Evaluation,
    evaluate as evaluate,
    export as export,
    generate as generate,
    import_benchmark as import_benchmark,
    load as load,
    validate as validate,
)
from .running import run as run
from .tables import Table as Table
