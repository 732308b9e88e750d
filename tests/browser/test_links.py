"""Personal links and permalinks as people get them: in a mail or a chat, which is another site."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import serve

pytestmark = pytest.mark.slow


@pytest.fixture
def invited(generated: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Yield the address of a server that asks for links, and the link of Ana."""
    out = tmp_path / "out"
    shutil.copytree(generated, out)
    server = serve(out, "made", "--with-links", "--reviewer", "ana")
    assert server.process.stdout is not None
    yield server.base, server.process.stdout.readline().removeprefix("link of ana: ").strip()
    server.process.terminate()
    server.process.communicate(timeout=20)


def follow(page: Page, link: str) -> None:
    """Follow a link from a page of nobody's, as from a mail."""
    page.goto("about:blank")
    page.set_content(f'<a href="{link}">the review</a>')
    page.get_by_role("link").click()


def test_links_in_a_mail_lead_in_and_to_the_comment(invited: tuple[str, str], browser: Browser) -> None:
    base, link = invited
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{base}/queue")
    expect(page.locator("h1")).to_have_text("This review is open to invited people only")
    follow(page, link)
    expect(page.locator("h1")).to_have_text(re.compile(r"All: (39|40) items"))
    follow(page, f"{base}/items/c000/knowledge_update.0")
    expect(page.locator("#item-name")).to_contain_text("Knowledge update 0")
    context.close()
