from .artifacts import (
    Artifact as Artifact,
    Kind as Kind,
    is_duplicate as is_duplicate,
    locate as locate,
    written as written,
)
from .extracting import confidence_of as confidence_of
from .linking import RELEASED_RULES as RELEASED_RULES, build_graph as build_graph, link as link
from .searching import (
    LexicalReranker as LexicalReranker,
    adaptive_k as adaptive_k,
    expand as expand,
    expand_released as expand_released,
    fused as fused,
    make_reranker as make_reranker,
)
from .settings import CogCanvasSettings as CogCanvasSettings
from .study import (
    RecallStudy as RecallStudy,
    recall_study as recall_study,
    render_recall as render_recall,
    stems_of as stems_of,
)
from .system import CogCanvas as CogCanvas
