"""Known defects of ten conversations of BEAM 100K, by id or by quotation."""

from __future__ import annotations

import pytest

from longbeam.formats import import_beam
from longbeam.schemas import Finding
from longbeam.validation import check_benchmark, check_conversation
from tests.formats.sources import SHARED, read

SOURCE = SHARED / "beam" / "100K"
FOLDERS = ("1", "4", "5", "6", "8", "9", "11", "12", "14", "17")

pytestmark = pytest.mark.skipif(not SOURCE.is_dir(), reason=f"BEAM's conversations are not here: {SOURCE}")

DEFECTS = (
    # 7.1 evidence
    ("9", "preference_following.1", "import.evidence_missing", "cites no message"),
    ("4", "information_extraction.0", "evidence_parts.only_replies", "only replies are cited"),
    # 7.2 values that no user message says
    ("9", "information_extraction.0", "gold_values.nowhere", "April 30, 2024"),
    # 7.3 knowledge update
    ("8", "knowledge_update.1", "evidence_parts.one_message", "original and updated"),
    ("9", "knowledge_update.1", "evidence_parts.one_message", "original and updated"),
    ("9", "knowledge_update.1", "gold_values.nowhere", "May 22"),
    ("11", "knowledge_update.0", "gold_values.nowhere", "March 27"),
    ("12", "knowledge_update.0", "gold_values.nowhere", "April 22"),
    ("14", "knowledge_update.1", "evidence.unrelated", "Netflix"),
    ("14", "knowledge_update.1", "gold_values.not_in_evidence", "30 cupcakes"),
    # 7.4 contradiction
    ("4", "contradiction_resolution.0", "evidence_parts.one_message", "statement and denial"),
    # 7.5 event ordering
    ("5", "event_ordering.0", "import.evidence_order", "34, 16, 18"),
    ("14", "event_ordering.1", "import.evidence_order", "182, 246, 130"),
    ("14", "event_ordering.1", "evidence_parts.item_order", "not in the order of mention"),
    ("14", "event_ordering.1", "evidence_parts.items_asked", "asks for 5 items, and the gold has 6"),
    # 7.6 arithmetic
    ("1", "temporal_reasoning.0", "arithmetic.wrong_duration", "'4 weeks'"),
    ("1", "temporal_reasoning.0", "nuggets.not_in_gold", "'8 weeks'"),
    ("1", "temporal_reasoning.0", "arithmetic.rounded", "60 days (61 with both ends, 8.6 weeks)"),
    ("17", "temporal_reasoning.1", "arithmetic.wrong_duration", "76 days"),
    ("12", "temporal_reasoning.1", "arithmetic.wrong_duration", "56 days"),
    # 7.7 stale gold
    ("1", "information_extraction.0", "later_values.changed_later", "'March 31'"),
    ("8", "temporal_reasoning.0", "later_values.changed_later", "'April 22'"),
    # 7.9 other faults of the gold
    ("4", "multi_session_reasoning.1", "arithmetic.wrong_change", "from 78% to 88%"),
    ("1", "information_extraction.0", "nuggets.user_voice", "My first sprint"),
    # 7.10 text
    ("1", "p0.s0.t0.n0", "leaks.plan_word", "Time Anchor"),
    # 7.11 degenerate replies
    ("4", "p0.s1.t12.n1", "degenerate.repeats_itself", "348853"),
    ("5", "p0.s1.t21.n1", "degenerate.repeats_itself", "53108"),
    # 7.12 personas
    ("17", "profile", "persona_uniqueness.same_place_and_job", "East Janethaven"),
)


@pytest.fixture(scope="module")
def found() -> list[Finding]:
    """All findings on the ten, their conversations named as BEAM's folders are."""
    readers = read(import_beam, SOURCE)
    named = dict(zip((r.head.conversation_id for r in readers), FOLDERS, strict=True))
    findings = [*(f for r in readers for f in check_conversation(r)), *check_benchmark(readers)]
    return [f.model_copy(update={"conversation_id": named[f.conversation_id]}) for f in findings]


@pytest.mark.parametrize(("folder", "subject", "check", "words"), DEFECTS, ids=lambda value: str(value)[:40])
def test_a_named_defect_is_found_by_the_check_meant_for_it(
    found: list[Finding], folder: str, subject: str, check: str, words: str
) -> None:
    of_check = [f for f in found if (f.conversation_id, f.check) == (folder, check)]
    assert any(f.subject == subject and words in f.message for f in of_check), [f.message for f in of_check]


def test_forty_four_replies_imitate_the_plan_marker(found: list[Finding]) -> None:
    copied = [f for f in found if (f.conversation_id, f.check) == ("5", "import.copied_marker")]
    assert sum(f.subject.endswith(("n1", "n3", "n5")) for f in copied) == 44


def test_every_conversation_says_that_plan_markers_were_in_its_text(found: list[Finding]) -> None:
    assert folders_of(found, "import.plan_markers") == set(FOLDERS)


def test_every_abstention_was_searched_for(found: list[Finding]) -> None:
    searched = [f for f in found if f.check == "abstention.searched"]
    assert len({(f.conversation_id, f.subject) for f in searched}) == len(searched) == 20
    assert all("searched" in f.message for f in searched)


def test_one_abstention_may_be_answered_in_the_chat(found: list[Finding]) -> None:
    answered = [(f.conversation_id, f.subject, f.message) for f in found if f.check == "abstention.maybe_answered"]
    assert len(answered) == 1, answered


def folders_of(found: list[Finding], check: str) -> set[str]:
    return {f.conversation_id for f in found if f.check == check}
