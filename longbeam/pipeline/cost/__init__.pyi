from . import estimate as estimate
from .contexts import short_contexts as short_contexts
from .estimate import (
    Outlook as Outlook,
    estimate_of as estimate_of,
    is_worth_rehearsing as is_worth_rehearsing,
    outlook_line as outlook_line,
    rehearsal_of as rehearsal_of,
    render_estimate as render_estimate,
    stored_outlook as stored_outlook,
    unfit_cap as unfit_cap,
)
from .forecast import (
    WORDED as WORDED,
    Behaviour as Behaviour,
    Played as Played,
    PlayedDialogue as PlayedDialogue,
    forecast as forecast,
)
from .judging import JUDGED_EVERY as JUDGED_EVERY
from .rehearsal import (
    CountingModel as CountingModel,
    PlannedTalk as PlannedTalk,
    Rehearsal as Rehearsal,
    rehearse as rehearse,
)
