from .conversations import ReadConversation as ReadConversation, read_conversation as read_conversation
from .estimating import (
    EvaluationEstimate as EvaluationEstimate,
    estimate_evaluation as estimate_evaluation,
    render_estimate as render_estimate,
)
from .evaluating import (
    EVALUATION_FIELDS as EVALUATION_FIELDS,
    EvaluationModels as EvaluationModels,
    EvaluationRequest as EvaluationRequest,
    asks_extractor as asks_extractor,
    evaluate as evaluate,
    evaluation_folder as evaluation_folder,
    evaluation_spec as evaluation_spec,
    judge_name as judge_name,
    results_path as results_path,
    stored_embedder as stored_embedder,
    with_evaluation_fields as with_evaluation_fields,
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
