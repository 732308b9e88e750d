from .forms import checked_reply as checked_reply
from .queue import Queue as Queue, name_of as name_of
from .server import (
    ManualServer as ManualServer,
    RequestFolder as RequestFolder,
    listening as listening,
    run_server as run_server,
)
from .showing import as_markdown as as_markdown, headline as headline
