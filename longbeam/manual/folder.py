"""The folder form of the queue: requests as files, replies read from files.

NNNN.request.md, NNNN.request.json   a request without a reply; removed when it has one
NNNN.reply.txt                       a reply, written by anybody; read when it is the same at two looks
NNNN.accepted.txt                    the reply that was accepted
NNNN.refused.txt, NNNN.fault.txt     the reply that was refused, and why, in one line
"""

from __future__ import annotations

import json
import stat
from pathlib import Path

from longbeam.errors import UserError
from longbeam.manual.queue import Queue, Slot, name_of
from longbeam.manual.showing import as_markdown
from longbeam.store import write_atomically

REQUEST, BODY, REPLY = "request.md", "request.json", "reply.txt"
ACCEPTED, REFUSED, FAULT = "accepted.txt", "refused.txt", "fault.txt"


class RequestFolder:
    """One folder with the unanswered requests of a queue."""

    def __init__(self, queue: Queue, folder: Path) -> None:
        """The folder may hold files of an earlier server."""
        self._queue, self._folder = queue, folder
        self._looks: dict[int, tuple[int, int]] = {}
        """Size and time of change of replies at the last look."""
        names = (path.name.partition(".")[0] for path in folder.glob(f"*.{REQUEST}"))
        self._written = {int(name) for name in names if name.isdecimal()}

    def exchange(self) -> None:
        """Write the requests that are new, and take in the replies that are whole."""
        waiting = self._queue.unanswered()
        for slot in waiting:
            if slot.number not in self._written:
                self._write(slot)
            if self._is_whole(slot.number):
                self._take(slot.number)
        for number in self._written - {slot.number for slot in waiting}:
            for kind in (REQUEST, BODY, REFUSED, FAULT):
                self._path(number, kind).unlink(missing_ok=True)
            self._written.remove(number)

    def _write(self, slot: Slot) -> None:
        write_atomically(self._path(slot.number, REQUEST), as_markdown(slot))
        write_atomically(self._path(slot.number, BODY), json.dumps(slot.body, ensure_ascii=False, indent=1) + "\n")
        self._written.add(slot.number)

    def _is_whole(self, number: int) -> bool:
        """Return whether a reply is there and did not change since the last look: an editor may still write it."""
        try:
            found = self._path(number, REPLY).stat()
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(found.st_mode):
            text = f"{self._path(number, REPLY).name} is no file; put the reply into a file of this name\n"
            write_atomically(self._path(number, FAULT), text)
            return False
        look = (found.st_size, found.st_mtime_ns)
        last, self._looks[number] = self._looks.get(number), look
        return last == look

    def _take(self, number: int) -> None:
        path = self._path(number, REPLY)
        try:
            self._queue.reply(number, path.read_text(encoding="utf-8", errors="replace"))
        except UserError as exc:
            path.replace(self._path(number, REFUSED))
            write_atomically(self._path(number, FAULT), f"{exc}\n")
        else:
            path.replace(self._path(number, ACCEPTED))
        del self._looks[number]

    def _path(self, number: int, kind: str) -> Path:
        return self._folder / f"{name_of(number)}.{kind}"
