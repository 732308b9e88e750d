from . import acts as acts, pages as pages
from .acts import ActResult as ActResult, UndoResult as UndoResult, WrittenView as WrittenView
from .aids import (
    ItemPlace as ItemPlace,
    counter_view as counter_view,
    panel_kind_of as panel_kind_of,
    panel_view as panel_view,
)
from .evaluations import create_runs_app as create_runs_app, serve_runs as serve_runs
from .folders import write_bundle as write_bundle, write_passports as write_passports
from .keyboard import KEYS as KEYS, Key as Key
from .rendering import (
    STATIC as STATIC,
    TEMPLATES as TEMPLATES,
    TextMark as TextMark,
    render as render,
    without_markdown as without_markdown,
)
from .reviews import anchors_page as anchors_page
from .security import Access as Access, Reach as Reach, is_loopback as is_loopback, open_access as open_access
from .server import Certificate as Certificate, ServerOptions as ServerOptions, create_app as create_app, serve as serve
from .transcript import (
    LocatedView as LocatedView,
    MessagePart as MessagePart,
    MinimapView as MinimapView,
    SearchResult as SearchResult,
    TranscriptView as TranscriptView,
    role_of as role_of,
)
from .views import (
    AdjudicationPage as AdjudicationPage,
    CounterView as CounterView,
    GuidelinesView as GuidelinesView,
    HistoryView as HistoryView,
    ItemView as ItemView,
    PanelKind as PanelKind,
    PanelView as PanelView,
    QueueView as QueueView,
)
