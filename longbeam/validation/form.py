"""Form of a benchmark: classifiers that see no values try to tell what was planted.

A logistic regression on masked word n-grams, punctuation, length and position is trained on some conversations and
tried on the others. Where it succeeds, a memory could keep what will be asked about without understanding a word.
Needs scikit-learn (`longbeam[form]`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from longbeam.errors import UserError
from longbeam.schemas import (
    BulletKind,
    FormFigure,
    FormTask,
    MessageKind,
    MessageRole,
)
from longbeam.text import MASK, Mask, form_words, sentences
from longbeam.validation.index import ConversationIndex
from longbeam.validation.repetition import mask_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BOUNDS = {
    FormTask.EVIDENCE: 0.75,
    FormTask.CONTRADICTION: 0.70,
    FormTask.UPDATE: 0.70,
    FormTask.SENTENCE: 0.75,
    FormTask.FOLLOW_UP: 1.0,
}
"""Largest AUC without a warning. Ten BEAM 100K conversations have .571 for evidence; ours had 1.000 for contradictions
when the bounds were set. Follow-ups answer a reply and are meant to look like it, so their figure only informs."""
FOLDS = 5
"""Parts of the cross-validation, each of whole conversations; as many as there are conversations, if fewer."""
DRAWS = 2_000
"""Resamples of the conversations for an interval: its ends move by less than .005 between seeds."""
PHRASES = 8
"""Words and measures that a figure names: a line of a terminal."""
LEAST_TOLD = 5
"""Least messages that are to be found, over all conversations: of fewer nothing can be learnt."""
_KINDS = {FormTask.CONTRADICTION: BulletKind.CONTRADICTION, FormTask.UPDATE: BulletKind.UPDATE}
_ABILITIES = {FormTask.CONTRADICTION: "contradiction_resolution", FormTask.UPDATE: "knowledge_update"}
_MESSAGES = (FormTask.EVIDENCE, FormTask.CONTRADICTION, FormTask.UPDATE)
_SIGNS = ("?", "!", ",", "–—;:")
_MEASURES = (
    "its place",
    "its length",
    "number of sentences",
    "question marks",
    "exclamation marks",
    "commas",
    "dashes and colons",
    "share of values",
)


@dataclass(frozen=True)
class FormRow:
    """One message or sentence, reduced to its form."""

    conversation_id: str
    text: str
    """Masked: values, names, dates and numbers are `_`."""
    measures: tuple[float, ...]
    """By `_MEASURES`."""
    is_told: bool = False


def form_rows(index: ConversationIndex) -> Iterator[tuple[FormTask, FormRow]]:
    """Yield the rows of every task, in the order of the conversation."""
    mask, count = mask_of(index.head), max(len(index.messages) - 1, 1)
    told = {task: _told_messages(index, task) for task in _MESSAGES}
    for ordinal, message in enumerate(index.messages):
        if message.role is not MessageRole.USER:
            continue
        row = _row(index, mask, ordinal / count, message.content)
        is_main = message.kind is MessageKind.QUESTION
        yield FormTask.FOLLOW_UP, replace(row, is_told=not is_main)
        for task in _MESSAGES if is_main else (FormTask.EVIDENCE,):
            yield task, replace(row, is_told=message.message_key in told[task])
        quotes = [quote for quote in told[FormTask.EVIDENCE].get(message.message_key, ()) if quote]
        for start, end in sentences(message.content) if quotes else ():
            said = message.content[start:end]
            is_told = any(quote in said or said in quote for quote in quotes)
            yield FormTask.SENTENCE, replace(_row(index, mask, ordinal / count, said), is_told=is_told)


def _told_messages(index: ConversationIndex, task: FormTask) -> dict[str, list[str]]:
    """Return the messages that are to be found, by key, with what probes quote of them."""
    told: dict[str, list[str]] = {}
    if (kind := _KINDS.get(task)) is None:
        cited = index.selected
    elif bullets := {b.bullet_id for plan in index.head.plans for b in plan.bullets() if b.kind is kind}:
        return {m.message_key: [] for m in index.messages if not bullets.isdisjoint(m.bullet_ids)}
    else:
        cited = tuple(p for p in index.probes if p.ability == _ABILITIES[task])
    for evidence in (e for probe in cited for e in probe.evidence):
        told.setdefault(evidence.message_key, []).append(evidence.quote)
    return told


def _row(index: ConversationIndex, mask: Mask, place: float, text: str) -> FormRow:
    words = form_words(text, mask)
    count = max(len(words), 1)
    signs = (sum(text.count(sign) for sign in signs) / count for signs in _SIGNS)
    measures = (place, np.log1p(count), len(sentences(text)), *signs, words.count(MASK) / count)
    return FormRow(index.head.conversation_id, " ".join(words), tuple(map(float, measures)))


def measure_form(indexes: Iterable[ConversationIndex]) -> tuple[FormFigure, ...]:
    """Return a figure for each task that at least two conversations can show; conversations are read one by one.

    Raises UserError without scikit-learn.
    """
    _refuse_missing()
    rows: dict[FormTask, list[FormRow]] = {task: [] for task in FormTask}
    for index in indexes:
        for task, row in form_rows(index):
            rows[task].append(row)
    return tuple(figure for task in FormTask if (figure := _figure(task, rows[task])) is not None)


def _refuse_missing() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError as exc:
        raise UserError("--form needs scikit-learn: pip install 'longbeam[form]'") from exc


def _figure(task: FormTask, rows: Sequence[FormRow]) -> FormFigure | None:
    told = np.array([row.is_told for row in rows])
    groups = np.array([row.conversation_id for row in rows])
    both = [g for g in dict.fromkeys(groups) if 0 < told[groups == g].mean() < 1]
    kept = np.isin(groups, both)
    rows, told, groups = [row for row, keep in zip(rows, kept, strict=True) if keep], told[kept], groups[kept]
    if len(both) < 2 or told.sum() < LEAST_TOLD:
        return None
    scores = _scores_of_others(rows, told, groups)
    areas = np.array([_area(scores[groups == g], told[groups == g]) for g in both])
    low, high = _interval(areas) if len(both) > 2 else (None, None)
    return FormFigure(
        task=task,
        auc=_rounded(areas.mean()),
        low=low,
        high=high,
        conversations=len(both),
        told=int(told.sum()),
        others=int((~told).sum()),
        bound=BOUNDS[task],
        phrases=_phrases(rows, told),
    )


def _scores_of_others(
    rows: Sequence[FormRow], told: NDArray[np.bool_], groups: NDArray[np.str_]
) -> NDArray[np.float64]:
    """Return the score of each row from a classifier that saw no row of its conversation."""
    from sklearn.model_selection import GroupKFold

    scores = np.zeros(len(rows))
    folds = GroupKFold(min(FOLDS, len(set(groups))))
    for train, test in folds.split(rows, told, groups):
        seen = _Features([rows[i] for i in train])
        model = _fitted(seen.of([rows[i] for i in train]), told[train])
        scores[test] = model.decision_function(seen.of([rows[i] for i in test]))
    return scores


class _Features:
    """Columns of a set of rows: n-grams of one to three words that two of them have, and the measures."""

    def __init__(self, rows: Sequence[FormRow]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.preprocessing import StandardScaler

        self._words = TfidfVectorizer(
            tokenizer=str.split, token_pattern=None, ngram_range=(1, 3), min_df=2, sublinear_tf=True
        )
        self._words.fit([row.text for row in rows])
        self._scaler = StandardScaler().fit([row.measures for row in rows])

    def of(self, rows: Sequence[FormRow]) -> csr_matrix:
        """Return one row of columns for each row."""
        from scipy.sparse import csr_matrix, hstack

        measures = self._scaler.transform([row.measures for row in rows])
        return hstack([self._words.transform([row.text for row in rows]), csr_matrix(measures)]).tocsr()

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [*self._words.get_feature_names_out(), *_MEASURES]


def _fitted(columns: csr_matrix, told: NDArray[np.bool_]) -> Any:  # Any: scikit-learn has no types
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10.0, class_weight="balanced", max_iter=2_000).fit(columns, told)


def _area(scores: NDArray[np.float64], told: NDArray[np.bool_]) -> float:
    """Return the chance that a told row has a higher score than another; ties count half."""
    above = scores[told][:, None] - scores[~told][None, :]
    return float(np.mean((above > 0) + 0.5 * (above == 0)))


def _interval(areas: NDArray[np.float64]) -> tuple[float, float]:
    draws = np.random.default_rng(0).choice(areas, (DRAWS, len(areas))).mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    return _rounded(low), _rounded(high)


def _phrases(rows: Sequence[FormRow], told: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return what speaks most for a told row in several conversations, over all rows."""
    features = _Features(rows)
    columns = features.of(rows)
    weights = _fitted(columns, told).coef_[0] * np.asarray(columns[told].mean(axis=0)).ravel()
    best = np.argsort(-weights)[:PHRASES]
    return tuple(features.names[i] for i in best if weights[i] > 0)


