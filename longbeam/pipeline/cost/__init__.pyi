from . import outlook as outlook
from .estimate import (
    Rehearsal as Rehearsal,
    estimate_of as estimate_of,
    render_estimate as render_estimate,
    short_contexts as short_contexts,
)
from .outlook import (
    Outlook as Outlook,
    forecast as forecast,
    is_worth_rehearsing as is_worth_rehearsing,
    outlook_line as outlook_line,
    rehearsal_of as rehearsal_of,
    stored_outlook as stored_outlook,
    unfit_cap as unfit_cap,
)
from .rehearsal import CountingModel as CountingModel, rehearse as rehearse, rehearse_probing as rehearse_probing
