from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from longbeam.errors import UserError
from longbeam.manual import Queue, RequestFolder, checked_reply

SCHEMA = {
    "type": "object",
    "properties": {"turns": {"type": "array", "items": {"type": "string"}, "minItems": 2}},
    "required": ["turns"],
    "additionalProperties": False,
}


def body(text: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request's body."""
    asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": text}]}
    if schema is not None:
        named = {"name": "user_turns", "schema": schema}
        asked["response_format"] = {"type": "json_schema", "json_schema": named}
    return asked


class Clock:
    """A clock that stands until it is moved."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(tmp_path: Path, clock: Clock) -> Iterator[Queue]:
    with closing(Queue(tmp_path / "queue", clock=clock)) as opened:
        yield opened


def test_the_same_messages_and_form_have_one_slot(queue: Queue) -> None:
    first = queue.ask(body("hi"), "p")
    assert queue.ask(body("hi") | {"stream": True}, "p").number == first.number
    assert queue.ask(body("hi", SCHEMA), "p").number != first.number
    assert queue.slot(first.number).asks == 2


def test_a_reply_outlives_the_process(queue: Queue) -> None:
    number = queue.ask(body("hi"), "p").number
    queue.reply(number, "  hello\n")
    with closing(Queue(queue.folder)) as again:
        assert again.reply_of(number) == "hello"
        assert again.ask(body("hi"), "p").reply == "hello"


def test_two_writers_get_different_requests_until_a_claim_expires(queue: Queue, clock: Clock) -> None:
    for text in "abc":
        queue.ask(body(text), "p")
    assert [slot.number for slot in queue.claim("w1", 2, lasts_s=60)] == [1, 2]
    assert [slot.number for slot in queue.claim("w2", 2, lasts_s=600)] == [3]
    clock.now += 61
    assert [slot.number for slot in queue.claim("w2", 2)] == [1, 2]


def test_a_claim_keeps_other_writers_off_and_not_the_person_at_the_page(queue: Queue, clock: Clock) -> None:
    number = queue.ask(body("a"), "p").number
    queue.claim("w1", lasts_s=60)
    with pytest.raises(UserError, match="request 0001 is claimed by w1 for 60 more seconds"):
        queue.reply(number, "mine", "w2")
    queue.reply(number, "the page's")
    with pytest.raises(UserError, match="request 0001 is answered already"):
        queue.reply(number, "late", "w1")


def test_a_request_without_a_client_is_claimed_last(queue: Queue) -> None:
    queue.leave(queue.ask(body("abandoned"), "p").number)
    waited_for = queue.ask(body("waited for"), "p").number
    assert [slot.number for slot in queue.claim("w", 2)] == [waited_for, 1]


def test_a_reopened_request_can_be_answered_anew(queue: Queue) -> None:
    number = queue.ask(body("a"), "p").number
    queue.reply(number, "bad", "w1")
    queue.reopen(number)
    assert queue.reply(number, "good", "w2").reply == "good"


def test_a_number_that_nobody_asked_is_refused_in_one_line(queue: Queue) -> None:
    with pytest.raises(UserError, match=r"there is no request 9 in .*queue\.sqlite"):
        queue.reply(9, "x")


def test_a_text_that_a_writer_knows_is_named_by_its_request(queue: Queue) -> None:
    first, second = queue.ask(body("same"), "p"), queue.ask(body("same", SCHEMA), "p")
    assert queue.unseen("w", first) == [None]
    assert queue.unseen("w", first) == [None]  # shown again whole
    assert queue.unseen("w", second) == [first.number]
    assert queue.unseen("other", second) == [None]


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("", "the reply is empty"),
        ("no JSON", "the reply holds no whole JSON object: there is no `{` in it"),
        ('{"turns": ["a", "b"', r"the reply holds no whole JSON object: Expecting ',' delimiter at line 1, column 20"),
        ('{"turns": ["a", 3]}', r"turns\[1\]: 3 is not of type 'string'"),
        ('{"turns": ["a"]}', r"turns: \['a'\] is too short"),
        ('{"turns": ["a", "b"], "x": 1}', "the object: Additional properties are not allowed"),
    ],
)
def test_a_wrong_form_is_said_in_one_line(queue: Queue, reply: str, fault: str) -> None:
    number = queue.ask(body("a", SCHEMA), "p").number
    with pytest.raises(UserError, match=f"request 0001: {fault}") as raised:
        queue.reply(number, reply)
    assert "\n" not in str(raised.value)
    assert queue.reply_of(number) is None


def test_an_object_is_taken_out_of_its_fence() -> None:
    said = 'Here it is:\n```json\n{"turns": ["a", "b"]}\n```'
    assert checked_reply(said, body("a", SCHEMA)) == '{"turns": ["a", "b"]}'
    assert checked_reply(said, body("a")) == said


def test_the_folder_form_takes_replies_that_are_whole(queue: Queue, tmp_path: Path) -> None:
    folder = RequestFolder(queue, tmp_path / "files")
    number = queue.ask(body("What now?", SCHEMA), "user_turns").number
    folder.exchange()
    assert "What now?" in (tmp_path / "files" / "0001.request.md").read_text()
    reply = tmp_path / "files" / "0001.reply.txt"
    reply.write_text('{"turns": [')
    folder.exchange()
    reply.write_text('{"turns": ["a"]}')  # an editor goes on writing
    folder.exchange()
    assert reply.exists()
    folder.exchange()
    assert not reply.exists()
    assert (tmp_path / "files" / "0001.fault.txt").read_text() == "request 0001: turns: ['a'] is too short\n"
    reply.write_text('{"turns": ["a", "b"]}')
    folder.exchange()
    folder.exchange()
    folder.exchange()
    assert queue.reply_of(number) == '{"turns": ["a", "b"]}'
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["0001.accepted.txt"]
