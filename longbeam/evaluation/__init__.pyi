from .agreement import (
    agreement_of as agreement_of,
    cohen_kappa as cohen_kappa,
    render_agreement as render_agreement,
    render_agreements as render_agreements,
    render_judges as render_judges,
)
from .arms import (
    EVIDENCE as EVIDENCE,
    Arm as Arm,
    ablations as ablations,
    always_there as always_there,
    arm_of as arm_of,
    arms_of as arms_of,
    at_budgets as at_budgets,
    names_in as names_in,
    refuse_doubled as refuse_doubled,
    variants as variants,
    with_embedder as with_embedder,
)
from .calibration import RIGHT_ANSWERS as RIGHT_ANSWERS, WRONG as WRONG, calibration_of as calibration_of
from .comparing import (
    RunPair as RunPair,
    compare_runs as compare_runs,
    conversations_needed as conversations_needed,
    render_pairs as render_pairs,
    unpaired_line as unpaired_line,
)
from .controlled import (
    ControlledRow as ControlledRow,
    controlled_rows as controlled_rows,
    keywords_of as keywords_of,
    render_rows as render_rows,
    score_answer as score_answer,
)
from .controls import (
    Control as Control,
    as_of as as_of,
    find_control as find_control,
    without_evidence as without_evidence,
)
from .difficulty import DifficultyMeter as DifficultyMeter
from .fixed_answers import (
    FIXED_ANSWERS as FIXED_ANSWERS,
    MISLEADING as MISLEADING,
    WRITTEN_ANSWERS as WRITTEN_ANSWERS,
    in_words as in_words,
    swapped_answer as swapped_answer,
    with_other_values as with_other_values,
    wrong_answer as wrong_answer,
)
from .interference import (
    count_competitors as count_competitors,
    count_restatements as count_restatements,
    overlap_of as overlap_of,
)
from .judging import (
    CREDIT as CREDIT,
    JUDGE_PROMPTS as JUDGE_PROMPTS,
    items_of as items_of,
    judge_answer as judge_answer,
    judge_nuggets as judge_nuggets,
)
from .leaderboard import faults_of as faults_of, merged as merged, render_board as render_board, rows_in as rows_in
from .metrics import (
    contains_all as contains_all,
    missing_values as missing_values,
    ndcg as ndcg,
    retrieval_of as retrieval_of,
    rubric_values as rubric_values,
)
from .plots import plot_paging as plot_paging
from .probe_gate import (
    CHECK as CHECK,
    GUESS_PROMPTS as GUESS_PROMPTS,
    GUESSED_AT_ONCE as GUESSED_AT_ONCE,
    PROMPTS as PROMPTS,
    SEVERITIES as SEVERITIES,
    Guess as Guess,
    Matter as Matter,
    Outcome as Outcome,
    altered_answer as altered_answer,
    guess_answers as guess_answers,
    judge_batch as judge_batch,
    matters_of as matters_of,
)
from .report import (
    ReportLine as ReportLine,
    Section as Section,
    plots_of as plots_of,
    render_html as render_html,
    render_markdown as render_markdown,
    report_environment as report_environment,
    report_json as report_json,
    sections_of as sections_of,
)
from .resampling import compare as compare, few_conversations as few_conversations, interval_of as interval_of
from .results import (
    TIMINGS_FILE as TIMINGS_FILE,
    Evaluated as Evaluated,
    asked_probe as asked_probe,
    contexts_path as contexts_path,
    grouped_failures as grouped_failures,
    read_results as read_results,
    reworded as reworded,
    write_results as write_results,
)
from .runs import (
    find_run as find_run,
    keep_run as keep_run,
    kept_runs as kept_runs,
    last_results as last_results,
    read_run as read_run,
    read_runs as read_runs,
    render_runs as render_runs,
)
from .scoring import (
    Scorer as Scorer,
    nugget_mean as nugget_mean,
    paper_order_score as paper_order_score,
    released_order_score as released_order_score,
    score_of as score_of,
    scorer_of as scorer_of,
)
from .table import (
    Row as Row,
    as_json as as_json,
    kind_of as kind_of,
    notes_on as notes_on,
    ranked_rows as ranked_rows,
    rows_of as rows_of,
    rule as rule,
    share_read as share_read,
)
from .terminal_table import render_grid as render_grid, render_table as render_table
from .timings import Ingestion as Ingestion, Timings as Timings
from .tuning import MEASURING as MEASURING
from .variations import alike_notes as alike_notes, variations_of as variations_of