def _rounded(value: float) -> float:
    return round(float(value), 3)


def render_form(figures: Sequence[FormFigure]) -> str:
    """Return the figures as text: a line each, then a warning for each above its bound; ends a line."""
    if not figures:
        return (
            "nothing to measure: a classifier of form learns on some conversations and is tried on others, so at least "
            "two that cite messages are needed\n"
        )
    lines = ["told by form     found  others    AUC  95 % interval   bound  what speaks for it"]
    lines += [
        f"{f.task:<14} {f.told:>7,} {f.others:>7,}  {f.auc:.3f}  {f.interval:<14}  {f.bound:.2f}   {_listed(f.phrases)}"
        for f in figures
    ]
    lines += [
        f"warning: form tells {f.task.replace('_', ' ')} (AUC {f.auc:.3f}, at most {f.bound:.2f}): {_listed(f.phrases)}"
        for f in figures
        if f.is_given_away
    ]
    return "\n".join(lines) + "\n"


def _listed(phrases: Sequence[str]) -> str:
    return ", ".join(p if p in _MEASURES else f"'{p}'" for p in phrases)


def form_json(figures: Sequence[FormFigure]) -> str:
    """Return the figures as a JSON list, one line each."""
    lines = (f.model_dump_json() for f in figures)
    return "[\n" + ",\n".join(lines) + "\n]\n" if figures else "[]\n"
