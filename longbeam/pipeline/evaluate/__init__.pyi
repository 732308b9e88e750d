from .asking import judge_name as judge_name
from .conversations import ReadConversation as ReadConversation, read_conversation as read_conversation
from .estimating import (
    EvaluationEstimate as EvaluationEstimate,
    estimate_evaluation as estimate_evaluation,
    render_estimate as render_estimate,
)
from .evaluating import (
    EvaluationRequest as EvaluationRequest,
    evaluate as evaluate,
    evaluation_folder as evaluation_folder,
    results_path as results_path,
    stored_embedder as stored_embedder,
)
from .memory_server import (
    MemoryServer as MemoryServer,
    ServedSystem as ServedSystem,
    listening as listening,
    run_server as run_server,
)
from .model_checks import (
    ModelChecksRun as ModelChecksRun,
    checking_spec as checking_spec,
    refuse_rules as refuse_rules,
    run_model_checks as run_model_checks,
    stored_model_findings as stored_model_findings,
)
