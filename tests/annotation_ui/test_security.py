from __future__ import annotations

import csv
import io
import re

import httpx
import pytest

from longbeam.annotation_ui import Reach, TextMark, create_app, open_access, render
from longbeam.review import Viewer, Workspace
from longbeam.schemas import ReviewerRole
from longbeam.store import Benchmark, ReviewStore, seal_conversation
from tests.annotation_ui.conftest import Enter
from tests.tiny import tiny_conversation

ACT = "/api/items/c000/information_extraction.0/acts"


async def test_without_a_name_everything_is_read_and_nothing_written(enter: Enter) -> None:
    nobody = await enter()
    assert (await nobody.item("c000/information_extraction.0"))["can_write"] is False
    assert (await nobody.post(ACT, {"kind": "flagged"}, status=403))["error"] == "signed_out"


async def test_posts_need_the_token_of_the_session_and_the_own_origin(enter: Enter) -> None:
    ana = await enter("ana")
    body = {"kind": "flagged", "note": "look"}
    send = ana.client.post
    good = {"X-CSRF-Token": ana.csrf}
    assert (await send(ACT, json=body)).json()["error"] == "csrf"
    assert (await send(ACT, json=body, headers={"X-CSRF-Token": "0" * 64})).json()["error"] == "csrf"
    assert (await send(ACT, json=body, headers={**good, "Origin": "http://evil.example"})).json()["error"] == "csrf"
    assert (await send(ACT, json=body, headers={**good, "Sec-Fetch-Site": "cross-site"})).json()["error"] == "csrf"
    assert (await send(ACT, data={"kind": "flagged"}, headers=good)).json()["error"] == "csrf"
    assert (await send(ACT, json=body, headers={**good, "Origin": "http://127.0.0.1:8000"})).status_code == 200


async def test_other_host_names_are_refused(enter: Enter) -> None:
    nobody = await enter()
    answer = await nobody.client.get("/queue.json", headers={"Host": "evil.example:8000"})
    assert (answer.status_code, answer.json()["error"]) == (403, "host")


async def test_pages_may_load_nothing_from_elsewhere(enter: Enter) -> None:
    nobody = await enter()
    headers = (await nobody.client.get("/queue")).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["..%2f..%2fspec", "%2e%2e", "c000%00", "c001"])
async def test_no_part_of_an_address_reaches_the_file_system(enter: Enter, path: str) -> None:
    nobody = await enter()
    answer = await nobody.client.get(f"/conversations/{path}.json")
    assert answer.status_code == 404


async def test_invited_reviewers_write_on_an_address_that_needs_a_link(
    workspace: Workspace, store: ReviewStore
) -> None:
    access = open_access(store, "tiny", Reach("0.0.0.0", offered={"ana": ReviewerRole.LEAD}))
    transport = httpx.ASGITransport(app=create_app(workspace, access))
    async with httpx.AsyncClient(transport=transport, base_url="http://10.0.0.7:8000") as client:
        refused = await client.post("/api/session", json={"reviewer_id": "ana"})
        assert (refused.status_code, refused.json()["error"]) == (403, "signed_out")
        token = access.invitation(Viewer("ana", ReviewerRole.LEAD))
        assert (await client.get(f"/join/{token}x")).status_code == 403
        assert (await client.get(f"/join/{token}")).status_code == 303
        session = (await client.get("/session.json")).json()
        assert (session["reviewer_id"], session["role"], session["can_write"]) == ("ana", "lead", True)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=http://evil.example/x.png onerror=alert(1)>",
        "![x](http://evil.example/x.png)",
        "[x](javascript:alert(1))",
        "<svg onload=alert(1)>",
        "</mark></div><iframe src=//evil.example></iframe>",
        "<style>@import url(http://evil.example)</style>",
        "| a |\n|---|\n| <a href='http://evil.example'>x</a> |",
    ],
)
def test_hostile_text_becomes_text(hostile: str) -> None:
    html = render(hostile, [TextMark(start=0, end=len(hostile))])
    tags = {part.split(">")[0].split(" ")[0].strip("/") for part in html.split("<")[1:]}
    assert tags <= {"p", "br", "mark", "em", "table", "thead", "tbody", "tr", "th", "td"}
    attributes = {name for tag in re.findall(r"<[^>]+>", html) for name in re.findall(r"\s([a-z-]+)=", tag)}
    assert attributes <= {"class"}, html


@pytest.mark.parametrize(
    "hostile", ["=1+1", "+1", "-1", "@sum(1)", "\t=1", "\r\n1", " =1", "\u00a0+1", "＝1", "\x0b@a"]
)
async def test_no_cell_of_a_table_is_a_formula(benchmark: Benchmark, enter: Enter, hostile: str) -> None:
    tiny = tiny_conversation()
    asked = [probe.model_copy(update={"question": f"{hostile}?"}) for probe in tiny.asked]
    seal_conversation(benchmark.sealed_path("c000"), tiny.head, tiny.said, asked)
    nobody = await enter()
    rows = list(csv.DictReader(io.StringIO((await nobody.client.get("/queue.csv")).text, newline="")))
    assert rows
    assert all(row["question"] == f"'{hostile}?" for row in rows)


def test_lines_break_where_they_were_broken() -> None:
    assert render("- a step\n  why it helps", []).count("<br") == 1
    assert "<br" not in render("a paragraph\n\nanother", [])


def test_marks_survive_markdown() -> None:
    text = "# Plan\n\n- **buy** bread\n- sell cake\n\n```\ncode here\n```"
    start, end = text.index("**buy"), text.index("cake") + 4
    html = render(text, [TextMark(start=start, end=end)])
    assert '<li><mark class="evidence"><strong>buy</strong> bread</mark></li>' in html
    assert '<li><mark class="evidence">sell cake</mark></li>' in html


async def test_a_link_opened_from_a_mail_signs_in(workspace: Workspace, store: ReviewStore) -> None:
    access = open_access(store, "tiny", Reach(needs_token=True, offered={"ana": ReviewerRole.ANNOTATOR}))
    transport = httpx.ASGITransport(app=create_app(workspace, access))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        token = access.invitation(Viewer("ana", ReviewerRole.ANNOTATOR))
        answer = await client.get(f"/join/{token}", headers={"sec-fetch-site": "cross-site"})
    # With "strict", a browser that comes from another site would not send the cookie to the queue.
    assert "samesite=lax" in answer.headers["set-cookie"].lower()
