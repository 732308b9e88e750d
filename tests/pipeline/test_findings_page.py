"""The page of findings: what it shows, and that nobody's text can do anything in it."""

from __future__ import annotations

from html.parser import HTMLParser

from longbeam.pipeline import MOST_MESSAGES, findings_page
from longbeam.schemas import Finding, Severity
from longbeam.validation import check_conversation
from tests.builders import MemoryReader, good_conversation

HOSTILE = "</blockquote><script>alert(1)</script><img src=x onerror=alert(2)> & {{ 7 * 7 }} javascript:alert(3)"


class Page(HTMLParser):
    """Tags with their attributes, texts within `mark`, and links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.marked: list[str] = []
        self.text = ""
        self.attributes: set[str] = set()
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        for key, value in attrs:
            self.attributes.add(key)
            if key == "id":
                self.ids.append(value or "")
            if key == "href":
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text += data
        if "mark" in self._open:
            self.marked.append(data)


def page_of(reader: MemoryReader) -> Page:
    return Page(findings_page("tiny", check_conversation(reader), [reader]))


def spoilt() -> MemoryReader:
    """The price of the shop front is wrong: an error on a probe whose quote says $900."""
    return good_conversation().with_probe("information_extraction", gold_answer="Tom paints it for $950.")


def test_each_finding_is_linked_to_its_probe_with_the_marked_quote() -> None:
    page = page_of(spoilt())

    assert "gold_values.nowhere" in page.text
    assert "nuggets.not_in_gold" in page.text
    assert "information_extraction.0" in page.text
    assert "What does Tom ask for painting the front of the shop?" in page.text
    assert page.marked == [good_conversation().probe("information_extraction").evidence[0].quote]
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_the_counts_are_by_check_and_ability() -> None:
    findings = check_conversation(spoilt())
    html = findings_page("tiny", findings, [spoilt()])

    row = html.split("<code>gold_values.nowhere</code>")[1].split("</tr>")[0]
    assert '<td class="figure">1</td><td class="figure">1</td>' in row  # in all, and of information extraction
    assert f"{len([f for f in findings if f.severity is Severity.ERROR])} error" in html


def test_hostile_text_is_only_text() -> None:
    reader = spoilt().with_probe("information_extraction", question=HOSTILE, gold_answer=f"$950 {HOSTILE}")
    reader = reader.with_message(4, content=f"{HOSTILE} Yes, my friend Tom will paint the shop front for $900.")
    finding = Finding(
        check="leaks.marker", severity=Severity.ERROR, conversation_id="c000", subject=HOSTILE, message=HOSTILE
    )
    page = Page(findings_page(HOSTILE, [*check_conversation(reader), finding], [reader]))

    assert not {"script", "img", "iframe", "link", "object"} & set(page.tags)
    assert not {a for a in page.attributes if a.startswith("on")} | ({"src"} & page.attributes)
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert all(link.startswith("#case-") for link in page.links)


def test_a_probe_of_many_messages_says_how_many_are_left_out() -> None:
    reader = spoilt()
    users = [m for m in reader.said if m.role == "user"]
    found = Finding(
        check="evidence.order",
        severity=Severity.WARNING,
        conversation_id="c000",
        subject="abstention.0",
        message="odd",
        evidence=tuple(m.message_key for m in (*users, reader.said[1])),
    )
    page = Page(findings_page("tiny", [found], [reader]))

    assert page.tags.count("blockquote") == MOST_MESSAGES
    assert f"{len(users) + 1 - MOST_MESSAGES} more cited messages" in page.text


def test_a_finding_across_conversations_needs_no_probe() -> None:
    found = Finding(
        check="persona_uniqueness.same_name", severity=Severity.WARNING, conversation_id="c009", subject="profile",
        message="c009 and c000 are both about a Maya",
    )  # fmt: skip
    page = Page(findings_page("tiny", [found], [good_conversation()]))

    assert "c009 and c000 are both about a Maya" in page.text
    assert "dl" not in page.tags
