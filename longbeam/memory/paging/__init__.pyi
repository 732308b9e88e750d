from .bookmarks import (
    FORMATS as FORMATS,
    GENERATORS as GENERATORS,
    MOST_KEYWORDS as MOST_KEYWORDS,
    bookmark as bookmark,
    keywords_of as keywords_of,
)
from .pages import BOUNDARIES as BOUNDARIES, Page as Page, PageTurn as PageTurn, boundary_of as boundary_of, cut as cut
from .residency import (
    ONLINE as ONLINE,
    Capacity as Capacity,
    Foresight as Foresight,
    History as History,
    Need as Need,
    PagedContext as PagedContext,
    plan_residency as plan_residency,
    victim_of as victim_of,
)
from .simulator import (
    PagingConfig as PagingConfig,
    TimedQuestion as TimedQuestion,
    Workload as Workload,
    break_down_accuracy as break_down_accuracy,
    simulate as simulate,
)
from .study import Study as Study, render_study as render_study, run_study as run_study, workload_of as workload_of
from .system import PageStore as PageStore, Paging as Paging, PagingSettings as PagingSettings
