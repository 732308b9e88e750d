"""Checks of one probe against its conversation, known findings of an item, and the gates before it is accepted."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from longbeam.abilities import Trait, ability_of
from longbeam.keys import ItemId, conversation_of
from longbeam.review.log import ActContent, SeenVersions, new_event
from longbeam.review.names import field_name
from longbeam.review.people import Viewer
from longbeam.review.search import counted_queries, is_searched_by_rote, needed_searches
from longbeam.review.state import ItemState, Opinion, in_force, probe_version
from longbeam.review.workspace import Workspace
from longbeam.schemas import (
    CHECKS_TARGET,
    NUGGET,
    EventKind,
    Finding,
    Gate,
    NuggetLabel,
    Probe,
    Record,
    ReviewEvent,
    Severity,
)
from longbeam.text import language_of
from longbeam.validation import ConversationIndex, Scope, all_checks, build_index, check_probes

WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


class CheckRow(Record):
    """One deterministic check of probes, and its outcome for one item."""

    check: str
    doc: str
    state: Literal["no_finding", "info", "warning", "error", "not_run"]
    count: int


class Checker:
    """Checks probes of one conversation at a time, and keeps the index of that conversation for the next probe.

    At 10M tokens the first check of a conversation takes some seconds, each further one milliseconds.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._desk = workspace
        self._lock = threading.Lock()
        self._kept: tuple[tuple[str, tuple[int, int]], ConversationIndex] | None = None
        self._warming: threading.Thread | None = None

    def check(self, conversation_id: str, probe: Probe) -> list[Finding]:
        """Return the findings of the checks of probes on one probe."""
        with self._lock:
            index = self._index(conversation_id)
            return check_probes(index, [probe], language=language_of(self._desk.archive.benchmark.spec.language))

    def warm(self, conversation_id: str) -> None:
        """Build the index for checks and the text for searches of a conversation in the background."""
        key = conversation_id, self._desk.archive.stamp(conversation_id)
        is_busy = self._warming is not None and self._warming.is_alive()
        if is_busy or (self._kept is not None and self._kept[0] == key):
            return

        def prepare() -> None:
            conversation = self._desk.conversation(conversation_id)
            _ = conversation.lowered  # for the first search
            with self._lock:
                self._index(conversation_id)

        self._warming = threading.Thread(target=prepare, name="checks", daemon=True)
        self._warming.start()

    def _index(self, conversation_id: str) -> ConversationIndex:
        conversation = self._desk.conversation(conversation_id)
        key = conversation_id, conversation.stamp
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # freed first: two indexes at once would double the peak of memory
            self._kept = key, build_index(conversation.reader)
        return self._kept[1]


def check_item(workspace: Workspace, checker: Checker, viewer: Viewer, item_id: str) -> ReviewEvent:
    """Run the checks on an item with the viewer's edits, and record the findings."""
    viewer.require_write()
    state = workspace.state(item_id)
    opinion = state.opinion(viewer.reviewer_id)
    findings = checker.check(conversation_of(item_id), opinion.probe)
    with workspace.acting:
        (event,) = workspace.log.append(
            new_event(
                EventKind.CHECKED,
                item_id,
                viewer.reviewer_id,
                ActContent(CHECKS_TARGET, after=checked_value(opinion.probe, findings)),
                SeenVersions(opinion.version, state.version),
            )
        )
    return event


