from .conversation import PlanResult as PlanResult
from .driver import (
    ConversationRun as ConversationRun,
    RunContext as RunContext,
    RunSummary as RunSummary,
    conversation_places as conversation_places,
    conversations_of as conversations_of,
    limited_models as limited_models,
    open_run as open_run,
    run_conversation as run_conversation,
    run_conversations as run_conversations,
    run_inline as run_inline,
    seeds_of as seeds_of,
    summarise as summarise,
    talk_conversation as talk_conversation,
    write_missing_seeds as write_missing_seeds,
)
from .finished import finished_conversations as finished_conversations
from .gaps import (
    Gaps as Gaps,
    close_gaps as close_gaps,
    describe_gaps as describe_gaps,
    gaps_of as gaps_of,
    making_of as making_of,
    open_gaps as open_gaps,
)
from .mending import TurnFault as TurnFault, mend_turns as mend_turns
from .metering import (
    evaluation_usage as evaluation_usage,
    journalled_usage as journalled_usage,
    meter_of_checks as meter_of_checks,
    open_meter as open_meter,
)
from .scheduling import Schedule as Schedule
from .stages import checks_stage as checks_stage, probes_stage as probes_stage, seal_stage as seal_stage
from .unit_spec import DeclaredPrompts as DeclaredPrompts, UnitSpec as UnitSpec
from .units import (
    Blocked as Blocked,
    Progress as Progress,
    SilentProgress as SilentProgress,
    Units as Units,
    all_of as all_of,
)