def checked_value(probe: Probe, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the content of a `checked` event: the version that was checked, and the findings."""
    return {"content": probe_version(probe), "findings": [f.model_dump(mode="json") for f in findings]}


def known_findings(
    workspace: Workspace, item_id: str, state: ItemState, opinion: Opinion
) -> tuple[bool, bool, list[Finding]]:
    """Return whether checks ran on the item, whether they ran on its current content, and their findings.

    The reviewer's last re-check wins over `validate`, which sees the sealed and selected probes only.
    """
    last = _last_check(state, opinion)
    if last is not None:
        after = last.after if isinstance(last.after, dict) else {}
        listed = after.get("findings")
        found = [Finding.model_validate(f) for f in listed] if isinstance(listed, list) else []
        return True, after.get("content") == probe_version(opinion.probe), found
    conversation_id, probe_id = ItemId.parse(item_id)
    is_checked = workspace.archive.is_checked and state.base.is_selected
    found = workspace.findings(conversation_id, probe_id)
    return is_checked or bool(found), CHECKS_TARGET not in opinion.stale, found


def check_rows(is_checked: bool, findings: Sequence[Finding]) -> list[CheckRow]:
    """Return one row per check of probes, in the order of the registry."""
    counts = Counter(f.check_name for f in findings)
    worst: dict[str, Severity] = {}
    for finding in sorted(findings, key=lambda f: WORST_FIRST.index(f.severity)):
        worst.setdefault(finding.check_name, finding.severity)
    return [
        CheckRow(
            check=check.name,
            doc=check.doc,
            state=worst[check.name].value if check.name in worst else "no_finding" if is_checked else "not_run",
            count=counts[check.name],
        )
        for check in all_checks()
        if check.scope is Scope.PROBE
    ]


def _last_check(state: ItemState, opinion: Opinion) -> ReviewEvent | None:
    own = [
        e
        for e in in_force(state.events)
        if e.kind is EventKind.CHECKED and e.reviewer_id == opinion.reviewer_id and e.probe_version == state.version
    ]
    return own[-1] if own else None


BY_HAND = "by_hand"
"""`details.variety` of probes that a reviewer wrote."""


def gates_of(workspace: Workspace, item_id: str, state: ItemState, opinion: Opinion) -> list[Gate]:
    """Return the gates that are closed; the item may be accepted if there are none."""
    gates = []
    if opinion.unsaved:
        fields = ", ".join(dict.fromkeys(field_name(opinion.probe, typed.target) for typed in opinion.unsaved))
        text = f"You typed text that is not saved: {fields}. Save it or discard it."
        gates.append(Gate(code="drafts", title="text is not saved", message=text))
    gates += _nugget_gates(opinion, every=workspace.settings.every_nugget)
    if CHECKS_TARGET in opinion.stale:
        text = "You edited the item after the checks ran. Run them again."
        gates.append(Gate(code="checks", title="run the checks again", message=text))
    if ability_of(opinion.probe.ability).has(Trait.ABSTAINS):
        made = len(counted_queries(opinion))
        needed = needed_searches(opinion.probe, workspace.settings.min_searches)
        if made < needed or is_searched_by_rote(opinion):
            text = (
                f"The answer says that something is told nowhere. Search for it first: {made} of {needed} searches "
                "count so far. A search counts if it shares a word with the question, and once more where you open one "
                "of its hits. Besides, open at least one hit, or try a synonym that nothing is found for."
            )
            title = f"{made} of {needed} searches" if made < needed else "go to a hit yourself"
            gates.append(Gate(code="searches", title=title, message=text))
    _, _, findings = known_findings(workspace, item_id, state, opinion)
    errors = [f for f in findings if f.severity is Severity.ERROR]
    if errors and CHECKS_TARGET not in opinion.stale:
        told = "A check says that something is wrong" if len(errors) == 1 else f"{len(errors)} checks say so"
        text = f"{told}: {errors[0].message.rstrip('.')}. If the item is right all the same, say why."
        gates.append(Gate(code="error_findings", title="a check found an error", message=text, can_override=True))
    # The lexical judge errs, so it holds up only a rubric that was changed by hand.
    is_by_hand = opinion.is_edited or opinion.probe.details.variety == BY_HAND
    trial = workspace.rubric_trial(item_id, opinion.probe) if is_by_hand else None
    if trial is not None and not trial.is_sound:
        odd = [row.answer_kind.replace("_", " ") for row in trial.rows if not row.is_as_expected]
        text = (
            f"The rubric does not tell right from wrong answers: the automatic judge gives {', '.join(odd)} a score "
            "that it should not get. If the rubric is right all the same, say why."
        )
        gates.append(Gate(code="what_if", title="the rubric misjudges answers", message=text, can_override=True))
    return gates


def _nugget_gates(opinion: Opinion, *, every: bool) -> list[Gate]:
    """Return the gates about the rubric: nuggets to look at again, marked "no", or without a mark."""
    gates = []
    stale = [t.removeprefix(NUGGET) for t in opinion.stale if t != CHECKS_TARGET]
    refused = [i for i, label in opinion.labels.items() if label is NuggetLabel.NO and i not in stale]
    known = {n.nugget_id for n in opinion.probe.rubric}
    if stale:
        text = f"You edited the item. Look again at {_names(opinion, stale)}."
        title = f"look again at {_counted(opinion, stale)}"
        gates.append(Gate(code="stale", title=title, message=text, nugget_ids=tuple(stale)))
    if refused := [i for i in refused if i in known]:
        told = f'You marked {_names(opinion, refused)} "no": not right, or not needed in an answer.'
        text = f"{told} Remove or edit it, or say why it may stay."
        title = f"{_counted(opinion, refused)} marked no"
        gates.append(Gate(code="nugget_no", title=title, message=text, nugget_ids=tuple(refused), can_override=True))
    if every and (blank := [n.nugget_id for n in opinion.probe.rubric if n.nugget_id not in opinion.labels]):
        text = f"Every nugget must be judged here. There is no mark on {_names(opinion, blank)}."
        gates.append(Gate(code="nuggets", title="nuggets without a mark", message=text, nugget_ids=tuple(blank)))
    return gates


def _counted(opinion: Opinion, nugget_ids: Sequence[str]) -> str:
    """Return the name of one nugget or the number of several: the words on a button."""
    return _names(opinion, nugget_ids) if len(nugget_ids) == 1 else f"{len(nugget_ids)} nuggets"


def _names(opinion: Opinion, nugget_ids: Sequence[str]) -> str:
    return ", ".join(field_name(opinion.probe, f"{NUGGET}{i}") for i in nugget_ids)
